use backstop_gates::{Settled, Judged};

fn main() {
    let _ = Settled { judged: Judged::default() };
}
