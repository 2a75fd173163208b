//! Reads records one by one, without a lock, while the writer may be writing.
//! Not in it: any repair. What is not a whole record ends the reading, and stays.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _, Seek as _, SeekFrom};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use super::format::{self, Frame, LONGEST, Link};
use super::{Damage, Fault, JournalError, Record, Seq};
use crate::disk;

/// The buffer between the file and the records, in bytes.
const BUFFER: usize = 64 << 10;

/// Where a reader stands: behind a whole record. Continue there with `read_from`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    pub(super) offset: u64,
    pub(super) link: Link,
}

impl Position {
    /// The start of a journal.
    pub const START: Self = Self {
        offset: 0,
        link: Link::START,
    };

    /// Bytes from the start of the file.
    #[must_use]
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// The number of the next record, which is the count of those before it.
    #[must_use]
    pub const fn seq(&self) -> Seq {
        self.link.seq()
    }

    /// What is wrong with the record that begins here.
    pub(super) const fn damage(&self, fault: Fault) -> Damage {
        Damage {
            offset: self.offset,
            seq: self.seq(),
            fault,
        }
    }
}

/// What one step through a journal found.
pub(super) enum Step {
    /// A record that holds; its bytes are in the buffer.
    Record { seq: Seq, frame: Frame },
    /// The end; what follows the last newline, which may be nothing, is in the buffer.
    End,
}

/// Why a step could not be made.
pub(super) enum Stop {
    Io(io::Error),
    Damaged(Damage),
}

impl Stop {
    pub(super) fn of(self, path: &Path) -> JournalError {
        match self {
            Self::Io(source) => JournalError::io("read", path)(source),
            Self::Damaged(damage) => JournalError::Damaged {
                path: path.to_owned(),
                damage,
            },
        }
    }
}

/// Walks the lines of a journal and holds each against the chain.
#[derive(Debug)]
pub(super) struct Walk<R> {
    pub(super) input: R,
    /// The line of the last step.
    pub(super) line: Vec<u8>,
    /// Behind the last record.
    pub(super) position: Position,
}

impl<R: BufRead> Walk<R> {
    pub(super) const fn new(input: R, position: Position) -> Self {
        Self {
            input,
            line: Vec::new(),
            position,
        }
    }

    pub(super) fn step(&mut self) -> Result<Step, Stop> {
        self.line.clear();
        let most = LONGEST as u64 + 1;
        let input = self.input.by_ref().take(most);
        read_line(input, &mut self.line).map_err(Stop::Io)?;
        if self.line.pop_if(|last| *last == b'\n').is_none() {
            if self.line.len() as u64 == most {
                return Err(Stop::Damaged(self.position.damage(Fault::TooLong)));
            }
            return Ok(Step::End);
        }
        let decoded = format::decode(&self.line, &self.position.link);
        let frame = decoded.map_err(|fault| Stop::Damaged(self.position.damage(fault)))?;
        let seq = self.position.seq();
        self.pass(self.line.len() as u64 + 1);
        Ok(Step::Record { seq, frame })
    }

    /// Moves behind the record in the buffer, which takes `bytes` in the file.
    pub(super) fn pass(&mut self, bytes: u64) {
        self.position = Position {
            offset: self.position.offset + bytes,
            link: self.position.link.after(&self.line),
        };
    }

    /// The event in the buffer, of record `seq`.
    pub(super) fn event<E: DeserializeOwned>(
        &self,
        seq: Seq,
        frame: &Frame,
        path: &Path,
    ) -> Result<Record<E>, JournalError> {
        let event = serde_json::from_slice(&self.line[frame.event.clone()]);
        event
            .map(|event| Record {
                seq,
                at: frame.at,
                event,
            })
            .map_err(|e| JournalError::Event {
                path: path.to_owned(),
                seq,
                words: e.to_string(),
            })
    }
}

fn read_line(mut input: impl BufRead, line: &mut Vec<u8>) -> io::Result<usize> {
    input.read_until(b'\n', line)
}

/// Opens the journal at `path` to read it from its start.
///
/// # Errors
/// When there is no regular file there, or it cannot be opened. A symlink is refused.
pub fn read<E: DeserializeOwned>(path: &Path) -> Result<Reader<E>, JournalError> {
    read_from(path, Position::START)
}

/// Opens the journal at `path` to read on from where a reader stood.
///
/// # Errors
/// As for [`read`]; when the file ends before `position`; when what comes next does not follow it,
/// the first record read is refused.
pub fn read_from<E: DeserializeOwned>(
    path: &Path,
    position: Position,
) -> Result<Reader<E>, JournalError> {
    let refused = JournalError::io("read", path);
    let opened = disk::open_regular(disk::private().read(true), path).and_then(|mut file| {
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(position.offset))?;
        Ok((file, length))
    });
    let (file, length) = opened.map_err(refused)?;
    if length < position.offset {
        return Err(Stop::Damaged(position.damage(Fault::Shrunk)).of(path));
    }
    Ok(Reader {
        path: path.to_owned(),
        walk: Walk::new(BufReader::with_capacity(BUFFER, file), position),
        stopped: false,
        events: PhantomData,
    })
}

/// The records of a journal, in order; memory is bounded by the longest one.
///
/// It ends (`None`) behind the last whole record, and goes on from there when it is asked again after the
/// writer has appended more. After an error it is over.
#[derive(Debug)]
pub struct Reader<E> {
    path: PathBuf,
    walk: Walk<BufReader<File>>,
    stopped: bool,
    events: PhantomData<fn() -> E>,
}

impl<E> Reader<E> {
    /// Behind the last record that was read.
    #[must_use]
    pub const fn position(&self) -> Position {
        self.walk.position
    }
}

impl<E: DeserializeOwned> Reader<E> {
    fn advance(&mut self) -> Result<Option<Record<E>>, JournalError> {
        match self.walk.step().map_err(|stop| stop.of(&self.path))? {
            Step::Record { seq, frame } => self.walk.event(seq, &frame, &self.path).map(Some),
            Step::End => self.rewind().map(|()| None),
        }
    }

    /// Goes back to the start of what was not terminated yet.
    fn rewind(&mut self) -> Result<(), JournalError> {
        let start = SeekFrom::Start(self.walk.position.offset);
        let sought = self.walk.input.seek(start);
        sought
            .map(drop)
            .map_err(JournalError::io("read", &self.path))
    }
}

impl<E: DeserializeOwned> Iterator for Reader<E> {
    type Item = Result<Record<E>, JournalError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.stopped {
            return None;
        }
        let next = self.advance();
        self.stopped = next.is_err();
        next.transpose()
    }
}
