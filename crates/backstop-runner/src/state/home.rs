//! The state directory of one repository: where it is, and which missions it has.
//! Not in it: a folder's own parts (`mission`).

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use backstop_engine::vocab::{Digest, MissionId};

use super::{Holder, Lock, MissionDir, StateError};
use crate::disk;

/// How much of the repository's own name is used, in characters.
const NAME: usize = 40;

/// The state directory of one repository: `<root>/<repo-name>-<hash of its canonical path>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    // INVARIANT: absolute, outside the repository.
    path: PathBuf,
}

impl Home {
    /// Where the state of the repository at `repo` is kept: under `flag` (`--state-dir`), else under
    /// `BACKSTOP_STATE`, `$XDG_STATE_HOME/backstop` or `~/.local/state/backstop`, as `var` gives these
    /// variables. An empty variable is an unset one, and so is a relative `XDG_STATE_HOME`.
    /// Creates nothing.
    ///
    /// # Errors
    /// When nothing says where; when that is inside the repository; when the repository cannot be found.
    pub fn resolve(
        flag: Option<&Path>,
        var: impl Fn(&str) -> Option<OsString>,
        repo: &Path,
    ) -> Result<Self, StateError> {
        let repo = fs::canonicalize(repo).map_err(StateError::io("find the repository", repo))?;
        let root = root(flag, var).ok_or(StateError::Nowhere)?;
        let wrong = StateError::io("use the state directory", &root);
        let root = settle(&root).map_err(wrong)?;
        if root.starts_with(&repo) {
            return Err(StateError::Inside { state: root, repo });
        }
        Ok(Self {
            path: root.join(name(&repo)),
        })
    }

    /// The directory itself.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where it is kept until when a provider account is limited; shared by all missions.
    #[must_use]
    pub fn accounts(&self) -> PathBuf {
        self.path.join("accounts")
    }

    fn queue_lock(&self) -> PathBuf {
        self.path.join("queue.lock")
    }

    /// The process that works on the queue now, by its own word and alive. A look, never a lock.
    #[must_use]
    pub fn queue_worker(&self) -> Option<Holder> {
        Holder::seen(&self.queue_lock())
    }

