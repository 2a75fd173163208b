//! The engine of Backstop: one mission as a value, and one total function that moves it.
//!
//! [`Mission::decide`] takes a fact and answers with a new mission, the effects to start and the rules that
//! fired. [`Mission::replay`] folds the facts of a journal. [`Mission::outstanding`] names what was started and not
//! answered, [`Mission::deadline`] the one moment at which the edge must wake.
//!
//! Deliberately absent: clocks, files, processes, randomness, prose. The edge brings the facts and does the effects.
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

mod answer;
mod attempt;
mod charter;
mod checks;
mod effect;
mod fact;
mod flow;
mod gate;
mod handing;
mod held;
mod lane;
mod launch;
mod mission;
mod operator;
mod preflight;
mod refusal;
mod role;
mod rule;
mod ruling;
mod ship;
mod turn;
mod verdict;

pub use charter::{Base, Charter, CharterDraft, CharterFault, Check, Checked, OnQuestion};
pub use charter::{GreenBase, Settings, ShipBy};
pub use effect::{CheckFor, CheckRun, Effect, Landing, Merge, Shipment, Wait, WaitCause};
pub use fact::{
    Answer, ArtifactSeen, AttemptEnded, AttemptStarted, BaseMerged, CheckResult, CheckVerdict,
};
pub use fact::{
    ChecksRan, Cost, Event, Fact, Head, MergeOutcome, Point, PointVerdict, PreflightRan, Ruling,
};
pub use fact::{ProcessRef, SessionId, SessionOpened, ShipOutcome, Shipped, Usage};
pub use gate::{Funds, Gate, GateKind, Reason, ReviewStop, Verb};
pub use lane::{Landed, Lane, Passed};
pub use launch::{Allowance, Brief, Launch, Order, Report};
pub use mission::{
    Begins, Ended, Mission, ParkCause, ParkedAt, Pending, Position, ReplayError, Transition,
};
pub use refusal::Refusal;
pub use role::{AgentSpec, Role, Roles};
pub use rule::Rule;

pub use {
    backstop_gates as gates, backstop_mode as mode, backstop_outcome as outcome,
    backstop_plan as plan, backstop_review as review, backstop_vocab as vocab,
};
