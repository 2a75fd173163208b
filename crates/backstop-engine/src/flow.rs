//! How a lane moves: entering stages, launching, waiting, gating, parking.

use alloc::boxed::Box;
use alloc::vec::Vec;

use backstop_gates::Admitted;
use backstop_mode::{Account, Exhausted, Meter, Paid, Settlement, Verdict};
use backstop_vocab::{Digest, GateId, Stage};

use crate::gate::Funds;
use crate::launch::Order;
use crate::mission::{Next, ParkCause, ParkedAt, Pending, Position};
use crate::turn::Turn;
use crate::{Allowance, Brief, CheckFor, Effect, Gate, Launch, Reason, Report, Role, Rule, Wait};
use crate::{checks, handing, held, preflight, ship, verdict};

/// The accounts without which no agent is launched, besides the one that pays for the launch.
const EFFORT: [Account; 4] = [
    Account::ToolCalls,
    Account::Tokens,
    Account::Cost,
    Account::ActiveTime,
];

/// Goes on with `next`, or parks with it when a stop was asked for.
pub(crate) fn proceed(turn: &mut Turn, next: Next) {
    if turn.m.stopping.is_some() && !matches!(next, Next::ShipGate) {
        return park(turn, ParkCause::Stopped, ParkedAt::Work(Pending(next)));
    }
    match next {
        Next::Preflight => preflight::begin(turn),
        Next::Attempt => attempt(turn, |meter| meter.charge(Account::Attempts, 1)),
        // The fault or the wait was settled when it happened; here its account only vouches for the launch.
        Next::Resume(account) => attempt(turn, |meter| {
            meter.resume(account).map(|paid| (meter.clone(), paid))
        }),
        Next::Turn(role) => take_turn(turn, role),
        Next::Visit => begin_visit(turn, turn.m.lane.stage),
        Next::Checks(purpose) => checks::begin(turn, purpose),
        Next::Land => ship::land(turn),
        Next::Merge(merge) => turn.work(Effect::MergeBase(merge)),
        Next::Wait(wait, then) => begin_wait(turn, wait, *then),
        Next::AfterLanding => ship::after_landing(turn),
        Next::ShipGate => ship::gate(turn),
    }
}

/// Enters a stage: a new visit. A stage without a role is passed through.
pub(crate) fn enter(turn: &mut Turn, stage: Stage) {
    turn.settle(&Settlement::Moved {
        from: turn.m.lane.stage,
        to: stage,
    });
    begin_visit(turn, stage);
}

/// Begins a visit where no stage was left for it: the first of a lane, or Validate again.
pub(crate) fn begin_visit(turn: &mut Turn, stage: Stage) {
    turn.settle(&Settlement::VisitOpened);
    turn.m.lane.enter(stage);
    turn.because(Rule::Entered(stage));
    match stage {
        Stage::Validate => verdict::begin(turn),
        Stage::Code => {
            held::renew(turn);
            work(turn, stage);
        }
        Stage::Define | Stage::Plan => work(turn, stage),
        Stage::Ship => match turn.m.charter.fields().roles.first_at(stage) {
            Some(role) => proceed(turn, Next::Turn(role)),
            None => proceed(turn, Next::ShipGate),
        },
    }
}

fn work(turn: &mut Turn, stage: Stage) {
    if let Some(role) = turn.m.charter.fields().roles.first_at(stage) {
        return proceed(turn, Next::Turn(role));
    }
    turn.because(Rule::PassedThrough(stage));
    advance(turn);
}

fn take_turn(turn: &mut Turn, role: Role) {
    turn.m.lane.turn(Some(role));
    turn.because(Rule::TurnOf(role));
    proceed(turn, Next::Attempt);
}

/// Goes to the stage after the present one.
pub(crate) fn advance(turn: &mut Turn) {
    match turn.m.lane.stage.next() {
        Some(Stage::Ship) => proceed(turn, Next::Land),
        Some(stage) => enter(turn, stage),
        None => proceed(turn, Next::ShipGate),
    }
}

