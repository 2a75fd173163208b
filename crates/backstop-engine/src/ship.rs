//! Landing verified lanes, and handing the mission's work over.

use alloc::vec::Vec;

use backstop_mode::Settlement;
use backstop_outcome::StatusKind;
use backstop_vocab::{Digest, EffectId, Operator, Stage};

use crate::attempt::exhausted_by_faults;
use crate::fact::{
    ArtifactSeen, AttemptEnded, BaseMerged, Head, MergeOutcome, ShipOutcome, Shipped,
};
use crate::flow::{self, Question, ask, begin_visit, brief, forget, proceed};
use crate::mission::{Ended, Next, Position};
use crate::turn::Turn;
use crate::{
    Brief, Effect, Landed, Landing, Merge, Reason, Refusal, Role, Rule, Shipment, handing, held,
};

/// Puts the lane on the mission branch. A tree that nobody cleared does not get here: it is judged again.
pub(crate) fn land(turn: &mut Turn) {
    turn.m.lane.turn(None);
    let lane = &turn.m.lane;
    if lane.cleared != Some(lane.head.tree) {
        return begin_visit(turn, Stage::Validate);
    }
    if lane.board.settle(&lane.judged()).is_err() {
        return held::ask(turn, Next::Land);
    }
    let landing = Landing {
        phase: lane.phase,
        commit: lane.head.commit.clone(),
        tree: lane.head.tree,
    };
    turn.work(Effect::Land(landing));
}

/// The lane is on the mission branch.
pub(crate) fn landed(turn: &mut Turn, effect: EffectId, tree: Digest) -> Result<(), Refusal> {
    let Effect::Land(landing) = turn.answer(effect)? else {
        return Err(Refusal::WrongAnswer(effect));
    };
    if landing.tree != tree {
        return Err(Refusal::OtherTree {
            asked: landing.tree,
            found: tree,
        });
    }
    turn.because(Rule::Landed);
    let Landing {
        phase,
        commit,
        tree,
    } = landing;
    turn.m.landed.retain(|other| other.phase != phase);
    let report = turn.m.lane.artifacts.get(&Role::Implementer).copied();
    turn.m.landed.push(Landed {
        phase,
        commit,
        tree,
        report,
    });
    proceed(turn, Next::AfterLanding);
    Ok(())
}

/// The machinery failed, not the work: a person mends it, and the landing is tried again.
pub(crate) fn land_failed(turn: &mut Turn, effect: EffectId) -> Result<(), Refusal> {
    let Effect::Land(_) = turn.answer(effect)? else {
        return Err(Refusal::WrongAnswer(effect));
    };
    turn.settle(&Settlement::Faulted);
    let reasons = exhausted_by_faults(turn)
        .chain([Reason::LandFailed])
        .collect();
    flow::gate(turn, reasons, Next::Land);
    Ok(())
}

/// The next lane starts where the last one landed; after the last, the mission is to be shipped.
pub(crate) fn after_landing(turn: &mut Turn) {
    let phase = turn.m.lane.phase.next();
    let phases = turn.m.charter.fields().plan.phases().len();
    if usize::try_from(phase.number()).is_ok_and(|number| number <= phases) {
        let start = Head {
            commits: Some(0),
            ..turn.m.lane.head.clone()
        };
        let from = turn.m.charter.fields().from;
        turn.m.lane = held::lane(&turn.m.charter, phase, start);
        turn.settle(&Settlement::LaneOpened);
        turn.because(Rule::LaneOpened);
        return begin_visit(turn, from);
    }
    turn.settle(&Settlement::Moved {
        from: Stage::Validate,
        to: Stage::Ship,
    });
    begin_visit(turn, Stage::Ship);
}

