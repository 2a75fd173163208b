//! The plans of a repository: stored durably, approved by a person for one digest, and run by one mission, once.
//!
//! Each has a folder of its own beside those of the missions, with the record, the transcripts of its proposals, and a lock
//! under which the record is changed. Deliberately absent: how a plan is asked for.

mod error;
mod record;

use std::path::PathBuf;

use backstop_engine::Charter;
use backstop_engine::plan::{Approved, Author, Plan, Proposals};
use backstop_engine::vocab::{Digest, MissionId, Operator, Text};

pub use error::PlanError;
pub use record::{Application, Approval, RefusedProposal, State, Stored};

use crate::clock;
use crate::disk;
use crate::door;
use crate::drive::Drive;
use crate::edge::PlanOrigin;
use crate::git::Repository;
use crate::history::{self, HistoryError};
use crate::journal::JournalError;
use crate::opening::{self, Planned};
use crate::state::{Home, Lock, MissionDir, StateError};

/// The most of a record that is read, in bytes: a plan of 64 KiB escaped, and what was refused before it.
const LONGEST: u64 = 4 << 20;

/// The plans of a repository.
#[derive(Debug, Clone, Copy)]
pub struct Plans<'a> {
    home: &'a Home,
}

/// A plan, or what is wrong with it.
pub type Read = Result<Stored, PlanError>;

impl<'a> Plans<'a> {
    /// Those whose state is kept at `home`.
    #[must_use]
    pub const fn of(home: &'a Home) -> Self {
        Self { home }
    }

    /// Every plan, the newest first; what cannot be read comes last.
    ///
    /// # Errors
    /// When the state directory cannot be read.
    pub fn all(&self) -> Result<Vec<(MissionId, Read)>, PlanError> {
        let ids = self.home.plans()?.into_iter();
        let mut all: Vec<_> = ids.map(|id| (id.clone(), self.read(&id))).collect();
        let at = |read: &Read| read.as_ref().ok().map(|stored| stored.at);
        all.sort_by_key(|(_, read)| std::cmp::Reverse(at(read)));
        Ok(all)
    }

    /// The newest plan.
    ///
    /// # Errors
    /// When the state directory cannot be read, or the newest plan.
    pub fn newest(&self) -> Result<Option<Stored>, PlanError> {
        let newest = self.all()?.into_iter().next();
        newest.map(|(_, read)| read).transpose()
    }

    /// The plan with the id `wanted`, or the only one whose id begins so; none where no id does.
    ///
    /// # Errors
    /// When several do; the error names them.
    pub fn find(&self, wanted: &str) -> Result<Option<MissionId>, PlanError> {
        let prefix = wanted.trim().to_ascii_lowercase();
        let mut found = self.home.plans()?;
        found.retain(|id| !prefix.is_empty() && id.as_str().starts_with(&prefix));
        if let Some(exact) = found.iter().find(|id| id.as_str() == prefix) {
            return Ok(Some(exact.clone()));
        }
        if found.len() > 1 {
            return Err(PlanError::Ambiguous {
                wanted: wanted.to_owned(),
                candidates: found.iter().map(|id| format!("`{id}`")).collect(),
            });
        }
        Ok(found.pop())
    }

    /// What is on record of a plan. A look, without a lock.
    ///
    /// # Errors
    /// When it cannot be read, or is not what was written.
    pub fn read(&self, id: &MissionId) -> Read {
        let stored = load(&self.home.plan(id)?)?;
        self.settled(stored)
    }