/// Launches the role whose turn it is, if `pay` gives a proof, no gate holds it and no effort account is exhausted.
fn attempt(turn: &mut Turn, pay: impl FnOnce(&Meter) -> Result<(Meter, Paid), Exhausted>) {
    let Some(role) = turn.m.lane.role else {
        return advance(turn);
    };
    if held::awaits_checks(&turn.m.lane, role) {
        return proceed(turn, Next::Checks(CheckFor::Start(role)));
    }
    let admitted = turn
        .m
        .lane
        .board
        .admit(&role.id(), &held::at_entry(&turn.m.lane));
    let mut spent: Vec<Account> = exhausted(turn, &EFFORT).collect();
    match (pay(turn.meter()), admitted) {
        (Ok((meter, paid)), Ok(admitted)) if spent.is_empty() => {
            turn.m.meter = meter;
            launch(turn, role, paid, admitted);
        }
        (paid, admitted) => {
            spent.extend(paid.err().map(|exhausted| exhausted.account));
            refuse(turn, role, &spent, admitted.is_err());
        }
    }
}

fn refuse(turn: &mut Turn, role: Role, spent: &[Account], held: bool) {
    for account in spent {
        turn.because(Rule::Exhausted(*account));
    }
    match spent {
        [] => held::ask(turn, Next::Attempt),
        _ if role == Role::ReleaseLead => ship::without_notes(turn),
        _ => {
            let reasons = spent.iter().copied().map(Reason::Exhausted);
            let reasons = reasons.chain(held.then_some(Reason::Held)).collect();
            gate(turn, reasons, Next::Attempt);
        }
    }
}

/// Those of the accounts that have nothing left.
pub(crate) fn exhausted(turn: &Turn, accounts: &[Account]) -> impl Iterator<Item = Account> {
    let spent = accounts.iter().copied();
    spent.filter(|account| turn.meter().exhausted(*account))
}

fn launch(turn: &mut Turn, role: Role, paid: Paid, admitted: Admitted) {
    let Some(agent) = turn.m.charter.fields().roles.of(role).cloned() else {
        return advance(turn);
    };
    let attempt = turn.m.lane.begin_attempt();
    let Ok(board) = turn.m.lane.board.started(&admitted, attempt) else {
        return held::ask(turn, Next::Attempt);
    };
    turn.m.lane.board = board;
    let (handoffs, allowance) = (handing::reserve(turn, role), allowance(turn));
    let report = |lane: &crate::Landed| {
        let (phase, digest) = (lane.phase, lane.report?);
        Some(Report { phase, digest })
    };
    let lane = &turn.m.lane;
    let order = Order {
        role,
        agent,
        phase: lane.phase,
        stage: lane.stage,
        visit: lane.visit(),
        attempt,
        entry: lane.entry.commit.clone(),
        start: lane.head.commit.clone(),
        session: lane.session.clone(),
        briefs: lane.briefs.clone(),
        handoffs,
        reports: turn.m.landed.iter().filter_map(report).collect(),
        allowance,
    };
    turn.work(Effect::Launch(Launch::new(paid, admitted, order)));
}

fn allowance(turn: &Turn) -> Allowance {
    let left = |account| turn.meter().remaining(account);
    Allowance {
        tool_calls: left(Account::ToolCalls),
        tokens: left(Account::Tokens),
        cost: left(Account::Cost),
        active_ms: left(Account::ActiveTime),
    }
}

/// Tells the next launch something; the latest of a kind replaces the one before it.
pub(crate) fn brief(turn: &mut Turn, brief: Brief) {
    let briefs = &mut turn.m.lane.briefs;
    briefs.retain(|other| core::mem::discriminant(other) != core::mem::discriminant(&brief));
    briefs.push(brief);
}

