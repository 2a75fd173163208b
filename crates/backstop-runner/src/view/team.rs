//! What the roles of a lane make of each other's work: the gates between them, the review loop, and what they hand on.

use std::path::PathBuf;

use backstop_engine::gates::{self, Fate, Handoff, Holder, Payload, StateKind, StatusLine};
use backstop_engine::mode::Verdict;
use backstop_engine::review::{self, Entry, Loop};
use backstop_engine::vocab::{
    Digest, GateId, HandoffId, Phase, RoleName, Signature, Timestamp, Visit,
};
use backstop_engine::{Gate, GateKind, Lane, Mission};
use serde::Serialize;

use crate::blobs::Blobs;
use crate::history::History;

/// A gate between roles, as it counts now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GateLine {
    /// The gate.
    pub gate: GateId,
    /// What opens it.
    pub kind: gates::GateKind,
    /// Its role.
    pub role: RoleName,
    /// Its state.
    pub state: StateKind,
    /// Why it is so, or who opened it.
    pub reason: String,
    /// Who is waited for; nobody when it is open.
    pub asked: Option<String>,
    /// What would open it; nothing when it is open.
    pub opens: Option<String>,
}

/// The gates between roles that an answer to `gate` is about; none where it is about something else.
#[must_use]
pub fn holders(mission: &Mission, gate: &Gate) -> Vec<GateLine> {
    let failed = gate.verdict == Some(Verdict::RepairsNeeded);
    if gate.kind != GateKind::Held && !failed {
        return Vec::new();
    }
    let line = |holder: Holder| GateLine {
        opens: Some(opens(holder.kind, &holder.role, holder.state)),
        reason: holder.reason.to_string(),
        asked: Some(holder.asked.to_string()),
        gate: holder.gate,
        kind: holder.kind,
        role: holder.role,
        state: holder.state,
    };
    mission.holders().into_iter().map(line).collect()
}

/// Every gate between the roles of the lane.
#[must_use]
pub fn board(lane: &Lane) -> Vec<GateLine> {
    let shown = |gate: StatusLine| GateLine {
        opens: gate
            .asked
            .is_some()
            .then(|| opens(gate.kind, &gate.role, gate.state)),
        reason: gate.reason,
        asked: gate.asked.map(|asked| asked.to_string()),
        gate: gate.gate,
        kind: gate.kind,
        role: gate.role,
        state: gate.state,
    };
    let gates = lane.board.status(&lane.judged());
    gates.into_iter().map(shown).collect()
}

/// What would open a gate that holds.
fn opens(kind: gates::GateKind, role: &RoleName, state: StateKind) -> String {
    let evidence = match kind {
        gates::GateKind::Verify => "green host checks".to_owned(),
        gates::GateKind::Review => format!("a pass of the {role}"),
        gates::GateKind::Approve => "your approval".to_owned(),
    };
    match state {
        StateKind::Pending | StateKind::Passed | StateKind::Overridden | StateKind::Waived => {
            evidence
        }
        StateKind::Retrying => format!("{evidence}, once the {role} has worked again"),
        StateKind::Blocked => {
            format!("{evidence} of new work after a way back to Code, or your override with a note")
        }
        StateKind::Escalated => {
            format!("your override with a note, or {evidence} once you had the {role} work again")
        }
    }
}

/// A review loop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReviewView {
    /// The phase whose work is reviewed.
    pub phase: Phase,
    /// Which loop of that phase it is, from 1; of the present one alone where no history is looked at.
    pub number: usize,
    /// Where the loop is.
    pub state: review::StateKind,
    /// What it used of its bounds.
    pub budget: String,
    /// The tree that it is about.
    pub pin: Digest,
    /// How often a repair moved the pin.
    pub moved: usize,
    /// Who took part, each once: what was asked and what really ran.
    pub routes: Vec<String>,
    /// What the last review or red check found.
    pub findings: Vec<String>,
    /// Why it stopped, where it did.
    pub stopped: Option<String>,
    /// The person who ratified or declined its verdict, where one did.
    pub answered_by: Option<Signature>,
}

