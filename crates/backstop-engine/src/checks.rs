//! Validate: the host checks, and what the mode makes of their verdict.

use alloc::vec::Vec;

use backstop_mode::{self as mode, Account, Measured, Progress, Settlement, Spend, Verdict};
use backstop_outcome::fault_wait;
use backstop_vocab::Stage;

use crate::attempt::exhausted_by_faults;
use crate::fact::{CheckResult, CheckVerdict, ChecksRan};
use crate::flow::{self, Question, ask, brief, enter, park, proceed, wait};
use crate::mission::{Next, ParkCause, ParkedAt, Pending};
use crate::turn::Turn;
use crate::{Brief, Check, CheckRun, Effect, Reason, Refusal, Rule, Wait, WaitCause};

fn wanted(turn: &Turn) -> Vec<Check> {
    turn.m
        .phase()
        .map(|phase| turn.m.charter.checks(phase))
        .unwrap_or_default()
}

/// Runs the checks of the present lane on its head; with nothing to check, the visit is clean.
pub(crate) fn begin(turn: &mut Turn) {
    if wanted(turn).is_empty() {
        turn.because(Rule::NothingToCheck);
        turn.m.lane.checks.clear();
        return clean(turn);
    }
    let lane = &turn.m.lane;
    let run = CheckRun {
        phase: lane.phase,
        commit: lane.head.commit.clone(),
        tree: lane.head.tree,
    };
    turn.work(Effect::RunChecks(run));
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
    let red = |r: &&CheckResult| {
        matches!(
            r.verdict,
            CheckVerdict::Failed { .. } | CheckVerdict::TimedOut
        )
    };
    let failed: Vec<CheckResult> = ran.results.iter().filter(red).cloned().collect();
    let unrun = ran
        .results
        .iter()
        .any(|r| matches!(r.verdict, CheckVerdict::NotRun { .. }));
    match (failed.is_empty(), unrun) {
        (false, _) => repairs_needed(turn, failed),
        (true, true) => not_run(turn),
        (true, false) => {
            turn.because(Rule::ChecksGreen);
            clean(turn);
        }
    }
    Ok(())
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

fn not_run(turn: &mut Turn) {
    if turn.m.stopping.is_some() {
        return park(
            turn,
            ParkCause::Stopped,
            ParkedAt::Work(Pending(Next::Checks)),
        );
    }
    turn.because(Rule::CheckNotRun);
    turn.settle(&Settlement::Faulted);
    let exhausted: Vec<Reason> = exhausted_by_faults(turn).collect();
    if !exhausted.is_empty() {
        let reasons = exhausted.into_iter().chain([Reason::CheckNotRun]).collect();
        return flow::gate(turn, reasons, Next::Checks);
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
        Next::Checks,
    );
}

/// The tree may land, if the mode does not want a person to ratify it.
fn clean(turn: &mut Turn) {
    turn.m.lane.cleared = Some(turn.m.lane.head.tree);
    judge(turn, Verdict::Clean);
}

fn repairs_needed(turn: &mut Turn, failed: Vec<CheckResult>) {
    let head = &turn.m.lane.head;
    let now = Measured {
        commits: head.commits,
        tree: Some(head.tree),
    };
    let (baseline, progress) = turn.m.lane.baseline.judge(now);
    turn.m.lane.baseline = baseline;
    turn.because(match progress {
        Progress::Made => Rule::ChecksRedWithProgress,
        Progress::None => Rule::ChecksRedWithoutProgress,
    });
    turn.settle(&Settlement::RepairsNeeded(progress));
    turn.m.lane.cleared = None;
    brief(turn, Brief::RedChecks(failed));
    judge(turn, Verdict::RepairsNeeded);
}

fn judge(turn: &mut Turn, verdict: Verdict) {
    match mode::after_validate(turn.m.mode, verdict, turn.meter()) {
        mode::Next::Advance => proceed(turn, Next::Land),
        mode::Next::LoopBack => {
            turn.because(Rule::LoopedBack);
            enter(turn, Stage::Code);
        }
        mode::Next::Gate(reasons) => {
            let reasons = reasons.iter().map(Reason::Policy).collect();
            let digest = Some(turn.m.lane.head.tree);
            ask(
                turn,
                Question {
                    reasons,
                    digest,
                    verdict: Some(verdict),
                    then: Next::Land,
                },
            );
        }
    }
}
