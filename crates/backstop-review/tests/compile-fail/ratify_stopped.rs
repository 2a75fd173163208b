use backstop_review::{Answer, Stopped};
use backstop_vocab::Operator;

fn ratify(stopped: Stopped, by: &Operator, answer: Answer) {
    let _verified = stopped.ratify(by, answer);
}

fn main() {}
