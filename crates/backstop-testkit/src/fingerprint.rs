//! What of a mission decides what it does next. Times, ids, names and words are not in it: they only multiply states.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use backstop_engine::gates::{Judged, StateKind};
use backstop_engine::mode::{Account, Baseline, Measured, Mode, Progress, Verdict};
use backstop_engine::review::{self, Entry, Loop};
use backstop_engine::vocab::{Digest, EffectId, GateId, Phase, Stage, Visit};
use backstop_engine::{
    Effect, Ended, Gate, GateKind, Lane, Mission, ParkedAt, Pending, Position, Role, Verb,
    WaitCause,
};

/// Two missions with the same fingerprint do the same for the same moves.
///
/// It is a hash of 128 bits: that two of a million different states share one has a chance of 1 in 10²⁶.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint([u64; 2]);

impl Fingerprint {
    fn of(mark: &Mark) -> Self {
        Self([0_u8, 1].map(|half| {
            let mut hash = DefaultHasher::new();
            (half, mark).hash(&mut hash);
            hash.finish()
        }))
    }
}

#[derive(Debug, Hash)]
#[expect(clippy::large_enum_variant, reason = "it is hashed and gone")]
enum Mark {
    Shipped,
    Aborted,
    Live(Live),
}

#[derive(Debug, Hash)]
struct Live {
    place: Place,
    mode: Mode,
    stopping: bool,
    lane: LaneMark,
    accounts: Vec<AccountMark>,
}

#[derive(Debug, Hash)]
enum Place {
    Busy(&'static str),
    Waiting(WaitCause, Pending),
    AtGate(GateMark),
    ParkedAtGate(GateMark),
    ParkedAtWork(Option<WaitCause>, Pending),
}

#[derive(Debug, Hash)]
struct GateMark {
    kind: GateKind,
    // Which of several troubles it was only matters for what a grant refills.
    exhausted: Vec<Account>,
    then: Pending,
    offers: Vec<Verb>,
    verdict: Option<Verdict>,
    holder: Option<GateId>,
    // Whether it is about the lane's present tree, where it is about one.
    present: Option<bool>,
}

#[derive(Debug, Hash)]
struct LaneMark {
    phase: Phase,
    stage: Stage,
    // Whether it is the first visit of Code, and whether the author of the work is known.
    first_code: bool,
    known_author: bool,
    // Of the head: whether it is where the visit began and whether its commits were counted; whether it is cleared.
    head: [bool; 2],
    cleared: Option<bool>,
    // Of the earlier failures: whether there was one, whether new work is progress, whether the head as it is would be.
    baseline: [bool; 3],
    role: Option<Role>,
    // Of the board: each gate's state as it counts for a role that starts and for the landing, and how often it sent its role back.
    board: Vec<(StateKind, StateKind, u32)>,
    asked_again: u32,
    // Whether the branch was moved during the last review.
    moved: bool,
    review: Option<LoopMark>,
    // Of what the reviewer let pass: whether it left something open, whether it is whole, whether a verifier agreed.
    passed: Option<[bool; 3]>,
}

#[derive(Debug, Hash)]
struct LoopMark {
    kind: review::StateKind,
    // Of the pin: whether it is the head, and how much of the bounds is spent.
    pinned: bool,
    iterations: u32,
    bound: u32,
    stalled: usize,
    used_up: bool,
}

#[derive(Debug, Hash)]
struct AccountMark {
    used: u64,
    exhausted: bool,
    ceiling: u64,
    grants: u8,
}

/// The fingerprint of a mission. Of the accounts in `uncounted` only whether they are exhausted is in it: sound where
/// their ceilings are out of reach.
#[must_use]
pub fn fingerprint(mission: &Mission, uncounted: &[Account]) -> Fingerprint {
    let place = match mission.position() {
        Position::Ended(Ended::Shipped(_)) => return Fingerprint::of(&Mark::Shipped),
        Position::Ended(Ended::Aborted) => return Fingerprint::of(&Mark::Aborted),
        Position::Busy(id) => Place::Busy(work(mission, *id)),
        Position::Waiting(_, wait, then) => Place::Waiting(wait.cause, then.clone()),
        Position::AtGate(_, gate) => Place::AtGate(mark_gate(mission, gate)),
        Position::Parked(_, ParkedAt::Gate(gate)) => Place::ParkedAtGate(mark_gate(mission, gate)),
        Position::Parked(_, ParkedAt::Work(work)) => parked(work),
    };
    Fingerprint::of(&Mark::Live(Live {
        place,
        mode: mission.mode(),
        stopping: mission.stopping().is_some(),
        lane: lane(mission),
        accounts: Account::ALL
            .into_iter()
            .map(|account| mark(mission, account, uncounted))
            .collect(),
    }))
}

/// Beyond the ceiling it no longer matters how far, but for what a grant leaves over.
fn mark(mission: &Mission, account: Account, uncounted: &[Account]) -> AccountMark {
    let meter = mission.meter();
    let used = meter.used(account).min(meter.ceiling(account));
    AccountMark {
        used: if uncounted.contains(&account) {
            0
        } else {
            used
        },
        exhausted: meter.exhausted(account),
        ceiling: meter.ceiling(account),
        grants: meter.grants(account),
    }
}

fn work(mission: &Mission, id: EffectId) -> &'static str {
    let mut running = mission.outstanding();
    let named = running.find_map(|(other, effect)| (other == id).then(|| name(effect)));
    named.unwrap_or("nothing")
}

