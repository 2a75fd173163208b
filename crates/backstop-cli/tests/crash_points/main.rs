//! The real program, killed at its system calls: whatever it was about to make durable or visible, or had just made so, a
//! `resume` goes on to the end of a run that nobody killed.
#![cfg(target_arch = "x86_64")]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "tests end at a fault"
)]

mod calls;
mod laws;
mod points;
mod scenes;
mod tracer;

#[path = "../mission_runs/support.rs"]
#[expect(dead_code, reason = "the world of other tests has more in it")]
mod support;
