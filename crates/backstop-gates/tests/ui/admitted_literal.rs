use backstop_gates::{Admitted, Judged};

fn main() {
    let _ = Admitted { role: "reviewer".parse().unwrap(), judged: Judged::default(), generation: 1 };
}
