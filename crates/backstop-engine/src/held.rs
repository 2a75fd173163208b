//! The gates between roles: what the engine judges on them, whom they hold, and what a person's answer does to them.

use alloc::vec::Vec;

use backstop_gates::{
    Approval, Board, GateKind, GateSpec, Holder, HostEvidence, Judged, NoVerdict, Rejection,
    StateKind, Target, Trigger, Verdict,
};
use backstop_vocab::{Attempt, Digest, GateId, Operator, Phase, RoleName, Text};

use crate::fact::Answer;
use crate::flow::{Question, ask as open_gate, enter, proceed};
use crate::mission::Next;
use crate::turn::Turn;
use crate::{
    Charter, Check, CheckResult, CheckVerdict, Gate, Head, Lane, Reason, Refusal, Role, Rule,
};

/// A new lane. The gates of the roles that the opener skipped are waived by them.
pub(crate) fn lane(charter: &Charter, phase: Phase, head: Head) -> Lane {
    let fields = charter.fields();
    let board = Board::new(charter.gates(phase));
    let skipped: Vec<RoleName> = Role::ALL
        .into_iter()
        .filter(|role| role.stage() < fields.from)
        .map(Role::id)
        .collect();
    let opener = Operator::attest(fields.opened_by.clone());
    let board = board
        .waive(&opener, &skipped, &Text::default())
        .unwrap_or(board);
    Lane::new(charter.lane(phase), phase, fields.from, head, board)
}

/// What is there for gates that hold a role: the tree as it was when the visit began. What the role itself made of it
/// since is not what it was let in on.
pub(crate) fn at_entry(lane: &Lane) -> Judged {
    Judged {
        tree: Some(lane.entry.tree),
        ..lane.judged()
    }
}

/// The gates that hold whoever would work next, or the landing where nobody would.
pub(crate) fn holders(lane: &Lane) -> Vec<Holder> {
    let held = match lane.role {
        Some(role) => lane.board.admit(&role.id(), &at_entry(lane)).err(),
        None => lane.board.settle(&lane.judged()).err(),
    };
    held.map(|held| held.holders().to_vec()).unwrap_or_default()
}

/// Asks a person about the first gate that holds.
pub(crate) fn ask(turn: &mut Turn, then: Next) {
    ask_after(turn, None, then);
}

fn ask_after(turn: &mut Turn, verdict: Option<backstop_mode::Verdict>, then: Next) {
    let first = holders(&turn.m.lane).into_iter().next();
    let holder = first.map(|holder| holder.gate);
    let digest = holder.as_ref().and_then(|gate| subject(&turn.m.lane, gate));
    let question = Question {
        reasons: Vec::from([Reason::Held]),
        digest,
        verdict,
        holder,
        then,
    };
    open_gate(turn, question);
}

/// A failed visit has escalated a gate: only a person goes on.
pub(crate) fn escalated(turn: &mut Turn) {
    turn.m.lane.turn(None);
    ask_after(
        turn,
        Some(backstop_mode::Verdict::RepairsNeeded),
        Next::Land,
    );
}

fn judged(lane: &Lane) -> Judged {
    match lane.role {
        Some(_) => at_entry(lane),
        None => lane.judged(),
    }
}

/// What a gate judges, as it is there now.
fn subject(lane: &Lane, gate: &GateId) -> Option<Digest> {
    lane.board.specs().gate(gate)?.subject(&judged(lane))
}

/// The lane enters Code again: what was judged from the implementer on is judged again.
pub(crate) fn renew(turn: &mut Turn) {
    let lane = &mut turn.m.lane;
    if lane.visit() == backstop_vocab::Visit::FIRST {
        return;
    }
    if let Ok(board) = lane.board.new_generation(&Role::Implementer.id()) {
        lane.board = board;
        turn.because(Rule::NewGeneration);
    }
}

/// Whether a verify gate before this role wants the host checks first.
pub(crate) fn awaits_checks(lane: &Lane, role: Role) -> bool {
    let now = at_entry(lane);
    let waits = |holder: &Holder| match holder.state {
        StateKind::Pending | StateKind::Retrying => true,
        StateKind::Passed
        | StateKind::Overridden
        | StateKind::Waived
        | StateKind::Blocked
        | StateKind::Escalated => false,
    };
    let held = lane.board.admit(&role.id(), &now).err();
    let due = |holder: &&Holder| {
        let spec = lane.board.specs().gate(&holder.gate);
        spec.is_some_and(|spec| is(spec, GateKind::Verify, role, Trigger::RoleStart))
    };
    held.is_some_and(|held| held.holders().iter().filter(due).any(waits))
}

fn is(spec: &GateSpec, kind: GateKind, role: Role, on: Trigger) -> bool {
    spec.kind() == kind && spec.on() == on && spec.role().as_str() == role.name()
}

