//! The run of one phase through the stages.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use backstop_mode::Baseline;
use backstop_outcome::Status;
use backstop_vocab::{Attempt, CommitId, Digest, Phase, Stage, Visit};
use serde::Serialize;

use crate::{Brief, CheckResult, Head, SessionId};

/// Where a lane stands.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Lane {
    /// The phase it runs.
    pub phase: Phase,
    /// The stage it is in.
    pub stage: Stage,
    /// The last visit of each stage it has entered.
    pub visits: BTreeMap<Stage, Visit>,
    /// The last attempt of the present visit.
    pub attempt: Option<Attempt>,
    /// Its branch head when the present visit began.
    pub entry: Head,
    /// Its branch head now.
    pub head: Head,
    /// The session that the next attempt of this visit can take up.
    pub session: Option<SessionId>,
    /// What earlier failed Validate visits measured.
    pub baseline: Baseline,
    /// What the next launch must be told besides its task.
    pub briefs: Vec<Brief>,
    /// How the last attempt ended, evidence weighed.
    pub last: Option<Status>,
    /// What the last check run said.
    pub checks: Vec<CheckResult>,
    /// The tree that may land: judged clean, or overridden by an operator.
    // INVARIANT: set only where Validate is clean and where an operator overrides; gone on every entry into Code.
    pub(crate) cleared: Option<Digest>,
}

impl Lane {
    /// A lane before its first stage.
    pub(crate) fn new(phase: Phase, stage: Stage, head: Head) -> Self {
        Self {
            phase,
            stage,
            visits: BTreeMap::new(),
            attempt: None,
            entry: head.clone(),
            head,
            session: None,
            baseline: Baseline::default(),
            briefs: Vec::new(),
            last: None,
            checks: Vec::new(),
            cleared: None,
        }
    }

    /// The present visit of the present stage.
    #[must_use]
    pub fn visit(&self) -> Visit {
        self.visits
            .get(&self.stage)
            .copied()
            .unwrap_or(Visit::FIRST)
    }

    /// Enters `stage` once more.
    pub(crate) fn enter(&mut self, stage: Stage) {
        let visit = self
            .visits
            .get(&stage)
            .map_or(Visit::FIRST, |last| last.next());
        self.visits.insert(stage, visit);
        self.stage = stage;
        self.attempt = None;
        self.session = None;
        self.entry = self.head.clone();
        if stage == Stage::Code {
            self.cleared = None;
        }
    }

    /// Numbers the next attempt of this visit.
    pub(crate) fn begin_attempt(&mut self) -> Attempt {
        let attempt = self.attempt.map_or(Attempt::FIRST, Attempt::next);
        self.attempt = Some(attempt);
        attempt
    }
}

/// A lane that is on the mission branch.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Landed {
    /// The phase it ran.
    pub phase: Phase,
    /// Its commit.
    pub commit: CommitId,
    /// The tree that was judged.
    pub tree: Digest,
}
