//! Checks a whole journal without opening it for anything. Not in it: what the events mean.

use std::io::{BufRead, BufReader};
use std::path::Path;

use backstop_engine::vocab::Digest;

use super::JournalError;
use super::format;
use super::reader::{Position, Step, Stop, Walk};
use super::tail::{self, Tail};
use crate::disk;

/// A journal in which every whole record holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verified {
    /// How many records there are that end in a newline.
    pub records: u64,
    /// Their length in bytes, newlines included.
    pub bytes: u64,
    /// The digest of the last of them. Whoever noted it can tell later that nothing before it was changed
    /// or cut off.
    pub head: Digest,
    /// What follows the last newline: the writer may be writing, or have died.
    pub tail: Tail,
}

/// Verifies the journal at `path`, record by record. Takes no lock.
///
/// # Errors
/// When it cannot be read; when it is damaged, with the first place; when it holds no whole record.
pub fn verify(path: &Path) -> Result<Verified, JournalError> {
    let opened = disk::open_regular(disk::private().read(true), path);
    let file = opened.map_err(JournalError::io("read", path))?;
    verify_stream(BufReader::with_capacity(64 << 10, file), path)
}

/// Verifies a journal from `input`; `name` is what errors call it.
///
/// # Errors
/// As for [`verify`].
pub fn verify_stream(input: impl BufRead, name: &Path) -> Result<Verified, JournalError> {
    let mut walk = Walk::new(input, Position::START);
    let tail = to_the_end(&mut walk).map_err(|stop| stop.of(name))?;
    match tail {
        Tail::None | Tail::Torn { .. } if walk.position == Position::START => {
            return Err(JournalError::Empty(name.to_owned()));
        }
        Tail::None | Tail::Torn { .. } | Tail::Record { .. } => {}
    }
    Ok(Verified {
        records: walk.position.seq().number(),
        bytes: walk.position.offset,
        head: walk.position.link.head(),
        tail,
    })
}

fn to_the_end<R: BufRead>(walk: &mut Walk<R>) -> Result<Tail, Stop> {
    loop {
        let before = walk.position;
        let damaged = |fault| Stop::Damaged(before.damage(fault));
        match walk.step()? {
            Step::Record { frame, .. } => {
                format::json(&walk.line[frame.event]).map_err(damaged)?;
            }
            Step::End => {
                return tail::judge(&walk.line, before.offset, &before.link).map_err(damaged);
            }
        }
    }
}
