use backstop_gates::Settled;

fn main() {
    let _: Settled = serde_json::from_str("{}").unwrap();
}
