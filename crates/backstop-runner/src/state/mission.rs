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

    fn queue_mark(&self) -> PathBuf {
        self.path.join("queued")
    }

    /// Puts the mission into the queue, durably. Its place there is that of its opening.
    pub(crate) fn enqueue(&self) -> Result<(), StateError> {
        let mark = self.queue_mark();
        disk::replace(&mark, b"").map_err(StateError::io("write", &mark))
    }

    /// Takes the mission out of the queue, durably.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn dequeue(&self) -> Result<(), StateError> {
        let mark = self.queue_mark();
        let removed = match std::fs::remove_file(&mark) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => Err(error),
            Ok(()) => disk::sync_parent(&mark),
        };
        removed.map_err(StateError::io("remove", &mark))
    }

    /// Whether the queue has the mission. What that means, its journal says: one that rests is not worked on.
    #[must_use]
    pub fn is_queued(&self) -> bool {
        self.queue_mark().exists()
    }

    /// The process that works on the queue of the repository now, by its own word and alive. A look, never a lock.
    #[must_use]
    pub fn queue_worker(&self) -> Option<Holder> {
        Holder::seen(&self.path.join("../../queue.lock"))
    }

    /// The process that drives the mission now, by its own word and alive. A look, never a lock.
    #[must_use]
    pub fn holder(&self) -> Option<Holder> {
        Holder::seen(&self.path.join("lock"))
    }
}
