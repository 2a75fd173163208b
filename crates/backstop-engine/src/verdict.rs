//! Validate: the review loop over the pinned tree, and what a visit comes to.

use alloc::format;
use alloc::vec::Vec;

use backstop_gates as gates;
use backstop_mode::{self as mode, Account, Measured, Progress, Settlement, Verdict};
use backstop_review::{
    Author, Bounds, BoundsDraft, Decision, Finding, Findings, HostEvidence, Loop, Paths, Policy,
    Ready, Repair, Require, Review, Reviewing, RouteReceipt, Spend, StopReason, Stopped, Verifier,
};
use backstop_vocab::{Digest, Operator, Stage, Text, Timestamp};

use crate::fact::{Answer, AttemptEnded, Ruling};
use crate::flow::{Question, ask, brief, enter, gate, proceed};
use crate::held::Fallout;
use crate::mission::Next;
use crate::turn::Turn;
use crate::{
    Brief, CheckFor, CheckResult, Passed, Reason, ReviewStop, Role, Rule, checks, handing, held,
};

/// A role that judges failed the visit: with progress since the last failure, and without.
const REVIEW_FAILED: [Rule; 2] = [
    Rule::ReviewFailedWithProgress,
    Rule::ReviewFailedWithoutProgress,
];

/// Begins a visit: pins the tree, then has the host check it.
pub(crate) fn begin(turn: &mut Turn) {
    if !is_on(turn, Role::Reviewer) {
        return proceed(turn, Next::Checks(CheckFor::Visit));
    }
    match pinned(turn) {
        Loop::Stopped(stopped) => stop(turn, stopped),
        other @ (Loop::Ready(_)
        | Loop::Reviewing(_)
        | Loop::Repairing(_)
        | Loop::Parked(_)
        | Loop::Verified(_)) => {
            turn.m.lane.review = Some(other);
            proceed(turn, Next::Checks(CheckFor::Visit));
        }
    }
}

fn is_on(turn: &Turn, role: Role) -> bool {
    turn.m.charter.fields().roles.of(role).is_some()
}

/// The loop with the present tree as its pin. What a repair explains moves the pin; after an end a new loop begins.
fn pinned(turn: &mut Turn) -> Loop {
    let (tree, at) = (turn.m.lane.head.tree, clock(turn));
    let either = |next: Result<Ready, Stopped>| next.map_or_else(Into::into, Into::into);
    match turn.m.lane.review.take() {
        None | Some(Loop::Parked(_) | Loop::Stopped(_) | Loop::Verified(_)) => {
            Ready::open(bounds(turn), policy(turn), tree).into()
        }
        Some(Loop::Ready(ready)) => either(ready.observe(tree)),
        Some(Loop::Reviewing(open)) => {
            let spend = take_spend(turn);
            either(open.abandon(spend, at).observe(tree))
        }
        Some(Loop::Repairing(repairing)) => {
            let repair = Repair {
                from: repairing.receipt().pin(),
                to: tree,
                implementer: turn.m.lane.implementer.clone().unwrap_or_default(),
                paths: Paths::default(),
            };
            let moved = repairing.record_repair(repair);
            // Whose repair it was is not known: what came before says nothing of this tree.
            moved.unwrap_or_else(|_| Ready::open(bounds(turn), policy(turn), tree).into())
        }
    }
}

/// The loop's clock is the mission's run time: waits, gates and parks cost no review any time.
fn clock(turn: &Turn) -> Timestamp {
    Timestamp::from_millis(turn.meter().total(Account::ActiveTime))
}

/// As much as the ceilings of the mission leave, within what a loop may have at most.
fn bounds(turn: &Turn) -> Bounds {
    let meter = turn.meter();
    let small = |account| u32::try_from(meter.ceiling(account)).unwrap_or(u32::MAX);
    let secs = meter.remaining(Account::ActiveTime).div_euclid(1000);
    let draft = BoundsDraft {
        iterations: small(Account::PhaseFailures).min(Bounds::MOST_ITERATIONS),
        wall_clock_secs: secs.clamp(1, Bounds::MOST_WALL_CLOCK_SECS),
        tool_calls: meter
            .remaining(Account::ToolCalls)
            .clamp(1, Bounds::MOST_TOOL_CALLS),
        stalled_repairs: small(Account::Streak).clamp(1, Bounds::MOST_STALLED_REPAIRS),
    };
    draft.try_into().unwrap_or_default()
}