/// The review loop of a lane, from its first Validate with a reviewer on.
#[must_use]
pub fn review(lane: &Lane) -> Option<ReviewView> {
    let review = lane.review.as_ref()?;
    let receipt = review.receipt();
    let entries = receipt.entries().iter();
    let moved = |entry: &&Entry| matches!(entry, Entry::Repaired { from, to, .. } if from != to);
    let answered = entries.clone().rev().find_map(|entry| match entry {
        Entry::Answered { by, .. } => Some(by.clone()),
        Entry::Reviewed(_)
        | Entry::Incomplete { .. }
        | Entry::Red { .. }
        | Entry::Repaired { .. } => None,
    });
    Some(ReviewView {
        phase: lane.phase,
        number: 1,
        state: review.kind(),
        budget: receipt.budget_line(),
        pin: receipt.pin(),
        moved: entries.filter(moved).count(),
        routes: receipt.route_lines(),
        findings: receipt
            .findings()
            .iter()
            .map(|one| one.as_str().to_owned())
            .collect(),
        stopped: match review {
            Loop::Stopped(stopped) => Some(stopped.reason().to_string()),
            Loop::Ready(_)
            | Loop::Reviewing(_)
            | Loop::Repairing(_)
            | Loop::Parked(_)
            | Loop::Verified(_) => None,
        },
        answered_by: answered,
    })
}

/// Every review loop of a mission, in order, each as it was last seen.
pub(super) fn reviews(history: &History) -> Vec<ReviewView> {
    let mut seen: Vec<ReviewView> = Vec::new();
    let mut before: Option<(Phase, Loop)> = None;
    for (_, mission) in history.walk() {
        let lane = mission.lane();
        if let (Some(now), Some(mut view)) = (&lane.review, review(lane)) {
            let goes_on = before
                .as_ref()
                .is_some_and(|(phase, before)| *phase == lane.phase && continues(before, now));
            if goes_on {
                seen.pop();
            }
            let earlier = seen.iter().filter(|one| one.phase == view.phase).count();
            view.number = earlier.saturating_add(1);
            seen.push(view);
        }
        before = lane.review.clone().map(|review| (lane.phase, review));
    }
    seen
}

/// Whether `now` is the same loop as `before`: its record only grows, and it does not come back from an end.
fn continues(before: &Loop, now: &Loop) -> bool {
    let ended = |one: &Loop| matches!(one, Loop::Stopped(_) | Loop::Verified(_));
    let grown = now
        .receipt()
        .entries()
        .starts_with(before.receipt().entries());
    grown && (!ended(before) || ended(now))
}

/// What became of a handoff.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HandoffState {
    /// Not delivered yet.
    Waiting,
    /// Delivered to a visit that goes on.
    Reserved,
    /// Delivered to a visit that ended in success.
    Committed,
    /// Replaced by that of a later visit.
    Superseded,
}

impl HandoffState {
    /// The name, as `--json` prints it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Reserved => "reserved",
            Self::Committed => "committed",
            Self::Superseded => "superseded",
        }
    }
}

/// Something that a role or a person handed on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HandoffView {
    /// The phase in whose lane it is.
    pub phase: Phase,
    /// Its name there.
    pub id: HandoffId,
    /// Who made it.
    pub from: RoleName,
    /// Who reads it.
    pub to: RoleName,
    /// What it is.
    pub kind: String,
    /// When it was made.
    pub at: Timestamp,
    /// What became of it.
    pub state: HandoffState,
    /// The visit that it was delivered to.
    pub visit: Option<Visit>,
    /// Its beginning.
    pub text: String,
    /// The whole, where it is longer.
    pub whole: Option<PathBuf>,
}

/// What was handed on in a lane, in order.
#[must_use]
pub fn handoffs(lane: &Lane, blobs: &Blobs) -> Vec<HandoffView> {
    let view = |(handoff, fate): (&Handoff, Fate)| {
        let (state, visit) = match fate {
            Fate::Waiting => (HandoffState::Waiting, None),
            Fate::Reserved(visit) => (HandoffState::Reserved, Some(visit)),
            Fate::Committed(visit) => (HandoffState::Committed, Some(visit)),
            Fate::Superseded => (HandoffState::Superseded, None),
        };
        let (text, whole) = match handoff.payload() {
            Payload::Inline(words) => (words.to_string(), None),
            Payload::Blob { digest, head } => (head.to_string(), blobs.path(digest).ok()),
        };
        HandoffView {
            phase: lane.phase,
            id: handoff.id().clone(),
            from: handoff.from().clone(),
            to: handoff.to().clone(),
            kind: handoff.kind().as_str().to_owned(),
            at: handoff.created_at(),
            state,
            visit,
            text,
            whole,
        }
    };
    lane.handoffs.all().map(view).collect()
}
