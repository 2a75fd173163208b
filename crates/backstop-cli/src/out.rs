//! Printing results on standard output. A reader that has seen enough is no fault: `backstop status | head -1` ends quietly,
//! and so does a look on a terminal that is closed.

use std::fmt::Write as _;
use std::io::{IsTerminal as _, Write as _};

use backstop_runner::words;
use rustix::fs::FileType;
use rustix::io::Errno;
use serde::Serialize;

use crate::fault::{Fault, Status};

/// Prints text for a person; what could drive a terminal is replaced.
pub(crate) fn say(text: &str) -> Result<Status, Fault> {
    raw(words::shown(text).as_bytes())
}

/// Prints bytes as they are.
pub(crate) fn raw(bytes: &[u8]) -> Result<Status, Fault> {
    let mut out = std::io::stdout().lock();
    let written = out.write_all(bytes).and_then(|()| out.flush());
    match written {
        Err(error) if is_gone(&error) => Err(Fault::from(std::io::Error::from(
            std::io::ErrorKind::BrokenPipe,
        ))),
        written => Ok(written.map(|()| Status::Done)?),
    }
}

/// Whether standard output is a terminal that was closed. It does not say any more that it is one, but a disk with the
/// same fault is no device of characters.
fn is_gone(error: &std::io::Error) -> bool {
    let device = rustix::fs::fstat(std::io::stdout())
        .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::CharacterDevice);
    device && error.raw_os_error() == Some(Errno::IO.raw_os_error())
}

/// Prints what others wrote: as it is into a file or another program, harmless on a terminal.
pub(crate) fn foreign(bytes: &[u8]) -> Result<Status, Fault> {
    if std::io::stdout().is_terminal() {
        say(&String::from_utf8_lossy(bytes))
    } else {
        raw(bytes)
    }
}

/// Prints a value as JSON, for scripts.
pub(crate) fn json(value: &impl Serialize) -> Result<Status, Fault> {
    let mut text = serde_json::to_string_pretty(value).map_err(std::io::Error::from)?;
    text.push('\n');
    raw(escaped(&text).as_bytes())
}

/// Prints a value as one line of JSON.
pub(crate) fn json_line(value: &impl Serialize) -> Result<Status, Fault> {
    let mut text = serde_json::to_string(value).map_err(std::io::Error::from)?;
    text.push('\n');
    raw(escaped(&text).as_bytes())
}

/// JSON in which what could drive a terminal is escaped, so that it says the same to a program. It stands in strings alone.
fn escaped(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        if words::is_harmless(c) {
            text.push(c);
        } else {
            let _ = write!(text, "\\u{:04x}", u32::from(c));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_drives_no_terminal_and_says_the_same() {
        let said = "red\u{1b}[31m\u{9b}2J\u{202e}\u{7f} \"ä\"\n";
        let json = escaped(&serde_json::to_string(said).unwrap());
        assert!(json.chars().all(words::is_harmless), "{json:?}");
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), said);
    }
}
