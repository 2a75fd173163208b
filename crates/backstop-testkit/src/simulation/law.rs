//! What must hold of every step of a simulated mission, told a second time without the policy's own code.

use std::collections::BTreeMap;

use backstop_engine::gates::Fate;
use backstop_engine::mode::{Account, Mode};
use backstop_engine::outcome::StatusKind;
use backstop_engine::vocab::Stage;
use backstop_engine::{
    Answer, Charter, CheckVerdict, Effect, Event, Fact, GateKind, Mission, Position, Rule,
    Transition, Verb,
};

use super::Violation;
use crate::{Book, bound, is_note, red};

/// One fact that was taken: what was there before, what it did.
pub(super) struct Taken<'a> {
    pub(super) before: &'a Mission,
    pub(super) event: &'a Event,
    pub(super) done: &'a Transition,
}

impl Taken<'_> {
    fn fired(&self, rule: Rule) -> bool {
        self.done.because.contains(&rule)
    }

    fn used(&self, account: Account) -> (u64, u64) {
        let (old, new) = (self.before.meter(), self.done.mission.meter());
        (old.used(account), new.used(account))
    }

    fn fell(&self, account: Account) -> bool {
        let (was, is) = self.used(account);
        is < was
    }

    fn rose(&self, account: Account) -> bool {
        let (old, new) = (self.before.meter(), self.done.mission.meter());
        new.total(account) > old.total(account)
    }

    fn answer(&self) -> Option<&Answer> {
        if let Fact::Answered(answer) = &self.event.fact {
            Some(answer)
        } else {
            None
        }
    }
}

type Law = (&'static str, fn(&Watch, &Taken<'_>) -> bool);

/// Each law by its name, and whether a step keeps it.
const LAWS: [Law; 13] = [
    ("the same again", same_again),
    ("bound", within_bound),
    ("ship", ships),
    ("clean", lands_clean),
    ("streak", streak),
    ("separate", separate),
    ("kept", kept),
    ("in a row", in_a_row),
    ("fault", faults),
    ("answer", answers),
    ("reject counted", reject_counted),
    ("stop", stops),
    ("handoff", handoffs),
];

#[derive(Debug)]
pub(super) struct Watch {
    pub(super) book: Book,
    bound: u64,
    alone: u64,
    /// From its opening on: who supervises later sees the Validates that come later.
    supervised: bool,
}

impl Watch {
    pub(super) fn of(charter: &Charter) -> Self {
        Self {
            book: Book::opened(&Mission::open(charter.clone())),
            bound: bound(charter),
            alone: 0,
            supervised: charter.fields().mode == Mode::Supervise,
        }
    }

    /// Looks at one more step.
    pub(super) fn see(&mut self, taken: &Taken<'_>) -> Option<Violation> {
        let (before, event, done) = (taken.before, taken.event, taken.done);
        self.book = self.book.after(before, event, done);
        // At a gate a person is asked already.
        if by_person(&event.fact) || before.gate().is_some() {
            self.alone = 0;
        } else if !is_note(&event.fact) {
            self.alone += 1;
        }
        let broken = LAWS.iter().find(|(_, holds)| !holds(self, taken));
        broken.map(|(law, _)| Violation {
            law,
            seen: format!("{:?} fired {:?}", event.fact, done.because),
        })
    }
}

pub(super) const fn by_person(fact: &Fact) -> bool {
    matches!(
        fact,
        Fact::Answered(_)
            | Fact::StopRequested { .. }
            | Fact::Resumed { .. }
            | Fact::Tightened { .. }
            | Fact::Supervised { .. }
    )
}

/// Deciding again is deciding the same, and what is open is what was started and not answered.
fn same_again(watch: &Watch, taken: &Taken<'_>) -> bool {
    let again = taken.before.decide(taken.event);
    let open = taken.done.mission.outstanding();
    again.as_ref() == Ok(taken.done) && open.eq(watch.book.open.iter().map(|(id, one)| (*id, one)))
}

/// Without a person it comes to a gate, a park or its end.
fn within_bound(watch: &Watch, _: &Taken<'_>) -> bool {
    watch.alone <= watch.bound
}

/// Only an approval of exactly this tree, at a ship gate, hands anything over.
fn ships(_: &Watch, taken: &Taken<'_>) -> bool {
    let gate = taken.before.gate();
    let at_ship = gate.is_some_and(|g| matches!(g.kind, GateKind::Ship | GateKind::ShipFailed));
    let approved = taken.answer().filter(|a| a.verb == Verb::Approve);
    let tree = approved.and_then(|answer| answer.digest);
    taken.done.effects.iter().all(|(_, effect)| match effect {
        Effect::Ship(shipment) => at_ship && tree == Some(shipment.tree),
        Effect::Preflight
        | Effect::Launch(_)
        | Effect::RunChecks(_)
        | Effect::Wait(_)
        | Effect::Land(_)
        | Effect::Ask(_)
        | Effect::MergeBase(_)
        | Effect::Halt(_) => true,
    })
}

