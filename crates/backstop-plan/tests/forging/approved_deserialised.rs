fn main() {
    let _: backstop_plan::Approved = serde_json::from_str("{}").unwrap();
}
