//! A mission and its journal in one hand: a fact is decided on, made durable, and only then taken on.
//!
//! Deliberately absent: what is done because of it (`dispatcher`).

use std::collections::BTreeSet;
use std::fs::File;

use backstop_engine::vocab::EffectId;
use backstop_engine::{
    Charter, Effect, Event, Fact, Mission, ProcessRef, Refusal, Rule, Transition,
};

use crate::clock::Clock;
use crate::history::{Folding, HistoryError, Step};
use crate::journal::{Durability, Healed, JournalError, Medium, Replay, Writer};
use crate::words::rule_name;

/// A mission and its journal.
#[derive(Debug)]
pub struct Ledger<C, M = File> {
    mission: Mission,
    journal: Writer<M>,
    clock: C,
    /// Effects that this process is the first to start.
    fresh: BTreeSet<EffectId>,
    /// The last agent whose start an earlier process put on record.
    process: Option<(EffectId, ProcessRef)>,
}

/// A mission whose process is gone, as its journal tells it.
#[derive(Debug)]
pub struct TakenUp<C, M = File> {
    /// The mission and its journal.
    pub ledger: Ledger<C, M>,
    /// Every step so far.
    pub steps: Vec<Step>,
    /// What a crash left to mend.
    pub healed: Healed,
}

impl<C: Clock, M: Medium> Ledger<C, M> {
    /// Opens a mission durably, in a journal without a record.
    ///
    /// # Errors
    /// When the journal refuses.
    pub fn open(
        mut journal: Writer<M>,
        clock: C,
        charter: Charter,
    ) -> Result<(Self, Step), JournalError> {
        let at = charter.fields().opened_at;
        let fact = Fact::Opened(Box::new(charter.clone()));
        let seq = journal.append(at, &fact, Durability::Sync)?;
        let opened = Mission::open(charter);
        let ledger = Self {
            mission: opened.mission,
            journal,
            clock,
            fresh: opened.effects.iter().map(|(id, _)| *id).collect(),
            process: None,
        };
        let step = Step {
            seq,
            at,
            fact,
            because: opened.because,
            effects: opened.effects,
        };
        Ok((ledger, step))
    }

    /// Takes up a mission whose process is gone. Heals what a crash tore.
    ///
    /// # Errors
    /// When its journal is damaged, or no mission can have written it.
    pub fn take_up(mut replay: Replay<Fact, M>, clock: C) -> Result<TakenUp<C, M>, HistoryError> {
        let mut folding = Folding::default();
        for record in replay.by_ref() {
            folding.take(record)?;
        }
        let (journal, healed) = replay.into_writer()?;
        let history = folding.finish(journal.path())?;
        let ledger = Self {
            mission: history.mission,
            journal,
            clock,
            fresh: BTreeSet::new(),
            process: history.steps.iter().rev().find_map(Step::started),
        };
        Ok(TakenUp {
            ledger,
            steps: history.steps,
            healed,
        })
    }

    /// The mission.
    #[must_use]
    pub const fn mission(&self) -> &Mission {
        &self.mission
    }

    /// The clock.
    #[must_use]
    pub const fn clock(&self) -> &C {
        &self.clock
    }

    /// Everything that is to be done and was not answered. What an earlier process may have started is told apart, with
    /// its agent where that is on record.
    #[must_use]
    pub fn outstanding(&self) -> Vec<(EffectId, Effect, Begun)> {
        let begun = |id| {
            if self.fresh.contains(&id) {
                return Begun::Never;
            }
            let process = self.process.filter(|(launch, _)| *launch == id);
            Begun::Perhaps(process.map(|(_, process)| process))
        };
        let outstanding = self.mission.outstanding();
        outstanding
            .map(|(id, effect)| (id, effect.clone(), begun(id)))
            .collect()
    }

    /// Decides, journals, commits. A fact that does not fit leaves no trace.
    ///
    /// # Errors
    /// When the journal refuses: what it says of this fact, the next process to take the mission up will find out.
    pub fn take(&mut self, fact: Fact) -> Result<Result<Step, Refusal>, JournalError> {
        let event = Event {
            at: self.clock.now(),
            fact,
        };
        let Transition {
            mission,
            effects,
            because,
        } = match self.mission.decide(&event) {
            Ok(moved) => moved,
            Err(refusal) => {
                tracing::info!(%refusal, "a fact was refused");
                return Ok(Err(refusal));
            }
        };
        let Event { at, fact } = event;
        let seq = self.journal.append(at, &fact, durability(&because))?;
        self.mission = mission;
        self.fresh.extend(effects.iter().map(|(id, _)| *id));
        let rules: Vec<String> = because.iter().copied().map(rule_name).collect();
        tracing::debug!(
            seq = seq.number(),
            ?rules,
            effects = effects.len(),
            "decided"
        );
        Ok(Ok(Step {
            seq,
            at,
            fact,
            because,
            effects,
        }))
    }

    /// The mission as it is now.
    #[must_use]
    pub fn into_mission(self) -> Mission {
        self.mission
    }

    /// Makes the notes durable that still ride.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn sync(&mut self) -> Result<(), JournalError> {
        self.journal.sync()
    }
}

/// Whether an effect was begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begun {
    /// Nobody has started it.
    Never,
    /// An earlier process may have; its agent, where its start is on record.
    Perhaps(Option<ProcessRef>),
}

/// A mere note rides with the next decision; every decision is durable before it has an effect.
fn durability(because: &[Rule]) -> Durability {
    if because.iter().all(|rule| *rule == Rule::Noted) {
        Durability::Ride
    } else {
        Durability::Sync
    }
}
