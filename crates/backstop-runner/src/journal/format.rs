//! Version 1 of a record, both ways: `{"v":1,"seq":N,"at":ms,"prev":"…","event":…,"crc":"…"}`.
//! One record has one spelling. Not in it: files, and what an event means.

use std::io::Write as _;
use std::ops::Range;

use backstop_engine::vocab::{Digest, Timestamp};
use serde::Serialize;
use serde::de::IgnoredAny;
use sha2::Digest as _;

use super::{Fault, JournalError, Seq};

/// The longest record, in bytes without its newline. What is larger is kept as a blob.
pub const LONGEST: usize = 4 << 20;

const V: &[u8] = b"{\"v\":";
const SEQ: &[u8] = b",\"seq\":";
const AT: &[u8] = b",\"at\":";
const PREV: &[u8] = b",\"prev\":\"";
const EVENT: &[u8] = b"\",\"event\":";
const CRC: &[u8] = b",\"crc\":\"";
const END: &[u8] = b"\"}";

/// The length of the crc field, to the end of the record.
const CRC_FIELD: usize = CRC.len() + 8 + END.len();

/// Where the chain stands: what the next record must carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Link {
    seq: u64,
    prev: [u8; 32],
}

impl Link {
    /// Before the first record.
    pub(super) const START: Self = Self {
        seq: 0,
        prev: [0; 32],
    };

    /// The number of the next record, which is the count of those before it.
    pub(super) const fn seq(&self) -> Seq {
        Seq(self.seq)
    }

    /// The digest of the last record; all zeroes when there is none.
    pub(super) const fn head(&self) -> Digest {
        Digest::Sha256(self.prev)
    }

    /// After `line`, a whole record without its newline.
    pub(super) fn after(&self, line: &[u8]) -> Self {
        Self {
            seq: self.seq + 1,
            prev: sha2::Sha256::digest(line).into(),
        }
    }

    fn hex(&self) -> [u8; 64] {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut out = [0; 64];
        for (pair, byte) in out.as_chunks_mut::<2>().0.iter_mut().zip(self.prev) {
            *pair = [
                DIGITS[usize::from(byte >> 4)],
                DIGITS[usize::from(byte & 15)],
            ];
        }
        out
    }
}

/// Writes the record of `event` behind that point of the chain into `line`, without a newline.
pub(super) fn encode(
    line: &mut Vec<u8>,
    behind: &Link,
    at: Timestamp,
    event: &impl Serialize,
) -> Result<(), JournalError> {
    let unwritable = |words: String| JournalError::Unwritable(words);
    line.clear();
    let written = write!(
        line,
        "{{\"v\":1,\"seq\":{},\"at\":{}",
        behind.seq,
        at.as_millis()
    );
    written.map_err(|e| unwritable(e.to_string()))?;
    line.extend_from_slice(PREV);
    line.extend_from_slice(&behind.hex());
    line.extend_from_slice(EVENT);
    let start = line.len();
    serde_json::to_writer(&mut *line, event).map_err(|e| unwritable(e.to_string()))?;
    // Text that another encoder made passes through serde_json as it is.
    if line[start..].contains(&b'\n') || padded(&line[start..]) {
        return Err(unwritable("its JSON is not compact".to_owned()));
    }
    let crc = crc32fast::hash(line);
    line.extend_from_slice(CRC);
    write!(line, "{crc:08x}").map_err(|e| unwritable(e.to_string()))?;
    line.extend_from_slice(END);
    if line.len() > LONGEST {
        return Err(unwritable(format!(
            "its record has {} bytes, and at most {LONGEST} fit: keep what is large as a blob",
            line.len()
        )));
    }
    Ok(())
}

/// What a record says, as places in its line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) at: Timestamp,
    /// Where the event's JSON is.
    pub(super) event: Range<usize>,
}

