use backstop_engine::vocab::{Operator, Signature};

fn forge(signature: Signature) -> Operator {
    Operator { signature }
}

fn main() {
    let _ = forge;
}
