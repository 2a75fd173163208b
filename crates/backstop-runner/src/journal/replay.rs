//! Opens a journal for its one writer: every record is read and checked, then what a crash left is mended.
//! Nothing is written before the last record has been read and holds. Not in it: the lock, which the caller holds.

use std::fs::File;
use std::io::BufReader;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use super::format;
use super::reader::{Position, Step, Stop, Walk};
use super::tail::{self, Tail};
use super::{JournalError, Medium, Record, Writer};
use crate::disk;

/// What opening a journal had to mend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Healed {
    /// Nothing.
    Nothing,
    /// The last record was whole and lacked its newline.
    Newline,
    /// A torn write of so many bytes was cut off; it was never durable.
    Cut {
        /// The length of what was cut.
        bytes: u64,
    },
}

/// Opens the journal at `path` for the one writer that holds the mission's lock. Take its records, then
/// the writer with [`Replay::into_writer`].
///
/// # Errors
/// When there is no regular file there, or it cannot be read and appended to. A symlink is refused.
pub fn open<E: DeserializeOwned>(path: &Path) -> Result<Replay<E>, JournalError> {
    let file = disk::open_regular(disk::private().read(true).append(true), path)
        .map_err(JournalError::io("open", path))?;
    Ok(replay(file, path))
}

/// Reads the journal on a medium from its start; `path` is what messages call it.
pub fn replay<E, M: Medium>(medium: M, path: &Path) -> Replay<E, M> {
    Replay {
        path: path.to_owned(),
        walk: Walk::new(BufReader::with_capacity(64 << 10, medium), Position::START),
        progress: Progress::Reading,
        events: PhantomData,
    }
}

#[derive(Debug)]
enum Progress {
    Reading,
    Ended(Tail),
    Refused(JournalError),
}

/// The records of a journal that is about to be appended to, a sound unterminated last one included.
///
/// It ends before a record that does not hold, and [`Replay::into_writer`] says so: what was taken from it
/// counts only once the writer is there.
#[derive(Debug)]
#[must_use]
pub struct Replay<E, M = File> {
    path: PathBuf,
    walk: Walk<BufReader<M>>,
    progress: Progress,
    events: PhantomData<fn() -> E>,
}

impl<E: DeserializeOwned, M: Medium> Replay<E, M> {
    /// The writer, after what a crash left is mended and everything that was read is durable.
    /// Records that were not taken yet are read and checked first.
    ///
    /// # Errors
    /// When a record does not hold, or there is none; when the disk refuses. The file is as it was then.
    pub fn into_writer(mut self) -> Result<(Writer<M>, Healed), JournalError> {
        let tail = loop {
            match self.progress {
                Progress::Reading => drop(self.next()),
                Progress::Ended(tail) => break tail,
                Progress::Refused(why) => return Err(why),
            }
        };
        let mut medium = self.walk.input.into_inner();
        let healed = heal(&mut medium, tail).map_err(JournalError::io("mend", &self.path))?;
        let writer = Writer::behind(medium, self.path, self.walk.position.link);
        Ok((writer, healed))
    }

    fn advance(&mut self) -> Result<Option<Record<E>>, JournalError> {
        match self.walk.step().map_err(|stop| stop.of(&self.path))? {
            Step::Record { seq, frame } => self.walk.event(seq, &frame, &self.path).map(Some),
            Step::End => self.end(),
        }
    }

    /// The record that lacks only its newline, if the journal ends in one.
    fn end(&mut self) -> Result<Option<Record<E>>, JournalError> {
        let Position { offset, link } = self.walk.position;
        let damaged = |fault| Stop::Damaged(self.walk.position.damage(fault)).of(&self.path);
        let tail = tail::judge(&self.walk.line, offset, &link).map_err(damaged)?;
        let last = match tail {
            Tail::Record { .. } => {
                let frame = format::decode(&self.walk.line, &link).map_err(damaged)?;
                let last = self.walk.event(link.seq(), &frame, &self.path)?;
                self.walk.pass(self.walk.line.len() as u64);
                Some(last)
            }
            Tail::None | Tail::Torn { .. } if offset == 0 => {
                return Err(JournalError::Empty(self.path.clone()));
            }
            Tail::None | Tail::Torn { .. } => None,
        };
        self.progress = Progress::Ended(tail);
        Ok(last)
    }
}

impl<E: DeserializeOwned, M: Medium> Iterator for Replay<E, M> {
    type Item = Record<E>;

    fn next(&mut self) -> Option<Record<E>> {
        match self.progress {
            Progress::Reading => {}
            Progress::Ended(_) | Progress::Refused(_) => return None,
        }
        self.advance().unwrap_or_else(|why| {
            self.progress = Progress::Refused(why);
            None
        })
    }
}

/// Mends the end of the journal, and makes all of it durable: a record that rode was read from memory, and
/// effects are about to be started because of it.
fn heal(medium: &mut impl Medium, tail: Tail) -> std::io::Result<Healed> {
    let healed = match tail {
        Tail::None => Healed::Nothing,
        Tail::Record { .. } => {
            medium.write_all(b"\n")?;
            Healed::Newline
        }
        Tail::Torn { offset, bytes } => {
            medium.set_len(offset)?;
            Healed::Cut { bytes }
        }
    };
    medium.sync_all()?;
    Ok(healed)
}
