//! The report of a mission: what is proven, what is not done and why, what is wanted, what was spent, and the evidence.

use std::path::PathBuf;

use backstop_engine::plan::PhaseSpec;
use backstop_engine::vocab::{
    CommitId, Digest, GateId, Note, Phase, PhaseKind, Signature, Timestamp,
};
use backstop_engine::{
    Answer, CheckResult, CheckVerdict, Checked, ChecksRan, Effect, Ended, Fact, GateKind, Landed,
    Lane, Mission, PointVerdict, Position, PreflightRan, Role, Verb,
};
use serde::Serialize;

use super::attempts::{AttemptView, attempts};
use super::{HandoffView, ReviewView, Status, handoffs, reviews, status};
use crate::blobs::Blobs;
use crate::edge::{PlanOrigin, Settings};
use crate::history::{History, Step};
use crate::state::MissionDir;
use crate::{prompt, words};

/// The report of one mission.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Where it is, what it spent and what it needs.
    pub status: Status,
    /// The whole goal.
    pub goal: String,
    /// Who opened it.
    pub opened_by: Signature,
    /// The stored plan that it runs; none for a goal, and for a file that the opener named.
    pub plan: Option<PlanOrigin>,
    /// What is proven.
    pub proven: Proven,
    /// What is not done; none once the work was handed over.
    pub not_done: Option<NotDone>,
    /// What people decided, in order.
    pub answers: Vec<Answered>,
    /// Every launch of an agent, in order.
    pub attempts: Vec<AttemptView>,
    /// Every review loop, in order.
    pub reviews: Vec<ReviewView>,
    /// Everything that roles and people handed on, lane by lane.
    pub handoffs: Vec<HandoffView>,
    /// Where the release lead's notes are, once they are written.
    pub release_notes: Option<PathBuf>,
    /// Every run of the host's checks, in order.
    pub checks: Vec<CheckRunView>,
    /// What the last preflight wanted the operator to know.
    pub warnings: Vec<String>,
    /// The journal: the only truth.
    pub journal: PathBuf,
    /// The commit that the mission began on.
    pub base: CommitId,
}

/// What is proven.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Proven {
    /// Where the approved work was handed over to, once it was.
    pub shipped: Option<String>,
    /// The command that merges it, where it was handed over as a branch.
    pub merge: Option<String>,
    /// The phases whose work is on the mission branch.
    pub landed: Vec<LandedView>,
    /// Whether the mission was opened without any check.
    pub checks_waived: bool,
}

/// A phase whose work is on the mission branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LandedView {
    /// The phase.
    pub phase: Phase,
    /// Its kind.
    pub kind: Option<PhaseKind>,
    /// The commit.
    pub commit: CommitId,
    /// Its tree, which was judged.
    pub tree: Digest,
    /// What the host's checks said of this very tree.
    pub checks: Vec<CheckView>,
    /// The person who let this tree pass at Validate, if one did.
    pub let_pass_by: Option<Signature>,
}

/// What is not done, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NotDone {
    /// Where the mission stands instead.
    pub words: String,
    /// How the last attempt ended, evidence weighed.
    pub last_attempt: Option<String>,
    /// The tasks of phases whose work is not on the mission branch.
    pub phases: Vec<PhaseLeft>,
    /// The lane's commit, which no check has cleared.
    pub uncleared: Option<CommitId>,
}

/// A phase whose work is not on the mission branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PhaseLeft {
    /// The phase.
    pub phase: Phase,
    /// Its kind.
    pub kind: PhaseKind,
    /// The first line of its task.
    pub task: String,
}

/// An answer of a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Answered {
    /// When.
    pub at: Timestamp,
    /// Which gate.
    pub gate: GateId,
    /// Who.
    pub by: Signature,
    /// What they chose.
    pub verb: Verb,
    /// What it covered.
    pub digest: Option<Digest>,
    /// What they wrote.
    pub note: Option<Note>,
}