/// Takes a whole record apart and holds it against the chain. The event's JSON is not looked into.
pub(super) fn decode(line: &[u8], behind: &Link) -> Result<Frame, Fault> {
    let covered = checked(line)?;
    let (version, rest) = number(covered.strip_prefix(V).ok_or(Fault::Frame)?)?;
    if version != 1 {
        return Err(Fault::Version(version));
    }
    let (seq, rest) = number(rest.strip_prefix(SEQ).ok_or(Fault::Frame)?)?;
    let (at, rest) = number(rest.strip_prefix(AT).ok_or(Fault::Frame)?)?;
    let rest = rest.strip_prefix(PREV).ok_or(Fault::Frame)?;
    let (prev, rest) = rest.split_first_chunk::<64>().ok_or(Fault::Frame)?;
    let event = rest.strip_prefix(EVENT).ok_or(Fault::Frame)?;
    if !prev.iter().all(|b| hex_digit(*b).is_some()) || padded(event) {
        return Err(Fault::Frame);
    }
    if seq != behind.seq {
        return Err(Fault::Sequence { found: seq });
    }
    if *prev != behind.hex() {
        return Err(Fault::Chain);
    }
    Ok(Frame {
        at: Timestamp::from_millis(at),
        event: covered.len() - event.len()..covered.len(),
    })
}

/// Whether the event's bytes are JSON at all, whatever they say.
pub(super) fn json(event: &[u8]) -> Result<(), Fault> {
    match serde_json::from_slice::<IgnoredAny>(event) {
        Ok(IgnoredAny) => Ok(()),
        Err(e) => Err(Fault::Json(e.to_string())),
    }
}

/// Whether some beginning of `bytes` is a record, by its checksum alone.
pub(super) fn begins_with_a_record(bytes: &[u8]) -> bool {
    let mut crc = crc32fast::Hasher::new();
    let mut hashed = 0;
    for start in crc_fields(bytes) {
        crc.update(&bytes[hashed..start]);
        hashed = start;
        if stated(&bytes[start..start + CRC_FIELD]) == Some(crc.clone().finalize()) {
            return true;
        }
    }
    false
}

/// Each place where a crc field may begin and fits.
fn crc_fields(bytes: &[u8]) -> impl Iterator<Item = usize> {
    let last = (bytes.len() + 1).saturating_sub(CRC_FIELD);
    (0..last).filter(|start| bytes[*start..].starts_with(CRC))
}

/// The bytes that the checksum of `line` covers, when it holds.
fn checked(line: &[u8]) -> Result<&[u8], Fault> {
    let split = line.len().checked_sub(CRC_FIELD).ok_or(Fault::Frame)?;
    let (covered, field) = line.split_at(split);
    let stated = stated(field).ok_or(Fault::Frame)?;
    if crc32fast::hash(covered) == stated {
        Ok(covered)
    } else {
        Err(Fault::Checksum)
    }
}

/// The checksum that a crc field states.
fn stated(field: &[u8]) -> Option<u32> {
    let digits = field.strip_prefix(CRC)?.strip_suffix(END)?;
    let exact: &[u8; 8] = digits.try_into().ok()?;
    exact
        .iter()
        .try_fold(0, |crc, digit| Some(crc << 4 | hex_digit(*digit)?))
}

/// The value of a lower-case hexadecimal digit; the upper-case ones would be a second spelling.
fn hex_digit(byte: u8) -> Option<u32> {
    match byte {
        b'0'..=b'9' => Some(u32::from(byte - b'0')),
        b'a'..=b'f' => Some(u32::from(byte - b'a') + 10),
        _ => None,
    }
}

/// A decimal number without leading zeroes, and what follows it.
fn number(text: &[u8]) -> Result<(u64, &[u8]), Fault> {
    let length = text.iter().take_while(|b| b.is_ascii_digit()).count();
    let (digits, rest) = text.split_at(length);
    if digits.is_empty() || (digits.len() > 1 && digits[0] == b'0') {
        return Err(Fault::Frame);
    }
    let value = digits.iter().try_fold(0_u64, |n, digit| {
        n.checked_mul(10)?.checked_add(u64::from(digit - b'0'))
    });
    value.map(|n| (n, rest)).ok_or(Fault::Frame)
}

/// Whether there is white space around the JSON, or no JSON at all.
fn padded(json: &[u8]) -> bool {
    match (json.first(), json.last()) {
        (Some(first), Some(last)) => first.is_ascii_whitespace() || last.is_ascii_whitespace(),
        _ => true,
    }
}