fn parked(work: &Pending) -> Place {
    match work.wait() {
        Some((wait, then)) => Place::ParkedAtWork(Some(wait.cause), then),
        None => Place::ParkedAtWork(None, work.clone()),
    }
}

fn mark_gate(mission: &Mission, gate: &Gate) -> GateMark {
    let present = |digest: Digest| digest == mission.lane().head.tree;
    GateMark {
        kind: gate.kind,
        exhausted: gate.exhausted().collect(),
        then: gate.pending(),
        offers: gate.offers.clone(),
        verdict: gate.verdict,
        holder: gate.holder.clone(),
        present: gate.digest.map(present),
    }
}

const fn name(effect: &Effect) -> &'static str {
    match effect {
        Effect::Preflight => "preflight",
        Effect::Launch(_) => "launch",
        Effect::RunChecks(_) => "run_checks",
        Effect::Wait(_) => "wait",
        Effect::Land(_) => "land",
        Effect::Ask(_) => "ask",
        Effect::Ship(_) => "ship",
        Effect::MergeBase(_) => "merge_base",
        Effect::Halt(_) => "halt",
    }
}

fn lane(mission: &Mission) -> LaneMark {
    let lane = mission.lane();
    let head = &lane.head;
    let code = lane.visits.get(&Stage::Code);
    LaneMark {
        phase: lane.phase,
        stage: lane.stage,
        first_code: code.is_none_or(|visit| *visit == Visit::FIRST),
        head: [head.tree == lane.entry.tree, head.commits.is_some()],
        cleared: mission.cleared().map(|tree| tree == head.tree),
        role: lane.role,
        board: board(lane),
        asked_again: lane.asked_again,
        moved: lane.moved.is_some(),
        review: lane.review.as_ref().map(|review| loop_mark(lane, review)),
        passed: lane.passed.as_ref().map(|passed| {
            [
                passed.findings.is_empty(),
                passed.route.complete().is_ok(),
                passed.verifier.is_some(),
            ]
        }),
        known_author: lane
            .implementer
            .as_ref()
            .is_some_and(|author| author.complete().is_ok()),
        baseline: [
            judged(&lane.baseline, None, None),
            judged(&lane.baseline, Some(u64::MAX), Some(unknown())),
            judged(&lane.baseline, head.commits, Some(head.tree)),
        ],
    }
}

fn board(lane: &Lane) -> Vec<(StateKind, StateKind, u32)> {
    let now = lane.judged();
    let entry = Judged {
        tree: Some(lane.entry.tree),
        ..now.clone()
    };
    let lines = lane.board.status(&entry).into_iter();
    let both = lines.zip(lane.board.status(&now));
    both.map(|(start, end)| (start.state, end.state, lane.board.retries(&end.gate)))
        .collect()
}

fn loop_mark(lane: &Lane, review: &Loop) -> LoopMark {
    let receipt = review.receipt();
    let bounds = receipt.bounds();
    let stalled = |entry: &&Entry| match entry {
        Entry::Repaired { stall, .. } => stall.is_some(),
        Entry::Reviewed(_)
        | Entry::Incomplete { .. }
        | Entry::Red { .. }
        | Entry::Answered { .. } => true,
    };
    let repairs = receipt.entries().iter().rev().take_while(stalled);
    LoopMark {
        kind: review.kind(),
        pinned: receipt.pin() == lane.head.tree,
        iterations: receipt.iterations(),
        bound: bounds.iterations(),
        stalled: repairs
            .filter(|entry| matches!(entry, Entry::Repaired { .. }))
            .count(),
        used_up: receipt.tool_calls() >= bounds.tool_calls()
            || receipt.elapsed() >= bounds.wall_clock(),
    }
}

/// A tree that no mission has.
fn unknown() -> Digest {
    Digest::of(b"no tree")
}

fn judged(baseline: &Baseline, commits: Option<u64>, tree: Option<Digest>) -> bool {
    baseline.judge(Measured { commits, tree }).1 == Progress::Made
}

/// Whether Validate failed on this tree before.
pub(crate) fn failed_before(lane: &Lane, tree: Digest) -> bool {
    let most = Some(u64::MAX);
    judged(&lane.baseline, most, Some(unknown())) && !judged(&lane.baseline, most, Some(tree))
}
