use backstop_gates::Admitted;

fn main() {
    let _ = Admitted::default();
}
