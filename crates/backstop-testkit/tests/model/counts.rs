//! A mission that only counts: where it is, how often what happened, and who is asked. Written from the policy alone.

use std::collections::{BTreeMap, BTreeSet};

use backstop_testkit::engine::mode::{Account, MAX_GRANTS};
use backstop_testkit::engine::vocab::Stage;
use backstop_testkit::engine::{CheckFor, GateKind, Role, Verb};

use crate::deeds::Deed;
use crate::gates::{Board, Set};
use crate::handoffs::Handoffs;
use crate::team::{Passed, Review};

/// What differs between the missions of the model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Scene {
    pub(crate) supervise: bool,
    pub(crate) decide: bool,
    /// Whether it is opened at Code although others could work before.
    pub(crate) late: bool,
    pub(crate) lanes: u32,
    /// Who is on besides the implementer.
    pub(crate) roles: BTreeSet<Role>,
    pub(crate) gates: Set,
}

impl Scene {
    pub(crate) fn on(&self, role: Role) -> bool {
        role == Role::Implementer || self.roles.contains(&role)
    }

    fn first_at(&self, stage: Stage) -> Option<Role> {
        let own = |role: &Role| role.stage() == stage && self.on(*role);
        Role::ALL.into_iter().find(own)
    }

    /// Where each lane begins.
    pub(crate) fn from(&self) -> Stage {
        let early = self.on(Role::Scout) || self.on(Role::Planner);
        if early && !self.late {
            Stage::Define
        } else {
            Stage::Code
        }
    }

    fn board(&self) -> Board {
        let from = self.from();
        Board::new(self.gates, self.on(Role::Reviewer), |role| {
            role.stage() < from
        })
    }
}

