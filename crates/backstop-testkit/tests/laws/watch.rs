//! Holds every step of a search against the laws, and writes down each break.

use std::collections::{BTreeSet, VecDeque};

use backstop_testkit::engine::mode::{Account, Mode};
use backstop_testkit::engine::outcome::StatusKind;
use backstop_testkit::engine::vocab::Stage;
use backstop_testkit::engine::{
    Charter, CheckVerdict, Effect, Event, Fact, Gate, GateKind, Mission, Refusal, Rule, Transition,
    Verb,
};
use backstop_testkit::{Book, Step, misfits, red};

use crate::table;

#[derive(Debug)]
pub(crate) struct Watch {
    pub(crate) rules: BTreeSet<Rule>,
    pub(crate) offered: BTreeSet<(GateKind, Verb)>,
    pub(crate) answered: BTreeSet<(GateKind, Verb)>,
    pub(crate) broken: Vec<String>,
    // The books of the states whose steps are still to come, and the number of the first of them.
    books: VecDeque<Book>,
    first: usize,
    supervised: bool,
    states: usize,
}

impl Watch {
    pub(crate) fn new(charter: &Charter) -> Self {
        let opened = Mission::open(charter.clone());
        Self {
            rules: opened.because.iter().copied().collect(),
            offered: BTreeSet::new(),
            answered: BTreeSet::new(),
            broken: Vec::new(),
            books: VecDeque::from([Book::opened(&opened)]),
            first: 0,
            supervised: charter.fields().mode == Mode::Supervise,
            states: 0,
        }
    }

    fn broke(&mut self, law: &str, what: &impl std::fmt::Debug) {
        self.broken.push(format!("{law}: {what:?}"));
    }

    pub(crate) fn see(&mut self, step: &Step<'_>) {
        let event = &step.made.event;
        while self.first < step.from {
            self.books.pop_front();
            self.first += 1;
        }
        self.total(step.before, event, step.outcome);
        if let Fact::Answered(answer) = &event.fact
            && let Some(gate) = step.before.gate()
            && table::takes(step.before, gate, answer) != step.outcome.is_ok()
        {
            self.broke("answers", &(gate, answer, step.outcome.as_ref().err()));
        }
        if let Ok(done) = step.outcome {
            self.accepted(step, done);
        }
    }

    fn accepted(&mut self, step: &Step<'_>, done: &Transition) {
        let (before, event) = (step.before, &step.made.event);
        self.rules.extend(done.because.iter().copied());
        self.ships(before, event, done);
        self.accounts(before, event, done);
        self.used_up(before, event, done);
        if before.stopping().is_some() && !done.effects.is_empty() {
            self.broke("stop: work began", &(event, &done.effects));
        }
        let new = matches!(step.to, Some((_, true)));
        let hands_on =
            |(_, effect): &(_, Effect)| matches!(effect, Effect::Land(_) | Effect::Ship(_));
        // Books are long; most steps lead to a state whose books are kept already.
        if !new && !done.effects.iter().any(hands_on) {
            return;
        }
        let book = self.books[step.from - self.first].after(before, event, done);
        self.lands(&book, event, done);
        if new {
            self.new_state(&book, &done.mission);
            self.books.push_back(book);
        }
    }

    fn new_state(&mut self, book: &Book, mission: &Mission) {
        let open: Vec<_> = book.open.iter().map(|(id, effect)| (*id, effect)).collect();
        let told: Vec<_> = mission.outstanding().collect();
        if open != told {
            self.broke("law 4", &(open, told));
        }
        if let Some(gate) = mission.gate() {
            self.offers(mission, gate);
        }
        self.states += 1;
        if self.states.is_multiple_of(crate::MISFITS) {
            self.misfits(mission);
        }
    }

    /// What does not fit is refused with words, and changes nothing.
    fn misfits(&mut self, mission: &Mission) {
        let as_it_was = mission.clone();
        for event in misfits(mission) {
            match mission.decide(&event) {
                Err(refusal) if refusal.to_string().is_empty() => {
                    self.broke("law 3: a refusal without words", &refusal);
                }
                Err(_) => {}
                Ok(_) => self.broke("law 3: taken", &event),
            }
        }
        if *mission != as_it_was {
            self.broke("law 3: a refused fact changed", &as_it_was);
        }
    }

    fn offers(&mut self, mission: &Mission, gate: &Gate) {
        let mut offers = gate.offers.clone();
        self.offered
            .extend(offers.iter().map(|verb| (gate.kind, *verb)));
        offers.sort();
        if offers != table::offers(gate.kind, table::broke(mission, gate)) {
            self.broke("offers", gate);
        }
        let kinds = gate.reasons.iter().map(|reason| reason.kind());
        if kinds.min() != Some(gate.kind) {
            self.broke("offers: not the first gate", gate);
        }
    }

    /// Deciding again is deciding the same.
    fn total(&mut self, before: &Mission, event: &Event, outcome: &Result<Transition, Refusal>) {
        if before.decide(event) != *outcome {
            self.broke("law 3: decided twice", event);
        }
        if let Ok(done) = outcome
            && (done.because.is_empty() || done.mission.now() < before.now())
        {
            self.broke("law 3: no reason, or time ran backwards", event);
        }
    }

