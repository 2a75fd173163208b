//! What can go wrong with a journal, in words for the operator. Nothing here repairs anything.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::Seq;

/// Why bytes are not the record that belongs there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// Not the fixed frame of a record, byte for byte.
    #[error("it does not have the form of a record")]
    Frame,
    /// The checksum covers other bytes.
    #[error("its checksum does not match its bytes")]
    Checksum,
    /// A whole record of a format that this version does not know.
    #[error("it has format version {0}, and this Backstop reads version 1: use a newer Backstop")]
    Version(u64),
    /// A record is missing, doubled or moved.
    #[error("it says that it is record {found}")]
    Sequence {
        /// The number that it carries.
        found: u64,
    },
    /// The record before it is not the one it was written after.
    #[error("it does not carry the digest of the record before it")]
    Chain,
    /// The frame holds, and what it frames is not JSON.
    #[error("its event is not JSON: {0}")]
    Json(String),
    /// Longer than any record that is ever written.
    #[error("it is longer than a record can be")]
    TooLong,
    /// A whole record runs on where its newline should be; no torn write looks like this.
    #[error("the newline after it was overwritten")]
    Newline,
    /// The file ends before the place where reading was to continue.
    #[error("the file ends before it")]
    Shrunk,
}

/// Where a journal stops being one. Records before it hold; nothing after it can be trusted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("record {seq} at byte {offset} is damaged: {fault}")]
pub struct Damage {
    /// Where the record begins, in bytes from the start of the file.
    pub offset: u64,
    /// The number of the record that belongs there.
    pub seq: Seq,
    /// What is wrong with it.
    pub fault: Fault,
}

/// A journal that cannot be created, read or appended to.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The system refused.
    #[error("cannot {act} the journal `{}`: {source}: nothing was overwritten; {}", path.display(), remedy(source))]
    Io {
        /// What was tried.
        act: &'static str,
        /// The journal.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A mission has one journal, and it is there already.
    #[error("the journal `{}` exists already: resume its mission, or open a new one", .0.display())]
    Exists(PathBuf),
    /// The file is there and holds no whole record. A mission begins with its first record, so this is
    /// one that was never opened, or lost; it is never a fresh start.
    #[error("the journal `{}` holds no whole record: its mission was never opened, or it is lost: restore it from a copy, or remove what is left with `backstop clean --force --journal` and open a new mission", .0.display())]
    Empty(PathBuf),
    /// A record is not what was written.
    #[error("the journal `{}` cannot be used, and was left as it is: {damage}: restore it from a copy, or give the mission up with `backstop clean --force`", path.display())]
    Damaged {
        /// The journal.
        path: PathBuf,
        /// Where, and what is wrong.
        damage: Damage,
    },
    /// A sound record holds an event that this version does not know.
    #[error("record {seq} of the journal `{}` holds an event that this Backstop does not know: {words}: use the version that wrote it, or a newer one", path.display())]
    Event {
        /// The journal.
        path: PathBuf,
        /// The record.
        seq: Seq,
        /// What the event lacks.
        words: String,
    },
    /// An event that cannot be written as one line of JSON of bounded length; nothing was written.
    #[error("the event cannot be journalled: {0}")]
    Unwritable(String),
    /// An earlier append failed, so what is on the disk is not known until the journal is opened again.
    #[error("the journal `{}` takes nothing more since an append failed ({cause}): resume the mission when that is mended", path.display())]
    Poisoned {
        /// The journal.
        path: PathBuf,
        /// The first failure.
        cause: String,
    },
}

impl JournalError {
    pub(super) fn io(act: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io {
            act,
            path: path.to_owned(),
            source,
        }
    }
}

/// What to do about an error of the system.
const REMEDIES: [(ErrorKind, &str); 6] = [
    (ErrorKind::StorageFull, "free some space, then resume"),
    (ErrorKind::QuotaExceeded, "free some space, then resume"),
    (
        ErrorKind::ReadOnlyFilesystem,
        "mount the file system writable, then resume",
    ),
    (
        ErrorKind::PermissionDenied,
        "give yourself access, then resume",
    ),
    (ErrorKind::NotFound, "no such mission was opened here"),
    (
        ErrorKind::InvalidInput,
        "put the file itself there, not a link or a device",
    ),
];

fn remedy(error: &io::Error) -> &'static str {
    let known = REMEDIES.iter().find(|(kind, _)| *kind == error.kind());
    known.map_or("mend this, then resume", |(_, remedy)| remedy)
}
