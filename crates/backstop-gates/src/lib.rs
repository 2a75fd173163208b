//! Gates between the roles of a lane: specs, the board that holds, strict verdicts, single-use handoffs.
//!
//! Silence holds: a gate without a result is pending, and pending holds. A board is asked with
//! [`Board::admit`] and answers a proof or everything that stands in the way. Every operation takes
//! `&self` and gives a new value, so a refused one has changed nothing.
//!
//! ```
//! use backstop_gates::{Board, Judged, Specs, Target, default_board, standard_roles, verdict};
//! use backstop_vocab::{Attempt, Digest};
//!
//! let specs = Specs::load(&default_board()[1..], &standard_roles())?;
//! let (reviewer, now) = ("reviewer".parse()?, Judged::of_tree(Digest::git_tree(&"a1".repeat(20))?));
//! let board = Board::new(specs);
//! assert!(board.settle(&now).is_err(), "nothing has been judged");
//!
//! let board = board.started(&board.admit(&reviewer, &now)?, Attempt::FIRST)?;
//! let board = board.completed(&reviewer, Attempt::FIRST)?;
//! let target = Target { gate: "review".parse()?, attempt: Attempt::FIRST };
//! let board = board.review(&target, &verdict("PASS\n\nNo findings.", None), &now)?;
//! assert!(board.settle(&now).is_ok());
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! Deliberately absent: when a role runs, what a visit costs, and how an operator is reached. Those are the
//! engine's and the edge's.
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

mod admit;
mod answer;
mod artifact;
mod board;
mod check;
mod evidence;
mod fault;
mod handoff;
mod judge;
mod names;
mod preset;
mod refusal;
mod spec;
mod state;
mod verdict;

pub use admit::{Admitted, Asked, Held, Hold, Holder, Settled, StatusLine};
pub use artifact::{ArtifactKind, Judged, KindError};
pub use board::{Board, BoardError};
pub use evidence::{Approval, Evidence, HostEvidence, HostEvidenceError, Rejection, Target};
pub use fault::{Fault, SpecFault, SpecFaults};
pub use handoff::{
    DELIVERY_LIMIT, Fate, Handoff, HandoffDraft, HandoffRefusal, Handoffs, Made, Payload,
};
pub use names::{GateKind, OnFail, Trigger};
pub use preset::{default_board, standard_roles, stopship};
pub use refusal::Refusal;
pub use spec::{GateDraft, GateSpec, MAX_RETRIES, Role, Specs, SpecsDraft};
pub use state::{By, Reason, State, StateKind};
pub use verdict::{MAX_REASKS, NoVerdict, Verdict, outside_code, prefer_structured, verdict};
