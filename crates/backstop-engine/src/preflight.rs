//! What must hold before anything is spent.

use alloc::vec::Vec;

use backstop_mode::{Account, Settlement};
use backstop_vocab::EffectId;

use crate::fact::{CheckResult, CheckVerdict, PointVerdict, PreflightRan};
use crate::flow::{self, begin_visit, brief};
use crate::mission::Next;
use crate::turn::Turn;
use crate::{Brief, Effect, Reason, Refusal, Rule};

/// Looks whether the mission can be worked on.
pub(crate) fn begin(turn: &mut Turn) {
    turn.work(Effect::Preflight);
}

/// Begins the first lane, or asks.
pub(crate) fn ran(turn: &mut Turn, ran: &PreflightRan) -> Result<(), Refusal> {
    take(turn, ran.effect)?;
    let red: Vec<CheckResult> =
        ran.base_checks.iter().filter(|r| r.verdict != CheckVerdict::Passed).cloned().collect();
    if !red.is_empty() {
        brief(turn, Brief::RedBase(red));
    }
    let failed = ran.points.iter().any(|point| matches!(point.verdict, PointVerdict::Failed(_)));
    if failed || ran.points.is_empty() {
        refuse(turn);
    } else {
        turn.because(Rule::PreflightHeld);
        cleared(turn);
    }
    Ok(())
}

fn take(turn: &mut Turn, effect: EffectId) -> Result<(), Refusal> {
    match turn.answer(effect)? {
        Effect::Preflight => Ok(()),
        Effect::Launch(_)
        | Effect::RunChecks(_)
        | Effect::Wait(_)
        | Effect::Land(_)
        | Effect::Ask(_)
        | Effect::Ship(_)
        | Effect::MergeBase(_)
        | Effect::Halt(_) => Err(Refusal::WrongAnswer(effect)),
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
