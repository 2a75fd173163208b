use backstop_gates::{Approval, Board, Judged};
use backstop_vocab::Signature;

fn answer(board: &Board, by: &Signature, approval: &Approval) {
    let _ = board.approve(by, approval, &Judged::default());
}

fn main() {
    let _ = answer;
}
