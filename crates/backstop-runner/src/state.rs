//! Where a mission keeps what it must not lose: the state directory of a repository, a folder for each
//! mission, the lock that one process drives it under, and the slots that missions work in.
//!
//! Deliberately absent: what is in the files, and removing any of them.

mod home;
mod lock;
mod mission;
mod slots;

use std::io;
use std::path::{Path, PathBuf};

use backstop_engine::vocab::MissionId;

pub use home::Home;
pub use lock::{Holder, Lock};
pub use mission::MissionDir;
pub use slots::Line;
pub(crate) use slots::{Asked, Slot, Slots, Waiter};

/// A state directory, mission or lock that cannot be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// The system refused.
    #[error("cannot {act} `{}`: {source}: mend this, or choose another place with --state-dir", path.display())]
    Io {
        /// What was tried.
        act: &'static str,
        /// With what.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Nothing says where state is kept.
    #[error(
        "there is no place for the state: none of BACKSTOP_STATE, XDG_STATE_HOME and HOME is set: give --state-dir"
    )]
    Nowhere,
    /// The state would lie where agents work and git looks.
    #[error("the state directory `{}` is inside the repository `{}`: choose one outside with --state-dir", state.display(), repo.display())]
    Inside {
        /// The state directory.
        state: PathBuf,
        /// The repository.
        repo: PathBuf,
    },
    /// Something else is where a directory of the state belongs.
    #[error("`{}` is not a directory of the state but a symlink or a file: move it away", .0.display())]
    NotADirectory(PathBuf),
    /// Others could put answers and journals there.
    #[error("others can write to `{}`: take that away with `chmod 700`", .0.display())]
    Exposed(PathBuf),
    /// An id that names a directory of its own kind.
    #[error("`{0}` cannot be the id of a mission: begin it with a letter or a digit")]
    Id(MissionId),
    /// There is such a mission already.
    #[error("there is a mission `{0}` already: resume it, or give the new one another id")]
    Exists(MissionId),
    /// No mission has this id, or begins so.
    #[error(
        "no mission here has the id `{wanted}` or one that begins so; {}",
        known(missions)
    )]
    Unknown {
        /// What was looked for.
        wanted: String,
        /// All there are.
        missions: Vec<MissionId>,
    },
    /// Several missions begin so.
    #[error("`{wanted}` could be {}: give more of the id", listed(candidates))]
    Ambiguous {
        /// What was looked for.
        wanted: String,
        /// All that begin so.
        candidates: Vec<MissionId>,
    },
    /// Another process drives this mission.
    #[error("mission `{mission}` is driven by {holder}: stop it first, or wait until it ends")]
    Held {
        /// The mission.
        mission: MissionId,
        /// Who says so.
        holder: Holder,
    },
}

impl StateError {
    fn io(act: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io {
            act,
            path: path.to_owned(),
            source,
        }
    }
}

/// How many ids an error lists.
const LISTED: usize = 10;

fn listed(missions: &[MissionId]) -> String {
    let shown = missions.iter().take(LISTED).map(|id| format!("`{id}`"));
    let shown = shown.collect::<Vec<_>>().join(", ");
    match missions.len().saturating_sub(LISTED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

fn known(missions: &[MissionId]) -> String {
    match missions {
        [] => "there is none yet: `backstop run` opens one".to_owned(),
        some => format!("there are {}", listed(some)),
    }
}
