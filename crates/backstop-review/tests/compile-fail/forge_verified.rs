use backstop_review::{Parked, Verified};

fn forge(parked: &Parked) -> Verified {
    Verified { receipt: Box::new(parked.receipt().clone()) }
}

fn main() {}
