//! A gate that waits for a person, with the commands that answer it.

use backstop_engine::mode::Verdict;
use backstop_engine::vocab::{CommitId, Digest, GateId, MissionId, Timestamp};
use backstop_engine::{Gate, GateKind, Mission, Reason, Verb};
use serde::Serialize;

use super::{Because, GateLine, holders};
use crate::git::{LaneRef, Names};
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
    /// Where someone moved the branch of the lane to during the review, and how to go on.
    pub moved: Option<MovedView>,
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

/// A lane's branch that someone moved during a review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MovedView {
    /// The ref, in the operator's repository.
    pub name: String,
    /// The commit that is reviewed.
    pub from: CommitId,
    /// Its tree.
    pub from_tree: Digest,
    /// The commit that the ref was moved to.
    pub to: CommitId,
    /// Its tree.
    pub to_tree: Digest,
    /// The command that puts the ref back.
    pub put_back: String,
    /// The command that goes on with what was reviewed, once the ref is back.
    pub keep: String,
    /// The command that takes what the ref was moved to for the work.
    pub take: String,
}

impl MovedView {
    /// The command that puts the ref back from where it is now; none where it is gone.
    #[must_use]
    pub fn back_from(&self, now: Option<&CommitId>) -> String {
        put_back(&self.name, &self.from, now)
    }
}

/// The old value is named, so that a push in between is not lost.
fn put_back(name: &str, from: &CommitId, now: Option<&CommitId>) -> String {
    let now = now.map(|now| format!(" {now}")).unwrap_or_default();
    format!("git update-ref {name} {from}{now}")
}

/// The move that a gate is about, where it is about one.
#[must_use]
pub fn moved(mission: &Mission, gate: &Gate) -> Option<MovedView> {
    let lane = mission.lane();
    let found = lane.moved.as_ref()?;
    let verb = [Verb::Retry, Verb::Grant];
    let verb = verb.into_iter().find(|verb| gate.offers.contains(verb))?;
    let fields = mission.charter().fields();
    let kind = fields.plan.phase(lane.phase)?.kind();
    let name = Names::of(&fields.mission).lane(LaneRef {
        phase: lane.phase,
        kind,
    });
    let keep = offers::command(mission, gate, verb);
    Some(MovedView {
        from: lane.head.commit.clone(),
        from_tree: lane.head.tree,
        to: found.commit.clone(),
        to_tree: found.tree,
        put_back: put_back(&name, &lane.head.commit, Some(&found.commit)),
        take: format!("{keep} --digest {}", found.tree),
        keep,
        name,
    })
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
        moved: moved(mission, gate),
        offers: gate.offers.clone(),
        answers: gate.offers.iter().map(offer).collect(),
        opened_at: gate.opened_at,
        expires_at: gate.expires_at,
    }
}
