//! The folder of one mission and the names of its parts. Not in it: what fills them.

use std::io;
use std::path::{Path, PathBuf};

use backstop_engine::vocab::MissionId;

use super::slots::Slots;
use super::{Holder, Lock, StateError};
use crate::disk;

/// The folder of one mission. It is there; the workspace and the scratch checkout in it are git's to make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissionDir {
    path: PathBuf,
    id: MissionId,
}

impl MissionDir {
    pub(super) const fn at(path: PathBuf, id: MissionId) -> Self {
        Self { path, id }
    }

    pub(super) fn create(path: PathBuf, id: MissionId) -> Result<Self, StateError> {
        match disk::create_dir(&path) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
                return Err(StateError::Exists(id));
            }
            created => created.map_err(StateError::io("create", &path))?,
        }
        let made = Self { path, id };
        let blobs = made.blobs();
        disk::create_dir(&blobs).map_err(StateError::io("create", &blobs))?;
        Ok(made)
    }

    /// The mission.
    #[must_use]
    pub const fn id(&self) -> &MissionId {
        &self.id
    }

    /// The folder itself.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The journal, a file.
    #[must_use]
    pub fn journal(&self) -> PathBuf {
        self.path.join("journal.jsonl")
    }

    /// Transcripts, artifacts and logs, by digest.
    #[must_use]
    pub fn blobs(&self) -> PathBuf {
        self.path.join("blobs")
    }

    /// Where it is kept until when a provider account is limited; shared with the other missions of the repository.
    #[must_use]
    pub fn accounts(&self) -> PathBuf {
        self.path.join("../../accounts")
    }

    /// The slots that the missions of the repository work in.
    pub(crate) fn slots(&self) -> Slots {
        Slots::at(self.path.join("../../slots"))
    }

    /// The private clone that agents work in.
    #[must_use]
    pub fn workspace(&self) -> PathBuf {
        self.path.join("workspace")
    }

    /// The second checkout, for review, verification and checks.
    #[must_use]
    pub fn scratch(&self) -> PathBuf {
        self.path.join("scratch")
    }

    /// Takes the lock that one process drives the mission under. It ends with the process, however that ends.
    ///
    /// # Errors
    /// When another process holds it, who; when the disk refuses.
    pub fn lock(&self) -> Result<Lock, StateError> {
        Lock::take(&self.path.join("lock"), &self.id)
    }

    /// The process that drives the mission now, by its own word and alive. A look, never a lock.
    #[must_use]
    pub fn holder(&self) -> Option<Holder> {
        Holder::seen(&self.path.join("lock"))
    }
}