fn policy(turn: &Turn) -> Policy {
    let require = |wanted: bool| {
        if wanted {
            Require::Required
        } else {
            Require::NotRequired
        }
    };
    Policy {
        human_ratification: require(turn.m.mode == mode::Mode::Supervise),
        verifier_receipt: require(!checks::wanted(turn).is_empty()),
        abandoned_slot: backstop_review::AbandonedSlot::Kept,
    }
}

fn take_spend(turn: &mut Turn) -> Spend {
    Spend {
        tool_calls: core::mem::take(&mut turn.m.lane.slot_calls),
    }
}

/// The host checks are green, or there are none: the reviewer's turn, where one is on.
pub(crate) fn checked(turn: &mut Turn) {
    match turn.m.lane.review.take() {
        Some(Loop::Ready(ready)) => match ready.begin(clock(turn)) {
            Ok(open) => {
                turn.m.lane.review = Some(open.into());
                turn.m.lane.slot_calls = 0;
                proceed(turn, Next::Turn(Role::Reviewer));
            }
            Err(stopped) => stop(turn, stopped),
        },
        other => {
            turn.m.lane.review = other;
            clean(turn);
        }
    }
}

/// The host checks are red: to be repaired before anybody reviews.
pub(crate) fn red(turn: &mut Turn, failed: Vec<CheckResult>, judged: &Fallout) {
    let words = |result: &CheckResult| {
        let exit = held::exit_of(&result.verdict).unwrap_or_default();
        Finding::clip(&format!("the check `{}` ended with {exit}", result.name))
    };
    let findings = Findings::clip(failed.iter().filter_map(words));
    let review = turn.m.lane.review.take();
    turn.m.lane.review = match review {
        Some(Loop::Ready(ready)) => ready.record_red(findings).ok(),
        // A check that a verify gate asked for after the verifier: the open slot ends with it.
        Some(Loop::Reviewing(open)) => {
            let (spend, at) = (take_spend(turn), clock(turn));
            open.abandon(spend, at).record_red(findings).ok()
        }
        other => other,
    };
    brief(turn, Brief::RedChecks(failed));
    fail(
        turn,
        [Rule::ChecksRedWithProgress, Rule::ChecksRedWithoutProgress],
        judged.escalated,
    );
}

/// A role that judges has judged.
pub(crate) fn ruled(turn: &mut Turn, role: Role, ended: &AttemptEnded) {
    let (verdict, findings) = read(ended.ruling.as_ref());
    let passes = verdict == gates::Verdict::Pass;
    turn.because(if passes {
        Rule::VerdictPass(role)
    } else {
        Rule::VerdictFail(role)
    });
    let pin = turn.m.lane.head.tree;
    if let Some(found) = ended.head.as_ref().filter(|head| head.tree != pin) {
        let so_far = passed(turn, role, ended, findings);
        turn.m.lane.moved = Some(found.clone());
        return record(turn, so_far, Verdict::Clean, found.tree);
    }
    let fallout = held::judge_verdict(turn, role, &Ok(verdict));
    if fallout.sent_back {
        turn.because(Rule::SentBack(role));
        return proceed(turn, Next::Turn(role));
    }
    let so_far = passed(turn, role, ended, findings);
    if !passes {
        return failed(turn, role, so_far, fallout.escalated);
    }
    turn.m.lane.passed = Some(so_far);
    if held::wants_checks_after(&turn.m.lane, role) {
        return proceed(turn, Next::Checks(CheckFor::Completion(role)));
    }
    confirmed(turn, role);
}

/// A role that judges has passed the tree, and the checks after it have too.
pub(crate) fn confirmed(turn: &mut Turn, role: Role) {
    if role == Role::Reviewer && is_on(turn, Role::Verifier) {
        return proceed(turn, Next::Turn(Role::Verifier));
    }
    settled(turn);
}

/// An answer without a verdict is no pass: where nobody insists on one, it is a failure.
fn read(ruling: Option<&Ruling>) -> (gates::Verdict, Findings) {
    match ruling {
        Some(Ruling::Verdict { verdict, findings }) => {
            let reason = match verdict {
                gates::Verdict::Fail { reason } => Finding::clip(reason.as_str()),
                gates::Verdict::Pass => None,
            };
            let findings = if findings.is_empty() {
                Findings::clip(reason)
            } else {
                findings.clone()
            };
            (verdict.clone(), findings)
        }
        Some(Ruling::None(why)) => no_verdict(&format!("no verdict: {why}")),
        None => no_verdict("the verdict could not be read"),
    }
}

