//! An attempt's output on disk: its head and its tail, with a mark where the middle was left out.
//!
//! Deliberately absent: syncing, digests and redaction. Whoever keeps the file as a blob does these.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The most that is kept of an attempt's output: 64 MiB.
pub const MOST_SPOOLED: u64 = 64 << 20;

/// A file that grows to a limit and then keeps its first and its latest half.
///
/// The latest half is a ring on disk, so a flood needs no memory.
#[derive(Debug)]
pub struct Spool {
    file: File,
    path: PathBuf,
    head: u64,
    ring: u64,
    total: u64,
}

/// What became of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spooled {
    /// Bytes that were written to the spool.
    pub total: u64,
    /// Bytes that the file does not have: the middle.
    pub dropped: u64,
}

impl Spool {
    /// Creates the file, readable by its owner only, to keep at most `most` bytes (at least 2) beside the mark.
    ///
    /// # Errors
    /// The file exists, or cannot be created.
    pub fn create(path: &Path, most: u64) -> io::Result<Self> {
        let mut how = OpenOptions::new();
        let file = how
            .read(true)
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path)?;
        let half = (most / 2).max(1);
        Ok(Self {
            file,
            path: path.to_owned(),
            head: half,
            ring: half,
            total: 0,
        })
    }

    /// Takes the next bytes.
    ///
    /// # Errors
    /// The disk is full or gone; what was written before stays.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let (at, room) = self.place();
            let fits = usize::try_from(room).map_or(rest.len(), |room| room.min(rest.len()));
            self.file.write_all_at(&rest[..fits], at)?;
            self.total += fits as u64;
            rest = &rest[fits..];
        }
        Ok(())
    }

    /// Where the next byte goes, and how many follow it there.
    fn place(&self) -> (u64, u64) {
        match self.total.checked_sub(self.head) {
            None => (self.total, self.head - self.total),
            Some(beyond) => {
                let at = beyond % self.ring;
                (self.head + at, self.ring - at)
            }
        }
    }

    /// Brings the file into its final order.
    ///
    /// # Errors
    /// The disk is full or gone. The bytes are then still in the file, the tail in ring order.
    pub fn finish(mut self) -> io::Result<Spooled> {
        let kept = self.head + self.ring;
        let dropped = self.total.saturating_sub(kept);
        if dropped > 0 {
            self.unroll(dropped)?;
        }
        Ok(Spooled {
            total: self.total,
            dropped,
        })
    }

    fn unroll(&mut self, dropped: u64) -> io::Result<()> {
        let (oldest, until_end) = self.place();
        let mut name = self.path.clone().into_os_string();
        name.push(".whole");
        let whole = PathBuf::from(name);
        let mut how = OpenOptions::new();
        let mut out = how.write(true).create_new(true).mode(0o600).open(&whole)?;
        let copied = self
            .copy(0, self.head, &mut out)
            .and_then(|()| write!(out, "\n[backstop: {dropped} bytes left out here]\n"))
            .and_then(|()| self.copy(oldest, until_end, &mut out))
            .and_then(|()| self.copy(self.head, self.ring - until_end, &mut out))
            .and_then(|()| fs::rename(&whole, &self.path));
        if copied.is_err() {
            // The ring still has everything: a half copy is of no use to anyone.
            let _ = fs::remove_file(&whole);
        }
        copied
    }

    fn copy(&mut self, from: u64, length: u64, out: &mut File) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(from))?;
        io::copy(&mut (&self.file).take(length), out).map(drop)
    }
}