/// Only what was judged clean or overridden lands or ships; in supervise a person has seen what lands.
fn lands_clean(watch: &Watch, taken: &Taken<'_>) -> bool {
    taken.done.effects.iter().all(|(_, effect)| {
        let (tree, unseen) = match effect {
            Effect::Land(landing) => (landing.tree, watch.supervised),
            Effect::Ship(shipment) => (shipment.tree, false),
            Effect::Preflight
            | Effect::Launch(_)
            | Effect::RunChecks(_)
            | Effect::Wait(_)
            | Effect::Ask(_)
            | Effect::MergeBase(_)
            | Effect::Halt(_) => return true,
        };
        watch.book.approved.contains(&tree) || watch.book.clean.contains(&tree) && !unseen
    })
}

/// Up by one at a failed Validate, back to one with progress, and down on the way forward alone.
fn streak(_: &Watch, taken: &Taken<'_>) -> bool {
    let (was, is) = taken.used(Account::Streak);
    let with =
        taken.fired(Rule::ChecksRedWithProgress) || taken.fired(Rule::ReviewFailedWithProgress);
    let without = taken.fired(Rule::ChecksRedWithoutProgress)
        || taken.fired(Rule::ReviewFailedWithoutProgress);
    if with || without {
        return is == if with { 1 } else { was + 1 };
    }
    let (from, to) = (taken.before.stage(), taken.done.mission.stage());
    let forward = to > from && (from, to) != (Stage::Code, Stage::Validate);
    let granted = taken.fired(Rule::Answered(Verb::Grant));
    is == was || is < was && (forward || granted || taken.fired(Rule::LaneOpened))
}

/// Faults and limits never move the work's accounts, and the work never theirs.
fn separate(_: &Watch, taken: &Taken<'_>) -> bool {
    let trouble = taken.rose(Account::InfraTotal) || taken.rose(Account::QuotaWaits);
    let work = taken.rose(Account::Streak) || taken.rose(Account::PhaseFailures);
    !(trouble && work)
}

/// What only a grant refills falls by nothing else: no resume, no restart, no new loop.
fn kept(_: &Watch, taken: &Taken<'_>) -> bool {
    let granted = taken.fired(Rule::Answered(Verb::Grant));
    let new_lane = taken.fired(Rule::LaneOpened);
    let fell = |account| taken.fell(account);
    let of_lane = [
        Account::PhaseFailures,
        Account::InfraTotal,
        Account::Attempts,
    ];
    let of_mission = [
        Account::ToolCalls,
        Account::Tokens,
        Account::Cost,
        Account::ActiveTime,
    ];
    granted || !of_mission.into_iter().any(fell) && (new_lane || !of_lane.into_iter().any(fell))
}

/// Faults in a row and waits in a row are forgotten on the way to another stage, in a new lane and by a grant, the faults
/// also when an attempt ends without one: not when somebody goes on with a parked mission.
fn in_a_row(_: &Watch, taken: &Taken<'_>) -> bool {
    let moved = taken.before.stage() != taken.done.mission.stage();
    let anew = taken.fired(Rule::LaneOpened) || taken.fired(Rule::Answered(Verb::Grant));
    let ended = matches!(taken.event.fact, Fact::AttemptEnded(_));
    let forgot = taken.fell(Account::QuotaWaits) || !ended && taken.fell(Account::Infra);
    moved || anew || !forgot
}

/// Each fault is charged to the faults, and nothing else is.
fn faults(_: &Watch, taken: &Taken<'_>) -> bool {
    let is_fault = match &taken.event.fact {
        Fact::AttemptEnded(ended) => matches!(
            ended.status.kind(),
            StatusKind::ResourceKilled
                | StatusKind::AgentUnavailable
                | StatusKind::Ambiguous
                | StatusKind::Interrupted
        ),
        Fact::ChecksRan(ran) => {
            let not_run = |verdict: &CheckVerdict| matches!(verdict, CheckVerdict::NotRun { .. });
            !red(ran) && ran.results.iter().any(|result| not_run(&result.verdict))
        }
        Fact::LandFailed { .. } => true,
        Fact::Opened(_)
        | Fact::PreflightRan(_)
        | Fact::AttemptStarted(_)
        | Fact::SessionOpened(_)
        | Fact::WaitEnded { .. }
        | Fact::Landed { .. }
        | Fact::Shipped(_)
        | Fact::BaseMerged(_)
        | Fact::Answered(_)
        | Fact::GateExpired { .. }
        | Fact::StopRequested { .. }
        | Fact::Resumed { .. }
        | Fact::Tightened { .. }
        | Fact::Supervised { .. } => false,
    };
    is_fault || !taken.rose(Account::InfraTotal)
}

