//! The host checks: of a Validate visit, and for the verify gates before and after a role.

use alloc::vec::Vec;

use backstop_gates::Trigger;
use backstop_mode::{Account, Settlement, Spend};
use backstop_outcome::fault_wait;
use backstop_vocab::Stage;

use crate::attempt::exhausted_by_faults;
use crate::fact::{CheckResult, CheckVerdict, ChecksRan};
use crate::flow::{self, advance, park, proceed, wait};
use crate::held::{self, Fallout};
use crate::mission::{Next, ParkCause, ParkedAt, Pending};
use crate::turn::Turn;
use crate::{
    Check, CheckFor, CheckRun, Effect, Reason, Refusal, Role, Rule, Wait, WaitCause, verdict,
};

pub(crate) fn wanted(turn: &Turn) -> Vec<Check> {
    turn.m
        .phase()
        .map(|phase| turn.m.charter.checks(phase))
        .unwrap_or_default()
}

/// Runs the checks of the present lane on its head; with nothing to check, a visit goes on without.
pub(crate) fn begin(turn: &mut Turn, purpose: CheckFor) {
    if wanted(turn).is_empty() {
        return nothing(turn, purpose);
    }
    let lane = &turn.m.lane;
    let run = CheckRun {
        phase: lane.phase,
        commit: lane.head.commit.clone(),
        tree: lane.head.tree,
        purpose,
    };
    turn.work(Effect::RunChecks(run));
}

fn nothing(turn: &mut Turn, purpose: CheckFor) {
    match purpose {
        CheckFor::Visit => {
            turn.because(Rule::NothingToCheck);
            turn.m.lane.checks.clear();
            verdict::checked(turn);
        }
        // No lane has such a gate without checks; silence holds.
        CheckFor::Start(_) | CheckFor::Completion(_) => held::ask(turn, Next::Attempt),
    }
}

/// The checks are over.
pub(crate) fn ran(turn: &mut Turn, ran: &ChecksRan) -> Result<(), Refusal> {
    let Effect::RunChecks(run) = turn.answer(ran.effect)? else {
        return Err(Refusal::WrongAnswer(ran.effect));
    };
    if run.tree != ran.tree {
        return Err(Refusal::OtherTree {
            asked: run.tree,
            found: ran.tree,
        });
    }
    same_checks(turn, &ran.results)?;
    let active_ms = ran
        .results
        .iter()
        .fold(0_u64, |sum, r| sum.saturating_add(r.active_ms));
    turn.settle(&Settlement::Spent(Spend {
        active_ms,
        ..Spend::default()
    }));
    turn.m.lane.checks.clone_from(&ran.results);
    let is_red = |r: &&CheckResult| {
        matches!(
            r.verdict,
            CheckVerdict::Failed { .. } | CheckVerdict::TimedOut
        )
    };
    let failed: Vec<CheckResult> = ran.results.iter().filter(is_red).cloned().collect();
    let unrun = ran
        .results
        .iter()
        .any(|r| matches!(r.verdict, CheckVerdict::NotRun { .. }));
    match (failed.is_empty(), unrun) {
        (true, true) => not_run(turn, run.purpose),
        (true, false) => {
            turn.because(Rule::ChecksGreen);
            let _ = judge(turn, run.purpose, &ran.results);
            if run.purpose == CheckFor::Visit {
                held::judge_starts(turn, &wanted(turn), &ran.results);
            }
            green(turn, run.purpose);
        }
        (false, _) => {
            let judged = judge(turn, run.purpose, &ran.results);
            red(turn, run.purpose, failed, &judged);
        }
    }
    Ok(())
}

/// What the results make of the verify gates that they were run for.
fn judge(turn: &mut Turn, purpose: CheckFor, results: &[CheckResult]) -> Fallout {
    let which = match purpose {
        CheckFor::Visit => (Role::Implementer, Trigger::RoleComplete),
        CheckFor::Start(role) => (role, Trigger::RoleStart),
        CheckFor::Completion(role) => (role, Trigger::RoleComplete),
    };
    let wanted = wanted(turn);
    held::judge_checks(turn, which, (&wanted, results))
}

fn green(turn: &mut Turn, purpose: CheckFor) {
    match purpose {
        CheckFor::Visit => verdict::checked(turn),
        CheckFor::Start(_) => proceed(turn, Next::Attempt),
        CheckFor::Completion(role) => completed(turn, role),
    }
}

fn red(turn: &mut Turn, purpose: CheckFor, failed: Vec<CheckResult>, judged: &Fallout) {
    match purpose {
        CheckFor::Visit => verdict::red(turn, failed, judged),
        // What is not open now holds the role, and is run again as often as its gate retries.
        CheckFor::Start(_) => {
            turn.because(Rule::GateChecksRed);
            proceed(turn, Next::Attempt);
        }
        CheckFor::Completion(role) if judged.sent_back => {
            turn.because(Rule::SentBack(role));
            proceed(turn, Next::Turn(role));
        }
        CheckFor::Completion(_) if turn.m.lane.stage == Stage::Validate => {
            verdict::red(turn, failed, judged);
        }
        CheckFor::Completion(_) => {
            turn.because(Rule::GateChecksRed);
            advance(turn);
        }
    }
}

/// The gates after a role have been judged.
fn completed(turn: &mut Turn, role: Role) {
    if role.judges() {
        return verdict::confirmed(turn, role);
    }
    advance(turn);
}

/// A check that is missing from the results was not passed.
fn same_checks(turn: &Turn, results: &[CheckResult]) -> Result<(), Refusal> {
    let wanted = wanted(turn);
    if wanted
        .iter()
        .map(|check| &check.name)
        .eq(results.iter().map(|result| &result.name))
    {
        return Ok(());
    }
    let names: Vec<&str> = wanted.iter().map(|check| check.name.as_str()).collect();
    Err(Refusal::OtherChecks(names.join(", ")))
}

fn not_run(turn: &mut Turn, purpose: CheckFor) {
    if turn.m.stopping.is_some() {
        return park(
            turn,
            ParkCause::Stopped,
            ParkedAt::Work(Pending(Next::Checks(purpose))),
        );
    }
    turn.because(Rule::CheckNotRun);
    turn.settle(&Settlement::Faulted);
    let exhausted: Vec<Reason> = exhausted_by_faults(turn).collect();
    if !exhausted.is_empty() {
        let reasons = exhausted.into_iter().chain([Reason::CheckNotRun]).collect();
        return flow::gate(turn, reasons, Next::Checks(purpose));
    }
    let until = fault_wait(
        turn.meter().used(Account::Infra),
        turn.m.now,
        turn.m.jitter(),
    );
    wait(
        turn,
        Wait {
            until,
            cause: WaitCause::CheckBackoff,
        },
        Next::Checks(purpose),
    );
}
