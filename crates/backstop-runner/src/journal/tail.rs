//! What an unterminated end of a journal is: a record that lacks only its newline, a torn write, or damage.
//! Not in it: mending it (`replay`).

use super::Fault;
use super::format::{self, Link};

/// What follows the last newline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tail {
    /// Nothing.
    None,
    /// A sound record; the next `open` gives it its newline.
    Record {
        /// Where it begins.
        offset: u64,
    },
    /// A write that did not reach its end; the next `open` cuts it.
    Torn {
        /// Where it begins.
        offset: u64,
        /// Its length in bytes.
        bytes: u64,
    },
}

/// Judges the bytes at `offset`, after the last newline.
///
/// A torn write leaves a beginning of one record. A checksum that holds says that a record was once whole
/// there, so what is wrong with it came later: that is damage, and cutting it would lose what was durable.
pub(super) fn judge(bytes: &[u8], offset: u64, link: &Link) -> Result<Tail, Fault> {
    if bytes.is_empty() {
        return Ok(Tail::None);
    }
    let torn = Tail::Torn {
        offset,
        bytes: bytes.len() as u64,
    };
    match format::decode(bytes, link) {
        Ok(frame) => format::json(&bytes[frame.event]).map(|()| Tail::Record { offset }),
        Err(Fault::Frame | Fault::Checksum) if format::begins_with_a_record(bytes) => {
            Err(Fault::Newline)
        }
        Err(Fault::Frame | Fault::Checksum) => Ok(torn),
        Err(fault) => Err(fault),
    }
}
