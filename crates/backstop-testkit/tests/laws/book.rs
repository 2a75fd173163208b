//! What a second bookkeeper makes of the facts alone: what was judged clean, what was approved, what is still running.

use std::collections::{BTreeMap, BTreeSet};

use backstop_testkit::engine::vocab::{Digest, EffectId};
use backstop_testkit::engine::{
    Answer, CheckVerdict, ChecksRan, Effect, Event, Fact, GateKind, Mission, Position, Rule,
    Transition, Verb,
};

/// The books of one state, kept along the way that first led there.
#[derive(Debug, Clone, Default)]
pub(crate) struct Book {
    pub(crate) clean: BTreeSet<Digest>,
    pub(crate) approved: BTreeSet<Digest>,
    pub(crate) open: BTreeMap<EffectId, Effect>,
}

impl Book {
    pub(crate) fn opened(transition: &Transition) -> Self {
        let mut book = Self::default();
        book.open.extend(transition.effects.iter().cloned());
        book
    }

    /// The books after one more fact.
    pub(crate) fn after(&self, before: &Mission, event: &Event, done: &Transition) -> Self {
        let mut book = self.clone();
        if let Some(id) = answered(before, &event.fact) {
            book.open.remove(&id);
            book.open.retain(|_, effect| *effect != Effect::Halt(id));
        }
        book.open.extend(done.effects.iter().cloned());
        if done.because.contains(&Rule::NothingToCheck) {
            book.clean.insert(done.mission.lane().head.tree);
        }
        match &event.fact {
            Fact::ChecksRan(ran) if all_passed(ran) => {
                book.clean.insert(ran.tree);
            }
            Fact::ChecksRan(ran) if red(ran) => {
                book.clean.remove(&ran.tree);
                book.approved.remove(&ran.tree);
            }
            Fact::Answered(answer) => book.approve(before, answer),
            _ => {}
        }
        book
    }

    fn approve(&mut self, before: &Mission, answer: &Answer) {
        let validate = before
            .gate()
            .is_some_and(|gate| gate.kind == GateKind::Validate);
        if let (true, Verb::Approve, Some(digest)) = (validate, answer.verb, answer.digest) {
            self.approved.insert(digest);
        }
    }
}

pub(crate) fn all_passed(ran: &ChecksRan) -> bool {
    ran.results
        .iter()
        .all(|result| result.verdict == CheckVerdict::Passed)
}

pub(crate) fn red(ran: &ChecksRan) -> bool {
    let red = |verdict: &CheckVerdict| {
        matches!(
            verdict,
            CheckVerdict::Failed { .. } | CheckVerdict::TimedOut
        )
    };
    ran.results.iter().any(|result| red(&result.verdict))
}

/// The effect that a fact answers.
pub(crate) fn answered(before: &Mission, fact: &Fact) -> Option<EffectId> {
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
