//! What roles make of a lane in the model: whose turn it is, what Validate comes to, what the review loop and gates add.

use std::collections::BTreeSet;

use backstop_testkit::engine::gates::{GateKind as Kind, Trigger};
use backstop_testkit::engine::mode::Account;
use backstop_testkit::engine::vocab::Stage;
use backstop_testkit::engine::{CheckFor, GateKind, Role};

use crate::counts::{Counts, Then, ceiling};
use crate::deeds::Deed;
use crate::gates::Fallout;
use crate::handoffs::readers;

/// The times that a role is asked again for its verdict.
const REASKS: u32 = 2;

/// Where the review loop is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turns {
    Ready,
    Open,
    Repairing,
    Over,
}

/// The review loop of a lane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Review {
    turns: Turns,
    pin: u32,
    pins: BTreeSet<u32>,
    iterations: u32,
    stalled: u32,
}

/// What was said in this visit by those who passed the work.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Passed {
    findings: bool,
    reviewer_is_author: bool,
    verifier_is_author: bool,
}

impl Review {
    fn of(tree: u32) -> Self {
        Self {
            turns: Turns::Ready,
            pin: tree,
            pins: BTreeSet::from([tree]),
            iterations: 0,
            stalled: 0,
        }
    }

    pub(crate) fn open(&self) -> Option<u32> {
        (self.turns == Turns::Open).then_some(self.iterations)
    }

    fn is_spent(&self) -> bool {
        u64::from(self.iterations) >= ceiling(Account::PhaseFailures)
    }

    /// A slot that is given up keeps its iteration.
    const fn give_up(&mut self) {
        self.turns = Turns::Ready;
        self.iterations -= 1;
    }

    /// Pins the tree: unexplained, only the same one; after a repair, any. Whether the loop goes on.
    fn pin(&mut self, tree: u32) -> bool {
        match self.turns {
            Turns::Over => *self = Self::of(tree),
            Turns::Open => self.give_up(),
            Turns::Ready => {}
            Turns::Repairing => {
                let moves = self.pins.insert(tree);
                self.stalled = if moves { 0 } else { self.stalled + 1 };
                self.pin = tree;
                self.turns = Turns::Ready;
                return moves || u64::from(self.stalled) < ceiling(Account::Streak);
            }
        }
        self.pin == tree
    }
}

impl Counts {
    /// An attempt that claims success is over.
    pub(crate) fn succeeds(&mut self, role: Role, deed: Deed) {
        if role.judges() && deed == Deed::Mute && self.board.insists(role) {
            if self.asked < REASKS && !self.stopping {
                self.asked += 1;
                return self.go(Then::Launch);
            }
            return self.ask(Some(GateKind::Review), Vec::new(), Then::Launch);
        }
        if self.stage == Stage::Code {
            self.moves(deed);
            if self.visit() == 1 && self.tree == self.entry {
                return self.ask(Some(GateKind::Review), Vec::new(), Then::Launch);
            }
        }
        self.board.completed(role);
        self.completed.insert(role);
        self.hand_on(role);
        if role.judges() {
            return self.ruled(role, deed);
        }
        self.handoffs.commit(role, self.visit());
        if role != Role::Implementer && self.board.wants_checks_after(role) {
            return self.go(Then::Checks(CheckFor::Completion(role)));
        }
        self.advance();
    }

    fn moves(&mut self, deed: Deed) {
        match deed {
            Deed::Worked => self.new_tree(),
            Deed::Undid => (self.tree, self.moved) = (0, true),
            _ => {}
        }
    }

    pub(crate) fn new_tree(&mut self) {
        self.newest += 1;
        (self.tree, self.moved) = (self.newest, true);
    }

    fn hand_on(&mut self, role: Role) {
        let gate = self.board.hands_on(role);
        for to in readers(role) {
            self.hand(Some(role), *to, gate);
        }
    }

    pub(crate) fn hand(&mut self, from: Option<Role>, to: Role, gate: Option<&'static str>) {
        if self.scene.on(to) {
            let made = (self.stage, self.visit());
            self.handoffs.add((from, to), made, gate);
        }
    }

    fn ruled(&mut self, role: Role, deed: Deed) {
        if deed == Deed::Worked {
            return self.review_stops(false);
        }
        let passes = matches!(
            deed,
            Deed::Undid | Deed::DidNothing | Deed::Doubted | Deed::SharedSession
        );
        let which = (Kind::Review, role, Trigger::RoleComplete);
        let fallout = self.board.judge(which, passes, self.tree);
        if fallout.sent_back {
            return self.go(Then::Turn(role));
        }
        self.passed = self.heard(role, deed);
        if !passes {
            return self.failed(role, fallout);
        }
        if self.board.wants_checks_after(role) {
            return self.go(Then::Checks(CheckFor::Completion(role)));
        }
        self.confirmed(role);
    }