    /// Stores a new plan durably.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn store(&self, stored: Stored) -> Result<Held, PlanError> {
        let dir = self.home.create_plan(stored.id.clone())?;
        let lock = lock(&dir)?;
        let held = Held { dir, lock, stored };
        held.write()?;
        Ok(held)
    }

    /// Takes a plan into hand, and puts on record what a crash left open.
    ///
    /// # Errors
    /// When another process has it; when it cannot be read.
    pub fn hold(&self, id: &MissionId) -> Result<Held, PlanError> {
        let dir = self.home.plan(id)?;
        let lock = lock(&dir)?;
        let found = load(&dir)?;
        let stored = self.settled(found.clone())?;
        let held = Held { dir, lock, stored };
        if held.stored != found {
            held.write()?;
        }
        Ok(held)
    }

    /// Puts on record of every plan what a crash left open. A mission's journal may go after that: whether its plan was
    /// applied does not hang on it any more.
    ///
    /// # Errors
    /// When the state directory cannot be read, or a record not written.
    pub fn settle(&self) -> Result<(), PlanError> {
        for (id, read) in self.all()? {
            match read.and_then(|_| self.hold(&id)) {
                // Whoever has it settles it, and what cannot be read is applied by nobody.
                Ok(_) | Err(PlanError::Held { .. } | PlanError::Damaged { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// The record, where a mission was being opened with it: applied where the mission exists, else approved still.
    fn settled(self, mut stored: Stored) -> Read {
        if let State::Applying(application) = stored.state {
            stored.state = if self.is_opened(&application.mission)? {
                State::Applied(application)
            } else {
                State::Approved(application.approval)
            };
        }
        Ok(stored)
    }

    /// Whether a mission's opening is in its journal. What cannot be told counts as opened: better a plan that has to be
    /// approved again than one that runs twice.
    fn is_opened(self, mission: &MissionId) -> Result<bool, PlanError> {
        let dir = match self.home.mission(mission) {
            Err(StateError::Unknown { .. }) => return Ok(false),
            dir => dir?,
        };
        Ok(match history::read(&dir.journal()) {
            Err(HistoryError::Journal(JournalError::Io { source, .. })) => {
                source.kind() != std::io::ErrorKind::NotFound
            }
            Err(HistoryError::Journal(JournalError::Empty(_))) => false,
            Ok(_) | Err(_) => true,
        })
    }
}

fn lock(dir: &MissionDir) -> Result<Lock, PlanError> {
    dir.lock().map_err(|error| {
        if let StateError::Held { mission, holder } = error {
            let id = mission;
            return PlanError::Held { id, holder };
        }
        error.into()
    })
}

fn record(dir: &MissionDir) -> PathBuf {
    dir.path().join("plan.json")
}

fn load(dir: &MissionDir) -> Read {
    let path = record(dir);
    let damaged = |words: String| PlanError::Damaged {
        path: path.clone(),
        words,
    };
    let bytes = disk::read_regular(&path, LONGEST).map_err(|error| {
        if error.kind() == std::io::ErrorKind::NotFound {
            return damaged("it was never written".into());
        }
        PlanError::io("read", &path)(error)
    })?;
    let stored: Stored =
        serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))?;
    match stored.fault(dir.id()) {
        Some(words) => Err(damaged(words)),
        None => Ok(stored),
    }
}

/// A plan that this process holds the lock of.
#[derive(Debug)]
pub struct Held {
    dir: MissionDir,
    #[expect(dead_code, reason = "it is held until it is dropped")]
    lock: Lock,
    stored: Stored,
}

impl Held {
    /// What is on record.
    #[must_use]
    pub const fn stored(&self) -> &Stored {
        &self.stored
    }

    /// Its folder.
    pub(crate) const fn dir(&self) -> &MissionDir {
        &self.dir
    }

    /// Changes the record durably.
    pub(crate) fn change(&mut self, change: impl FnOnce(&mut Stored)) -> Result<(), PlanError> {
        let mut next = self.stored.clone();
        change(&mut next);
        let now = std::mem::replace(&mut self.stored, next);
        // What is not on the disk did not happen.
        self.write().inspect_err(|_| self.stored = now)
    }

    fn write(&self) -> Result<(), PlanError> {
        let path = record(&self.dir);
        let failed = PlanError::io("write", &path);
        let bytes = serde_json::to_vec_pretty(&self.stored).map_err(std::io::Error::from);
        bytes
            .and_then(|bytes| disk::swap(&path, &bytes))
            .map_err(failed)
    }

    /// A person approves the plan as it stands, or only if it is still the one with this digest.
    ///
    /// # Errors
    /// When it is another one, was approved already, or is none.
    pub fn approve(&mut self, by: &Operator, digest: Option<Digest>) -> Result<(), PlanError> {
        let id = || self.stored.id.clone();
        match &self.stored.state {
            State::Approved(approval) if !self.stored.is_edited() => {
                return Err(PlanError::Approved {
                    id: id(),
                    by: approval.by.to_string(),
                    at: clock::utc(approval.at),
                });
            }
            State::Applying(application) | State::Applied(application) => {
                return Err(PlanError::Applied {
                    id: id(),
                    mission: application.mission.clone(),
                });
            }
            State::Approved(_) | State::Proposed | State::Asking | State::Parked(_) => {}
        }
        let approved = approved(&self.stored, by, digest)?;
        let approval = Approval {
            digest: approved.digest(),
            by: approved.by().clone(),
            at: clock::now(),
        };
        self.change(|stored| stored.state = State::Approved(approval))
    }

    /// The approved plan.
    fn approved(&self) -> Result<Approved, PlanError> {
        let Stored { id, state, .. } = &self.stored;
        let digest = self.stored.digest();
        match (state, digest) {
            (State::Applying(application) | State::Applied(application), _) => {
                Err(PlanError::Applied {
                    id: id.clone(),
                    mission: application.mission.clone(),
                })
            }
            (State::Approved(approval), Some(digest)) if approval.digest != digest => {
                Err(PlanError::Edited {
                    id: id.clone(),
                    digest,
                })
            }
            (State::Approved(approval), _) => {
                let by = door::on_record(approval.by.clone());
                approved(&self.stored, &by, Some(approval.digest))
            }
            (State::Proposed, Some(digest)) => Err(PlanError::Unapproved {
                id: id.clone(),
                digest,
            }),
            (State::Asking | State::Parked(_) | State::Proposed, _) => Err(none(&self.stored)),
        }
    }

    /// The approved plan, and what the mission's charter says of it.
    ///
    /// # Errors
    /// When nobody approved exactly this plan, or a mission has it already.
    pub fn planned(&self) -> Result<Planned, PlanError> {
        let approved = self.approved()?;
        let at = self.stored.state.approval().map(|approval| approval.at);
        let origin = PlanOrigin {
            id: self.stored.id.clone(),
            author: approved.author().clone(),
            digest: approved.digest(),
            approved_by: approved.by().clone(),
            approved_at: at.unwrap_or(self.stored.at),
            asking: self.stored.asking,
        };
        let plan = approved.plan().clone();
        Ok(Planned::Stored(Box::new((plan, origin))))
    }

    /// Opens the one mission that runs the plan.
    ///
    /// The record names the mission before its journal is begun, and the journal decides: a crash in between leaves a plan
    /// that was not applied, or a mission that exists.
    ///
    /// # Errors
    /// As for [`planned`](Self::planned); when the mission cannot be opened.
    pub fn apply(
        mut self,
        home: &Home,
        repository: &Repository,
        charter: Charter,
    ) -> Result<Drive, PlanError> {
        let mission = charter.fields().mission.clone();
        let applied = self.approved()?.apply(mission.clone());
        let of_plan = applied.plan() == &charter.fields().plan;
        let (State::Approved(approval), true) = (self.stored.state.clone(), of_plan) else {
            return Err(none(&self.stored));
        };
        let application = Application {
            approval,
            mission,
            at: clock::now(),
        };
        self.change(|stored| stored.state = State::Applying(application.clone()))?;
        let drive = Drive::open(home, repository, charter).map_err(Box::new)?;
        self.change(|stored| stored.state = State::Applied(application))?;
        Ok(drive)
    }
}

fn none(stored: &Stored) -> PlanError {
    let why = match &stored.state {
        // Whoever asks holds the lock, and so does who finds this.
        State::Asking => "the process that asked for it was killed".to_owned(),
        State::Parked(why) => why.to_string(),
        State::Proposed | State::Approved(_) | State::Applying(_) | State::Applied(_) => {
            "it is of another plan".to_owned()
        }
    };
    PlanError::None {
        id: stored.id.clone(),
        why,
    }
}

/// The stored plan, approved by this person.
fn approved(stored: &Stored, by: &Operator, digest: Option<Digest>) -> Result<Approved, PlanError> {
    let Some(plan) = stored.plan.clone() else {
        return Err(none(stored));
    };
    let is = plan.digest();
    let given = digest.unwrap_or(is);
    // The turn in which it was written is the last that was taken.
    let earlier = stored.proposals.spent().saturating_sub(1);
    let turn = Proposals::try_from(earlier).map(|earlier| earlier.take());
    let Ok(Ok((_, turn))) = turn else {
        return Err(none(stored));
    };
    let proposed = turn.propose(plan, stored.author.clone());
    proposed
        .approve(by, given)
        .map_err(|_| PlanError::OtherDigest {
            id: stored.id.clone(),
            given,
            is,
        })
}

/// A new record of a plan that a person wrote.
#[must_use]
pub fn written(plan: Plan, by: &Operator) -> Stored {
    let goal = opening::title(&plan);
    let author = Author::Operator(by.signature().clone());
    fresh(opening::name(&goal), &goal, author, Some(plan))
}

/// A new record of the same plan, for another approval.
#[must_use]
pub fn again(stored: &Stored) -> Stored {
    Stored {
        transcript: stored.transcript,
        ..fresh(
            opening::name(stored.goal.as_str()),
            stored.goal.as_str(),
            stored.author.clone(),
            stored.plan.clone(),
        )
    }
}

/// A new record.
pub(crate) fn fresh(id: MissionId, goal: &str, author: Author, plan: Option<Plan>) -> Stored {
    Stored {
        v: record::VERSION,
        id,
        goal: Text::clip(goal),
        at: clock::now(),
        author,
        proposals: Proposals::default(),
        asking: None,
        refused: Vec::new(),
        state: if plan.is_some() {
            State::Proposed
        } else {
            State::Asking
        },
        plan,
        transcript: None,
    }
}
