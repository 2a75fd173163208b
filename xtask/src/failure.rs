//! What a check reports: faults at places, or a command that did not end well.
//!
//! Deliberately absent: exit codes and printing, which are `main`'s.

use std::fmt;
use std::io;
use std::path::Path;

/// One broken rule at one place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Fault {
    /// The file, from the root, with forward slashes; or the crate.
    pub(crate) place: String,
    /// The line, counted from 1; none when the whole place is meant.
    pub(crate) line: Option<usize>,
    /// What is wrong, and what to do.
    pub(crate) said: String,
}

impl Fault {
    /// A fault of a whole file or crate.
    pub(crate) fn of(place: &str, said: impl Into<String>) -> Self {
        Self {
            place: place.to_owned(),
            line: None,
            said: said.into(),
        }
    }

    /// A fault at a line.
    pub(crate) fn at(place: &str, line: usize, said: impl Into<String>) -> Self {
        Self {
            line: Some(line),
            ..Self::of(place, said)
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.place, self.said),
            None => write!(f, "{}: {}", self.place, self.said),
        }
    }
}

/// Why a command of `cargo xtask` did not succeed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// Rules are broken.
    #[error("{}", lines(.0))]
    Faults(Vec<Fault>),
    /// A program ended badly, or could not be started.
    #[error("`{line}` {ended}")]
    Program { line: String, ended: String },
    /// A file could not be read or written.
    #[error("cannot use `{path}`: {source}")]
    File { path: String, source: io::Error },
    /// A file or an answer is not what it should be.
    #[error("cannot read {what}: {why}")]
    Unreadable { what: String, why: String },
    /// Something did not end as it must.
    #[error("{0}")]
    Wrong(String),
    /// The words after `cargo xtask` mean nothing.
    #[error("{0}")]
    Usage(String),
    /// A step of `ci` failed.
    #[error("step `{step}` failed: {why}\nrepeat it with `{repeat}`")]
    Step {
        step: &'static str,
        why: Box<Failure>,
        repeat: String,
    },
}

impl Failure {
    /// A file that could not be read or written.
    pub(crate) fn file(path: &Path, source: io::Error) -> Self {
        Self::File {
            path: path.display().to_string(),
            source,
        }
    }

    /// Something that is not what it should be.
    pub(crate) fn unreadable(what: impl Into<String>, why: impl fmt::Display) -> Self {
        Self::Unreadable {
            what: what.into(),
            why: why.to_string(),
        }
    }
}

/// Nothing wrong, or the faults, sorted by place.
pub(crate) fn none(mut faults: Vec<Fault>) -> Result<(), Failure> {
    faults.sort();
    if faults.is_empty() {
        return Ok(());
    }
    Err(Failure::Faults(faults))
}

fn lines(faults: &[Fault]) -> String {
    let list: Vec<String> = faults.iter().map(Fault::to_string).collect();
    let noun = if list.len() == 1 { "fault" } else { "faults" };
    format!("{} {noun}\n{}", list.len(), list.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_counted_and_sorted_by_place() {
        let failure = none(vec![
            Fault::of("b.rs", "too long"),
            Fault::at("a.rs", 3, "wrong"),
        ]);
        assert_eq!(
            failure.unwrap_err().to_string(),
            "2 faults\na.rs:3: wrong\nb.rs: too long"
        );
        assert!(none(Vec::new()).is_ok());
    }
}
