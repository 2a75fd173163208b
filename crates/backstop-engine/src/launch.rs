//! The launch of an agent: what it is told, what it may spend, and the proof that it was paid for.

use alloc::vec::Vec;

use backstop_gates::{Admitted, Handoff, NoVerdict};
use backstop_mode::Paid;
use backstop_outcome::StatusKind;
use backstop_vocab::{Attempt, CommitId, Digest, Phase, Stage, Text, Visit};
use serde::Serialize;

use crate::{AgentSpec, CheckResult, Role, SessionId};

/// Something an agent must be told besides its task.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Brief {
    /// The host checks were red before any work.
    RedBase(Vec<CheckResult>),
    /// The host checks are red on the work.
    RedChecks(Vec<CheckResult>),
    /// The attempt before this one was cut off and is taken up again.
    TakenUp(StatusKind),
    /// It asked, and the standing answer is: decide, and record the assumption.
    Decide,
    /// The moved base contradicts the work.
    Conflict(Text<2048>),
    /// It judged, and its answer has no verdict.
    AskedAgain(NoVerdict),
}

/// What the implementer of an earlier phase left to read.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Report {
    /// The phase.
    pub phase: Phase,
    /// Its content.
    pub digest: Digest,
}

/// What an attempt may still spend, of each effort account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub struct Allowance {
    /// Tool calls.
    pub tool_calls: u64,
    /// Tokens: uncached input plus output.
    pub tokens: u64,
    /// Millionths of a US dollar.
    pub cost: u64,
    /// Milliseconds of run time.
    pub active_ms: u64,
}

/// What is to be launched.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Order {
    /// Who it is.
    pub role: Role,
    /// Which agent, and how.
    pub agent: AgentSpec,
    /// The lane's phase.
    pub phase: Phase,
    /// The stage.
    pub stage: Stage,
    /// The visit.
    pub visit: Visit,
    /// The attempt.
    pub attempt: Attempt,
    /// The commit that the visit began on.
    pub entry: CommitId,
    /// The commit it starts on.
    pub start: CommitId,
    /// The session to take up, where there is one.
    pub session: Option<SessionId>,
    /// What it must be told.
    pub briefs: Vec<Brief>,
    /// What other roles and the operator hand on to it, newest first.
    pub handoffs: Vec<Handoff>,
    /// What earlier phases reported.
    pub reports: Vec<Report>,
    /// What it may spend.
    pub allowance: Allowance,
}

/// A launch that was charged and let in. There is no other way to build one than to hand in both proofs.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Launch {
    // INVARIANT: built only by `new`, which consumes a `Paid` and an `Admitted`.
    order: Order,
}

impl Launch {
    pub(crate) fn new(_paid: Paid, _admitted: Admitted, order: Order) -> Self {
        Self { order }
    }

    /// What is to be launched.
    #[must_use]
    pub const fn order(&self) -> &Order {
        &self.order
    }
}