/// An answer is to the open gate, for its digest, and used once.
fn answers(_: &Watch, taken: &Taken<'_>) -> bool {
    let Some(answer) = taken.answer() else {
        return true;
    };
    let fits = taken.before.gate().is_some_and(|gate| {
        let covers = gate.digest.is_none() || gate.digest == answer.digest;
        gate.id == answer.gate
            && gate.offers.contains(&answer.verb)
            && (covers || answer.verb != Verb::Approve)
    });
    let mut used = taken.before.answers().iter();
    let fresh = used.all(|(gate, ..)| *gate != answer.gate);
    fits && fresh && taken.done.mission.decide(taken.event).is_err()
}

/// The way back from Ship costs a failure of the phase.
fn reject_counted(_: &Watch, taken: &Taken<'_>) -> bool {
    let gate = taken.before.gate();
    let at_ship = gate.is_some_and(|g| matches!(g.kind, GateKind::Ship | GateKind::ShipFailed));
    let rejected = taken.answer().is_some_and(|a| a.verb == Verb::Reject);
    !(at_ship && rejected) || taken.rose(Account::PhaseFailures)
}

/// A stop reaches what runs, and nothing begins before the park.
fn stops(_: &Watch, taken: &Taken<'_>) -> bool {
    let begun = taken.done.effects.iter();
    let mut begun = begun.filter(|(_, effect)| !matches!(effect, Effect::Halt(_)));
    if taken.before.stopping().is_some() && begun.next().is_some() {
        return false;
    }
    let mission = &taken.done.mission;
    match (mission.stopping(), mission.position()) {
        (Some(_), Position::Busy(id)) => {
            let mut open = mission.outstanding();
            open.any(|(_, effect)| *effect == Effect::Halt(*id))
        }
        _ => true,
    }
}

/// No handoff is there twice; one that was committed stays so, and is given to no launch again.
fn handoffs(_: &Watch, taken: &Taken<'_>) -> bool {
    let (old, new) = (
        &taken.before.lane().handoffs,
        &taken.done.mission.lane().handoffs,
    );
    let fates: BTreeMap<_, _> = new.all().map(|(one, fate)| (one.id(), fate)).collect();
    let is_spent = |fate: &Fate| matches!(fate, Fate::Committed(_) | Fate::Superseded);
    let mut spent = old.all().filter(|(_, fate)| is_spent(fate));
    let stays =
        old.lane() != new.lane() || spent.all(|(one, fate)| fates.get(one.id()) == Some(&fate));
    let launched = taken.done.effects.iter();
    let mut given = launched
        .filter_map(|(_, effect)| effect.launched())
        .flat_map(|order| &order.handoffs);
    let reserved = |fate: Option<&Fate>| matches!(fate, Some(Fate::Reserved(_)));
    let given = given.all(|one| reserved(fates.get(one.id())));
    stays && given && fates.len() == new.all().count()
}

#[cfg(test)]
mod tests {
    use backstop_engine::{Point, PointVerdict, PreflightRan};

    use super::*;
    use crate::{Opening, check_results, short};

    /// The law that a step breaks after it was bent so.
    fn bent(bend: impl FnOnce(&mut Transition)) -> Option<&'static str> {
        let charter = Opening::default().charter();
        let mut watch = Watch::of(&charter);
        let before = Mission::open(charter.clone()).mission;
        let (effect, _) = before.outstanding().next().unwrap();
        let event = Event {
            at: before.now(),
            fact: Fact::PreflightRan(PreflightRan {
                effect,
                points: vec![Point {
                    name: short("git"),
                    verdict: PointVerdict::Held(short("there")),
                }],
                base_checks: check_results(&charter.fields().checks, &[]),
            }),
        };
        let mut done = before.decide(&event).unwrap();
        bend(&mut done);
        let taken = Taken {
            before: &before,
            event: &event,
            done: &done,
        };
        watch.see(&taken).map(|broken| broken.law)
    }

    #[test]
    fn a_step_keeps_every_law_until_it_is_bent() {
        assert_eq!(bent(|_| {}), None);
        let lost = bent(|done| done.effects.clear());
        assert_eq!(lost, Some("the same again"));
    }
}
