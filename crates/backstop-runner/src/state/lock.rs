//! The lock of a mission. The system's lock on the open file decides, and nothing else: what the file says
//! about its holder is for people to read. Not in it: any rule by age or by process id.

use std::fmt;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::Path;

use backstop_engine::vocab::MissionId;
use serde::{Deserialize, Serialize};

use super::StateError;
use crate::disk;
use crate::process::Identity;

/// How much of a lock file is read, in bytes.
const LONGEST: u64 = 4096;

/// What a lock file says about the process that wrote it. It may be gone, and its id another's.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The process.
    pub pid: Option<u32>,
    /// When it started, in clock ticks since the machine did.
    pub start: Option<u64>,
    /// The machine's start that this is about.
    pub boot: Option<String>,
}

impl Holder {
    /// This process.
    pub(super) fn here() -> Self {
        let stat = fs::read_to_string("/proc/self/stat").ok();
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok();
        Self {
            pid: Some(std::process::id()),
            start: stat.as_deref().and_then(start_time),
            boot: boot.map(|id| id.trim().to_owned()),
        }
    }
}

impl Holder {
    /// What the lock file at `path` says of a process that still runs. Takes no lock and leaves no trace, so it never stands in
    /// the way of a process that wants the lock; to act on a mission, take the lock.
    ///
    /// None also where the holder lives in another process namespace, whose processes cannot be looked at.
    pub(super) fn seen(path: &Path) -> Option<Self> {
        let mut file = disk::open_regular(disk::private().read(true), path).ok()?;
        said(&mut file).filter(Self::is_alive)
    }

    /// Whether this very process runs now.
    fn is_alive(&self) -> bool {
        let (Some(pid), Some(start_time)) = (self.pid, self.start) else {
            return false;
        };
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok();
        self.boot.as_deref() == boot.as_deref().map(str::trim)
            && Identity { pid, start_time }.is_alive()
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pid {
            Some(pid) => write!(f, "another process (`{pid}`, by its own word)"),
            None => f.write_str("another process"),
        }
    }
}

/// The field `starttime` of `/proc/<pid>/stat`; the name before it may hold spaces and brackets.
fn start_time(stat: &str) -> Option<u64> {
    let (_, after_name) = stat.rsplit_once(')')?;
    after_name.split_whitespace().nth(19)?.parse().ok()
}

/// The held lock of a mission; dropping it gives it up.
#[derive(Debug)]
pub struct Lock {
    file: File,
    left_behind: Option<Holder>,
}

impl Lock {
    pub(super) fn take(path: &Path, mission: &MissionId) -> Result<Self, StateError> {
        match Self::try_take(path)? {
            Ok(lock) => Ok(lock),
            Err(holder) => Err(StateError::Held {
                mission: mission.clone(),
                holder,
            }),
        }
    }

    /// The lock at `path` where nobody has it.
    pub(super) fn free(path: &Path) -> Result<Option<Self>, StateError> {
        Ok(Self::try_take(path)?.ok())
    }

    /// The lock, or who holds it.
    fn try_take(path: &Path) -> Result<Result<Self, Holder>, StateError> {
        let mut options = disk::private();
        options.read(true).write(true).create(true).truncate(false);
        let refused = |e| StateError::io("lock", path)(e);
        let mut file = disk::open_regular(&options, path).map_err(refused)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(Err(said(&mut file).unwrap_or_default())),
            Err(TryLockError::Error(e)) => return Err(refused(e)),
        }
        let left_behind = said(&mut file);
        say(&mut file, &Holder::here()).map_err(refused)?;
        Ok(Ok(Self { file, left_behind }))
    }

    /// The process that held the lock last and did not give it up itself: it was killed, or the machine was.
    #[must_use]
    pub const fn left_behind(&self) -> Option<&Holder> {
        self.left_behind.as_ref()
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Words that stay behind are a note for the next holder, never a lock, so a failure is harmless.
        let _ = self.file.set_len(0);
        let _ = self.file.unlock();
    }
}

/// What the file says; nothing when it says nothing that can be understood.
fn said(file: &mut File) -> Option<Holder> {
    let mut words = Vec::new();
    file.rewind().ok()?;
    file.take(LONGEST).read_to_end(&mut words).ok()?;
    serde_json::from_slice(&words).ok()
}

pub(super) fn say(file: &mut File, holder: &Holder) -> io::Result<()> {
    let words = serde_json::to_vec(holder)?;
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(&words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_holder_is_seen_while_it_lives_and_never_by_its_number_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        assert_eq!(Holder::seen(&path), None);
        let id: MissionId = "m".parse().unwrap();
        let lock = Lock::take(&path, &id).unwrap();
        assert_eq!(Holder::seen(&path), Some(Holder::here()));
        drop(lock);
        assert_eq!(Holder::seen(&path), None);
        let here = Holder::here();
        for gone in [
            Holder {
                start: here.start.map(|start| start + 1),
                ..here.clone()
            },
            Holder {
                boot: Some("another".into()),
                ..here.clone()
            },
            Holder {
                pid: None,
                ..here.clone()
            },
        ] {
            fs::write(&path, serde_json::to_vec(&gone).unwrap()).unwrap();
            assert_eq!(Holder::seen(&path), None, "{gone:?}");
        }
    }

    #[test]
    fn the_start_time_is_found_behind_any_name() {
        let stat = "7 (a) b (c) S 1 7 7 0 -1 0 1 2 3 4 5 6 7 8 20 0 1 0 4711 9 9";
        assert_eq!(start_time(stat), Some(4711));
        assert_eq!(start_time("7 (a"), None);
        assert!(Holder::here().start.is_some());
    }
}
