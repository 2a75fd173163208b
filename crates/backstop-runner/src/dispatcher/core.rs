//! What the dispatcher does with each input, without waiting for any: decide, append and sync, commit in memory, start
//! effects. The loop around it waits for real inputs; a simulated world hands in its own.
//!
//! Deliberately absent: threads, tasks, sleeping, signals.

use std::fs::File;

use backstop_engine::vocab::{Signature, Span};
use backstop_engine::{Fact, Mission, Position, Refusal};

use super::{AtGate, DispatchError};
use crate::clock::Clock;
use crate::executor::Execute;
use crate::history::Step;
use crate::journal::Medium;
use crate::ledger::{Begun, Ledger};

/// A mission that is worked on.
#[derive(Debug)]
pub struct Core<E, C, M = File> {
    ledger: Ledger<C, M>,
    executor: E,
    at_gate: AtGate,
    interrupted: bool,
}

impl<E: Execute, C: Clock, M: Medium> Core<E, C, M> {
    /// Takes a mission on; nothing runs yet.
    #[must_use]
    pub const fn new(ledger: Ledger<C, M>, executor: E, at_gate: AtGate) -> Self {
        Self {
            ledger,
            executor,
            at_gate,
            interrupted: false,
        }
    }

    /// Starts what nobody has started, and probes what an earlier process may have.
    pub fn begin(&mut self) {
        for (id, effect, begun) in self.ledger.outstanding() {
            match begun {
                Begun::Never => self.executor.start(id, &effect),
                Begun::Perhaps(process) => self.executor.probe(id, &effect, process),
            }
        }
    }

    /// The mission.
    #[must_use]
    pub const fn mission(&self) -> &Mission {
        self.ledger.mission()
    }

    /// Who does its effects.
    pub const fn executor(&mut self) -> &mut E {
        &mut self.executor
    }

    /// Whether a signal to this process stopped the mission.
    #[must_use]
    pub const fn is_interrupted(&self) -> bool {
        self.interrupted
    }

    /// Whether there is nothing more to do here.
    #[must_use]
    pub fn is_over(&self) -> bool {
        match self.mission().position() {
            Position::Ended(_) | Position::Parked(..) => true,
            Position::AtGate(..) => self.at_gate == AtGate::Leave,
            Position::Busy(_) | Position::Waiting(..) => false,
        }
    }

    /// How long it is until time itself is a fact; none when no moment is waited for.
    #[must_use]
    pub fn until_due(&self) -> Option<Span> {
        let deadline = self.mission().deadline();
        deadline.map(|due| due.since(self.ledger.clock().now()))
    }

    /// Time has passed.
    ///
    /// # Errors
    /// When the journal refuses.
    pub fn due(&mut self) -> Result<Option<Step>, DispatchError> {
        let mission = self.mission();
        match (mission.deadline(), mission.due()) {
            (Some(deadline), Some(fact)) if deadline <= self.ledger.clock().now() => {
                self.happened(fact).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// A signal asks this process to stop.
    ///
    /// # Errors
    /// When the journal refuses.
    pub fn interrupted(&mut self, by: &Signature) -> Result<Option<Step>, DispatchError> {
        let fact = Fact::StopRequested { by: by.clone() };
        self.interrupted = true;
        match self.requested(fact)? {
            Ok(step) => Ok(Some(step)),
            Err(Refusal::AlreadyStopping) => Ok(None),
            Err(refusal) => Err(DispatchError::Misfit(refusal)),
        }
    }

    /// Someone outside asks for a decision.
    ///
    /// # Errors
    /// When the journal refuses. A fact that does not fit is refused within.
    pub fn requested(&mut self, fact: Fact) -> Result<Result<Step, Refusal>, DispatchError> {
        let taken = self.ledger.take(fact)?;
        if let Ok(step) = &taken {
            for (id, effect) in &step.effects {
                self.executor.start(*id, effect);
            }
        }
        Ok(taken)
    }

    /// The host saw something.
    ///
    /// # Errors
    /// When it does not fit, or the journal refuses.
    pub fn happened(&mut self, fact: Fact) -> Result<Step, DispatchError> {
        self.requested(fact)?.map_err(DispatchError::Misfit)
    }

    /// Lets go of the mission with everything durable.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn sync(&mut self) -> Result<(), DispatchError> {
        Ok(self.ledger.sync()?)
    }

    /// The mission as it is now.
    #[must_use]
    pub fn into_mission(self) -> Mission {
        self.ledger.into_mission()
    }
}
