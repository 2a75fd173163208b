//! A bounded spool: of a long stream it keeps the head and the tail, on the disk, and marks the cut.
//! Not in it: lines, encodings and secrets; whoever writes has dealt with them.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read as _, Seek as _, SeekFrom, Write};
use std::path::{Path, PathBuf};

use backstop_engine::vocab::Digest;
use sha2::Digest as _;

use super::{BlobError, Blobs, discard};
use crate::disk;

/// The most that a spool keeps of one attempt, in bytes, the mark included.
pub const MOST: u64 = 64 << 20;

/// Room for the mark.
const MARK: u64 = 64;

/// The buffer before the file, in bytes.
const BUFFER: usize = 32 << 10;

/// What a spool has kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kept {
    /// The blob.
    pub digest: Digest,
    /// Its length in bytes.
    pub bytes: u64,
    /// How many bytes of the stream are missing from it.
    pub cut: u64,
}

/// A stream on its way into a blob. Dropped unfinished, it leaves nothing.
///
/// The first half is written as it comes; the second half of the file is a ring that holds the latest bytes.
#[derive(Debug)]
pub struct Spool {
    blobs: Blobs,
    path: PathBuf,
    file: BufWriter<File>,
    head: u64,
    ring: u64,
    /// How much was written in all.
    total: u64,
    /// Of everything, as long as nothing is cut.
    hash: sha2::Sha256,
    finished: bool,
}

impl Spool {
    pub(super) fn create(blobs: Blobs, most: u64) -> Result<Self, BlobError> {
        let most = most.max(4 * MARK);
        let head = most / 2;
        let (file, path) = blobs.begin("spool")?;
        Ok(Self {
            blobs,
            path,
            file: BufWriter::with_capacity(BUFFER, file),
            head,
            ring: most - head - MARK,
            total: 0,
            hash: sha2::Sha256::new(),
            finished: false,
        })
    }

    /// Where the bytes are until the spool is finished: whole at first, a head and a ring after that.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Takes the next bytes of the stream.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), BlobError> {
        let written = self.place(bytes);
        written.map_err(BlobError::io("write", &self.path))
    }

    /// Makes what was written visible to those who read the file now.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn flush(&mut self) -> Result<(), BlobError> {
        let flushed = self.file.flush();
        flushed.map_err(BlobError::io("write", &self.path))
    }

    /// Keeps the stream as a blob, durably.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn finish(mut self) -> Result<Kept, BlobError> {
        let kept = match self.cut() {
            0 => self.finish_whole(),
            cut => self.finish_cut(cut),
        }?;
        self.finished = true;
        Ok(kept)
    }

    /// How many bytes are missing so far.
    const fn cut(&self) -> u64 {
        self.total.saturating_sub(self.head + self.ring)
    }

    fn place(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let ringed = self.total.saturating_sub(self.head) % self.ring;
            let room = match self.head.checked_sub(self.total) {
                Some(room) if room > 0 => room,
                _ => self.ring - ringed,
            };
            if self.total > self.head && ringed == 0 {
                self.file.seek(SeekFrom::Start(self.head))?;
            }
            let fits = usize::try_from(room).map_or(bytes.len(), |room| room.min(bytes.len()));
            let (now, later) = bytes.split_at(fits);
            self.file.write_all(now)?;
            self.total += now.len() as u64;
            if self.cut() == 0 {
                self.hash.update(now);
            }
            bytes = later;
        }
        Ok(())
    }

    fn finish_whole(&mut self) -> Result<Kept, BlobError> {
        let synced = self
            .file
            .flush()
            .and_then(|()| self.file.get_ref().sync_all());
        synced.map_err(BlobError::io("write", &self.path))?;
        let digest = Digest::Sha256(self.hash.clone().finalize().into());
        self.blobs.adopt(&self.path, &digest)?;
        Ok(Kept {
            digest,
            bytes: self.total,
            cut: 0,
        })
    }

    /// Writes head, mark and tail in their order to a file of their own.
    fn finish_cut(&mut self, cut: u64) -> Result<Kept, BlobError> {
        let (file, path) = self.blobs.begin("put")?;
        let kept = self
            .straighten(&file, cut)
            .map_err(BlobError::io("write", &path))
            .and_then(|kept| self.blobs.adopt(&path, &kept.digest).map(|()| kept));
        kept.inspect_err(|_| discard(&path))
    }

    fn straighten(&mut self, straight: &File, cut: u64) -> io::Result<Kept> {
        self.file.flush()?;
        let oldest = self.head + (self.total - self.head) % self.ring;
        let mark = format!("\n[backstop: {cut} bytes are cut here]\n");
        let mut out = Hashed::new(straight);
        let file = self.file.get_ref();
        copy(file, 0, self.head, &mut out)?;
        out.write_all(mark.as_bytes())?;
        copy(file, oldest, self.head + self.ring - oldest, &mut out)?;
        copy(file, self.head, oldest - self.head, &mut out)?;
        let (digest, bytes) = out.finish();
        straight.sync_all()?;
        Ok(Kept { digest, bytes, cut })
    }
}

impl Drop for Spool {
    fn drop(&mut self) {
        if !self.finished || self.cut() > 0 {
            discard(&self.path);
        }
    }
}

/// Keeps the spool that a killed process left at `path`, if there is anything in it. When it had begun to
/// cut, its second half is in the order of the ring.
pub(super) fn salvage(blobs: &Blobs, path: &Path) -> Result<Option<Kept>, BlobError> {
    let (digest, bytes) = digest_of(path).map_err(BlobError::io("salvage", path))?;
    if bytes == 0 {
        discard(path);
        return Ok(None);
    }
    blobs.adopt(path, &digest)?;
    Ok(Some(Kept {
        digest,
        bytes,
        cut: 0,
    }))
}

fn digest_of(path: &Path) -> io::Result<(Digest, u64)> {
    let file = disk::open_regular(disk::private().read(true), path)?;
    file.sync_all()?;
    let mut out = Hashed::new(io::sink());
    io::copy(&mut BufReader::with_capacity(BUFFER, file), &mut out)?;
    Ok(out.finish())
}

/// Appends `length` bytes of `file` from `start` to `out`.
fn copy(mut file: &File, start: u64, length: u64, out: &mut impl Write) -> io::Result<()> {
    file.seek(SeekFrom::Start(start))?;
    io::copy(&mut file.take(length), out).map(drop)
}

/// Passes bytes on, and knows their digest and count.
struct Hashed<W> {
    out: W,
    hash: sha2::Sha256,
    bytes: u64,
}

impl<W: Write> Hashed<W> {
    fn new(out: W) -> Self {
        Self {
            out,
            hash: sha2::Sha256::new(),
            bytes: 0,
        }
    }

    fn finish(self) -> (Digest, u64) {
        (Digest::Sha256(self.hash.finalize().into()), self.bytes)
    }
}

impl<W: Write> Write for Hashed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = self.out.write(bytes)?;
        self.hash.update(&bytes[..taken]);
        self.bytes += taken as u64;
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
