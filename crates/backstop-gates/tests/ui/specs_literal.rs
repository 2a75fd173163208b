use backstop_gates::GateSpec;

fn widened(spec: GateSpec) -> GateSpec {
    GateSpec { max_retries: 1_000_000, ..spec }
}

fn main() {
    let _ = widened;
}