    /// Takes the lock that one process works on the queue under; none where another has it.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn lock_queue(&self) -> Result<Option<Lock>, StateError> {
        Lock::free(&self.queue_lock())
    }

    fn missions_dir(&self) -> PathBuf {
        self.path.join("missions")
    }

    fn plans_dir(&self) -> PathBuf {
        self.path.join("plans")
    }

    /// Creates the folder of a new mission, durably, and what the state directory lacks.
    ///
    /// # Errors
    /// When there is such a mission; when its id cannot name a folder; when others can write to the state
    /// directory; when the disk refuses.
    pub fn create_mission(&self, id: MissionId) -> Result<MissionDir, StateError> {
        self.create(&self.missions_dir(), id)
    }

    /// Creates the folder of a new plan, durably. It has the parts of a mission's folder that a proposal needs.
    pub(crate) fn create_plan(&self, id: MissionId) -> Result<MissionDir, StateError> {
        self.create(&self.plans_dir(), id)
    }

    fn create(&self, dir: &Path, id: MissionId) -> Result<MissionDir, StateError> {
        if id.as_str().starts_with('.') {
            return Err(StateError::Id(id));
        }
        for made in [dir, &self.accounts()] {
            disk::create_dirs(made).map_err(StateError::io("create", made))?;
        }
        check(&self.path)?;
        check(dir)?;
        MissionDir::create(dir.join(id.as_str()), id)
    }

    /// The ids of all missions, sorted. None when there is no state directory yet.
    ///
    /// # Errors
    /// When the directory cannot be read, or others can write to it.
    pub fn missions(&self) -> Result<Vec<MissionId>, StateError> {
        self.ids(&self.missions_dir())
    }

    /// The ids of all plans, sorted.
    pub(crate) fn plans(&self) -> Result<Vec<MissionId>, StateError> {
        self.ids(&self.plans_dir())
    }

    fn ids(&self, dir: &Path) -> Result<Vec<MissionId>, StateError> {
        let entries = match fs::read_dir(dir) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(StateError::io("read", dir))?,
        };
        check(&self.path)?;
        check(dir)?;
        let mut ids = Vec::new();
        for entry in entries {
            let entry = entry.map_err(StateError::io("read", dir))?;
            ids.extend(folder_id(&entry.file_name().to_string_lossy()));
        }
        ids.sort();
        Ok(ids)
    }

    /// The mission with the id `wanted`, or the only one whose id begins so.
    ///
    /// # Errors
    /// When there is none, or more than one; the error names the candidates.
    pub fn find(&self, wanted: &str) -> Result<MissionDir, StateError> {
        let missions = self.missions()?;
        let prefix = wanted.trim().to_ascii_lowercase();
        let begin = |id: &&MissionId| !prefix.is_empty() && id.as_str().starts_with(&prefix);
        let candidates: Vec<_> = missions.iter().filter(begin).cloned().collect();
        let exact = candidates.iter().find(|id| id.as_str() == prefix);
        match (exact, candidates.as_slice()) {
            (Some(id), _) | (None, [id]) => self.mission(id),
            (None, []) => Err(StateError::Unknown {
                wanted: wanted.to_owned(),
                missions,
            }),
            (None, _) => Err(StateError::Ambiguous {
                wanted: wanted.to_owned(),
                candidates,
            }),
        }
    }

    /// The folder of the mission with exactly this id.
    ///
    /// # Errors
    /// When there is none, or something else is in its place, or others can write to it.
    pub fn mission(&self, id: &MissionId) -> Result<MissionDir, StateError> {
        let folder = self.missions_dir().join(id.as_str());
        if folder_id(id.as_str()).is_none() || fs::symlink_metadata(&folder).is_err() {
            return Err(StateError::Unknown {
                wanted: id.to_string(),
                missions: self.missions()?,
            });
        }
        check(&folder)?;
        Ok(MissionDir::at(folder, id.clone()))
    }

    /// The folder of the plan with exactly this id, one of [`plans`](Self::plans).
    pub(crate) fn plan(&self, id: &MissionId) -> Result<MissionDir, StateError> {
        let folder = self.plans_dir().join(id.as_str());
        check(&folder)?;
        Ok(MissionDir::at(folder, id.clone()))
    }
}

/// The directory under which each repository has its own.
fn root(flag: Option<&Path>, var: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let set = |name| var(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let xdg = || set("XDG_STATE_HOME").filter(|dir| dir.is_absolute());
    flag.map(Path::to_owned)
        .or_else(|| set("BACKSTOP_STATE"))
        .or_else(|| xdg().map(|dir| dir.join("backstop")))
        .or_else(|| set("HOME").map(|home| home.join(".local/state/backstop")))
}

/// The absolute path without symlinks and `..`, also of what is only going to exist.
fn settle(path: &Path) -> io::Result<PathBuf> {
    let path = std::path::absolute(path)?;
    match fs::canonicalize(&path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
                return Err(e);
            };
            Ok(settle(parent)?.join(name))
        }
        settled => settled,
    }
}

/// The name of the directory of the repository at `repo`, a canonical path.
fn name(repo: &Path) -> String {
    let own = repo.file_name().unwrap_or_default().to_string_lossy();
    let safe = |c: char| match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '.' | '_' | '-' => c,
        _ => '-',
    };
    let own: String = own
        .trim_start_matches('.')
        .chars()
        .take(NAME)
        .map(safe)
        .collect();
    let own = if own.is_empty() { "repository" } else { &own };
    let hash = Digest::of(repo.as_os_str().as_bytes()).digits();
    format!("{own}-{}", &hash[..16])
}

/// The mission whose folder has this name; a name with a leading dot is nobody's.
fn folder_id(name: &str) -> Option<MissionId> {
    let id = name.parse::<MissionId>().ok()?;
    (id.as_str() == name && !name.starts_with('.')).then_some(id)
}

/// Refuses what is no directory, is a symlink, or can be written to by others.
fn check(dir: &Path) -> Result<(), StateError> {
    let found = fs::symlink_metadata(dir).map_err(StateError::io("use", dir))?;
    if !found.is_dir() {
        return Err(StateError::NotADirectory(dir.to_owned()));
    }
    if found.mode() & 0o022 != 0 {
        return Err(StateError::Exposed(dir.to_owned()));
    }
    Ok(())
}
