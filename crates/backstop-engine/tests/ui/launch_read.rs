use backstop_engine::{Effect, Launch};

fn main() {
    let _: Result<Launch, _> = serde_json::from_str("{}");
    let _: Result<Effect, _> = serde_json::from_str("{}");
}
