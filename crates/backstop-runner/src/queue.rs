//! The queue of a repository: missions that are opened and wait for their turn, in the order of their opening.
//!
//! A mark in a mission's folder puts it into the queue; where it stands there, and whether there is anything to do for it, its
//! journal says. Deliberately absent: driving missions, and any list of its own that could disagree.

use std::collections::BTreeMap;

use backstop_engine::vocab::{MissionId, Timestamp};
use backstop_engine::{Fact, Mission, Position};
use serde::Serialize;

use crate::accounts;
use crate::cleaning;
use crate::clock;
use crate::history::{self, History};
use crate::state::{Home, MissionDir, StateError};
use crate::view::{self, Damaged, Status};

/// What the queue says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Queue {
    /// How many missions work at once.
    pub parallel: u16,
    /// The process that works on it now.
    pub worker: Option<u32>,
    /// What it has, in order.
    pub missions: Vec<Queued>,
    /// What it has whose journal cannot be read.
    pub damaged: Vec<Damaged>,
}

/// A mission of the queue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Queued {
    /// Its place among those that are not done with, from 1; none for one that needs a person first.
    pub place: Option<usize>,
    /// Whether anything of it has run.
    pub begun: bool,
    /// The mission.
    #[serde(flatten)]
    pub status: Status,
}

impl Queue {
    /// Looks at the queue.
    ///
    /// # Errors
    /// When the state directory cannot be read.
    pub fn read(home: &Home, parallel: u16) -> Result<Self, StateError> {
        let mut queue = Self {
            parallel,
            worker: home.queue_worker().and_then(|holder| holder.pid),
            missions: Vec::new(),
            damaged: Vec::new(),
        };
        for dir in marked(home)? {
            match history::read(&dir.journal()) {
                Ok(history) if cleaning::has_ended(&history.mission) => {}
                Ok(history) => queue.missions.push(Queued {
                    place: is_due(&history.mission).then_some(0),
                    begun: has_begun(&history),
                    status: view::status(&history, &dir),
                }),
                Err(error) => queue.damaged.push(Damaged {
                    mission: dir.id().clone(),
                    words: error.to_string(),
                }),
            }
        }
        let order = |one: &Queued| (one.status.opened_at, one.status.mission.clone());
        queue.missions.sort_by_key(order);
        let due = queue
            .missions
            .iter_mut()
            .filter_map(|one| one.place.as_mut());
        for (place, number) in due.zip(1..) {
            *place = number;
        }
        Ok(queue)
    }

    /// Whether something is to be done that nobody does.
    #[must_use]
    pub fn stands_still(&self) -> bool {
        let idle = |one: &Queued| one.place.is_some() && one.status.driven_by.is_none();
        self.worker.is_none() && self.missions.iter().any(idle)
    }
}

