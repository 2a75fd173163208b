use backstop_engine::vocab::Operator;

fn copied(operator: &Operator) -> Operator {
    operator.clone()
}

fn main() {
    let _: Result<Operator, _> = serde_json::from_str("{}");
    let _ = Operator::default();
    let _ = copied;
}
