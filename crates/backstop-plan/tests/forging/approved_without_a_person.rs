use backstop_plan::{Approved, Proposed};
use backstop_vocab::Signature;

fn approve(proposed: Proposed, record: &Signature) -> Approved {
    let digest = proposed.digest();
    proposed.approve(record, digest).unwrap()
}

fn main() {}