    /// Only an approval of exactly this tree at a ship gate hands anything over.
    fn ships(&mut self, before: &Mission, event: &Event, done: &Transition) {
        let gate = before.gate();
        let at_ship = gate.is_some_and(|g| matches!(g.kind, GateKind::Ship | GateKind::ShipFailed));
        for (_, effect) in &done.effects {
            let Effect::Ship(shipment) = effect else {
                continue;
            };
            let approved = match &event.fact {
                Fact::Answered(answer) => {
                    answer.verb == Verb::Approve && answer.digest == Some(shipment.tree)
                }
                _ => false,
            };
            if !approved || !at_ship {
                self.broke("law 2: shipped without an approval", event);
            }
        }
    }

    /// Only what was judged clean or overridden lands or ships; in supervise a person has seen it.
    fn lands(&mut self, book: &Book, event: &Event, done: &Transition) {
        for (_, effect) in &done.effects {
            let tree = match effect {
                Effect::Land(landing) => landing.tree,
                Effect::Ship(shipment) => shipment.tree,
                _ => continue,
            };
            let seen = book.approved.contains(&tree);
            let clean = book.clean.contains(&tree) && !self.supervised;
            if !seen && !clean {
                self.broke("law 5", &(event, effect));
            }
        }
    }

    /// Each kind of trouble moves its own accounts alone.
    fn accounts(&mut self, before: &Mission, event: &Event, done: &Transition) {
        let (old, new) = (before.meter(), done.mission.meter());
        for account in Account::ALL {
            let rose = new.total(account) > old.total(account);
            if rose && !may_rise(account, before, event) {
                self.broke("law 6: charged", &(account, event));
            }
        }
        let rose = |account| new.total(account) > old.total(account);
        let moved = |account| new.used(account) != old.used(account);
        let trouble = rose(Account::InfraTotal) || rose(Account::QuotaWaits);
        if trouble && Account::ALL.into_iter().any(|a| of_work(a) && moved(a)) {
            self.broke("law 6: a fault or limit moved the work's accounts", event);
        }
        let (was, is) = (
            old.used(Account::PhaseFailures),
            new.used(Account::PhaseFailures),
        );
        let may_fall = done.because.contains(&Rule::Answered(Verb::Grant))
            || done.because.contains(&Rule::LaneOpened);
        if is < was && !may_fall {
            self.broke("law 6: the phase total fell", event);
        }
    }

    fn used_up(&mut self, before: &Mission, event: &Event, done: &Transition) {
        let Fact::Answered(answer) = &event.fact else {
            return;
        };
        if let Some(gate) = before.gate() {
            self.answered.insert((gate.kind, answer.verb));
        }
        if done.mission.decide(event).is_ok() {
            self.broke("once: taken twice", answer);
        }
        if before
            .answers()
            .iter()
            .any(|(gate, ..)| *gate == answer.gate)
        {
            self.broke("once: an old answer was taken", answer);
        }
    }
}

/// The accounts that failed work alone is charged to.
const fn of_work(account: Account) -> bool {
    matches!(account, Account::Streak | Account::PhaseFailures)
}

fn may_rise(account: Account, before: &Mission, event: &Event) -> bool {
    let fact = &event.fact;
    match account {
        Account::Streak => failed_checks(fact) || judged(before, fact),
        Account::PhaseFailures => {
            failed_checks(fact) || judged(before, fact) || rejected_at_ship(before, fact)
        }
        Account::Infra | Account::InfraTotal => fault(fact),
        Account::QuotaWaits => ended(fact) == Some(StatusKind::RateLimited),
        Account::Preflight => matches!(fact, Fact::PreflightRan(_)),
        Account::CheckpointResumes => ended(fact) == Some(StatusKind::Asked),
        Account::Attempts => !is_resumed(fact),
        Account::ToolCalls | Account::Tokens | Account::Cost | Account::ActiveTime => {
            matches!(fact, Fact::AttemptEnded(_) | Fact::ChecksRan(_))
        }
    }
}

/// An automatic resume: launched by a fault, or by the end of a wait.
fn is_resumed(fact: &Fact) -> bool {
    let resumed = [
        StatusKind::RateLimited,
        StatusKind::Ambiguous,
        StatusKind::Interrupted,
    ];
    matches!(fact, Fact::WaitEnded { .. })
        || ended(fact).is_some_and(|kind| resumed.contains(&kind))
}

fn ended(fact: &Fact) -> Option<StatusKind> {
    match fact {
        Fact::AttemptEnded(ended) => Some(ended.status.kind()),
        _ => None,
    }
}

fn failed_checks(fact: &Fact) -> bool {
    matches!(fact, Fact::ChecksRan(ran) if red(ran))
}

/// A role that judges has judged.
fn judged(before: &Mission, fact: &Fact) -> bool {
    before.stage() == Stage::Validate && ended(fact) == Some(StatusKind::Success)
}

fn rejected_at_ship(before: &Mission, fact: &Fact) -> bool {
    let at_ship = before
        .gate()
        .is_some_and(|g| matches!(g.kind, GateKind::Ship | GateKind::ShipFailed));
    at_ship && matches!(fact, Fact::Answered(answer) if answer.verb == Verb::Reject)
}

fn fault(fact: &Fact) -> bool {
    let faults = [
        StatusKind::ResourceKilled,
        StatusKind::AgentUnavailable,
        StatusKind::Ambiguous,
        StatusKind::Interrupted,
    ];
    let not_run = |verdict: &CheckVerdict| matches!(verdict, CheckVerdict::NotRun { .. });
    match fact {
        Fact::AttemptEnded(ended) => faults.contains(&ended.status.kind()),
        Fact::ChecksRan(ran) => {
            !red(ran) && ran.results.iter().any(|result| not_run(&result.verdict))
        }
        Fact::LandFailed { .. } => true,
        _ => false,
    }
}
