//! Gives back what a mission takes up: its checkouts, its refs, and where that is wanted its journal. Never work that nothing else
//! would hold, and never under a process that drives the mission.

mod plans;

use std::fs;
use std::path::{Path, PathBuf};

use backstop_engine::vocab::MissionId;
use backstop_engine::{Mission, Position};

use crate::git::{GitError, Holding, Host, Repository};
use crate::history::{self, HistoryError};
use crate::queue;
use crate::state::{MissionDir, StateError};
use crate::words;

pub use plans::{CleanedPlan, Kept, Wanted, clean_plan};

/// Whether refs are given up whose commits nothing else holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unheld {
    /// They stay.
    Kept,
    /// They are given up; git collects their commits some day.
    GivenUp,
}

/// Whether the journal and the evidence go too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Records {
    /// They stay.
    Kept,
    /// They go.
    Removed,
}

/// Whether anything is done at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// It is.
    Done,
    /// It is only said.
    Said,
}

/// How far cleaning goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scope {
    /// Refs whose commits nothing else holds.
    pub unheld: Unheld,
    /// The journal and the evidence.
    pub records: Records,
    /// Doing or saying.
    pub act: Act,
}

/// What went and what stays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cleaned {
    /// Where the mission is, in words.
    pub now: String,
    /// Folders that went.
    pub folders: Vec<PathBuf>,
    /// Refs that went.
    pub refs: Vec<Holding>,
    /// Refs that stay because nothing else holds their commits.
    pub unheld: Vec<Holding>,
    /// Refs that stay because the mission goes on with them.
    pub needed: Vec<Holding>,
    /// The folder with the journal and the evidence, where it stays.
    pub records: Option<PathBuf>,
}

/// Why a mission is not cleaned.
#[derive(Debug, thiserror::Error)]
pub enum CleanError {
    /// Somebody drives it, or it cannot be locked.
    #[error(transparent)]
    State(#[from] StateError),
    /// Its journal cannot be read, so nobody knows what it needs.
    #[error(transparent)]
    History(#[from] HistoryError),
    /// Git refuses.
    #[error(transparent)]
    Git(#[from] GitError),
    /// It is in the middle of something.
    #[error(
        "mission `{mission}` is in the middle of its work ({now}): stop it first with `backstop stop {mission}`"
    )]
    Unfinished {
        /// The mission.
        mission: MissionId,
        /// Where it is.
        now: String,
    },
    /// It is still to be worked on.
    #[error(
        "mission `{mission}` stands in the queue ({now}): take it out first with `backstop queue remove {mission}`, or `backstop stop {mission}` where it has begun"
    )]
    Queued {
        /// The mission.
        mission: MissionId,
        /// Where it is.
        now: String,
    },
    /// Without its journal it could not go on.
    #[error(
        "mission `{mission}` has not ended ({now}), so its journal stays: end it first with `backstop gate abort --mission {mission}`, or leave out --journal"
    )]
    NotEnded {
        /// The mission.
        mission: MissionId,
        /// Where it is.
        now: String,
    },
    /// It can go on, and nobody has given it up.
    #[error(
        "mission `{mission}` can go on ({now}), so its journal stays: give it up with `backstop clean {mission} --journal --force`, or leave out --journal"
    )]
    Parked {
        /// The mission.
        mission: MissionId,
        /// Where it is.
        now: String,
    },
    /// The system refused.
    #[error("cannot remove `{}`: {source}", path.display())]
    Io {
        /// What.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
}

/// What a mission still needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Need {
    /// Nothing: it has ended, or its journal is lost.
    Nothing,
    /// Its refs and its journal: it can go on.
    ToGoOn,
}

/// Cleans one mission.
///
/// # Errors
/// When it is driven, in the middle of its work, or holds work that would be lost; then nothing was removed.
pub fn clean(
    dir: &MissionDir,
    repository: &Repository,
    scope: Scope,
) -> Result<Cleaned, CleanError> {
    let lock = dir.lock()?;
    let (need, now) = need(dir, scope)?;
    let host = Host::at(repository, dir.id(), dir.path())?;
    host.may_give_back()?;
    let mut cleaned = Cleaned {
        now,
        folders: host.folders(),
        refs: Vec::new(),
        unheld: Vec::new(),
        needed: Vec::new(),
        records: (scope.records == Records::Kept).then(|| dir.path().to_owned()),
    };
    for holding in host.holdings()? {
        let to = match (need, &holding.elsewhere, scope.unheld) {
            (Need::ToGoOn, _, _) => &mut cleaned.needed,
            (Need::Nothing, None, Unheld::Kept) => &mut cleaned.unheld,
            (Need::Nothing, Some(_), _) | (Need::Nothing, None, Unheld::GivenUp) => {
                &mut cleaned.refs
            }
        };
        to.push(holding);
    }
    if scope.records == Records::Removed {
        cleaned.folders.push(dir.path().to_owned());
    }
    if scope.act == Act::Done {
        // The checkouts go first: what their work is held by is there until then.
        host.clone().give_back()?;
        host.release(&cleaned.refs)?;
        if scope.records == Records::Removed {
            remove(dir.path())?;
        }
    }
    drop(lock);
    Ok(cleaned)
}

fn need(dir: &MissionDir, scope: Scope) -> Result<(Need, String), CleanError> {
    let history = match history::read(&dir.journal()) {
        Ok(history) => history,
        Err(_) if scope.unheld == Unheld::GivenUp => {
            return Ok((Need::Nothing, "its journal cannot be read".into()));
        }
        Err(error) => return Err(error.into()),
    };
    let mission = &history.mission;
    let (id, now) = (dir.id().clone(), words::position(mission));
    match (has_ended(mission), mission.position(), scope.records) {
        (true, _, _) => Ok((Need::Nothing, now)),
        (false, Position::Busy(_) | Position::Waiting(..), _) if dir.is_queued() => {
            Err(CleanError::Queued { mission: id, now })
        }
        (false, Position::Busy(_) | Position::Waiting(..), _) => {
            Err(CleanError::Unfinished { mission: id, now })
        }
        (false, Position::Parked(..), Records::Removed) => {
            // Where nothing was done, nothing is lost with it but the wish.
            if scope.unheld == Unheld::GivenUp || queue::is_blank(&history) {
                return Ok((Need::Nothing, now));
            }
            Err(CleanError::Parked { mission: id, now })
        }
        (false, _, Records::Removed) => Err(CleanError::NotEnded { mission: id, now }),
        (false, _, Records::Kept) => Ok((Need::ToGoOn, now)),
    }
}

/// Whether nothing moves a mission any more.
#[must_use]
pub const fn has_ended(mission: &Mission) -> bool {
    matches!(mission.position(), Position::Ended(_))
}

fn remove(folder: &Path) -> Result<(), CleanError> {
    fs::remove_dir_all(folder).map_err(|source| CleanError::Io {
        path: folder.to_owned(),
        source,
    })
}
