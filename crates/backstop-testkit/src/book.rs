//! What a second bookkeeper makes of the facts alone: what was judged clean, what was approved, what is still running.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a second bookkeeper looks at the facts that it books"
)]

use std::collections::{BTreeMap, BTreeSet};

use backstop_engine::gates::Verdict;
use backstop_engine::outcome::Status;
use backstop_engine::review::RouteReceipt;
use backstop_engine::vocab::{Digest, EffectId, Stage};
use backstop_engine::{
    Answer, AttemptEnded, CheckVerdict, ChecksRan, Effect, Event, Fact, GateKind, Mission,
    Position, Role, Rule, Ruling, Transition, Verb,
};

/// The books of one state, kept along the way that first led there.
#[derive(Debug, Clone, Default)]
pub struct Book {
    /// The trees that were judged clean.
    pub clean: BTreeSet<Digest>,
    // What the host checks, and then the reviewer, let pass.
    green: BTreeSet<Digest>,
    reviewed: BTreeSet<Digest>,
    /// The trees that an operator let pass.
    pub approved: BTreeSet<Digest>,
    /// What was started and not answered.
    pub open: BTreeMap<EffectId, Effect>,
}

impl Book {
    /// The books of a mission that was just opened.
    #[must_use]
    pub fn opened(transition: &Transition) -> Self {
        let mut book = Self::default();
        book.open.extend(transition.effects.iter().cloned());
        book
    }

    /// The books after one more fact.
    #[must_use]
    pub fn after(&self, before: &Mission, event: &Event, done: &Transition) -> Self {
        let mut book = self.clone();
        if let Some(id) = answered(before, &event.fact) {
            book.open.remove(&id);
            book.open.retain(|_, effect| *effect != Effect::Halt(id));
        }
        book.open.extend(done.effects.iter().cloned());
        if done.because.contains(&Rule::NothingToCheck) {
            book.checked(before, done.mission.lane().head.tree);
        }
        match &event.fact {
            Fact::ChecksRan(ran) if all_passed(ran) => book.checked(before, ran.tree),
            Fact::AttemptEnded(ended) if before.stage() == Stage::Validate => {
                book.judged(before, ended);
            }
            Fact::ChecksRan(ran) if red(ran) => {
                book.clean.remove(&ran.tree);
                // What a gate after the verifier asks for again says nothing of the reviewer.
                if before.lane().role.is_none() {
                    book.green.remove(&ran.tree);
                    book.reviewed.remove(&ran.tree);
                }
                book.approved.remove(&ran.tree);
            }
            Fact::Answered(answer) => book.approve(before, answer),
            _ => {}
        }
        book
    }

    fn checked(&mut self, before: &Mission, tree: Digest) {
        self.green.insert(tree);
        if before.charter().fields().roles.reviewer.is_none() {
            self.clean.insert(tree);
        }
    }

    /// A role that is not the author has looked at this very tree, and found nothing.
    fn judged(&mut self, before: &Mission, ended: &AttemptEnded) {
        let lane = before.lane();
        let tree = lane.head.tree;
        let passed = matches!(
            &ended.ruling,
            Some(Ruling::Verdict { verdict: Verdict::Pass, findings }) if findings.is_empty()
        );
        let author = lane
            .implementer
            .as_ref()
            .and_then(|route| route.session.as_ref());
        let another = whole(&ended.route) && ended.route.session.as_ref() != author;
        let same_tree = ended.head.as_ref().is_some_and(|head| head.tree == tree);
        let sound = ended.status == Status::Success && passed && another && same_tree;
        if !sound {
            self.clean.remove(&tree);
            return;
        }
        let verifies = before.charter().fields().roles.verifier.is_some();
        match lane.role {
            Some(Role::Reviewer) if self.green.contains(&tree) && !verifies => {
                self.clean.insert(tree);
            }
            Some(Role::Reviewer) if self.green.contains(&tree) => {
                self.reviewed.insert(tree);
            }
            Some(Role::Verifier) if self.reviewed.contains(&tree) => {
                self.clean.insert(tree);
            }
            _ => {}
        }
    }

    fn approve(&mut self, before: &Mission, answer: &Answer) {
        let validate = before
            .gate()
            .is_some_and(|gate| matches!(gate.kind, GateKind::Validate | GateKind::Held));
        if let (true, Verb::Approve, Some(digest)) = (validate, answer.verb, answer.digest) {
            self.approved.insert(digest);
        }
    }
}

/// A receipt that lacks nothing but the role, which is the launch's.
fn whole(route: &RouteReceipt) -> bool {
    let role = Some(Role::Reviewer.id());
    let route = RouteReceipt {
        role,
        ..route.clone()
    };
    route.complete().is_ok()
}

fn all_passed(ran: &ChecksRan) -> bool {
    ran.results
        .iter()
        .all(|result| result.verdict == CheckVerdict::Passed)
}

/// Whether a check failed.
#[must_use]
pub fn red(ran: &ChecksRan) -> bool {
    let red = |verdict: &CheckVerdict| {
        matches!(
            verdict,
            CheckVerdict::Failed { .. } | CheckVerdict::TimedOut
        )
    };
    ran.results.iter().any(|result| red(&result.verdict))
}

/// The effect that a fact answers.
#[must_use]
pub fn answered(before: &Mission, fact: &Fact) -> Option<EffectId> {
    match fact {
        Fact::PreflightRan(ran) => Some(ran.effect),
        Fact::AttemptEnded(ended) => Some(ended.effect),
        Fact::ChecksRan(ran) => Some(ran.effect),
        Fact::WaitEnded { effect }
        | Fact::Landed { effect, .. }
        | Fact::LandFailed { effect, .. } => Some(*effect),
        Fact::Shipped(shipped) => Some(shipped.effect),
        Fact::BaseMerged(merged) => Some(merged.effect),
        // A person who stops or answers ends the wait or the question that was open, and nothing that runs.
        Fact::Answered(_) | Fact::GateExpired { .. } | Fact::StopRequested { .. } => {
            match before.position() {
                Position::AtGate(id, _) | Position::Waiting(id, ..) => Some(*id),
                Position::Busy(_) | Position::Parked(..) | Position::Ended(_) => None,
            }
        }
        Fact::Opened(_)
        | Fact::AttemptStarted(_)
        | Fact::SessionOpened(_)
        | Fact::Resumed { .. }
        | Fact::Tightened { .. }
        | Fact::Supervised { .. } => None,
    }
}