/// What is done next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    Preflight,
    Launch,
    LaunchAgain,
    Turn(Role),
    Visit,
    Checks(CheckFor),
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
    // Whether it is about a failed visit, and the gate between roles that holds.
    failed: bool,
    holder: Option<&'static str>,
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
    pub(crate) stopping: bool,
    // Trees have numbers: the base is 0, and no two pieces of work are the same.
    pub(crate) tree: u32,
    pub(crate) newest: u32,
    pub(crate) landed: BTreeSet<u32>,
    // Of the lane: its visits, the trees that failed at Validate, whether there is new work since, who has done their work,
    // and the tree that may land.
    visits: BTreeMap<Stage, u32>,
    pub(crate) failed: Vec<u32>,
    pub(crate) moved: bool,
    pub(crate) completed: BTreeSet<Role>,
    pub(crate) cleared: Option<u32>,
    pub(crate) board: Board,
    pub(crate) handoffs: Handoffs,
    pub(crate) review: Option<Review>,
    // Of the visit: the tree at its entry, whose turn it is, whether anybody was let in, how often a verdict was asked for
    // again, who has passed the work, and how much the last launch was given.
    pub(crate) entry: u32,
    pub(crate) role: Option<Role>,
    let_in: bool,
    pub(crate) asked: u32,
    pub(crate) passed: Passed,
    pub(crate) given: usize,
    pub(crate) used: BTreeMap<Account, u64>,
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
pub(crate) const fn ceiling(account: Account) -> u64 {
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
        Self {
            at: At::Doing(Then::Preflight),
            stage: scene.from(),
            phase: 1,
            stopping: false,
            tree: 0,
            newest: 0,
            landed: BTreeSet::new(),
            visits: BTreeMap::new(),
            failed: Vec::new(),
            moved: false,
            completed: BTreeSet::new(),
            cleared: None,
            board: scene.board(),
            handoffs: Handoffs::default(),
            review: None,
            entry: 0,
            role: None,
            let_in: false,
            asked: 0,
            passed: Passed::default(),
            given: 0,
            used: BTreeMap::new(),
            grants: BTreeMap::new(),
            scene,
        }
    }

    /// The present visit of the present stage.
    pub(crate) fn visit(&self) -> u32 {
        self.visits.get(&self.stage).copied().unwrap_or(1).max(1)
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
            (Then::Checks(what), _) => return self.check(what, deed),
            (Then::Land, Deed::Landed) => {
                self.landed.insert(self.phase);
                self.go(Then::NextLane);
            }
            (Then::Land, Deed::LandFailed) => {
                let broke = self.fault();
                self.ask(Some(GateKind::Infra), broke, Then::Land);
            }
            (Then::Merge, Deed::MergedSame) => self.go(Then::AskToShip),
            (Then::Merge, Deed::MergedNew) => {
                self.new_tree();
                self.cleared = None;
                self.enter(Stage::Validate);
            }
            (Then::Merge, Deed::Conflict) => self.ask_to_ship(GateKind::ShipFailed),
            _ => return false,
        }
        true
    }

    fn attempt(&mut self, deed: Deed) -> bool {
        let Some(role) = self.role.filter(|_| deed.ends_attempt()) else {
            return false;
        };
        if deed == Deed::Spent {
            self.used.insert(Account::Tokens, 1);
        }
        if deed == Deed::CutOff && self.stage == Stage::Code {
            self.new_tree();
        }
        let lead = role == Role::ReleaseLead;
        let broke = if deed.is_fault() {
            self.fault()
        } else {
            if !(lead && deed.is_limit()) {
                self.settle_faults();
            }
            Vec::new()
        };
        match deed {
            _ if lead => {
                if deed.is_limit() {
                    self.add(Account::QuotaWaits);
                }
                self.noted(deed);
            }
            _ if deed.claims_success() => self.succeeds(role, deed),
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
            _ => self.ask(Some(GateKind::Review), broke, Then::Launch),
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

    fn answer(&mut self, asking: &Asking, verb: Verb) -> bool {
        if !asking.offers().contains(&verb) {
            return false;
        }
        let spent = |account: &Account| self.grants(*account) >= MAX_GRANTS;
        if verb == Verb::Grant && asking.broke.iter().any(spent) {
            return false;
        }
        let mut sent_back = false;
        if let (Verb::Reject, Some(id)) = (verb, asking.holder) {
            let tree = self.judged();
            match self.board.reject(id, tree) {
                Some(retries) => sent_back = retries,
                None => return false,
            }
        }
        self.note(asking, verb);
        match (asking.kind, verb) {
            (_, Verb::Abort) => self.at = At::Ended { shipped: false },
            (GateKind::Held, _) => self.held(asking, verb, sent_back),
            (GateKind::Preflight, Verb::Approve) => self.waive(),
            (GateKind::Validate, Verb::Approve) => {
                if asking.failed {
                    self.overruled();
                }
                self.go(Then::Land);
            }
            (_, Verb::Approve) => self.at = At::Shipping,
            (GateKind::Validate, Verb::Reject) => self.enter(Stage::Code),
            (_, Verb::Reject) => {
                self.add(Account::PhaseFailures);
                self.enter(Stage::Code);
            }
            (GateKind::Validate, Verb::Grant) => {
                self.refill(&asking.broke);
                self.enter(Stage::Code);
            }
            (GateKind::Validate, Verb::Retry) => {
                self.review = None;
                self.judge_again();
                self.enter(Stage::Validate);
            }
            (_, Verb::Grant | Verb::Retry) => {
                if verb == Verb::Grant {
                    self.refill(&asking.broke);
                }
                if asking.then == Then::Visit {
                    self.judge_again();
                }
                self.go(asking.then);
            }
        }
        true
    }

    /// An answer about a gate between roles.
    fn held(&mut self, asking: &Asking, verb: Verb, sent_back: bool) {
        let Some(id) = asking.holder else {
            return;
        };
        let role = self.board.spec(id).role;
        match verb {
            Verb::Approve => {
                self.open_holder(id, asking.failed);
                self.go(asking.then);
            }
            Verb::Retry => {
                self.board.retry(&[role]);
                if role.judges() {
                    self.judge_again();
                }
                self.again(role, asking.then);
            }
            _ if sent_back => self.again(role, asking.then),
            _ => self.go(asking.then),
        }
    }

    /// What a person wrote goes to whoever works next because of it.
    fn note(&mut self, asking: &Asking, verb: Verb) {
        let holder = asking.holder.map(|id| self.board.spec(id).role);
        let to = match (verb, asking.kind) {
            (Verb::Reject | Verb::Retry, GateKind::Held) => holder,
            (Verb::Reject, _) | (Verb::Grant, GateKind::Validate) => None,
            _ => self.role.or_else(|| self.scene.first_at(self.stage)),
        };
        self.hand(None, to.unwrap_or(Role::Implementer), None);
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

    /// A new visit of a stage. One in which nobody was let in to code did not happen.
    pub(crate) fn enter(&mut self, stage: Stage) {
        let from = std::mem::replace(&mut self.stage, stage);
        if from != stage {
            self.settle_faults();
        }
        if from < stage {
            self.used.insert(Account::QuotaWaits, 0);
            if (from, stage) != (Stage::Code, Stage::Validate) {
                self.used.insert(Account::Streak, 0);
            }
        }
        self.used.insert(Account::CheckpointResumes, 0);
        self.grants.insert(Account::CheckpointResumes, 0);
        if from == Stage::Code && !self.let_in {
            let coded = self.visits.entry(from).or_default();
            *coded = coded.saturating_sub(1);
        }
        *self.visits.entry(stage).or_default() += 1;
        (self.let_in, self.passed, self.entry) = (false, Passed::default(), self.tree);
        self.turn(None);
        if stage == Stage::Validate {
            return self.begin_validate();
        }
        if stage == Stage::Code {
            self.cleared = None;
            if self.visit() > 1 {
                self.board.renew();
            }
        }
        match self.scene.first_at(stage) {
            Some(role) => self.go(Then::Turn(role)),
            None => self.advance(),
        }
    }

    pub(crate) fn turn(&mut self, role: Option<Role>) {
        (self.role, self.asked) = (role, 0);
    }

    pub(crate) fn advance(&mut self) {
        match self.stage {
            Stage::Define => self.enter(Stage::Plan),
            Stage::Plan => self.enter(Stage::Code),
            Stage::Code => self.enter(Stage::Validate),
            Stage::Validate => self.go(Then::Land),
            Stage::Ship => self.go(Then::AskToShip),
        }
    }

    pub(crate) fn settle_faults(&mut self) {
        self.used.insert(Account::Infra, 0);
    }

    pub(crate) fn wait(&mut self, then: Then) {
        if std::mem::take(&mut self.stopping) {
            self.at = At::ParkedWaiting(then);
        } else {
            self.at = At::Waiting(then);
        }
    }

    pub(crate) fn go(&mut self, then: Then) {
        if then == Then::AskToShip {
            return self.ask_to_ship(GateKind::Ship);
        }
        if std::mem::take(&mut self.stopping) {
            self.at = At::Parked(then);
            return;
        }
        match then {
            Then::Launch | Then::LaunchAgain => self.launch(then),
            Then::Turn(role) => {
                self.turn(Some(role));
                self.launch(Then::Launch);
            }
            Then::Visit => self.enter(self.stage),
            Then::Land => self.land(),
            Then::NextLane => self.next_lane(),
            Then::Preflight | Then::Checks(_) | Then::Merge => self.at = At::Doing(then),
            Then::AskToShip => {}
        }
    }

    fn launch(&mut self, then: Then) {
        let Some(role) = self.role else {
            return self.advance();
        };
        if self.board.waits_for_checks(role, self.entry) {
            return self.go(Then::Checks(CheckFor::Start(role)));
        }
        let mut broke = self.broke(&[Account::Tokens]);
        if then == Then::Launch {
            broke.extend(self.broke(&[Account::Attempts]));
        }
        match role {
            _ if broke.is_empty() => {}
            Role::ReleaseLead => return self.noted(Deed::Failed),
            _ => return self.ask(None, broke, Then::Launch),
        }
        if self.board.holder(Some(role), self.entry).is_some() {
            return self.ask_holder(false, Then::Launch);
        }
        if then == Then::Launch {
            self.add(Account::Attempts);
        }
        self.let_in = true;
        self.board.started(role);
        let (visit, entry) = (self.visit(), self.entry);
        let open = |id: &str| self.board.is_open(id, entry);
        self.given = self.handoffs.give(role, visit, open);
        self.at = At::Doing(Then::Launch);
    }

    fn land(&mut self) {
        self.turn(None);
        if self.cleared != Some(self.tree) {
            return self.enter(Stage::Validate);
        }
        if self.board.holder(None, self.tree).is_some() {
            return self.ask_holder(false, Then::Land);
        }
        self.at = At::Doing(Then::Land);
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
        *self = Self {
            at: self.at.clone(),
            phase: self.phase,
            tree: self.tree,
            newest: self.newest,
            landed: self.landed.clone(),
            used: self.used.clone(),
            grants: self.grants.clone(),
            ..Self::new(self.scene.clone())
        };
        self.enter(self.stage);
    }

    pub(crate) fn ask_to_ship(&mut self, kind: GateKind) {
        self.ask(Some(kind), Vec::new(), Then::AskToShip);
    }

    /// Where an agent is launched next, what it would lack is asked for too. At Validate the whole visit is done again.
    pub(crate) fn ask(&mut self, kind: Option<GateKind>, mut broke: Vec<Account>, mut then: Then) {
        if then == Then::Launch && self.stage == Stage::Validate {
            then = Then::Visit;
            self.turn(None);
        }
        if matches!(then, Then::Launch | Then::Visit) {
            broke.extend(self.broke(&[Account::Tokens, Account::Attempts]));
        }
        broke.sort();
        broke.dedup();
        let kinds = broke.iter().map(|account| gate_of(*account)).chain(kind);
        let Some(kind) = kinds.min() else {
            return;
        };
        self.open(Asking {
            kind,
            broke,
            then,
            failed: false,
            holder: None,
        });
    }

    pub(crate) fn ask_at_validate(&mut self, broke: Vec<Account>, clean: bool) {
        self.open(Asking {
            kind: GateKind::Validate,
            broke,
            then: Then::Land,
            failed: !clean,
            holder: None,
        });
    }

    /// Asks about the first gate that holds whoever is next.
    pub(crate) fn ask_holder(&mut self, failed: bool, then: Then) {
        self.open(Asking {
            kind: GateKind::Held,
            broke: Vec::new(),
            then,
            failed,
            holder: self.board.holder(self.role, self.judged()),
        });
    }

    fn open(&mut self, asking: Asking) {
        self.at = if std::mem::take(&mut self.stopping) {
            At::ParkedGate(asking)
        } else {
            At::Gate(asking)
        };
    }

    pub(crate) fn add(&mut self, account: Account) {
        *self.used.entry(account).or_default() += 1;
    }

    pub(crate) fn broke(&self, accounts: &[Account]) -> Vec<Account> {
        let spent = |account: &&Account| self.used(**account) >= ceiling(**account);
        accounts.iter().filter(spent).copied().collect()
    }

    pub(crate) fn fault(&mut self) -> Vec<Account> {
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
