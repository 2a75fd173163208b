//! A journal read back: the charter, every step with the rules that fired, and the mission it leads to.

use std::path::Path;

use backstop_engine::vocab::{EffectId, Timestamp};
use backstop_engine::{Charter, Effect, Event, Fact, Mission, ProcessRef, Refusal, Rule};

use crate::journal::{self, JournalError, Record, Seq};

/// One fact of a journal and what it did.
#[derive(Debug, Clone)]
pub struct Step {
    /// The record.
    pub seq: Seq,
    /// When.
    pub at: Timestamp,
    /// What happened.
    pub fact: Fact,
    /// The rules that fired.
    pub because: Vec<Rule>,
    /// What it started.
    pub effects: Vec<(EffectId, Effect)>,
}

impl Step {
    /// Whether a rule decided here; a mere note decides nothing.
    #[must_use]
    pub fn decided(&self) -> bool {
        self.because.iter().any(|rule| *rule != Rule::Noted)
    }

    /// The agent process that this step put on record, with the launch it belongs to.
    #[must_use]
    pub const fn started(&self) -> Option<(EffectId, ProcessRef)> {
        if let Fact::AttemptStarted(started) = &self.fact {
            return Some((started.effect, started.process));
        }
        None
    }
}

/// A whole journal.
#[derive(Debug, Clone)]
pub struct History {
    /// Every step, the opening first.
    pub steps: Vec<Step>,
    /// Where they lead.
    pub mission: Mission,
}

impl History {
    /// Every step with the mission that it led to.
    pub fn walk(&self) -> impl Iterator<Item = (&Step, Mission)> {
        let mut now: Option<Mission> = None;
        self.steps.iter().filter_map(move |step| {
            let moved = match (&now, &step.fact) {
                (None, Fact::Opened(charter)) => Mission::open(Charter::clone(charter)),
                (None, _) => return None,
                (Some(mission), fact) => {
                    let event = Event {
                        at: step.at,
                        fact: fact.clone(),
                    };
                    // These facts were decided on before, in this order.
                    mission.decide(&event).ok()?
                }
            };
            now = Some(moved.mission.clone());
            Some((step, moved.mission))
        })
    }
}

/// A journal that no mission can have written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HistoryError {
    /// It cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// Its first record is no opening.
    #[error(
        "the journal does not begin with the opening of a mission: restore it from a copy, or remove what is left with `backstop clean --force --journal`"
    )]
    NotOpened,
    /// A fact does not fit the ones before it.
    #[error("record {seq} of the journal does not fit the ones before it: {refusal}")]
    Misfit {
        /// The record.
        seq: Seq,
        /// Why not.
        refusal: Refusal,
    },
}

/// Folds records into a mission, keeping what each did.
#[derive(Debug, Default)]
pub struct Folding {
    steps: Vec<Step>,
    mission: Option<Mission>,
}

impl Folding {
    /// Takes one more record.
    ///
    /// # Errors
    /// When it does not fit.
    pub fn take(&mut self, record: Record<Fact>) -> Result<(), HistoryError> {
        let Record {
            seq,
            at,
            event: fact,
        } = record;
        let moved = match (&self.mission, &fact) {
            (None, Fact::Opened(charter)) => Mission::open(Charter::clone(charter)),
            (None, _) => return Err(HistoryError::NotOpened),
            (Some(mission), _) => {
                let event = Event {
                    at,
                    fact: fact.clone(),
                };
                let moved = mission.decide(&event);
                moved.map_err(|refusal| HistoryError::Misfit { seq, refusal })?
            }
        };
        self.mission = Some(moved.mission);
        self.steps.push(Step {
            seq,
            at,
            fact,
            because: moved.because,
            effects: moved.effects,
        });
        Ok(())
    }

    /// The last step that was taken, and the mission that it led to.
    #[must_use]
    pub fn latest(&self) -> Option<(&Step, &Mission)> {
        self.steps.last().zip(self.mission.as_ref())
    }

    /// The whole of `journal`.
    ///
    /// # Errors
    /// [`JournalError::Empty`] when nothing was taken.
    pub fn finish(self, journal: &Path) -> Result<History, HistoryError> {
        let empty = || JournalError::Empty(journal.to_owned());
        Ok(History {
            mission: self.mission.ok_or_else(empty)?,
            steps: self.steps,
        })
    }
}

/// Reads the journal at `path`, without a lock.
///
/// # Errors
/// When it is damaged, or no mission can have written it.
pub fn read(path: &Path) -> Result<History, HistoryError> {
    let mut folding = Folding::default();
    for record in journal::read::<Fact>(path)? {
        folding.take(record?)?;
    }
    folding.finish(path)
}
