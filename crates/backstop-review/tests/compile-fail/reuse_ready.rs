use backstop_review::{Bounds, Policy, Ready};
use backstop_vocab::{Digest, Timestamp};

fn main() {
    let ready = Ready::open(Bounds::default(), Policy::default(), Digest::of(b""));
    let _first = ready.begin(Timestamp::from_millis(0));
    let _second = ready.begin(Timestamp::from_millis(0));
}
