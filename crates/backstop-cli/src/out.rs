//! Printing results on standard output. A reader that has seen enough is no fault: `backstop status | head -1` ends quietly.

use std::io::Write as _;

use backstop_runner::words;
use serde::Serialize;

use crate::fault::{Fault, Status};

/// Prints text for a person; what could drive a terminal is replaced.
pub(crate) fn say(text: &str) -> Result<Status, Fault> {
    raw(words::shown(text).as_bytes())
}

/// Prints bytes as they are.
pub(crate) fn raw(bytes: &[u8]) -> Result<Status, Fault> {
    let mut out = std::io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()?;
    Ok(Status::Done)
}

/// Prints a value as JSON, for scripts.
pub(crate) fn json(value: &impl Serialize) -> Result<Status, Fault> {
    let mut text = serde_json::to_string_pretty(value).map_err(std::io::Error::from)?;
    text.push('\n');
    raw(text.as_bytes())
}

/// Prints a value as one line of JSON.
pub(crate) fn json_line(value: &impl Serialize) -> Result<Status, Fault> {
    let mut text = serde_json::to_string(value).map_err(std::io::Error::from)?;
    text.push('\n');
    raw(text.as_bytes())
}

/// Tells something on standard error that does not stop the command. Nobody is left to tell when this fails.
pub(crate) fn warn(text: &str) {
    let _ = writeln!(std::io::stderr(), "backstop: {}", words::shown(text));
}
