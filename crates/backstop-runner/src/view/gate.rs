//! A gate that waits for a person, with the commands that answer it.

use backstop_engine::mode::Verdict;
use backstop_engine::vocab::{CommitId, Digest, GateId, MissionId, Timestamp};
use backstop_engine::{Gate, GateKind, Mission, Reason, Verb};
use serde::Serialize;

use super::{Because, GateLine, holders};
use crate::{offers, words};

/// A gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GateView {
    /// Whose it is.
    pub mission: MissionId,
    /// Its id.
    pub id: GateId,
    /// Which gate.
    pub kind: GateKind,
    /// Why it opened, in order; each reason by the name that its rule has behind `gated.`.
    pub reasons: Vec<Because>,
    /// What an approval covers, where the gate has a digest.
    pub digest: Option<Digest>,
    /// The lane's commit, which has that digest.
    pub commit: Option<CommitId>,
    /// What Validate found, at its gate.
    pub verdict: Option<Verdict>,
    /// Every gate between roles that holds, where an answer is about them.
    pub holders: Vec<GateLine>,
    /// The answers it takes.
    pub offers: Vec<Verb>,
    /// How to give each of them.
    pub answers: Vec<Offer>,
    /// Since when.
    pub opened_at: Timestamp,
    /// When the mission parks if nobody answers.
    pub expires_at: Timestamp,
}

/// One answer that a gate takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Offer {
    /// The answer.
    pub verb: Verb,
    /// What it does.
    pub does: String,
    /// The command that gives it.
    pub command: String,
}

/// Reasons by their names, with their words.
#[must_use]
pub fn reasons(reasons: &[Reason]) -> Vec<Because> {
    let one = |reason: &Reason| Because {
        rule: words::reason_name(*reason),
        words: words::reason(*reason),
    };
    reasons.iter().map(one).collect()
}

/// The gate of a mission that can be answered now.
#[must_use]
pub fn gate(mission: &Mission, gate: &Gate) -> GateView {
    let id = &mission.charter().fields().mission;
    let offer = |verb: &Verb| Offer {
        verb: *verb,
        does: offers::offer(mission, gate, *verb),
        command: offers::command(mission, gate, *verb),
    };
    let head = &mission.lane().head;
    GateView {
        mission: id.clone(),
        id: gate.id.clone(),
        kind: gate.kind,
        reasons: reasons(&gate.reasons),
        digest: gate.digest,
        commit: gate.digest.map(|_| head.commit.clone()),
        verdict: gate.verdict,
        holders: holders(mission, gate),
        offers: gate.offers.clone(),
        answers: gate.offers.iter().map(offer).collect(),
        opened_at: gate.opened_at,
        expires_at: gate.expires_at,
    }
}
