//! Why a loop stopped. None of these is success, and none can be ratified.

use alloc::vec::Vec;
use core::fmt;

use backstop_vocab::{Digest, Note, Signature};
use serde::{Deserialize, Serialize};

use crate::review::Verdict;
use crate::route::{Missing, Party};

/// A bound of the loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ceiling {
    /// Slots.
    Iterations,
    /// The time that slots took together.
    WallClockSecs,
    /// The tool calls that slots took together.
    ToolCalls,
    /// Red host checks before a review.
    RedChecks,
}

impl Ceiling {
    /// The name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Iterations => "iterations",
            Self::WallClockSecs => "wall_clock_secs",
            Self::ToolCalls => "tool_calls",
            Self::RedChecks => "red_checks",
        }
    }
}

/// Why a review establishes nothing.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Inconclusive {
    /// Receipts stayed incomplete once too often in one slot.
    Incomplete {
        /// What the last submission lacked.
        missing: Vec<Missing>,
    },
    /// A verifier is required and gave nothing.
    NoVerifier,
    /// Two parties were one session, so that one judged its own work.
    SharedSession {
        /// One of them.
        one: Party,
        /// The other.
        other: Party,
    },
    /// There was no verdict.
    NoVerdict,
    /// The verdict was clean and findings were open.
    CleanWithFindings,
    /// The verdict was clean and the host's own check was red.
    CleanAgainstRed,
    /// Repairs were wanted and no finding says which.
    RepairsWithoutFindings,
}

impl Inconclusive {
    const fn words(&self) -> &'static str {
        match self {
            Self::Incomplete { .. } => "its receipts stayed incomplete",
            Self::NoVerifier => "it has no evidence of a verifier",
            Self::SharedSession { .. } => "two of its parties were one session",
            Self::NoVerdict => "it has no verdict",
            Self::CleanWithFindings => "its verdict is clean and findings are open",
            Self::CleanAgainstRed => "its verdict is clean and the host's check is red",
            Self::RepairsWithoutFindings => "it wants repairs and names none",
        }
    }
}

/// How a repair stalled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stall {
    /// The digest did not change.
    NoProgress,
    /// The digest was there before.
    Oscillation,
}

/// Why a loop stopped.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// Bounds are used up; an honest incompletion.
    Ceilings {
        /// Every bound that was reached or passed, in the order of [`Ceiling`].
        passed: Vec<Ceiling>,
        /// The verdict of the review that passed them; none where no review was judged then.
        verdict: Option<Verdict>,
    },
    /// The digest is another one than the pin, and no repair explains it.
    StaleInput {
        /// The pin.
        pin: Digest,
        /// What was there.
        found: Digest,
    },
    /// A review establishes nothing.
    Inconclusive(Inconclusive),
    /// Repairs go nowhere.
    Stalled {
        /// How the last one stalled.
        last: Stall,
        /// Stalled repairs in a row.
        in_a_row: u32,
    },
    /// A person declined a clean verdict.
    Declined {
        /// Who.
        by: Signature,
        /// Why.
        note: Note,
    },
}

impl StopReason {
    /// The stable name of the reason.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Ceilings { .. } => "ceilings",
            Self::StaleInput { .. } => "stale_input",
            Self::Inconclusive(_) => "inconclusive",
            Self::Stalled { .. } => "stalled",
            Self::Declined { .. } => "declined",
        }
    }
}

fn ceilings(
    f: &mut fmt::Formatter<'_>,
    passed: &[Ceiling],
    verdict: Option<Verdict>,
) -> fmt::Result {
    f.write_str("used up:")?;
    let mut between = " ";
    for ceiling in passed {
        write!(f, "{between}{}", ceiling.name())?;
        between = ", ";
    }
    f.write_str(match verdict {
        Some(Verdict::Clean) => "; the verdict was clean",
        Some(Verdict::RepairsNeeded) => "; repairs are needed",
        None => "",
    })
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ceilings { passed, verdict } => ceilings(f, passed, *verdict),
            Self::StaleInput { pin, found } => {
                write!(
                    f,
                    "`{found}` is not the pinned `{pin}` and no repair explains it"
                )
            }
            Self::Inconclusive(why) => write!(f, "the review is inconclusive: {}", why.words()),
            Self::Stalled { last, in_a_row } => {
                let how = match last {
                    Stall::NoProgress => "changed nothing",
                    Stall::Oscillation => "went back to an earlier digest",
                };
                write!(f, "the repair {how}; stalled in a row: {in_a_row}")
            }
            Self::Declined { by, note } => write!(f, "declined by `{by}`: {note}"),
        }
    }
}