/// One run of the host's checks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CheckRunView {
    /// When it was over.
    pub at: Timestamp,
    /// The tree it ran on; none for the base, before any work.
    pub tree: Option<Digest>,
    /// What each check said.
    pub results: Vec<CheckView>,
}

/// What one check said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CheckView {
    /// The check.
    pub name: String,
    /// What it said.
    pub verdict: CheckVerdict,
    /// The same in words.
    pub words: String,
    /// Its output.
    pub log: Option<PathBuf>,
    /// Run time.
    pub active_ms: u64,
}

/// The report of the mission in `dir`.
#[must_use]
pub fn report(history: &History, dir: &MissionDir) -> Report {
    let mission = &history.mission;
    let fields = mission.charter().fields();
    let blobs = Blobs::at(dir.blobs());
    let notes = mission.lane().artifacts.get(&Role::ReleaseLead);
    Report {
        status: status(history, dir),
        goal: fields.goal.to_string(),
        opened_by: fields.opened_by.clone(),
        plan: Settings::thaw(mission.charter())
            .ok()
            .and_then(|settings| settings.plan),
        proven: proven(history, &blobs),
        not_done: not_done(mission),
        answers: answers(history),
        attempts: attempts(history, &blobs),
        reviews: reviews(history),
        handoffs: lanes(history)
            .iter()
            .flat_map(|lane| handoffs(lane, &blobs))
            .collect(),
        release_notes: notes.and_then(|digest| blobs.path(digest).ok()),
        checks: check_runs(history, &blobs),
        warnings: warnings(history),
        journal: dir.journal(),
        base: fields.base.commit.clone(),
    }
}

/// Every lane that was opened, in order, as it was last seen.
fn lanes(history: &History) -> Vec<Lane> {
    let mut lanes: Vec<Lane> = Vec::new();
    for (_, mission) in history.walk() {
        let lane = mission.lane().clone();
        match lanes.last_mut().filter(|seen| seen.phase == lane.phase) {
            Some(seen) => *seen = lane,
            None => lanes.push(lane),
        }
    }
    lanes
}

/// Every phase whose work is on the mission branch, in order.
#[must_use]
pub fn landed(history: &History, blobs: &Blobs) -> Vec<LandedView> {
    let landed = history.mission.landed().iter();
    landed.map(|one| landed_view(history, one, blobs)).collect()
}

fn proven(history: &History, blobs: &Blobs) -> Proven {
    let mission = &history.mission;
    let shipped = match mission.position() {
        Position::Ended(Ended::Shipped(place)) => Some(place.to_string()),
        Position::Ended(Ended::Aborted)
        | Position::Busy(_)
        | Position::Waiting(..)
        | Position::AtGate(..)
        | Position::Parked(..) => None,
    };
    let branch = shipped
        .as_deref()
        .and_then(|place| place.strip_prefix("branch "));
    Proven {
        merge: branch.map(|branch| format!("git merge {branch}")),
        shipped,
        landed: landed(history, blobs),
        checks_waived: mission.charter().fields().checked == Checked::Waived,
    }
}

fn landed_view(history: &History, landed: &Landed, blobs: &Blobs) -> LandedView {
    let plan = &history.mission.charter().fields().plan;
    let ran = history
        .steps
        .iter()
        .rev()
        .find_map(|step| checked(step).filter(|ran| ran.tree == landed.tree));
    LandedView {
        phase: landed.phase,
        kind: plan.phase(landed.phase).map(PhaseSpec::kind),
        commit: landed.commit.clone(),
        tree: landed.tree,
        checks: check_views(ran.map_or(&[], |ran| ran.results.as_slice()), blobs),
        let_pass_by: let_pass(history, landed),
    }
}

fn checked(step: &Step) -> Option<&ChecksRan> {
    let Fact::ChecksRan(ran) = &step.fact else {
        return None;
    };
    Some(ran)
}

