//! Real processes, started, watched, stopped and swept up behind.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "tests fail by panicking, also in what they share"
)]

mod door;
mod ends;
mod spawns;
mod stops;
mod support;
mod sweeps;
