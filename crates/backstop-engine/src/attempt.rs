//! What becomes of an attempt: evidence weighed, spend settled, the outcome table asked.

use alloc::vec::Vec;

use backstop_gates::{MAX_REASKS, NoVerdict};
use backstop_mode::{Account, Settlement, Spend};
use backstop_outcome::{
    self as outcome, Action, EmptyWork, Evidence, HostWork, Interruption, Measurement,
};
use backstop_outcome::{Post, Status, StatusKind, TreeChange, VisitKind};
use backstop_vocab::{EffectId, Stage};

use crate::fact::{ArtifactSeen, AttemptEnded, AttemptStarted, Cost, SessionOpened};
use crate::flow::{self, advance, brief, forget, park, proceed, wait};
use crate::launch::Order;
use crate::mission::{Next, ParkCause, ParkedAt, Pending};
use crate::turn::Turn;
use crate::{
    Brief, CheckFor, Effect, OnQuestion, Reason, Refusal, Role, Rule, Ruling, Wait, WaitCause,
    handing, held, ship, verdict,
};

fn running(turn: &Turn, id: EffectId) -> Result<(), Refusal> {
    match turn.m.outstanding.get(&id) {
        Some(Effect::Launch(_)) => Ok(()),
        Some(_) => Err(Refusal::WrongAnswer(id)),
        None => Err(Refusal::NotOutstanding(id)),
    }
}

/// A process runs: for the journal's readers, and for the probe after a crash.
pub(crate) fn started(turn: &mut Turn, started: &AttemptStarted) -> Result<(), Refusal> {
    running(turn, started.effect)?;
    turn.because(Rule::Noted);
    Ok(())
}

/// A session can be taken up by the next attempt, even if this one is never heard of again.
pub(crate) fn session(turn: &mut Turn, opened: &SessionOpened) -> Result<(), Refusal> {
    running(turn, opened.effect)?;
    turn.m.lane.session = Some(opened.session.clone());
    turn.because(Rule::Noted);
    Ok(())
}

/// The attempt is over.
pub(crate) fn ended(turn: &mut Turn, ended: &AttemptEnded) -> Result<(), Refusal> {
    let Effect::Launch(launch) = turn.answer(ended.effect)? else {
        return Err(Refusal::WrongAnswer(ended.effect));
    };
    let order = launch.order();
    spend(turn, ended, order);
    turn.m.lane.slot_calls = turn
        .m
        .lane
        .slot_calls
        .saturating_add(ended.usage.tool_calls);
    // Who only finds out, outlines or judges changes nothing: a change of theirs is kept by the host, and the lane goes on
    // without.
    if order.stage == Stage::Code {
        turn.m.lane.implementer = Some(verdict::receipt(order.role, ended));
        if let Some(head) = &ended.head {
            turn.m.lane.head = head.clone();
        }
    }
    if let Some(why) = no_verdict(turn, order.role, ended) {
        ask_again(turn, ended, why);
        return Ok(());
    }
    let status = match order.stage {
        Stage::Ship => ended.status.clone(),
        Stage::Define | Stage::Plan | Stage::Code | Stage::Validate => weigh(turn, ended),
    };
    if status != ended.status {
        turn.because(Rule::EvidenceOutranksClaim);
    }
    keep_session(turn, ended, status.kind());
    turn.m.lane.last = Some(status.clone());
    let decision = outcome::decide(order.stage, status.kind());
    turn.because(Rule::Outcome(decision.rule));
    if order.stage == Stage::Ship {
        ship::noted(turn, ended, status.kind());
        return Ok(());
    }
    match decision.action {
        Action::Advance => succeed(turn, order, ended),
        Action::AutoResume => resume(turn, &status),
        Action::GateInfra => gate_infra(turn, status.kind()),
        Action::GateReview => gate_review(turn, status.kind()),
        Action::Park => stopped(turn),
    }
    Ok(())
}

fn stopped(turn: &mut Turn) {
    turn.settle(&Settlement::AttemptEndedWithoutFault);
    let rest = ParkedAt::Work(Pending(Next::Attempt));
    park(turn, ParkCause::Stopped, rest);
}

fn spend(turn: &mut Turn, ended: &AttemptEnded, order: &Order) {
    let cost = match ended.usage.cost {
        Cost::Reported(cost) => cost,
        Cost::NoModelWork => 0,
        Cost::Unreported => {
            let assumed = order.agent.assumed_cost;
            turn.m.assumed_cost = turn.m.assumed_cost.saturating_add(assumed);
            assumed
        }
    };
    turn.settle(&Settlement::Spent(Spend {
        tool_calls: ended.usage.tool_calls,
        tokens: ended.usage.tokens,
        cost_micro_usd: cost,
        active_ms: ended.usage.active_ms,
    }));
}

