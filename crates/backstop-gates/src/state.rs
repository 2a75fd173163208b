//! What a gate's state is and whether it holds. How it changes is the board's.

use core::fmt;

use backstop_vocab::{Attempt, Digest, Note, RoleName, Signature, Text};
use serde::{Deserialize, Serialize};

use crate::names::names;

/// Why a gate failed: at most 1 KiB, cut where it is longer.
pub type Reason = Text<1024>;

/// Who passed a gate.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// The host, with its own evidence.
    Host,
    /// A role, with a strict verdict.
    Role(RoleName),
    /// A person.
    Operator(Signature),
}

impl fmt::Display for By {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host => f.write_str("the host"),
            Self::Role(role) => write!(f, "{role}"),
            Self::Operator(signature) => write!(f, "{signature}"),
        }
    }
}

/// The state of one gate.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum State {
    /// Not judged, or not since what it judged has changed. Holds.
    #[default]
    Pending,
    /// Passed on its own kind of evidence, for this digest only.
    Passed {
        /// Who passed it.
        by: By,
        /// What was judged.
        digest: Digest,
        /// The attempt that was judged.
        attempt: Attempt,
    },
    /// Opened by an operator against a failure or a silence, for this digest only. Never shown as passed.
    Overridden {
        /// Who.
        by: Signature,
        /// Why; not blank.
        note: Note,
        /// What was overridden.
        digest: Digest,
        /// The attempt that was overridden.
        attempt: Attempt,
    },
    /// The gate's role was skipped by an operator who started the mission at a later stage.
    Waived {
        /// Who.
        by: Signature,
        /// What they wrote; may be blank.
        note: Note,
    },
    /// Failed; the role is to run again. Holds.
    Retrying {
        /// How often it was sent back, from 1.
        n: u32,
        /// Why.
        reason: Reason,
    },
    /// Failed for the rest of the generation. Holds.
    Blocked {
        /// Why.
        reason: Reason,
    },
    /// Failed until an operator goes on. Holds.
    Escalated {
        /// Why.
        reason: Reason,
    },
}

names!(
    /// A state without what it carries.
    StateKind {
        /// Not judged.
        Pending = "pending",
        /// Passed.
        Passed = "passed",
        /// Overridden.
        Overridden = "overridden",
        /// Waived.
        Waived = "waived",
        /// Sent back.
        Retrying = "retrying",
        /// Blocked.
        Blocked = "blocked",
        /// Escalated.
        Escalated = "escalated",
    }
);

impl StateKind {
    /// Whether a gate in this state holds the role that it blocks.
    #[must_use]
    pub const fn holds(self) -> bool {
        match self {
            Self::Pending | Self::Retrying | Self::Blocked | Self::Escalated => true,
            Self::Passed | Self::Overridden | Self::Waived => false,
        }
    }
}

impl State {
    /// The state without what it carries.
    #[must_use]
    pub const fn kind(&self) -> StateKind {
        match self {
            Self::Pending => StateKind::Pending,
            Self::Passed { .. } => StateKind::Passed,
            Self::Overridden { .. } => StateKind::Overridden,
            Self::Waived { .. } => StateKind::Waived,
            Self::Retrying { .. } => StateKind::Retrying,
            Self::Blocked { .. } => StateKind::Blocked,
            Self::Escalated { .. } => StateKind::Escalated,
        }
    }

    /// The digest that an opening is bound to.
    #[must_use]
    pub const fn bound_to(&self) -> Option<Digest> {
        match self {
            Self::Passed { digest, .. } | Self::Overridden { digest, .. } => Some(*digest),
            Self::Pending
            | Self::Waived { .. }
            | Self::Retrying { .. }
            | Self::Blocked { .. }
            | Self::Escalated { .. } => None,
        }
    }

    /// Why it failed.
    #[must_use]
    pub const fn reason(&self) -> Option<&Reason> {
        match self {
            Self::Retrying { reason, .. }
            | Self::Blocked { reason }
            | Self::Escalated { reason } => Some(reason),
            Self::Pending | Self::Passed { .. } | Self::Overridden { .. } | Self::Waived { .. } => {
                None
            }
        }
    }
}