/// Who approved this tree at a gate of Validate.
fn let_pass(history: &History, landed: &Landed) -> Option<Signature> {
    let at_validate = |answer: &Answer| {
        let gates = history.steps.iter().flat_map(|step| &step.effects);
        gates.into_iter().any(|(_, effect)| {
            matches!(effect, Effect::Ask(gate) if gate.id == answer.gate && gate.kind == GateKind::Validate)
        })
    };
    answers_of(history)
        .map(|(_, answer)| answer)
        .filter(|answer| answer.verb == Verb::Approve && answer.digest == Some(landed.tree))
        .find(|answer| at_validate(answer))
        .map(|answer| answer.by.clone())
}

fn not_done(mission: &Mission) -> Option<NotDone> {
    if matches!(mission.position(), Position::Ended(Ended::Shipped(_))) {
        return None;
    }
    let lane = mission.lane();
    let landed = |phase: Phase| mission.landed().iter().any(|one| one.phase == phase);
    let left = mission.charter().fields().plan.numbered();
    let left = left
        .filter(|(phase, _)| !landed(*phase))
        .map(|(phase, spec)| PhaseLeft {
            phase,
            kind: spec.kind(),
            task: words::first_line(spec.task().as_str()).to_owned(),
        });
    let moved = lane.head.commit != mission.charter().fields().base.commit;
    let uncleared = moved && !landed(lane.phase) && mission.cleared() != Some(lane.head.tree);
    Some(NotDone {
        words: words::position(mission),
        last_attempt: lane.last.as_ref().map(words::status),
        phases: left.collect(),
        uncleared: uncleared.then(|| lane.head.commit.clone()),
    })
}

fn answers_of(history: &History) -> impl Iterator<Item = (Timestamp, &Answer)> {
    history.steps.iter().filter_map(|step| {
        let Fact::Answered(answer) = &step.fact else {
            return None;
        };
        Some((step.at, answer))
    })
}

fn answers(history: &History) -> Vec<Answered> {
    let one = |(at, answer): (Timestamp, &Answer)| Answered {
        at,
        gate: answer.gate.clone(),
        by: answer.by.clone(),
        verb: answer.verb,
        digest: answer.digest,
        note: answer.note.clone(),
    };
    answers_of(history).map(one).collect()
}

fn preflight(step: &Step) -> Option<&PreflightRan> {
    let Fact::PreflightRan(ran) = &step.fact else {
        return None;
    };
    Some(ran)
}

fn check_runs(history: &History, blobs: &Blobs) -> Vec<CheckRunView> {
    let run = |step: &Step| {
        let base = preflight(step).filter(|ran| !ran.base_checks.is_empty());
        let base = base.map(|ran| (None, &ran.base_checks));
        let work = || checked(step).map(|ran| (Some(ran.tree), &ran.results));
        let (tree, results) = base.or_else(work)?;
        Some(CheckRunView {
            at: step.at,
            tree,
            results: check_views(results, blobs),
        })
    };
    history.steps.iter().filter_map(run).collect()
}

fn check_views(results: &[CheckResult], blobs: &Blobs) -> Vec<CheckView> {
    let one = |result: &CheckResult| CheckView {
        name: result.name.to_string(),
        verdict: result.verdict.clone(),
        words: prompt::verdict(&result.verdict),
        log: result.log.and_then(|digest| blobs.path(&digest).ok()),
        active_ms: result.active_ms,
    };
    results.iter().map(one).collect()
}

fn warnings(history: &History) -> Vec<String> {
    let ran = history.steps.iter().rev().find_map(preflight);
    let points = ran.into_iter().flat_map(|ran| &ran.points);
    let told = points.filter_map(|point| match &point.verdict {
        PointVerdict::Held(_) => None,
        PointVerdict::Warned(words) => Some(format!("{}: {words}", point.name)),
        PointVerdict::Failed(words) => Some(format!("{} FAILED: {words}", point.name)),
    });
    told.collect()
}
