//! A mission that only counts: where it is, how often what happened, and who is asked. Written from the policy alone.

use std::collections::BTreeMap;

use backstop_testkit::engine::mode::{Account, MAX_GRANTS};
use backstop_testkit::engine::vocab::Stage;
use backstop_testkit::engine::{GateKind, Verb};

use crate::deeds::Deed;

/// What differs between the missions of the model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Scene {
    pub(crate) supervise: bool,
    pub(crate) decide: bool,
    pub(crate) scout: bool,
    pub(crate) lanes: u32,
}

/// What is done next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    Preflight,
    Launch,
    LaunchAgain,
    Checks,
    Land,
    NextLane,
    Merge,
    AskToShip,
}

/// An open question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Asking {
    kind: GateKind,
    broke: Vec<Account>,
    then: Then,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum At {
    Doing(Then),
    Shipping,
    Waiting(Then),
    Gate(Asking),
    ParkedGate(Asking),
    Parked(Then),
    ParkedWaiting(Then),
    Ended { shipped: bool },
}

/// The model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) scene: Scene,
    pub(crate) at: At,
    pub(crate) stage: Stage,
    pub(crate) phase: u32,
    stopping: bool,
    // Of the lane: visits to Code, whether Validate has failed, and whether the tree is new since.
    visits: u32,
    failed: bool,
    moved: bool,
    used: BTreeMap<Account, u64>,
    grants: BTreeMap<Account, u8>,
}

/// The accounts that are compared by number.
pub(crate) const COUNTED: [Account; 8] = [
    Account::Streak,
    Account::PhaseFailures,
    Account::Infra,
    Account::InfraTotal,
    Account::QuotaWaits,
    Account::Preflight,
    Account::CheckpointResumes,
    Account::Attempts,
];

const LANE: [Account; 6] = [
    Account::Streak,
    Account::PhaseFailures,
    Account::Infra,
    Account::InfraTotal,
    Account::QuotaWaits,
    Account::Attempts,
];

/// The small ceilings; all tokens are one unit here.
const fn ceiling(account: Account) -> u64 {
    match account {
        Account::Streak | Account::Infra | Account::QuotaWaits | Account::Preflight => 2,
        Account::PhaseFailures | Account::InfraTotal => 3,
        Account::Attempts => 15,
        Account::CheckpointResumes
        | Account::Tokens
        | Account::ToolCalls
        | Account::Cost
        | Account::ActiveTime => 1,
    }
}

impl Counts {
    pub(crate) fn new(scene: Scene) -> Self {
        let stage = if scene.scout {
            Stage::Define
        } else {
            Stage::Code
        };
        Self {
            scene,
            at: At::Doing(Then::Preflight),
            stage,
            phase: 1,
            stopping: false,
            visits: 0,
            failed: false,
            moved: false,
            used: BTreeMap::new(),
            grants: BTreeMap::new(),
        }
    }

    pub(crate) fn used(&self, account: Account) -> u64 {
        self.used.get(&account).copied().unwrap_or(0)
    }

    pub(crate) fn grants(&self, account: Account) -> u8 {
        self.grants.get(&account).copied().unwrap_or(0)
    }

    pub(crate) fn gate(&self) -> Option<(GateKind, Vec<Verb>)> {
        match &self.at {
            At::Gate(asking) | At::ParkedGate(asking) => Some((asking.kind, asking.offers())),
            _ => None,
        }
    }

