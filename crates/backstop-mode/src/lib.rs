//! How much rope a run has: its mode, its ceilings, the meter that counts against them, and when a stage gates.
//!
//! - [`Mode`], and [`gate_reasons`], [`should_auto_loop`], [`after_validate`]: what the mode makes of a stage.
//! - [`Account`], [`Ceilings`]: what is counted and how far it may go. Every ceiling is finite; there is no
//!   spelling for "unlimited".
//! - [`Meter`]: all counters. [`Meter::charge`] before the act, [`Meter::settle`] after the fact,
//!   [`Meter::grant`] when an operator refills.
//! - [`progress`], [`Baseline`]: whether a failed Validate was at least preceded by new work.
//!
//! ```
//! use backstop_mode::{Account, Ceilings, Meter};
//!
//! let meter = Meter::new(Ceilings::new(&[(Account::Attempts, 48)])?);
//! let (meter, paid) = meter.charge(Account::Attempts, 1)?;
//! assert_eq!(paid.account(), Account::Attempts);
//! assert_eq!(meter.remaining(Account::Attempts), 47);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Deliberately absent: how an attempt ended and what follows (`backstop-outcome`), the gates of roles
//! (`backstop-gates`), and any clock: active time is handed in.
#![no_std]
#![deny(
    clippy::arithmetic_side_effects,
    clippy::as_conversions,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]

extern crate alloc;

mod account;
mod ceilings;
mod fault;
mod gating;
mod grant;
mod meter;
mod mode;
mod progress;
mod settlement;
mod table;

pub use account::{Account, Amount, ExhaustedGate, Family, Scope};
pub use ceilings::{CeilingDraft, Ceilings};
pub use fault::{CeilingFault, CeilingFaults, Relation};
pub use gating::{Next, Reason, Reasons, Verdict, after_validate, gate_reasons, should_auto_loop};
pub use grant::{GrantRefused, MAX_GRANTS};
pub use meter::{Exhausted, Meter, Paid};
pub use mode::Mode;
pub use progress::{Baseline, Measured, Progress, progress};
pub use settlement::{Settlement, Spend, transition_resets_streak};
