//! Blobs: what is too large for a record, kept by its digest and checked on every read.
//!
//! Deliberately absent: what a blob means, redaction (done before the bytes come here), and removal of any
//! blob, since a record may name it.

mod spool;

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use backstop_engine::vocab::Digest;

pub use spool::{Kept, MOST, Spool};

use crate::disk;

/// The beginning of the names of files that are not whole yet.
const UNFINISHED: &str = ".unfinished-";

/// A blob that cannot be kept or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BlobError {
    /// The system refused.
    #[error("cannot {act} the blob `{}`: {source}", path.display())]
    Io {
        /// What was tried.
        act: &'static str,
        /// With which file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The bytes are not those that were kept.
    #[error("the blob `{}` is damaged: its bytes have the digest `{found}`: restore it from a copy", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What its bytes are.
        found: Digest,
    },
    /// A tree belongs to git.
    #[error("`{0}` is the digest of a git tree, and no blob has one: look in the repository")]
    NotABlob(Digest),
}

impl BlobError {
    fn io(act: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io {
            act,
            path: path.to_owned(),
            source,
        }
    }
}

/// The blobs of one mission: a directory in which each file is named by the SHA-256 of its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blobs {
    dir: PathBuf,
}

impl Blobs {
    /// The blobs in `dir`, which is there (`state::MissionDir::blobs`).
    #[must_use]
    pub const fn at(dir: PathBuf) -> Self {
        Self { dir }
    }

    /// Where the blob with this digest is, or would be.
    ///
    /// # Errors
    /// When it is the digest of a git tree.
    pub fn path(&self, digest: &Digest) -> Result<PathBuf, BlobError> {
        match digest {
            Digest::Sha256(_) => Ok(self.dir.join(digest.digits())),
            Digest::GitTreeSha1(_) | Digest::GitTreeSha256(_) => Err(BlobError::NotABlob(*digest)),
        }
    }

    /// Keeps `bytes`, durably. Keeping the same bytes again changes nothing, and mends a damaged blob.
    ///
    /// # Errors
    /// When the disk refuses; nothing is left behind then.
    pub fn put(&self, bytes: &[u8]) -> Result<Digest, BlobError> {
        let digest = Digest::of(bytes);
        if self.read(&digest).is_ok() {
            return Ok(digest);
        }
        let (mut file, unfinished) = self.begin("put")?;
        let kept = file
            .write_all(bytes)
            .and_then(|()| file.sync_all())
            .map_err(BlobError::io("write", &unfinished))
            .and_then(|()| self.adopt(&unfinished, &digest));
        kept.inspect_err(|_| discard(&unfinished))?;
        Ok(digest)
    }

    /// The bytes with this digest.
    ///
    /// # Errors
    /// When there are none, or others, or they cannot be read. A symlink is refused.
    pub fn read(&self, digest: &Digest) -> Result<Vec<u8>, BlobError> {
        let path = self.path(digest)?;
        let mut bytes = Vec::new();
        disk::open_regular(disk::private().read(true), &path)
            .and_then(|mut file| file.read_to_end(&mut bytes))
            .map_err(BlobError::io("read", &path))?;
        let found = Digest::of(&bytes);
        if found == *digest {
            Ok(bytes)
        } else {
            Err(BlobError::Damaged { path, found })
        }
    }

    /// A spool for the output of one attempt, of at most [`MOST`] bytes.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn spool(&self) -> Result<Spool, BlobError> {
        self.spool_of(MOST)
    }

    /// A spool of at most `most` bytes (and no less than 256).
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn spool_of(&self, most: u64) -> Result<Spool, BlobError> {
        Spool::create(self.clone(), most)
    }

    /// Keeps what spools of a process that is gone have left, and removes its half-written blobs.
    /// For the holder of the mission's lock alone, before it starts anything.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn salvage(&self) -> Result<Vec<Kept>, BlobError> {
        let reading = |e| BlobError::io("list", &self.dir)(e);
        let mut kept = Vec::new();
        for entry in fs::read_dir(&self.dir).map_err(reading)? {
            let entry = entry.map_err(reading)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            match name.strip_prefix(UNFINISHED) {
                Some(rest) if rest.starts_with("spool-") => {
                    kept.extend(spool::salvage(self, &entry.path())?);
                }
                Some(_) => discard(&entry.path()),
                None => {}
            }
        }
        Ok(kept)
    }

    /// A new file that is not whole yet.
    fn begin(&self, what: &str) -> Result<(File, PathBuf), BlobError> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let mut options = disk::private();
        options.read(true).write(true).create_new(true);
        loop {
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let pid = std::process::id();
            let path = self.dir.join(format!("{UNFINISHED}{what}-{pid}-{count}"));
            match options.open(&path) {
                // A process with this id was killed here before.
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                opened => {
                    let file = opened.map_err(BlobError::io("create", &path))?;
                    return Ok((file, path));
                }
            }
        }
    }

    /// Gives a synced file its digest as its name, durably.
    fn adopt(&self, unfinished: &Path, digest: &Digest) -> Result<(), BlobError> {
        let path = self.path(digest)?;
        fs::rename(unfinished, &path)
            .and_then(|()| disk::sync_dir(&self.dir))
            .map_err(BlobError::io("keep", &path))
    }
}

/// Removes a file that is not a blob. One that stays is removed by the next `salvage`.
fn discard(unfinished: &Path) {
    let _ = fs::remove_file(unfinished);
}
