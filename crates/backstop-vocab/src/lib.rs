//! The words that every Backstop policy shares: ids, digests, time, stages, bounded text, operators.
//!
//! Deliberately absent: any rule. What the words mean for a run is decided in the policy crates.
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

mod digest;
mod hex;
mod id;
mod operator;
mod ordinal;
mod stage;
mod text;
mod time;

pub use digest::{CommitId, Digest, DigestError};
pub use id::{GateId, HandoffId, IdError, LaneId, MissionId, RoleName};
pub use operator::{Channel, Operator, OperatorName, Signature};
pub use ordinal::{Attempt, EffectId, OrdinalError, Phase, Visit};
pub use stage::{NameError, PhaseKind, Stage};
pub use text::{Note, Text, TextError, is_blank};
pub use time::{Span, Timestamp};