/// The status that the host's evidence leaves standing.
fn weigh(turn: &Turn, ended: &AttemptEnded) -> Status {
    let Some(phase) = turn.m.phase() else {
        return Status::Unknown;
    };
    let lane = &turn.m.lane;
    // Work that nobody saw is not judged by the head that came before it, nor is a tree that nobody looked at again.
    let sees_tree = matches!(lane.stage, Stage::Code | Stage::Validate);
    if sees_tree && ended.head.is_none() && ended.status == Status::Success {
        return Status::Unknown;
    }
    let post = Post {
        stage: lane.stage,
        kind: phase.kind(),
        visit: VisitKind::of(lane.visit()),
        empty: if phase.allow_empty() {
            EmptyWork::Allowed
        } else {
            EmptyWork::Refused
        },
    };
    let evidence = Evidence {
        tree: match &ended.head {
            None => Measurement::Unmeasured,
            Some(head) if head.tree == lane.entry.tree => Measurement::Found(TreeChange::Unchanged),
            Some(_) => Measurement::Found(TreeChange::Changed),
        },
        artifact: ended.artifact.measured(),
        protected: Measurement::Found(ended.protected.clone()),
        ruling: ruling(turn, ended),
        // Roles judge what every check let pass.
        host_work: Measurement::Found(HostWork::Done),
    };
    outcome::with_evidence(&post, ended.status.clone(), &evidence)
}

fn ruling(turn: &Turn, ended: &AttemptEnded) -> Measurement<outcome::Ruling> {
    let insists = |role| held::insists_on_verdict(&turn.m.lane, role);
    match &ended.ruling {
        None => Measurement::Unmeasured,
        Some(Ruling::None(_)) if turn.m.lane.role.is_some_and(insists) => {
            Measurement::Found(outcome::Ruling::Missing)
        }
        Some(Ruling::None(_) | Ruling::Verdict { .. }) => {
            Measurement::Found(outcome::Ruling::Strict)
        }
    }
}

/// Why an answer has no verdict, where it needs one and may still be asked for it.
fn no_verdict(turn: &Turn, role: Role, ended: &AttemptEnded) -> Option<NoVerdict> {
    let lane = &turn.m.lane;
    let may = lane.asked_again < MAX_REASKS && turn.m.stopping.is_none();
    match &ended.ruling {
        Some(Ruling::None(why))
            if role.judges()
                && may
                && ended.status == Status::Success
                && ended.head.is_some()
                && held::insists_on_verdict(lane, role) =>
        {
            Some(why.clone())
        }
        Some(Ruling::None(_) | Ruling::Verdict { .. }) | None => None,
    }
}

/// The same session is asked again, as another attempt.
fn ask_again(turn: &mut Turn, ended: &AttemptEnded, why: NoVerdict) {
    turn.settle(&Settlement::AttemptEndedWithoutFault);
    turn.because(Rule::AskedAgain);
    let lane = &mut turn.m.lane;
    lane.asked_again = lane.asked_again.saturating_add(1);
    lane.session.clone_from(&ended.session);
    lane.last = Some(ended.status.clone());
    brief(turn, Brief::AskedAgain(why));
    proceed(turn, Next::Attempt);
}

/// Keeps the session where a later attempt can go on in it; a conversation that failed is not taken up again.
fn keep_session(turn: &mut Turn, ended: &AttemptEnded, kind: StatusKind) {
    match kind {
        StatusKind::RateLimited
        | StatusKind::Ambiguous
        | StatusKind::Interrupted
        | StatusKind::ResourceKilled
        | StatusKind::AgentUnavailable
        | StatusKind::OverBudget
        | StatusKind::Asked
        | StatusKind::Cancelled => {
            if ended.session.is_some() {
                turn.m.lane.session.clone_from(&ended.session);
            }
            brief(turn, Brief::TakenUp(kind));
        }
        StatusKind::Success
        | StatusKind::Failed
        | StatusKind::Unknown
        | StatusKind::IdleTimeout => {
            turn.m.lane.session = None;
            let briefs = &mut turn.m.lane.briefs;
            briefs.retain(|brief| {
                !matches!(
                    brief,
                    Brief::TakenUp(_) | Brief::Decide | Brief::AskedAgain(_)
                )
            });
        }
    }
}

fn succeed(turn: &mut Turn, order: &Order, ended: &AttemptEnded) {
    turn.settle(&Settlement::AttemptEndedWithoutFault);
    forget(turn);
    let (role, lane) = (order.role, &mut turn.m.lane);
    if let Ok(board) = lane.board.completed(&role.id(), order.attempt) {
        lane.board = board;
    }
    lane.completed.insert(role, order.attempt);
    if let ArtifactSeen::Kept { digest, head, .. } = &ended.artifact {
        lane.artifacts.insert(role, *digest);
        handing::artifact(turn, role, *digest, head);
    }
    if role.judges() {
        return verdict::ruled(turn, role, ended);
    }
    handing::commit(turn, role);
    // The checks after the implementer are those of Validate.
    if role != Role::Implementer && held::wants_checks_after(&turn.m.lane, role) {
        return proceed(turn, Next::Checks(CheckFor::Completion(role)));
    }
    advance(turn);
}

