use backstop_gates::Admitted;

fn twice(proof: &Admitted) -> (Admitted, Admitted) {
    (proof.clone(), *proof)
}

fn main() {
    let _ = twice;
}