/// Forgets what only one visit had to be told.
pub(crate) fn forget(turn: &mut Turn) {
    turn.m.lane.briefs.retain(|brief| match brief {
        Brief::RedBase(_) => true,
        Brief::RedChecks(_)
        | Brief::AskedAgain(_)
        | Brief::TakenUp(_)
        | Brief::Decide
        | Brief::Conflict(_) => false,
    });
}

/// Waits, then goes on.
pub(crate) fn wait(turn: &mut Turn, wait: Wait, then: Next) {
    turn.because(Rule::Waits(wait.cause));
    proceed(turn, Next::Wait(wait, Box::new(then)));
}

fn begin_wait(turn: &mut Turn, wait: Wait, then: Next) {
    let id = turn.start(Effect::Wait(wait));
    turn.m.position = Position::Waiting(id, wait, Pending(then));
}

/// Opens a gate without a digest.
///
/// Where a launch is next, what would refuse it is a reason too: one gate then asks for everything at once. At Validate a
/// person who goes on has the whole visit done again.
pub(crate) fn gate(turn: &mut Turn, mut reasons: Vec<Reason>, then: Next) {
    let judging = then == Next::Attempt && turn.m.lane.stage == Stage::Validate;
    let then = if judging { Next::Visit } else { then };
    if judging {
        turn.m.lane.turn(None);
        turn.m.lane.passed = None;
    }
    if matches!(then, Next::Attempt | Next::Visit) {
        let spent = exhausted(turn, &EFFORT).chain(exhausted(turn, &[Account::Attempts]));
        reasons.extend(spent.map(Reason::Exhausted));
    }
    ask(
        turn,
        Question {
            reasons,
            digest: None,
            verdict: None,
            holder: None,
            then,
        },
    );
}

/// What a gate is about.
pub(crate) struct Question {
    pub(crate) reasons: Vec<Reason>,
    pub(crate) digest: Option<Digest>,
    pub(crate) verdict: Option<Verdict>,
    pub(crate) holder: Option<GateId>,
    pub(crate) then: Next,
}

/// Opens the first gate that the reasons call for, with all of them shown.
pub(crate) fn ask(turn: &mut Turn, question: Question) {
    let Question {
        mut reasons,
        digest,
        verdict,
        holder,
        then,
    } = question;
    reasons.sort_by_key(|reason| (reason.kind(), *reason));
    reasons.dedup();
    let Some(first) = reasons.first() else {
        return proceed(turn, then);
    };
    let kind = first.kind();
    for reason in &reasons {
        turn.because(Rule::Gated(*reason));
    }
    let mut gate = Gate {
        id: turn.next_gate(),
        kind,
        reasons,
        digest,
        verdict,
        holder,
        offers: Vec::new(),
        opened_at: turn.m.now,
        expires_at: turn.m.now,
        then,
    };
    let broke = gate
        .exhausted()
        .any(|account| turn.meter().exhausted(account));
    let funds = if broke { Funds::Exhausted } else { Funds::Left };
    gate.offers = kind.offers(funds).to_vec();
    if turn.m.stopping.is_some() {
        return park(turn, ParkCause::Stopped, ParkedAt::Gate(gate));
    }
    open(turn, gate);
}

/// Puts a gate before a person, with its whole time to answer.
pub(crate) fn open(turn: &mut Turn, mut gate: Gate) {
    gate.expires_at = turn
        .m
        .now
        .after(turn.m.charter.fields().settings.gate_expiry);
    let id = turn.start(Effect::Ask(gate.clone()));
    turn.m.position = Position::AtGate(id, gate);
}

/// Stops safely: nothing runs, nothing is deleted, a person goes on.
pub(crate) fn park(turn: &mut Turn, cause: ParkCause, at: ParkedAt) {
    turn.m.stopping = None;
    turn.because(Rule::Parked);
    turn.m.position = Position::Parked(cause, at);
}