fn no_verdict(words: &str) -> (gates::Verdict, Findings) {
    let reason = Text::clip(words);
    let findings = Findings::clip(Finding::clip(words));
    (gates::Verdict::Fail { reason }, findings)
}

/// Who has judged so far, this role included.
fn passed(turn: &mut Turn, role: Role, ended: &AttemptEnded, findings: Findings) -> Passed {
    let route = receipt(role, ended);
    match turn.m.lane.passed.take() {
        Some(before) if role == Role::Verifier => Passed {
            verifier: Some(route),
            findings: Findings::clip(
                before
                    .findings
                    .as_slice()
                    .iter()
                    .chain(findings.as_slice())
                    .cloned(),
            ),
            ..before
        },
        Some(_) | None => Passed {
            route,
            findings,
            verifier: None,
        },
    }
}

/// Who an attempt was: what the agent reported, as the role that was launched.
pub(crate) fn receipt(role: Role, ended: &AttemptEnded) -> RouteReceipt {
    RouteReceipt {
        role: Some(role.id()),
        ..ended.route.clone()
    }
}

/// Every role and every check of the visit has passed the tree.
fn settled(turn: &mut Turn) {
    let tree = turn.m.lane.head.tree;
    match turn.m.lane.passed.take() {
        Some(passed) => record(turn, passed, Verdict::Clean, tree),
        None => clean(turn),
    }
}

fn failed(turn: &mut Turn, role: Role, passed: Passed, escalated: bool) {
    handing::repairs(turn, role, &passed.findings);
    if escalated {
        turn.m.lane.review = None;
        return fail(turn, REVIEW_FAILED, true);
    }
    let tree = turn.m.lane.head.tree;
    record(turn, passed, Verdict::RepairsNeeded, tree);
}

/// Submits the review to the loop and goes on with what it makes of it.
fn record(turn: &mut Turn, passed: Passed, verdict: Verdict, found: Digest) {
    let open = match turn.m.lane.review.take() {
        Some(Loop::Reviewing(open)) => open,
        other => {
            turn.m.lane.review = other;
            return proceed(turn, Next::Visit);
        }
    };
    let review = review(turn, &open, passed, verdict, found);
    match submit(open, review) {
        Loop::Stopped(stopped) => stop(turn, stopped),
        end @ Loop::Repairing(_) => {
            turn.m.lane.review = Some(end);
            fail(turn, REVIEW_FAILED, false);
        }
        end @ (Loop::Parked(_) | Loop::Verified(_)) => {
            turn.m.lane.review = Some(end);
            clean(turn);
        }
        end @ (Loop::Ready(_) | Loop::Reviewing(_)) => {
            turn.m.lane.review = Some(end);
            proceed(turn, Next::Visit);
        }
    }
}

fn review(
    turn: &mut Turn,
    open: &Reviewing,
    passed: Passed,
    verdict: Verdict,
    digest: Digest,
) -> Review {
    let host = host_evidence(turn).map(Verifier::Host);
    let author = turn.m.lane.implementer.clone();
    Review {
        iteration: open.slot().number(),
        digest,
        spend: take_spend(turn),
        implementer: author.map_or(Author::Recorded, Author::Agent),
        reviewer: passed.route,
        verifier: passed.verifier.map(Verifier::Agent).or(host),
        verdict: Some(match verdict {
            Verdict::Clean => backstop_review::Verdict::Clean,
            Verdict::RepairsNeeded => backstop_review::Verdict::RepairsNeeded,
        }),
        findings: passed.findings,
        at: clock(turn),
    }
}

/// An adapter that leaves out part of a receipt leaves it out again: asking it costs an attempt and says nothing new.
fn submit(open: Reviewing, review: Review) -> Loop {
    let mut state = Loop::from(open);
    let again = Review {
        spend: Spend::default(),
        ..review.clone()
    };
    let mut next = review;
    for _ in 0..=Bounds::MOST_INCOMPLETE {
        state = match state {
            Loop::Reviewing(open) => match open.record(next) {
                Ok(state) => state,
                Err(rejected) => return rejected.state.into(),
            },
            ended @ (Loop::Ready(_)
            | Loop::Repairing(_)
            | Loop::Parked(_)
            | Loop::Stopped(_)
            | Loop::Verified(_)) => return ended,
        };
        next = again.clone();
    }
    state
}

