use backstop_gates::Settled;

fn twice(proof: &Settled) -> (Settled, Settled) {
    (proof.clone(), *proof)
}

fn main() {
    let _ = twice;
}
