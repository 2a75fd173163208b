use backstop_engine::Mission;

fn main() {
    let _: Result<Mission, _> = serde_json::from_str("{}");
}