    pub(crate) const fn place(&self) -> &'static str {
        match self.at {
            At::Doing(_) | At::Shipping => "busy",
            At::Waiting(_) => "waiting",
            At::Gate(_) => "at a gate",
            At::ParkedGate(_) | At::Parked(_) | At::ParkedWaiting(_) => "parked",
            At::Ended { shipped: true } => "shipped",
            At::Ended { shipped: false } => "aborted",
        }
    }

    /// The model after a deed; none where it is refused.
    pub(crate) fn after(&self, deed: Deed) -> Option<Self> {
        let mut next = self.clone();
        next.happens(deed).then_some(next)
    }

    fn happens(&mut self, deed: Deed) -> bool {
        use Deed as D;
        match (self.at.clone(), deed) {
            (At::Ended { .. }, _) => return false,
            (_, D::Supervise) => return !std::mem::replace(&mut self.scene.supervise, true),
            (_, D::Stop) => return self.stop(),
            (At::ParkedGate(asking), D::Resume) => self.at = At::Gate(asking),
            (At::Parked(then), D::Resume) | (At::Waiting(then), D::WaitEnded) => self.go(then),
            (At::ParkedWaiting(then), D::Resume) => self.at = At::Waiting(then),
            (At::Gate(asking), D::Expired) => self.at = At::ParkedGate(asking),
            (At::Gate(asking) | At::ParkedGate(asking), D::Answer(verb)) => {
                return self.answer(&asking, verb);
            }
            (At::Doing(then), _) => return self.does(then, deed),
            (At::Shipping, D::Shipped) => self.at = At::Ended { shipped: true },
            (At::Shipping, D::ShipFailed) => self.ask_to_ship(GateKind::ShipFailed),
            (At::Shipping, D::BaseMoved) => self.go(Then::Merge),
            _ => return false,
        }
        true
    }

    fn does(&mut self, then: Then, deed: Deed) -> bool {
        match (then, deed) {
            (Then::Preflight, Deed::PreflightHeld) => self.waive(),
            (Then::Preflight, Deed::PreflightFailed) if self.stopping => self.go(Then::Preflight),
            (Then::Preflight, Deed::PreflightFailed) => {
                self.add(Account::Preflight);
                let broke = self.broke(&[Account::Preflight]);
                self.ask(Some(GateKind::Preflight), broke, Then::Preflight);
            }
            (Then::Launch | Then::LaunchAgain, _) => return self.attempt(deed),
            (Then::Checks, _) => return self.check(deed),
            (Then::Land, Deed::Landed) => self.go(Then::NextLane),
            (Then::Land, Deed::LandFailed) => {
                let broke = self.fault();
                self.ask(Some(GateKind::Infra), broke, Then::Land);
            }
            (Then::Merge, Deed::MergedSame) => self.go(Then::AskToShip),
            (Then::Merge, Deed::MergedNew) => {
                self.moved = true;
                self.enter(Stage::Validate);
            }
            (Then::Merge, Deed::Conflict) => self.ask_to_ship(GateKind::ShipFailed),
            _ => return false,
        }
        true
    }

    fn attempt(&mut self, deed: Deed) -> bool {
        let faulty = matches!(deed, Deed::Died | Deed::CutOff | Deed::Unavailable);
        let broke = if faulty { self.fault() } else { Vec::new() };
        let ends = matches!(
            deed,
            Deed::Worked
                | Deed::DidNothing
                | Deed::Failed
                | Deed::Limited
                | Deed::LimitedForLong
                | Deed::Asked
                | Deed::Spent
                | Deed::Cancelled
        );
        if !faulty && !ends {
            return false;
        }
        if ends {
            self.used.insert(Account::Infra, 0);
        }
        let idle_code = self.stage == Stage::Code && self.visits == 1;
        match deed {
            Deed::Worked => {
                self.moved = true;
                self.forward();
            }
            Deed::DidNothing if !idle_code => self.forward(),
            Deed::Died if broke.is_empty() => self.go(Then::LaunchAgain),
            Deed::CutOff if broke.is_empty() => self.wait(Then::LaunchAgain),
            Deed::Died | Deed::CutOff => self.ask(None, broke, Then::Launch),
            Deed::Unavailable | Deed::LimitedForLong | Deed::Limited => {
                self.limit_or_gate(deed, broke);
            }
            Deed::Asked if self.scene.decide => self.decide(),
            Deed::Cancelled => {
                self.stopping = false;
                self.at = At::Parked(Then::Launch);
            }
            _ => {
                if deed == Deed::Spent {
                    self.used.insert(Account::Tokens, 1);
                }
                self.ask(Some(GateKind::Review), broke, Then::Launch);
            }
        }
        true
    }

    fn limit_or_gate(&mut self, deed: Deed, mut broke: Vec<Account>) {
        if deed != Deed::Unavailable {
            self.add(Account::QuotaWaits);
            broke = self.broke(&[Account::QuotaWaits]);
        }
        if deed == Deed::Limited && broke.is_empty() {
            return self.wait(Then::LaunchAgain);
        }
        self.ask(Some(GateKind::Infra), broke, Then::Launch);
    }

    fn decide(&mut self) {
        let account = Account::CheckpointResumes;
        if self.used(account) >= ceiling(account) {
            return self.ask(Some(GateKind::Review), vec![account], Then::Launch);
        }
        self.add(account);
        self.go(Then::Launch);
    }

    fn check(&mut self, deed: Deed) -> bool {
        match deed {
            Deed::Green => {
                let reasons = self.reasons(&[Account::PhaseFailures]);
                self.judged(reasons, Then::Land);
            }
            Deed::Red => {
                if !self.failed || self.moved {
                    self.used.insert(Account::Streak, 0);
                }
                (self.failed, self.moved) = (true, false);
                self.add(Account::Streak);
                self.add(Account::PhaseFailures);
                let streak: &[Account] = if self.scene.supervise {
                    &[]
                } else {
                    &[Account::Streak]
                };
                let reasons = self.reasons(&[&[Account::PhaseFailures], streak].concat());
                self.judged(reasons, Then::Checks);
            }
            Deed::NotRun if self.stopping => self.go(Then::Checks),
            Deed::NotRun => {
                let broke = self.fault();
                if broke.is_empty() {
                    self.wait(Then::Checks);
                } else {
                    self.ask(Some(GateKind::Infra), broke, Then::Checks);
                }
            }
            _ => return false,
        }
        true
    }

    /// What of the ceilings is reached; in supervise a person is asked even if none is.
    fn reasons(&self, accounts: &[Account]) -> Option<Vec<Account>> {
        let broke = self.broke(accounts);
        (!broke.is_empty() || self.scene.supervise).then_some(broke)
    }

    fn judged(&mut self, reasons: Option<Vec<Account>>, otherwise: Then) {
        match (reasons, otherwise) {
            (Some(broke), _) => self.ask(Some(GateKind::Validate), broke, Then::Land),
            (None, Then::Land) => self.go(Then::Land),
            (None, _) => self.enter(Stage::Code),
        }
    }

    fn answer(&mut self, asking: &Asking, verb: Verb) -> bool {
        if !asking.offers().contains(&verb) {
            return false;
        }
        let spent = |account: &Account| self.grants(*account) >= MAX_GRANTS;
        if verb == Verb::Grant && asking.broke.iter().any(spent) {
            return false;
        }
        match (asking.kind, verb) {
            (_, Verb::Abort) => self.at = At::Ended { shipped: false },
            (GateKind::Preflight, Verb::Approve) => self.waive(),
            (GateKind::Validate, Verb::Approve) => self.go(Then::Land),
            (_, Verb::Approve) => self.at = At::Shipping,
            (GateKind::Validate, Verb::Reject) => self.enter(Stage::Code),
            (_, Verb::Reject) => {
                self.add(Account::PhaseFailures);
                self.enter(Stage::Code);
            }
            (kind, Verb::Grant) => {
                self.refill(&asking.broke);
                if kind == GateKind::Validate {
                    self.enter(Stage::Code);
                } else {
                    self.go(asking.then);
                }
            }
            (GateKind::Validate, Verb::Retry) => self.enter(Stage::Validate),
            (_, Verb::Retry) => self.go(asking.then),
        }
        true
    }

    fn refill(&mut self, broke: &[Account]) {
        for account in broke {
            let left = self.used(*account).saturating_sub(ceiling(*account));
            self.used.insert(*account, left);
            *self.grants.entry(*account).or_default() += 1;
        }
    }

    fn waive(&mut self) {
        self.used.insert(Account::Preflight, 0);
        self.enter(self.stage);
    }

    fn stop(&mut self) -> bool {
        match self.at.clone() {
            At::Doing(_) | At::Shipping => return !std::mem::replace(&mut self.stopping, true),
            At::Waiting(then) => self.at = At::ParkedWaiting(then),
            At::Gate(asking) => self.at = At::ParkedGate(asking),
            At::ParkedGate(_) | At::Parked(_) | At::ParkedWaiting(_) | At::Ended { .. } => {
                return false;
            }
        }
        true
    }

    /// A new visit of a stage.
    fn enter(&mut self, stage: Stage) {
        let from = std::mem::replace(&mut self.stage, stage);
        if from != stage {
            self.used.insert(Account::Infra, 0);
        }
        if from < stage {
            self.used.insert(Account::QuotaWaits, 0);
            if (from, stage) != (Stage::Code, Stage::Validate) {
                self.used.insert(Account::Streak, 0);
            }
        }
        self.used.insert(Account::CheckpointResumes, 0);
        self.grants.insert(Account::CheckpointResumes, 0);
        match stage {
            Stage::Define => self.go(Then::Launch),
            Stage::Plan => self.enter(Stage::Code),
            Stage::Code => {
                self.visits += 1;
                self.go(Then::Launch);
            }
            Stage::Validate => self.go(Then::Checks),
            Stage::Ship => self.go(Then::AskToShip),
        }
    }

    fn forward(&mut self) {
        let next = if self.stage == Stage::Define {
            Stage::Plan
        } else {
            Stage::Validate
        };
        self.enter(next);
    }

    fn wait(&mut self, then: Then) {
        if std::mem::take(&mut self.stopping) {
            self.at = At::ParkedWaiting(then);
        } else {
            self.at = At::Waiting(then);
        }
    }

    fn go(&mut self, then: Then) {
        if then == Then::AskToShip {
            return self.ask_to_ship(GateKind::Ship);
        }
        if std::mem::take(&mut self.stopping) {
            self.at = At::Parked(then);
            return;
        }
        match then {
            Then::Launch | Then::LaunchAgain => self.launch(then),
            Then::NextLane => self.next_lane(),
            Then::Preflight | Then::Checks | Then::Land | Then::Merge => self.at = At::Doing(then),
            Then::AskToShip => {}
        }
    }

    fn launch(&mut self, then: Then) {
        let mut broke = self.broke(&[Account::Tokens]);
        if then == Then::Launch {
            broke.extend(self.broke(&[Account::Attempts]));
        }
        if !broke.is_empty() {
            return self.ask(None, broke, Then::Launch);
        }
        if then == Then::Launch {
            self.add(Account::Attempts);
        }
        self.at = At::Doing(then);
    }

    fn next_lane(&mut self) {
        if self.phase >= self.scene.lanes {
            return self.enter(Stage::Ship);
        }
        self.phase = 2;
        for account in LANE {
            self.used.insert(account, 0);
            self.grants.insert(account, 0);
        }
        (self.visits, self.failed, self.moved) = (0, false, false);
        self.stage = if self.scene.scout {
            Stage::Define
        } else {
            Stage::Code
        };
        self.enter(self.stage);
    }

    fn ask_to_ship(&mut self, kind: GateKind) {
        self.ask(Some(kind), Vec::new(), Then::AskToShip);
    }

    fn ask(&mut self, kind: Option<GateKind>, mut broke: Vec<Account>, then: Then) {
        if then == Then::Launch {
            broke.extend(self.broke(&[Account::Tokens, Account::Attempts]));
        }
        broke.sort();
        broke.dedup();
        let kinds = broke.iter().map(|account| gate_of(*account)).chain(kind);
        let Some(kind) = kinds.min() else {
            return;
        };
        let asking = Asking { kind, broke, then };
        self.at = if std::mem::take(&mut self.stopping) {
            At::ParkedGate(asking)
        } else {
            At::Gate(asking)
        };
    }

    fn add(&mut self, account: Account) {
        *self.used.entry(account).or_default() += 1;
    }

    fn broke(&self, accounts: &[Account]) -> Vec<Account> {
        let spent = |account: &&Account| self.used(**account) >= ceiling(**account);
        accounts.iter().filter(spent).copied().collect()
    }

    fn fault(&mut self) -> Vec<Account> {
        self.add(Account::Infra);
        self.add(Account::InfraTotal);
        self.broke(&[Account::Infra, Account::InfraTotal])
    }
}

