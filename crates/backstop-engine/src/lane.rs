//! The run of one phase through the stages.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use backstop_gates::{Board, Handoffs, Judged};
use backstop_mode::Baseline;
use backstop_outcome::Status;
use backstop_review::{Findings, Loop, RouteReceipt};
use backstop_vocab::{Attempt, CommitId, Digest, LaneId, Phase, Stage, Visit};
use serde::Serialize;

use crate::{Brief, CheckResult, Head, Role, SessionId};

/// What a reviewer let pass, until the verifier and the host have had their say.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Passed {
    /// Who judged.
    pub route: RouteReceipt,
    /// What it left open in spite of its verdict.
    pub findings: Findings,
    /// Who tried it out, once the verifier has let it pass too.
    pub verifier: Option<RouteReceipt>,
}

/// Where a lane stands.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Lane {
    /// The phase it runs.
    pub phase: Phase,
    /// The stage it is in.
    pub stage: Stage,
    /// The last visit of each stage it has entered.
    pub visits: BTreeMap<Stage, Visit>,
    /// Whose turn it is in the present visit; nobody's while the host works.
    pub role: Option<Role>,
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
    /// The gates between its roles.
    pub board: Board,
    /// What its roles hand on.
    pub handoffs: Handoffs,
    /// The newest artifact of each role.
    pub artifacts: BTreeMap<Role, Digest>,
    /// The review loop, from the first Validate with a reviewer on.
    pub review: Option<Loop>,
    /// Who did the work that is judged.
    pub implementer: Option<RouteReceipt>,
    /// What the reviewer let pass in the present visit.
    pub passed: Option<Passed>,
    /// The last attempt of each role that ended in success.
    pub(crate) completed: BTreeMap<Role, Attempt>,
    /// How often the role was asked again for its verdict.
    pub asked_again: u32,
    /// Where its branch was found during the last review, when someone had moved it.
    pub moved: Option<Head>,
    /// Tool calls that the open review slot used.
    pub(crate) slot_calls: u64,
    /// The tree that may land: judged clean, or overridden by an operator.
    // INVARIANT: set only where Validate is clean and where an operator overrides; gone on every entry into Code.
    pub(crate) cleared: Option<Digest>,
}

impl Lane {
    /// A lane before its first stage.
    pub(crate) fn new(id: LaneId, phase: Phase, stage: Stage, head: Head, board: Board) -> Self {
        Self {
            phase,
            stage,
            visits: BTreeMap::new(),
            role: None,
            attempt: None,
            entry: head.clone(),
            head,
            session: None,
            baseline: Baseline::default(),
            briefs: Vec::new(),
            last: None,
            checks: Vec::new(),
            board,
            handoffs: Handoffs::new(id),
            artifacts: BTreeMap::new(),
            review: None,
            implementer: None,
            passed: None,
            completed: BTreeMap::new(),
            asked_again: 0,
            moved: None,
            slot_calls: 0,
            cleared: None,
        }
    }

    /// What is there for gates to judge.
    #[must_use]
    pub fn judged(&self) -> Judged {
        let artifacts = self.artifacts.iter();
        artifacts.fold(Judged::of_tree(self.head.tree), |judged, (role, digest)| {
            judged.with(role.artifact(), *digest)
        })
    }

    /// The present visit of the present stage.
    #[must_use]
    pub fn visit(&self) -> Visit {
        self.visits
            .get(&self.stage)
            .copied()
            .unwrap_or(Visit::FIRST)
    }

    /// Enters `stage` once more. A visit in which nobody was let in did not happen.
    pub(crate) fn enter(&mut self, stage: Stage) {
        if self.stage == Stage::Code && self.attempt.is_none() {
            self.visits.remove(&Stage::Code);
        }
        let visit = self
            .visits
            .get(&stage)
            .map_or(Visit::FIRST, |last| last.next());
        self.visits.insert(stage, visit);
        self.stage = stage;
        self.turn(None);
        self.attempt = None;
        self.passed = None;
        self.moved = None;
        self.entry = self.head.clone();
        if stage == Stage::Code {
            self.cleared = None;
        }
    }

    /// It is this role's turn, and a new conversation.
    pub(crate) fn turn(&mut self, role: Option<Role>) {
        self.role = role;
        self.session = None;
        self.asked_again = 0;
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
    /// What its implementer left to read.
    pub report: Option<Digest>,
}
