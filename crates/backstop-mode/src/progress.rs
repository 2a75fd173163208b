//! Whether a failed Validate was preceded by new work. What it does not establish: that the work addressed anything.

use alloc::vec::Vec;

use backstop_vocab::Digest;
use serde::{Deserialize, Serialize};

/// What the host measured of a lane at a failed Validate. What could not be measured is absent, which is not zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// The number of commits on the lane's branch.
    pub commits: Option<u64>,
    /// The digest of the tree of its head.
    pub tree: Option<Digest>,
}

impl Measured {
    const fn whole(self) -> Option<(u64, Digest)> {
        match (self.commits, self.tree) {
            (Some(commits), Some(tree)) => Some((commits, tree)),
            (None, _) | (_, None) => None,
        }
    }
}

/// Whether a failure begins a new streak or goes on with the old one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Progress {
    /// The first failure, or new work since the earlier ones.
    Made,
    /// Nothing new, or it could not be told.
    None,
}

/// Judges a failed Validate against *all* earlier ones of the phase, those that could not be measured included.
///
/// Without an earlier failure it is progress. Otherwise progress needs a commit count strictly above every measured
/// earlier one and a tree that no measured earlier failure had. Nothing measured, now or earlier, is no progress. A
/// failure of which only one half was measured counts as not measured.
#[must_use]
pub fn progress(earlier: &[Measured], now: Measured) -> Progress {
    if earlier.is_empty() {
        return Progress::Made;
    }
    let measured = || earlier.iter().filter_map(|m| m.whole());
    let highest = measured().map(|(commits, _)| commits).max();
    match (now.whole(), highest) {
        (Some((commits, tree)), Some(highest))
            if commits > highest && measured().all(|(_, seen)| seen != tree) =>
        {
            Progress::Made
        }
        (Some(_) | None, Some(_) | None) => Progress::None,
    }
}

/// The failures of one phase so far, to judge the next by.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
#[must_use]
pub struct Baseline {
    // INVARIANT: every failure of the phase in order, measured or not: that there was one counts by itself.
    failures: Vec<Measured>,
}

impl Baseline {
    /// No failure yet.
    pub const fn new() -> Self {
        Self {
            failures: Vec::new(),
        }
    }

    /// Judges one more failure and remembers it.
    pub fn judge(&self, now: Measured) -> (Self, Progress) {
        let judged = progress(&self.failures, now);
        let mut failures = self.failures.clone();
        failures.push(now);
        (Self { failures }, judged)
    }
}
