use backstop_gates::Admitted;

fn main() {
    let _: Admitted = serde_json::from_str("{}").unwrap();
}