/// Whether a verify gate waits for the host checks after this role.
pub(crate) fn wants_checks_after(lane: &Lane, role: Role) -> bool {
    let specs = lane.board.specs();
    let due = |spec: &&GateSpec| is(spec, GateKind::Verify, role, Trigger::RoleComplete);
    specs.gates().iter().any(|spec| due(&spec))
}

/// Whether an answer without a verdict is asked again; where no gate wants one, it counts as a failure.
pub(crate) fn insists_on_verdict(lane: &Lane, role: Role) -> bool {
    let specs = lane.board.specs();
    let mut reviews = specs
        .gates()
        .iter()
        .filter(|spec| is(spec, GateKind::Review, role, Trigger::RoleComplete))
        .peekable();
    reviews.peek().is_none() || reviews.any(GateSpec::requires_explicit_verdict)
}

/// What became of a role's gates when they were judged.
#[derive(Default)]
pub(crate) struct Fallout {
    /// A gate sends the role back.
    pub(crate) sent_back: bool,
    /// A gate is now a person's.
    pub(crate) escalated: bool,
}

/// The host checks judge the verify gates of a role.
pub(crate) fn judge_checks(
    turn: &mut Turn,
    (role, on): (Role, Trigger),
    (checks, results): (&[Check], &[CheckResult]),
) -> Fallout {
    let evidence = evidence(checks, results);
    let now = match on {
        Trigger::RoleStart => at_entry(&turn.m.lane),
        Trigger::RoleComplete => turn.m.lane.judged(),
    };
    judge(turn, (GateKind::Verify, role, on), |board, target| {
        board.verify(target, &evidence, &now).ok()
    })
}

/// Checks that are green on the work stand for those at the start of every role that has worked since: landing asks about
/// the work, and they are the same checks.
pub(crate) fn judge_starts(turn: &mut Turn, checks: &[Check], results: &[CheckResult]) {
    let evidence = evidence(checks, results);
    let now = turn.m.lane.judged();
    let worked: Vec<Role> = turn.m.lane.completed.keys().copied().collect();
    for role in worked {
        let which = (GateKind::Verify, role, Trigger::RoleStart);
        let _ = judge(turn, which, |board, target| {
            board.verify(target, &evidence, &now).ok()
        });
    }
}

fn evidence(checks: &[Check], results: &[CheckResult]) -> Vec<HostEvidence> {
    let ran = checks.iter().zip(results);
    ran.filter_map(|(check, result)| seen(check, result))
        .collect()
}

/// A verdict judges the review gates of the role that gave it.
pub(crate) fn judge_verdict(
    turn: &mut Turn,
    role: Role,
    reading: &Result<Verdict, NoVerdict>,
) -> Fallout {
    let now = turn.m.lane.judged();
    let which = (GateKind::Review, role, Trigger::RoleComplete);
    judge(turn, which, |board, target| {
        board.review(target, reading, &now).ok()
    })
}

/// What a gate does not take leaves it as it is.
fn judge(
    turn: &mut Turn,
    (kind, role, on): (GateKind, Role, Trigger),
    by: impl Fn(&Board, &Target) -> Option<Board>,
) -> Fallout {
    let lane = &mut turn.m.lane;
    let attempt = attempt_of(lane, role);
    let specs = lane.board.specs().clone();
    let mut fallout = Fallout::default();
    for spec in specs.gates().iter().filter(|spec| is(spec, kind, role, on)) {
        let gate = spec.id().clone();
        if let Some(board) = by(&lane.board, &Target { gate, attempt }) {
            lane.board = board;
            let state = lane.board.state(spec.id()).kind();
            fallout.sent_back |= state == StateKind::Retrying;
            fallout.escalated |= state == StateKind::Escalated;
        }
    }
    fallout
}

fn attempt_of(lane: &Lane, role: Role) -> Attempt {
    lane.completed.get(&role).copied().unwrap_or(Attempt::FIRST)
}

/// What the host saw of a check; nothing where it did not run.
pub(crate) fn seen(check: &Check, result: &CheckResult) -> Option<HostEvidence> {
    let exit = exit_of(&result.verdict)?;
    let log = result.log.unwrap_or_else(|| Digest::of(b""));
    HostEvidence::new(Text::clip(check.command.as_str()), exit, log).ok()
}

/// The exit status of a check that ran; 124 for one that ran too long, as `timeout` of coreutils has it.
pub(crate) const fn exit_of(verdict: &CheckVerdict) -> Option<i32> {
    match verdict {
        CheckVerdict::Passed => Some(0),
        CheckVerdict::Failed { exit } => Some(*exit),
        CheckVerdict::TimedOut => Some(124),
        CheckVerdict::NotRun { .. } => None,
    }
}

