use backstop_gates::Settled;

fn main() {
    let _ = Settled::default();
}
