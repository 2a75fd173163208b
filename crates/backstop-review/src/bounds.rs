//! How far a loop may go, and what it demands. What was spent is in `receipt`.

use alloc::vec::Vec;
use core::fmt;

use backstop_vocab::Span;
use serde::{Deserialize, Serialize};

/// One bound outside its range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("`{name}` is {value}: use {least} to {most}")]
pub struct BoundsFault {
    /// The key of the bound.
    pub name: &'static str,
    /// The refused value.
    pub value: u64,
    /// The smallest accepted value.
    pub least: u64,
    /// The hard cap.
    pub most: u64,
}

/// Bounds that cannot be used: every fault at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
pub struct BoundsError {
    /// The faults, in the order of the keys; at least one.
    pub faults: Vec<BoundsFault>,
}

impl fmt::Display for BoundsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut between = "";
        for fault in &self.faults {
            write!(f, "{between}{fault}")?;
            between = "; ";
        }
        Ok(())
    }
}

/// Bounds as they are written, not yet checked; a key that is left out has its default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BoundsDraft {
    /// Slots that may be judged; 0 means that the loop never starts. Default 3.
    pub iterations: u32,
    /// Seconds that slots may take together. Default 900.
    pub wall_clock_secs: u64,
    /// Tool calls that slots may take together. Default 120.
    pub tool_calls: u64,
    /// Stalled repairs in a row that stop the loop. Default 1.
    pub stalled_repairs: u32,
}

impl Default for BoundsDraft {
    fn default() -> Self {
        Self {
            iterations: 3,
            wall_clock_secs: 900,
            tool_calls: 120,
            stalled_repairs: 1,
        }
    }
}

/// Bounds that hold: every one finite and within its hard cap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "BoundsDraft", into = "BoundsDraft")]
pub struct Bounds {
    // INVARIANT: at most MOST_ITERATIONS.
    iterations: u32,
    // INVARIANT: 1 to MOST_WALL_CLOCK_SECS.
    wall_clock_secs: u64,
    // INVARIANT: 1 to MOST_TOOL_CALLS.
    tool_calls: u64,
    // INVARIANT: 1 to MOST_STALLED_REPAIRS.
    stalled_repairs: u32,
}

impl Bounds {
    /// The hard cap of iterations.
    pub const MOST_ITERATIONS: u32 = 50;
    /// The hard cap of the time that slots take together: a week.
    pub const MOST_WALL_CLOCK_SECS: u64 = 604_800;
    /// The hard cap of tool calls.
    pub const MOST_TOOL_CALLS: u64 = 100_000;
    /// The hard cap of stalled repairs in a row.
    pub const MOST_STALLED_REPAIRS: u32 = 10;
    /// Red host checks that one loop takes before a review. They spend no iteration, so they have a bound of their own.
    pub const MOST_RED_CHECKS: u32 = 50;
    /// Submissions of one slot that may lack part of a receipt; one more is inconclusive.
    pub const MOST_INCOMPLETE: u8 = 3;

    /// Slots that may be judged.
    #[must_use]
    pub const fn iterations(&self) -> u32 {
        self.iterations
    }

    /// The time that slots may take together.
    #[must_use]
    pub const fn wall_clock(&self) -> Span {
        Span::from_secs(self.wall_clock_secs)
    }

    /// Tool calls that slots may take together.
    #[must_use]
    pub const fn tool_calls(&self) -> u64 {
        self.tool_calls
    }

    /// Stalled repairs in a row that stop the loop.
    #[must_use]
    pub const fn stalled_repairs(&self) -> u32 {
        self.stalled_repairs
    }
}

impl Default for Bounds {
    fn default() -> Self {
        let draft = BoundsDraft::default();
        Self {
            iterations: draft.iterations,
            wall_clock_secs: draft.wall_clock_secs,
            tool_calls: draft.tool_calls,
            stalled_repairs: draft.stalled_repairs,
        }
    }
}

fn fault(name: &'static str, value: u64, least: u64, most: u64) -> Option<BoundsFault> {
    let refused = BoundsFault {
        name,
        value,
        least,
        most,
    };
    (value < least || value > most).then_some(refused)
}

impl TryFrom<BoundsDraft> for Bounds {
    type Error = BoundsError;
    fn try_from(draft: BoundsDraft) -> Result<Self, BoundsError> {
        let (iterations, stalled) = (draft.iterations.into(), draft.stalled_repairs.into());
        let (secs, calls) = (draft.wall_clock_secs, draft.tool_calls);
        let faults: Vec<BoundsFault> = [
            fault("iterations", iterations, 0, Self::MOST_ITERATIONS.into()),
            fault("wall_clock_secs", secs, 1, Self::MOST_WALL_CLOCK_SECS),
            fault("tool_calls", calls, 1, Self::MOST_TOOL_CALLS),
            fault(
                "stalled_repairs",
                stalled,
                1,
                Self::MOST_STALLED_REPAIRS.into(),
            ),
        ]
        .into_iter()
        .flatten()
        .collect();
        if !faults.is_empty() {
            return Err(BoundsError { faults });
        }
        Ok(Self {
            iterations: draft.iterations,
            wall_clock_secs: draft.wall_clock_secs,
            tool_calls: draft.tool_calls,
            stalled_repairs: draft.stalled_repairs,
        })
    }
}

impl From<Bounds> for BoundsDraft {
    fn from(bounds: Bounds) -> Self {
        Self {
            iterations: bounds.iterations,
            wall_clock_secs: bounds.wall_clock_secs,
            tool_calls: bounds.tool_calls,
            stalled_repairs: bounds.stalled_repairs,
        }
    }
}

/// Whether something must be there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Require {
    /// It must.
    #[default]
    Required,
    /// The loop goes on without it.
    NotRequired,
}

/// What happens to the iteration of a slot that crashed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AbandonedSlot {
    /// It is spent: the next slot has the next number.
    #[default]
    Spent,
    /// It is kept: the next slot has the same number. The clock then bounds how often a slot may crash.
    Kept,
}

/// What the loop demands. Every key that is left out has the stricter value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Policy {
    /// A person ratifies a clean verdict.
    pub human_ratification: Require,
    /// A verifier's receipt or host evidence comes with each review.
    pub verifier_receipt: Require,
    /// The iteration of a slot that crashed.
    pub abandoned_slot: AbandonedSlot,
}

const _: () = assert!(Bounds::MOST_ITERATIONS >= 3 && Bounds::MOST_WALL_CLOCK_SECS >= 900);
const _: () = assert!(Bounds::MOST_TOOL_CALLS >= 120 && Bounds::MOST_STALLED_REPAIRS >= 1);