    fn heard(&self, role: Role, deed: Deed) -> Passed {
        // Silence that nobody insists against is a finding of its own.
        let found = matches!(deed, Deed::Doubted | Deed::FoundFaults | Deed::Mute);
        let is_author = deed == Deed::SharedSession;
        if role == Role::Reviewer {
            return Passed {
                findings: found,
                reviewer_is_author: is_author,
                verifier_is_author: false,
            };
        }
        Passed {
            findings: self.passed.findings || found,
            verifier_is_author: is_author,
            ..self.passed
        }
    }

    fn confirmed(&mut self, role: Role) {
        if role == Role::Reviewer && self.scene.on(Role::Verifier) {
            return self.go(Then::Turn(Role::Verifier));
        }
        let said = self.passed;
        if said.findings || said.reviewer_is_author || said.verifier_is_author {
            return self.review_stops(false);
        }
        self.ends_loop();
        self.clean();
    }

    fn failed(&mut self, role: Role, fallout: Fallout) {
        let said = self.passed;
        if said.findings {
            self.hand(Some(role), Role::Implementer, None);
        }
        if fallout.escalated {
            self.review = None;
            return self.fail(true);
        }
        if said.reviewer_is_author || said.verifier_is_author || !said.findings {
            return self.review_stops(false);
        }
        match &mut self.review {
            Some(review) if !review.is_spent() => {
                review.turns = Turns::Repairing;
                self.fail(false);
            }
            _ => self.review_stops(true),
        }
    }

    const fn ends_loop(&mut self) {
        if let Some(review) = &mut self.review {
            review.turns = Turns::Over;
        }
    }

    /// The loop is over without success: a person's, and a failed visit where repairs are wanted.
    fn review_stops(&mut self, wants_repairs: bool) {
        self.ends_loop();
        self.release();
        if wants_repairs {
            self.charge();
            if let Some(broke) = self.failed_reasons() {
                return self.ask_at_validate(broke, false);
            }
        } else {
            self.settle_faults();
        }
        self.ask(Some(GateKind::Review), Vec::new(), Then::Visit);
    }

    pub(crate) fn begin_validate(&mut self) {
        if self.scene.on(Role::Reviewer) {
            let tree = self.tree;
            let review = self.review.get_or_insert_with(|| Review::of(tree));
            if !review.pin(tree) {
                return self.review_stops(false);
            }
        }
        self.go(Then::Checks(CheckFor::Visit));
    }

    pub(crate) fn check(&mut self, what: CheckFor, deed: Deed) -> bool {
        match deed {
            Deed::Green => self.green(what),
            Deed::Red => self.red(what),
            Deed::NotRun if self.stopping => self.go(Then::Checks(what)),
            Deed::NotRun => {
                let broke = self.fault();
                if broke.is_empty() {
                    self.wait(Then::Checks(what));
                } else {
                    self.ask(Some(GateKind::Infra), broke, Then::Checks(what));
                }
            }
            _ => return false,
        }
        true
    }

    /// What the checks say to the gates that they were run for.
    fn tells(&mut self, what: CheckFor, green: bool) -> Fallout {
        let (role, on, tree) = match what {
            CheckFor::Visit => (Role::Implementer, Trigger::RoleComplete, self.tree),
            CheckFor::Start(role) => (role, Trigger::RoleStart, self.entry),
            CheckFor::Completion(role) => (role, Trigger::RoleComplete, self.tree),
        };
        self.board.judge((Kind::Verify, role, on), green, tree)
    }

    fn green(&mut self, what: CheckFor) {
        let _ = self.tells(what, true);
        match what {
            CheckFor::Visit => {
                for role in self.completed.clone() {
                    let which = (Kind::Verify, role, Trigger::RoleStart);
                    let _ = self.board.judge(which, true, self.tree);
                }
                self.checked();
            }
            CheckFor::Start(_) => self.go(Then::Launch),
            CheckFor::Completion(role) if role.judges() => self.confirmed(role),
            CheckFor::Completion(_) => self.advance(),
        }
    }

    fn checked(&mut self) {
        match &mut self.review {
            Some(review) if self.scene.roles.contains(&Role::Reviewer) => {
                if review.is_spent() {
                    return self.review_stops(false);
                }
                review.iterations += 1;
                review.turns = Turns::Open;
                self.go(Then::Turn(Role::Reviewer));
            }
            _ => self.clean(),
        }
    }

