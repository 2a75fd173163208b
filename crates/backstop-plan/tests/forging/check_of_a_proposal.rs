use backstop_plan::{ClearedCheck, Proposed};
use backstop_vocab::Phase;

fn run(proposed: &Proposed) -> Option<ClearedCheck> {
    proposed.check(Phase::FIRST)
}

fn main() {}
