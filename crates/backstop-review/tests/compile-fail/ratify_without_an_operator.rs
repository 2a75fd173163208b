use backstop_review::{Answer, Parked};
use backstop_vocab::Signature;

fn ratify(parked: Parked, by: &Signature, answer: Answer) {
    let _verified = parked.ratify(by, answer);
}

fn main() {}