    fn red(&mut self, what: CheckFor) {
        let fallout = self.tells(what, false);
        match what {
            CheckFor::Start(_) => return self.go(Then::Launch),
            CheckFor::Completion(role) if fallout.sent_back => return self.go(Then::Turn(role)),
            CheckFor::Completion(_) if self.stage != Stage::Validate => return self.advance(),
            CheckFor::Completion(_) | CheckFor::Visit => {}
        }
        if let Some(review) = &mut self.review {
            if review.turns == Turns::Open {
                review.give_up();
            }
            if review.turns == Turns::Ready {
                review.turns = if review.is_spent() {
                    Turns::Over
                } else {
                    Turns::Repairing
                };
            }
        }
        self.fail(fallout.escalated);
    }

    fn clean(&mut self) {
        self.cleared = Some(self.tree);
        self.turn(None);
        for role in [Role::Reviewer, Role::Verifier] {
            self.handoffs.commit(role, self.visit());
        }
        match self.reasons(&[Account::PhaseFailures]) {
            Some(broke) => self.ask_at_validate(broke, true),
            None => self.go(Then::Land),
        }
    }

    fn fail(&mut self, escalated: bool) {
        self.charge();
        self.release();
        if escalated {
            return self.ask_holder(true, Then::Land);
        }
        match self.failed_reasons() {
            Some(broke) => self.ask_at_validate(broke, false),
            None => self.enter(Stage::Code),
        }
    }

    fn release(&mut self) {
        for role in [Role::Reviewer, Role::Verifier] {
            self.handoffs.release(role);
        }
    }

    /// A failed visit: the streak begins again with progress, the phase total never does.
    fn charge(&mut self) {
        let seen = self.failed.contains(&self.tree);
        if self.failed.is_empty() || (self.moved && !seen) {
            self.used.insert(Account::Streak, 0);
        }
        self.failed.push(self.tree);
        self.moved = false;
        self.add(Account::Streak);
        self.add(Account::PhaseFailures);
        self.cleared = None;
        self.turn(None);
    }

    fn failed_reasons(&self) -> Option<Vec<Account>> {
        let streak: &[Account] = if self.scene.supervise {
            &[]
        } else {
            &[Account::Streak]
        };
        self.reasons(&[&[Account::PhaseFailures], streak].concat())
    }

    /// What of the ceilings is reached; in supervise a person is asked even if none is.
    fn reasons(&self, accounts: &[Account]) -> Option<Vec<Account>> {
        let broke = self.broke(accounts);
        (!broke.is_empty() || self.scene.supervise).then_some(broke)
    }

    pub(crate) fn overruled(&mut self) {
        self.turn(None);
        self.board.overrule_all(self.tree);
        self.review = None;
        self.cleared = Some(self.tree);
    }

    /// A person opens the gate that holds. What failed the visit is overridden with it, if nothing else stands.
    pub(crate) fn open_holder(&mut self, id: &'static str, failed: bool) {
        let tree = self.judged();
        let overrides = self.board.is_escalated(id, tree);
        self.board.open(id, tree);
        if failed && overrides && self.board.holder(self.role, tree).is_none() {
            self.cleared = Some(self.tree);
            self.review = None;
        }
    }

    /// The tree that gates are about now: for a role that starts, that of its entry.
    pub(crate) const fn judged(&self) -> u32 {
        match self.role {
            Some(_) => self.entry,
            None => self.tree,
        }
    }

    pub(crate) fn again(&mut self, role: Role, otherwise: Then) {
        if role.stage() > self.stage {
            // It has not worked yet: its turn comes.
            return self.go(otherwise);
        }
        if role.stage() != self.stage {
            return self.enter(role.stage());
        }
        self.go(if role.judges() {
            Then::Visit
        } else {
            Then::Turn(role)
        });
    }

    pub(crate) fn judge_again(&mut self) {
        let judged = [Role::Implementer, Role::Reviewer, Role::Verifier];
        self.board.retry(&judged);
    }

    /// The release lead's attempt is over: however it ended, a person is asked to ship.
    pub(crate) fn noted(&mut self, deed: Deed) {
        if deed.claims_success() {
            self.handoffs.commit(Role::ReleaseLead, self.visit());
        } else {
            self.handoffs.release(Role::ReleaseLead);
        }
        self.turn(None);
        self.go(Then::AskToShip);
    }
}