const fn gate_of(account: Account) -> GateKind {
    match account {
        Account::Preflight => GateKind::Preflight,
        Account::Streak | Account::PhaseFailures => GateKind::Validate,
        Account::Infra | Account::InfraTotal | Account::QuotaWaits | Account::Attempts => {
            GateKind::Ceiling
        }
        Account::CheckpointResumes
        | Account::Tokens
        | Account::ToolCalls
        | Account::Cost
        | Account::ActiveTime => GateKind::Review,
    }
}

impl Asking {
    fn offers(&self) -> Vec<Verb> {
        use Verb::{Abort, Approve, Grant, Reject, Retry};
        let verbs: &[Verb] = match (self.kind, self.broke.is_empty()) {
            (GateKind::Preflight, true) => &[Approve, Retry, Abort],
            (GateKind::Preflight, false) => &[Approve, Grant, Abort],
            (GateKind::Infra | GateKind::Review, true) => &[Retry, Abort],
            (GateKind::Ceiling, _) | (GateKind::Infra | GateKind::Review, false) => &[Grant, Abort],
            (GateKind::Held, _) | (GateKind::Validate, true) => &[Approve, Reject, Retry, Abort],
            (GateKind::Validate, false) => &[Approve, Reject, Retry, Grant, Abort],
            (GateKind::Ship | GateKind::ShipFailed, _) => &[Approve, Reject, Abort],
        };
        let mut verbs = verbs.to_vec();
        verbs.sort();
        verbs
    }
}
