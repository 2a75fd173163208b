//! The bounded review→repair loop over one artifact, pinned to a digest.
//!
//! Each state is a value that a step consumes: [`Ready`] → [`Reviewing`] → [`Repairing`] → [`Ready`] …, until the loop
//! is [`Parked`] (clean, awaiting a person), [`Stopped`] (with its [`StopReason`]) or [`Verified`]. Only `Verified`
//! is success. [`Loop`] holds any of them for storage, and [`replay`] rebuilds one from its [`Step`]s. A step
//! that does not fit is refused and gives the state back as it was.
//!
//! ```
//! use backstop_review::{Bounds, Ceiling, Policy, Ready, Spend, StopReason};
//! use backstop_vocab::{Digest, Timestamp};
//!
//! let mut ready = Ready::open(Bounds::default(), Policy::default(), Digest::of(b"what is reviewed"));
//! let stopped = loop {
//!     match ready.begin(Timestamp::from_millis(0)) {
//!         Ok(open) => ready = open.abandon(Spend { tool_calls: 4 }, Timestamp::from_millis(2_000)),
//!         Err(stopped) => break stopped,
//!     }
//! };
//! let used_up = StopReason::Ceilings { passed: vec![Ceiling::Iterations], verdict: None };
//! assert_eq!(stopped.reason(), &used_up);
//! assert_eq!(stopped.receipt().budget_line(), "iterations 3/3, tools 12/120, elapsed 4s/900s");
//! ```
//!
//! Deliberately absent: modes, permissions, launching anything, and the cost of repairs, which the caller's meter
//! counts. Nothing here reads a clock. A stored loop is rebuilt by replay, never deserialised.
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

mod bounds;
mod finding;
mod judge;
mod receipt;
mod refused;
mod replay;
mod review;
mod route;
mod states;
mod steps;
mod stop;

pub use bounds::{AbandonedSlot, Bounds, BoundsDraft, BoundsError, BoundsFault, Policy, Require};
pub use finding::{AtMost, Finding, FindingError, Findings, Path, Paths, TooMany};
pub use receipt::{Entry, Receipt};
pub use refused::{Refused, Rejected};
pub use replay::{RefusedStep, Signed, Step, replay};
pub use review::{
    Answer, Author, Decision, HostEvidence, Judged, Repair, Review, Routes, Spend, Verdict,
    Verifier, VerifierRoute,
};
pub use route::{EffectiveReasoning, Field, Label, Missing, Party, Route, RouteReceipt, RoutedBy};
pub use states::{Loop, Parked, Ready, Repairing, Reviewing, Slot, Stopped, Verified};
pub use steps::{StateKind, StepKind, accepts};
pub use stop::{Ceiling, Inconclusive, Stall, StopReason};
