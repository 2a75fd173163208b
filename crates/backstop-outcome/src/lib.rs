//! How an agent's attempt ended, and what policy makes of it: one table of status × stage, without a wildcard.
//!
//! - [`Status`] and [`StatusKind`]: how an attempt ended.
//! - [`decide`]: the table. Only a success advances; what went quiet or over budget is never resumed by itself.
//! - [`with_evidence`]: what the host saw takes a claimed success back, and never makes one.
//! - [`quota_wait`], [`interruption_wait`]: how long an automatic resume waits.
//!
//! ```
//! use backstop_outcome::{Action, StatusKind, decide};
//! use backstop_vocab::Stage;
//!
//! assert_eq!(decide(Stage::Code, StatusKind::IdleTimeout).action, Action::GateReview);
//! ```
//!
//! Deliberately absent: reading a transcript or an exit status (`backstop-agents`), counting
//! (`backstop-mode`), and any clock or random source: both are handed in.
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

mod artifact;
mod evidence;
mod named;
mod status;
mod table;
mod wait;

pub use artifact::Artifact;
/// The account that [`Status::OverBudget`] names.
pub use backstop_mode::Account;
pub use evidence::{
    EmptyWork, Evidence, HostWork, Measurement, Post, Ruling, TouchedPath, TreeChange, VisitKind,
    with_evidence,
};
pub use status::{FailCause, Interruption, Status, StatusKind, UnavailableCause};
pub use table::{Action, Decision, Rule, decide};
pub use wait::{QUOTA_FLOOR, QUOTA_HORIZON, Wait, fault_wait, interruption_wait, quota_wait};
