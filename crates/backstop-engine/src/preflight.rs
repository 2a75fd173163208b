//! What must hold before anything is spent.

use alloc::vec::Vec;

use backstop_mode::{Account, Settlement, Spend};

use crate::fact::{CheckResult, CheckVerdict, PointVerdict, PreflightRan};
use crate::flow::{self, begin_visit, brief};
use crate::mission::{Next, ParkCause, ParkedAt, Pending};
use crate::turn::Turn;
use crate::{Brief, Effect, GreenBase, Reason, Refusal, Rule};

/// Looks whether the mission can be worked on.
pub(crate) fn begin(turn: &mut Turn) {
    turn.work(Effect::Preflight);
}

/// Begins the first lane, or asks.
pub(crate) fn ran(turn: &mut Turn, ran: &PreflightRan) -> Result<(), Refusal> {
    let Effect::Preflight = turn.answer(ran.effect)? else {
        return Err(Refusal::WrongAnswer(ran.effect));
    };
    let active_ms = ran
        .base_checks
        .iter()
        .fold(0_u64, |sum, r| sum.saturating_add(r.active_ms));
    turn.settle(&Settlement::Spent(Spend {
        active_ms,
        ..Spend::default()
    }));
    let red: Vec<CheckResult> = ran
        .base_checks
        .iter()
        .filter(|r| r.verdict != CheckVerdict::Passed)
        .cloned()
        .collect();
    let failed = ran
        .points
        .iter()
        .any(|point| matches!(point.verdict, PointVerdict::Failed(_)));
    let green = turn.m.charter.fields().settings.green_base;
    let barred = green == GreenBase::Required && !red.is_empty();
    if (failed || barred) && turn.m.stopping.is_some() {
        // What was cut off says nothing: it is looked at again when a person goes on.
        let again = ParkedAt::Work(Pending(Next::Preflight));
        flow::park(turn, ParkCause::Stopped, again);
        return Ok(());
    }
    show_base(turn, red);
    if failed || barred || ran.points.is_empty() {
        refuse(turn);
    } else {
        turn.because(Rule::PreflightHeld);
        cleared(turn);
    }
    Ok(())
}

/// The last look at the base is the one that the agent is told of.
fn show_base(turn: &mut Turn, red: Vec<CheckResult>) {
    let briefs = &mut turn.m.lane.briefs;
    briefs.retain(|other| !matches!(other, Brief::RedBase(_)));
    if !red.is_empty() {
        brief(turn, Brief::RedBase(red));
    }
}

fn refuse(turn: &mut Turn) {
    turn.settle(&Settlement::PreflightFailed);
    let mut reasons = Vec::from([Reason::PreflightFailed]);
    if turn.meter().exhausted(Account::Preflight) {
        reasons.push(Reason::Exhausted(Account::Preflight));
    }
    flow::gate(turn, reasons, Next::Preflight);
}

/// The preflight holds, or an operator waived what does not.
pub(crate) fn cleared(turn: &mut Turn) {
    turn.settle(&Settlement::PreflightCleared);
    turn.because(Rule::LaneOpened);
    begin_visit(turn, turn.m.charter.fields().from);
}
