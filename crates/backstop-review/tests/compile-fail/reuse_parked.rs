use backstop_review::{Answer, Parked};
use backstop_vocab::Operator;

fn answer_twice(parked: Parked, by: &Operator, answer: Answer) {
    let _first = parked.ratify(by, answer.clone());
    let _second = parked.ratify(by, answer);
}

fn main() {}
