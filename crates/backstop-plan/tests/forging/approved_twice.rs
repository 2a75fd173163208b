use backstop_plan::{Applied, Approved};
use backstop_vocab::MissionId;

fn twice(approved: Approved, one: MissionId, other: MissionId) -> [Applied; 2] {
    [approved.apply(one), approved.apply(other)]
}

fn main() {}