/// The missions that have the mark.
fn marked(home: &Home) -> Result<Vec<MissionDir>, StateError> {
    let mut marked = Vec::new();
    for id in home.missions()? {
        match home.mission(&id) {
            Ok(dir) if dir.is_queued() => marked.push(dir),
            // One may be removed at this moment.
            Ok(_) | Err(StateError::Unknown { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(marked)
}

/// Whether anything of a mission has run.
#[must_use]
pub fn has_begun(history: &History) -> bool {
    history.steps.len() > 1
}

/// Whether no agent was ever launched for a mission: nothing but its charter would be lost with it.
#[must_use]
pub fn is_blank(history: &History) -> bool {
    history.steps.iter().all(|step| {
        matches!(
            step.fact,
            Fact::Opened(_) | Fact::PreflightRan(_) | Fact::StopRequested { .. }
        )
    })
}

/// Whether a mission goes on without a person.
#[must_use]
pub const fn is_due(mission: &Mission) -> bool {
    matches!(
        mission.position(),
        Position::Busy(_) | Position::Waiting(..)
    )
}

/// What is to be done for a mission of the queue, as its journal was at a certain length.
#[derive(Debug)]
struct Glance {
    length: u64,
    opened_at: Timestamp,
    due: bool,
    waits: bool,
    account: Option<String>,
}

impl Glance {
    fn at(history: &History, length: u64) -> Self {
        Self {
            length,
            opened_at: history.mission.charter().fields().opened_at,
            due: is_due(&history.mission),
            waits: matches!(history.mission.position(), Position::Waiting(..)),
            account: accounts::wanted(history),
        }
    }
}

/// A mission that goes on without a person.
#[derive(Debug)]
struct Due {
    opened_at: Timestamp,
    length: u64,
    waits: bool,
    driven: bool,
    dir: MissionDir,
}

/// Chooses what is driven next. Remembers what it looked at, so that a long queue costs little, and what it chose: a mission
/// that nothing came of is not driven again before its journal has moved.
#[derive(Debug, Default)]
pub struct Chooser {
    seen: BTreeMap<MissionId, Glance>,
    chosen: BTreeMap<MissionId, u64>,
}

impl Chooser {
    /// The missions that are to be driven from now on, in order, where at most so many work at once. `driven` says of those
    /// that have no process yet whether one is on its way.
    ///
    /// # Errors
    /// When the state directory cannot be read.
    pub fn next(
        &mut self,
        home: &Home,
        parallel: u16,
        driven: impl Fn(&MissionId) -> bool,
    ) -> Result<Vec<MissionDir>, StateError> {
        let next = self.look(home, parallel, driven)?;
        for dir in &next {
            let length = self.seen.get(dir.id()).map_or(0, |glance| glance.length);
            self.chosen.insert(dir.id().clone(), length);
        }
        Ok(next)
    }

    /// The same, without choosing any.
    ///
    /// # Errors
    /// When the state directory cannot be read.
    pub fn look(
        &mut self,
        home: &Home,
        parallel: u16,
        driven: impl Fn(&MissionId) -> bool,
    ) -> Result<Vec<MissionDir>, StateError> {
        let mut due = self.due(home)?;
        for one in &mut due {
            one.driven = driven(one.dir.id()) || one.dir.holder().is_some();
        }
        let working = due.iter().filter(|one| one.driven && !one.waits).count();
        let mut room = usize::from(parallel).saturating_sub(working);
        due.retain(|one| {
            if one.driven || self.chosen.get(one.dir.id()) == Some(&one.length) {
                return false;
            }
            // One that only waits takes no place of one that works.
            let fits = one.waits || room > 0;
            room = room.saturating_sub(usize::from(!one.waits));
            fits
        });
        Ok(due.into_iter().map(|one| one.dir).collect())
    }

    /// What goes on without a person, in order.
    fn due(&mut self, home: &Home) -> Result<Vec<Due>, StateError> {
        let mut due = Vec::new();
        let now = clock::now();
        for dir in marked(home)? {
            let Some(glance) = self.glance(&dir).filter(|glance| glance.due) else {
                continue;
            };
            let limited = |account: &String| accounts::limit_of(&home.accounts(), account, now);
            due.push(Due {
                opened_at: glance.opened_at,
                length: glance.length,
                waits: glance.waits || glance.account.as_ref().and_then(limited).is_some(),
                driven: false,
                dir,
            });
        }
        due.sort_by_key(|one| (one.opened_at, one.dir.id().clone()));
        Ok(due)
    }

    /// The mission as its journal tells it now; none where that cannot be read.
    fn glance(&mut self, dir: &MissionDir) -> Option<&Glance> {
        let length = std::fs::metadata(dir.journal()).ok()?.len();
        let known = self.seen.get(dir.id());
        if known.is_none_or(|glance| glance.length != length) {
            let history = history::read(&dir.journal()).ok()?;
            let glance = Glance::at(&history, length);
            self.seen.insert(dir.id().clone(), glance);
        }
        self.seen.get(dir.id())
    }
}
