use backstop_gates::GateSpec;

fn main() {
    let _ = GateSpec { max_retries: 1_000_000, ..unreachable!() };
}
