//! The journal of a mission: one file, one writer, each record chained to the one before it.
//! The format is that of `docs/journal.md` and stays readable for ever.
//!
//! Deliberately absent: the lock (`state::MissionDir::lock`; its holder alone may `create` or `open`), what
//! an event means, and the redaction of secrets, which happens before an event is made: a record that
//! differed from the event that was decided on would not replay to the same mission.

mod error;
mod format;
mod medium;
mod reader;
mod replay;
mod tail;
mod verify;
mod writer;

use std::fmt;

use backstop_engine::vocab::Timestamp;
use serde::{Deserialize, Serialize};

pub use error::{Damage, Fault, JournalError};
pub use format::LONGEST;
pub use medium::Medium;
pub use reader::{Position, Reader, read, read_from};
pub use replay::{Healed, Replay, open, replay};
pub use tail::Tail;
pub use verify::{Verified, verify, verify_stream};
pub use writer::{Writer, begin, create};

/// The number of a record: from 0, without a gap.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Seq(u64);

impl Seq {
    /// The number.
    #[must_use]
    pub const fn number(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// One record, as it was read: its frame, checksum and chain hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record<E> {
    /// Its number.
    pub seq: Seq,
    /// When it was appended, by the clock of the machine that did.
    pub at: Timestamp,
    /// What happened.
    pub event: E,
}

/// Whether an append returns before or after the record is on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// After: with everything that rode before it. For each event whose effects start next.
    Sync,
    /// Before: the record becomes durable with the next one that syncs.
    Ride,
}
