//! A step that does not fit. A refusal is inert: it changes nothing and gives the state back.

use alloc::string::String;
use alloc::vec::Vec;

use backstop_vocab::Digest;

use crate::route::Field;
use crate::steps::{StateKind, StepKind};

/// Why a step was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// The state does not take this step.
    #[error("`{step}` does not fit a loop that is `{state}`: {}", .state.takes())]
    Misfit {
        /// Where the loop is.
        state: StateKind,
        /// The refused step.
        step: StepKind,
    },
    /// The review answers another slot.
    #[error("the review answers iteration `{submitted}`: answer the open one, {open}")]
    Iteration {
        /// What it answers.
        submitted: u32,
        /// The slot that is open.
        open: u32,
    },
    /// The repair's receipt lacks parts.
    #[error("the repair's receipt lacks `{}`: complete it", names(.missing))]
    IncompleteReceipt {
        /// What it lacks.
        missing: Vec<Field>,
    },
    /// A red check without findings.
    #[error("the red check has no findings: say what is red")]
    NoFindings,
    /// The answer is for something else than what is parked.
    #[error("the answer is for `{given}`: look at what is parked, `{pin}`, and answer for it")]
    NotThePin {
        /// What it is for.
        given: Digest,
        /// What is parked.
        pin: Digest,
    },
    /// A decline without a note.
    #[error("the decline has no note: say why")]
    NoNote,
}

fn names(missing: &[Field]) -> String {
    let mut words = String::new();
    for field in missing {
        if !words.is_empty() {
            words.push_str(", ");
        }
        words.push_str(field.name());
    }
    words
}

impl Refused {
    /// The stable name of the refusal.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Misfit { .. } => "misfit",
            Self::Iteration { .. } => "iteration",
            Self::IncompleteReceipt { .. } => "incomplete_receipt",
            Self::NoFindings => "no_findings",
            Self::NotThePin { .. } => "not_the_pin",
            Self::NoNote => "no_note",
        }
    }
}

/// A refused step, with the state it would have consumed, exactly as it was.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct Rejected<S> {
    /// The state, to go on with.
    pub state: S,
    /// Why the step was refused.
    pub why: Refused,
}
