//! Mission plans: what a model or a person wrote, every reason to refuse it, and the plan that is left when there is none.
//!
//! [`read`] finds the one JSON object in an answer and makes a [`Draft`] of it; `Plan::try_from(draft)` names everything
//! that is wrong with it at once, or gives a [`Plan`]. A plan then goes from [`Proposed`] to [`Approved`] to [`Applied`],
//! and each state is consumed by the next.
//!
//! Deliberately absent: who writes a plan, how it is asked for, and how its phases are run.
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

mod draft;
mod fence;
mod judge;
mod key;
mod lifecycle;
mod marks;
mod near;
mod plan;
mod refusal;
mod schema;

pub use draft::{Checks, Draft, MOST_BYTES, read};
pub use judge::MOST_PHASES;
pub use key::{Entry, KEYS, Key, Level, Need, Reader, Shape};
pub use lifecycle::{
    Applied, Approved, Author, ClearedCheck, MOST_PROPOSALS, Proposals, ProposalsError, Proposed,
    Route, Spent, Turn, WrongDigest,
};
pub use plan::{MOST_TEXT, Parts, PhaseSpec, PhaseText, Plan};
pub use refusal::{Code, MOST_SHOWN, Refusal, Refusals};
pub use schema::{SEMANTIC_CODES, schema};
