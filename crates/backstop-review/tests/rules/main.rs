//! The rules of the review loop, each as a sentence, by the public interface alone.
#![expect(
    clippy::panic,
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "a sample that goes another way than planned is a failed test"
)]

mod bounds;
mod incidents;
mod laws;
mod record;
mod repair;
mod samples;
mod slots;
mod table;
mod wire;