/// All checks of the visit as one piece of evidence; none where there are none.
fn host_evidence(turn: &Turn) -> Option<HostEvidence> {
    let wanted = checks::wanted(turn);
    let seen: Vec<_> = wanted
        .iter()
        .zip(&turn.m.lane.checks)
        .filter_map(|(check, result)| held::seen(check, result))
        .collect();
    let first = seen.first()?;
    let commands: Vec<&str> = seen.iter().map(|seen| seen.command().as_str()).collect();
    let red = seen.iter().find(|seen| !seen.is_green());
    Some(HostEvidence {
        command: Text::clip(&commands.join("; ")),
        exit_status: red.map_or(0, gates::HostEvidence::exit_status),
        log: *red.unwrap_or(first).log(),
    })
}

/// The loop is over without success. Only a person goes on.
fn stop(turn: &mut Turn, stopped: Stopped) {
    let kind = ReviewStop::from(stopped.reason());
    let wants_repairs = matches!(
        stopped.reason(),
        StopReason::Ceilings {
            verdict: Some(backstop_review::Verdict::RepairsNeeded),
            ..
        }
    );
    turn.m.lane.review = Some(stopped.into());
    turn.because(Rule::ReviewStopped(kind));
    release(turn);
    if !wants_repairs {
        turn.settle(&Settlement::AttemptEndedWithoutFault);
        return gate(turn, Vec::from([Reason::Reviewed(kind)]), Next::Visit);
    }
    charge(turn, REVIEW_FAILED);
    match mode::after_validate(turn.m.mode, Verdict::RepairsNeeded, turn.meter()) {
        mode::Next::Gate(_) => judge(turn, Verdict::RepairsNeeded),
        mode::Next::Advance | mode::Next::LoopBack => {
            gate(turn, Vec::from([Reason::Reviewed(kind)]), Next::Visit);
        }
    }
}

fn release(turn: &mut Turn) {
    handing::release(turn, Role::Reviewer);
    handing::release(turn, Role::Verifier);
}

/// The tree may land, if the mode does not want a person to ratify it.
pub(crate) fn clean(turn: &mut Turn) {
    turn.m.lane.cleared = Some(turn.m.lane.head.tree);
    turn.m.lane.turn(None);
    handing::commit(turn, Role::Reviewer);
    handing::commit(turn, Role::Verifier);
    judge(turn, Verdict::Clean);
}

/// The visit failed.
fn fail(turn: &mut Turn, rules: [Rule; 2], escalated: bool) {
    charge(turn, rules);
    release(turn);
    if escalated {
        return held::escalated(turn);
    }
    judge(turn, Verdict::RepairsNeeded);
}

/// Charges a failed visit. `rules` are those with progress and without.
fn charge(turn: &mut Turn, [with, without]: [Rule; 2]) {
    let head = &turn.m.lane.head;
    let now = Measured {
        commits: head.commits,
        tree: Some(head.tree),
    };
    let (baseline, progress) = turn.m.lane.baseline.judge(now);
    turn.m.lane.baseline = baseline;
    turn.because(match progress {
        Progress::Made => with,
        Progress::None => without,
    });
    turn.settle(&Settlement::RepairsNeeded(progress));
    turn.m.lane.cleared = None;
    turn.m.lane.turn(None);
}

fn judge(turn: &mut Turn, verdict: Verdict) {
    match mode::after_validate(turn.m.mode, verdict, turn.meter()) {
        mode::Next::Advance => proceed(turn, Next::Land),
        mode::Next::LoopBack => {
            turn.because(Rule::LoopedBack);
            enter(turn, Stage::Code);
        }
        mode::Next::Gate(reasons) => {
            let question = Question {
                reasons: reasons.iter().map(Reason::Policy).collect(),
                digest: Some(turn.m.lane.head.tree),
                verdict: Some(verdict),
                holder: None,
                then: Next::Land,
            };
            ask(turn, question);
        }
    }
}

/// A person ratified or declined a clean verdict. Where the loop waits for nobody, there is nothing to ratify.
pub(crate) fn ratify(turn: &mut Turn, operator: &Operator, answer: &Answer, decision: Decision) {
    let given = backstop_review::Answer {
        decision,
        digest: turn.m.lane.head.tree,
        note: answer.note.clone().unwrap_or_default(),
        at: clock(turn),
    };
    let review = match turn.m.lane.review.take() {
        Some(Loop::Parked(parked)) => Some(
            parked
                .ratify(operator, given)
                .unwrap_or_else(|rejected| rejected.state.into()),
        ),
        other => other,
    };
    if let Some(Loop::Stopped(stopped)) = &review {
        turn.because(Rule::ReviewStopped(stopped.reason().into()));
    }
    turn.m.lane.review = review;
}
