//! What is wrong with a file, shown in its place.

use std::fmt;
use std::io;
use std::ops::Range;
use std::path::Path;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use backstop_engine::mode::{Account, CeilingFaults};

/// A fault of a configuration file, ready to be read by a person: file, line, caret, and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    words: String,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words)
    }
}

impl std::error::Error for ConfigError {}

impl ConfigError {
    pub(super) fn unreadable(path: &Path, error: &io::Error) -> Self {
        Self {
            words: format!("cannot read `{}`: {error}", path.display()),
        }
    }

    /// What the TOML reader says, with the nearest known key where it met an unknown one.
    pub(super) fn toml(path: &Path, text: &str, error: &toml::de::Error) -> Self {
        let span = error.span().unwrap_or(0..0);
        Self::at(path, text, span, &told(error.message()))
    }

    /// Several faults at once, each in its place.
    pub(super) fn all(path: &Path, text: &str, faults: Vec<(Range<usize>, String)>) -> Self {
        let placed = faults.into_iter();
        Self::joined(placed.map(|(span, words)| Self::at(path, text, span, &words)))
    }

    /// Several faults as one.
    pub(super) fn joined(faults: impl Iterator<Item = Self>) -> Self {
        let words: Vec<String> = faults.map(|fault| fault.words).collect();
        Self {
            words: words.join("\n"),
        }
    }

    /// A fault whose place is not known.
    pub(super) fn unplaced(fault: &dyn fmt::Display) -> Self {
        Self {
            words: fault.to_string(),
        }
    }

    pub(super) fn unknown_account(path: &Path, text: &str, span: Range<usize>, name: &str) -> Self {
        let near = closest(name, Account::ALL.iter().map(|account| account.name()));
        let names: Vec<&str> = Account::ALL.iter().map(|account| account.name()).collect();
        let words = match near {
            Some(near) => {
                format!("unknown account `{name}` in `[ceilings]` — did you mean `{near}`?")
            }
            None => format!(
                "unknown account `{name}` in `[ceilings]`: use one of {}; a key of the file itself stands above its first table",
                names.join(", ")
            ),
        };
        Self::at(path, text, span, &words)
    }

    pub(super) fn ceilings(
        path: &Path,
        text: &str,
        faults: &CeilingFaults,
        place: &dyn Fn(Account) -> Option<Range<usize>>,
    ) -> Self {
        let placed = faults.as_slice().iter().map(|fault| {
            let span = Account::ALL
                .iter()
                .find(|account| fault.to_string().contains(&format!("`{account}`")))
                .and_then(|account| place(*account));
            (span.unwrap_or(0..0), fault.to_string())
        });
        Self::all(path, text, placed.collect())
    }

    pub(super) fn at(path: &Path, text: &str, span: Range<usize>, words: &str) -> Self {
        let name = path.display().to_string();
        let span = span.start.min(text.len())..span.end.min(text.len());
        let snippet = Snippet::source(text)
            .path(&name)
            .annotation(AnnotationKind::Primary.span(span));
        let report = [Level::ERROR.primary_title(words).element(snippet)];
        Self {
            words: Renderer::plain().render(&report),
        }
    }
}

/// A message of serde, with the nearest known key where it met an unknown one.
pub(super) fn told(message: &str) -> String {
    match nearest(message) {
        Some(near) => format!("{} — did you mean `{near}`?", first_part(message)),
        None => message.to_owned(),
    }
}

/// What stands before the list of expected names.
fn first_part(message: &str) -> &str {
    message
        .split_once(", expected")
        .map_or(message, |(first, _)| first)
}

/// The expected name nearest to the unknown one in a serde message.
fn nearest(message: &str) -> Option<&str> {
    let (unknown, expected) = message.split_once(", expected")?;
    let unknown = unknown.split('`').nth(1)?;
    closest(unknown, expected.split('`').skip(1).step_by(2))
}

/// The known word nearest to `name`; none when none is near.
pub(crate) fn closest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let distances = known.map(|word| (strsim::damerau_levenshtein(name, word), word));
    let (distance, word) = distances.min()?;
    (distance <= 2.max(name.len() / 3)).then_some(word)
}