fn resume(turn: &mut Turn, status: &Status) {
    match status {
        Status::RateLimited { until } => wait_for_limit(turn, *until),
        Status::Interrupted { by } => fault(turn, Some(*by)),
        Status::Success
        | Status::Failed { .. }
        | Status::Unknown
        | Status::Ambiguous
        | Status::ResourceKilled
        | Status::AgentUnavailable { .. }
        | Status::IdleTimeout
        | Status::OverBudget { .. }
        | Status::Asked { .. }
        | Status::Cancelled => fault(turn, None),
    }
}

fn wait_for_limit(turn: &mut Turn, until: Option<backstop_vocab::Timestamp>) {
    turn.settle(&Settlement::AttemptEndedWithoutFault);
    let earlier = turn.meter().used(Account::QuotaWaits);
    turn.settle(&Settlement::QuotaWaited);
    if turn.meter().exhausted(Account::QuotaWaits) {
        let reasons = [
            Reason::Exhausted(Account::QuotaWaits),
            Reason::Ended(StatusKind::RateLimited),
        ];
        return flow::gate(turn, Vec::from(reasons), Next::Attempt);
    }
    let floor = turn.m.charter.fields().settings.quota_floor;
    match outcome::quota_wait(until, turn.m.now, earlier, turn.m.jitter(), floor) {
        outcome::Wait::Until(moment) => {
            let cause = if until.is_some() {
                WaitCause::LimitReset
            } else {
                WaitCause::LimitBackoff
            };
            wait(
                turn,
                Wait {
                    until: moment,
                    cause,
                },
                Next::Resume(Account::QuotaWaits),
            );
        }
        outcome::Wait::TooFar(_) => {
            flow::gate(turn, Vec::from([Reason::LimitTooFar]), Next::Attempt);
        }
    }
}

/// The fault accounts that have nothing left.
pub(crate) fn exhausted_by_faults(turn: &Turn) -> impl Iterator<Item = Reason> {
    flow::exhausted(turn, &[Account::Infra, Account::InfraTotal]).map(Reason::Exhausted)
}

fn fault(turn: &mut Turn, by: Option<Interruption>) {
    turn.settle(&Settlement::Faulted);
    let reasons: Vec<Reason> = exhausted_by_faults(turn).collect();
    if !reasons.is_empty() {
        return flow::gate(turn, reasons, Next::Attempt);
    }
    let (faults, now) = (turn.meter().used(Account::Infra), turn.m.now);
    let until = by.map(|by| outcome::interruption_wait(by, faults, now, turn.m.jitter()));
    match until.filter(|until| *until > now) {
        Some(until) => {
            let pause = Wait {
                until,
                cause: WaitCause::FaultBackoff,
            };
            wait(turn, pause, Next::Resume(Account::Infra));
        }
        None => proceed(turn, Next::Resume(Account::Infra)),
    }
}

fn gate_infra(turn: &mut Turn, kind: StatusKind) {
    turn.settle(&Settlement::Faulted);
    let reasons = exhausted_by_faults(turn)
        .chain([Reason::Ended(kind)])
        .collect();
    flow::gate(turn, reasons, Next::Attempt);
}

fn gate_review(turn: &mut Turn, kind: StatusKind) {
    turn.settle(&Settlement::AttemptEndedWithoutFault);
    let decides = turn.m.charter.fields().settings.on_question == OnQuestion::Decide;
    if decides && kind == StatusKind::Asked {
        return decide_alone(turn);
    }
    flow::gate(turn, Vec::from([Reason::Ended(kind)]), Next::Attempt);
}

/// The standing answer: the session goes on, charged as a resumed checkpoint and as an attempt.
fn decide_alone(turn: &mut Turn) {
    match turn.meter().charge(Account::CheckpointResumes, 1) {
        Ok((meter, _)) => {
            turn.m.meter = meter;
            turn.because(Rule::DecidesByItself);
            brief(turn, Brief::Decide);
            proceed(turn, Next::Attempt);
        }
        Err(exhausted) => {
            turn.because(Rule::Exhausted(exhausted.account));
            let reasons = [
                Reason::Exhausted(exhausted.account),
                Reason::Ended(StatusKind::Asked),
            ];
            flow::gate(turn, Vec::from(reasons), Next::Attempt);
        }
    }
}
