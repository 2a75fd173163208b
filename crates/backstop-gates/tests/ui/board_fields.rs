use backstop_gates::{Board, Specs};

fn main() {
    let mut board = Board::new(Specs::none());
    board.gates.clear();
}
