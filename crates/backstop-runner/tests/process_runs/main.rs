//! Real processes, started, watched, stopped and swept up behind.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::await_holding_lock,
    reason = "tests fail by panicking, also in what they share, and each has the process for itself"
)]

mod door;
mod ends;
mod orphans;
mod spawns;
mod stops;
mod support;
mod sweeps;