/// The release lead's attempt is over: however it ended, the ship gate opens, and its faults are the last lane's.
pub(crate) fn noted(turn: &mut Turn, ended: &AttemptEnded, kind: StatusKind) {
    turn.settle(match kind {
        StatusKind::RateLimited => &Settlement::QuotaWaited,
        StatusKind::Ambiguous
        | StatusKind::Interrupted
        | StatusKind::ResourceKilled
        | StatusKind::AgentUnavailable => &Settlement::Faulted,
        StatusKind::Success
        | StatusKind::Failed
        | StatusKind::Unknown
        | StatusKind::IdleTimeout
        | StatusKind::OverBudget
        | StatusKind::Asked
        | StatusKind::Cancelled => &Settlement::AttemptEndedWithoutFault,
    });
    match (kind, &ended.artifact) {
        (StatusKind::Success, ArtifactSeen::Kept { digest, .. }) => {
            turn.m.lane.artifacts.insert(Role::ReleaseLead, *digest);
            handing::commit(turn, Role::ReleaseLead);
            turn.m.lane.turn(None);
            proceed(turn, Next::ShipGate);
        }
        _ => without_notes(turn),
    }
}

/// The ship gate opens without release notes.
pub(crate) fn without_notes(turn: &mut Turn) {
    turn.because(Rule::NoReleaseNotes);
    handing::release(turn, Role::ReleaseLead);
    turn.m.lane.turn(None);
    proceed(turn, Next::ShipGate);
}

/// Asks for an approval of exactly the tree on the mission branch.
pub(crate) fn gate(turn: &mut Turn) {
    ask_for(turn, Reason::Policy(backstop_mode::Reason::ShipAlways));
}

fn ask_for(turn: &mut Turn, reason: Reason) {
    let digest = Some(turn.m.lane.head.tree);
    let reasons = Vec::from([reason]);
    ask(
        turn,
        Question {
            reasons,
            digest,
            verdict: None,
            holder: None,
            then: Next::ShipGate,
        },
    );
}

/// Hands over what the operator approved.
pub(crate) fn ship(turn: &mut Turn, _operator: &Operator, approved: Digest) {
    let shipment = Shipment {
        commit: turn.m.lane.head.commit.clone(),
        tree: approved,
        base: turn.m.base.clone(),
        by: turn.m.charter.fields().settings.ship,
    };
    turn.work(Effect::Ship(shipment));
}

/// Sends the mission back to Code of its last lane.
pub(crate) fn reject(turn: &mut Turn) {
    turn.settle(&Settlement::ShipRejected);
    flow::enter(turn, Stage::Code);
}

/// The ship step is over.
pub(crate) fn shipped(turn: &mut Turn, shipped: &Shipped) -> Result<(), Refusal> {
    let Effect::Ship(shipment) = turn.answer(shipped.effect)? else {
        return Err(Refusal::WrongAnswer(shipped.effect));
    };
    match &shipped.outcome {
        ShipOutcome::Done { place } => {
            turn.because(Rule::Shipped);
            turn.m.stopping = None;
            turn.m.position = Position::Ended(Ended::Shipped(place.clone()));
        }
        ShipOutcome::Failed { cause: _ } => {
            turn.because(Rule::ShipFailed);
            ask_for(turn, Reason::ShipFailed);
        }
        ShipOutcome::BaseMoved { now } => {
            turn.because(Rule::ApprovalVoid);
            let merge = Merge {
                base: now.clone(),
                head: shipment.commit,
            };
            proceed(turn, Next::Merge(merge));
        }
    }
    Ok(())
}

/// The moved base is in the mission branch, or it contradicts the work.
pub(crate) fn merged(turn: &mut Turn, merged: &BaseMerged) -> Result<(), Refusal> {
    let Effect::MergeBase(_) = turn.answer(merged.effect)? else {
        return Err(Refusal::WrongAnswer(merged.effect));
    };
    match &merged.outcome {
        MergeOutcome::Merged { base, head } => {
            turn.because(Rule::BaseMerged);
            turn.m.base = base.clone();
            moved(turn, head);
        }
        MergeOutcome::Conflict { cause } => {
            turn.because(Rule::MergeConflict);
            brief(turn, Brief::Conflict(cause.clone()));
            ask_for(turn, Reason::MergeConflict);
        }
    }
    Ok(())
}

/// A new tree is judged again; the same tree only needs a fresh approval.
fn moved(turn: &mut Turn, head: &Head) {
    forget(turn);
    turn.m.lane.head = head.clone();
    if turn.m.lane.cleared == Some(head.tree) {
        return proceed(turn, Next::ShipGate);
    }
    turn.m.lane.cleared = None;
    flow::enter(turn, Stage::Validate);
}