/// The gate that an answer is about.
fn holder<'a>(turn: &'a Turn, gate: &Gate) -> Result<(&'a GateSpec, Holder), Refusal> {
    let lane = &turn.m.lane;
    let holders = holders(lane).into_iter();
    let mut found = holders.filter(|holder| Some(&holder.gate) == gate.holder.as_ref());
    let holder = found.next().ok_or(Refusal::NoGate)?;
    let spec = lane.board.specs().gate(&holder.gate);
    Ok((spec.ok_or(Refusal::NoGate)?, holder))
}

/// A person's yes to a gate that holds, for the last attempt of its role.
fn approval(lane: &Lane, holder: &Holder, digest: Digest, answer: &Answer) -> Approval {
    let role = Role::named(&holder.role);
    Approval {
        target: Target {
            gate: holder.gate.clone(),
            attempt: role.map_or(Attempt::FIRST, |role| attempt_of(lane, role)),
        },
        digest,
        note: answer.note.clone().unwrap_or_default(),
    }
}

/// Opens the gate that holds: an approval where it waits for one, an override with a note else.
pub(crate) fn approve(
    turn: &mut Turn,
    gate: &Gate,
    operator: &Operator,
    answer: &Answer,
) -> Result<(), Refusal> {
    let (spec, holder) = holder(turn, gate)?;
    let lane = &turn.m.lane;
    let approval = approval(lane, &holder, gate.digest.unwrap_or(lane.head.tree), answer);
    let now = judged(lane);
    let waits = (spec.kind(), holder.state) == (GateKind::Approve, StateKind::Pending);
    let board = if waits {
        lane.board.approve(operator, &approval, &now)?
    } else {
        lane.board.overrule(operator, &approval, &now)?
    };
    turn.m.lane.board = board;
    // The one gate that stood against a failed visit is overridden: the tree may land.
    if gate.verdict.is_some() && holders(&turn.m.lane).is_empty() {
        turn.m.lane.cleared = Some(turn.m.lane.head.tree);
        turn.m.lane.review = None;
    }
    proceed(turn, gate.then.clone());
    Ok(())
}

/// Fails the gate that holds, by its own rule.
pub(crate) fn reject(
    turn: &mut Turn,
    gate: &Gate,
    operator: &Operator,
    answer: &Answer,
) -> Result<(), Refusal> {
    let (spec, holder) = holder(turn, gate)?;
    let role = Role::named(spec.role());
    let rejection = Rejection {
        gate: holder.gate.clone(),
        note: answer.note.clone().unwrap_or_default(),
    };
    let lane = &turn.m.lane;
    let board = lane.board.reject(operator, &rejection, &judged(lane))?;
    let sent_back = board.state(&holder.gate).kind() == StateKind::Retrying;
    turn.m.lane.board = board;
    match role {
        Some(role) if sent_back => again(turn, role),
        Some(_) | None => proceed(turn, gate.then.clone()),
    }
    Ok(())
}

/// Runs the role of the gate that holds once more.
pub(crate) fn retry(turn: &mut Turn, gate: &Gate, operator: &Operator) -> Result<(), Refusal> {
    let (spec, _) = holder(turn, gate)?;
    let name = spec.role().clone();
    let board = turn
        .m
        .lane
        .board
        .retry(operator, core::slice::from_ref(&name))?;
    turn.m.lane.board = board;
    match Role::named(&name) {
        Some(role) => {
            if role.judges() {
                judge_again(turn, operator);
            }
            again(turn, role);
        }
        None => proceed(turn, gate.then.clone()),
    }
    Ok(())
}

/// A person has Validate done again: what it found before no longer fixes the gates that it judges.
pub(crate) fn judge_again(turn: &mut Turn, operator: &Operator) {
    let judged = [Role::Implementer, Role::Reviewer, Role::Verifier].map(Role::id);
    if let Ok(board) = turn.m.lane.board.retry(operator, &judged) {
        turn.m.lane.board = board;
    }
}

/// The role that a note at this gate is for.
pub(crate) fn reader(turn: &Turn, gate: &Gate) -> Option<Role> {
    let holder = gate.holder.as_ref()?;
    Role::named(turn.m.lane.board.specs().gate(holder)?.role())
}

fn again(turn: &mut Turn, role: Role) {
    turn.because(Rule::SentBack(role));
    if role.stage() != turn.m.lane.stage {
        return enter(turn, role.stage());
    }
    if role.judges() {
        return proceed(turn, Next::Visit);
    }
    proceed(turn, Next::Turn(role));
}

/// A person overrides a failed visit: every gate that stands against this tree is opened by them.
pub(crate) fn overrule_all(turn: &mut Turn, operator: &Operator, answer: &Answer) {
    turn.m.lane.turn(None);
    for holder in holders(&turn.m.lane) {
        let lane = &turn.m.lane;
        let approval = approval(lane, &holder, lane.head.tree, answer);
        // A gate that waits for an approval of something else is asked about by itself, before the tree lands.
        if let Ok(board) = lane.board.overrule(operator, &approval, &lane.judged()) {
            turn.m.lane.board = board;
        }
    }
}
