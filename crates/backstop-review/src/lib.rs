//! The bounded review→repair loop over one artifact, pinned to a digest.
//!
//! Each state is a value that a step consumes: [`Ready`] → [`Reviewing`] → [`Repairing`] → [`Ready`] …, until the loop
//! is [`Parked`] (clean, awaiting a person), [`Stopped`] (with its [`StopReason`]) or [`Verified`]. Only `Verified`
//! is success. [`Loop`] holds any of them for storage, and [`replay`] rebuilds one from its [`Step`]s. A step
//! that does not fit is refused and gives the state back as it was.
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
