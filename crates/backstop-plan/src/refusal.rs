//! Why a draft is no plan: a stable code, the place, and words that a model can act on. Nothing here judges.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use backstop_vocab::{Phase, Text};
use serde::{Deserialize, Serialize};

use crate::marks::{Place, Position};

/// The most refusals that are shown at once; a run-away answer has thousands.
pub const MOST_SHOWN: usize = 64;

/// The stable name of a reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// There is no JSON object, or it is malformed.
    NotJson,
    /// More than one fence could be the plan.
    Ambiguous,
    /// The text is over 64 KiB.
    TooLarge,
    /// An object names a key twice.
    DuplicateKey,
    /// There are no phases.
    Empty,
    /// There are more than four phases.
    TooMany,
    /// The kind of a phase is missing or not a known one.
    UnknownKind,
    /// Nobody reads this key.
    UnknownKey,
    /// A value is of another type than its key has.
    WrongType,
    /// A phase has no task.
    BlankTask,
    /// The whole task is a placeholder.
    PlaceholderTask,
    /// A condition or a check is there and says nothing.
    BlankCondition,
    /// A text has control characters other than newline and tab.
    ControlCharacters,
    /// A text is over 8 KiB; the key tells which.
    TaskTooLong,
    /// A phase repeats the one before it.
    DuplicateTask,
    /// A coding phase that nothing would check.
    UncheckedCoding,
}

impl Code {
    /// All codes.
    pub const ALL: [Self; 16] = [
        Self::NotJson,
        Self::Ambiguous,
        Self::TooLarge,
        Self::DuplicateKey,
        Self::Empty,
        Self::TooMany,
        Self::UnknownKind,
        Self::UnknownKey,
        Self::WrongType,
        Self::BlankTask,
        Self::PlaceholderTask,
        Self::BlankCondition,
        Self::ControlCharacters,
        Self::TaskTooLong,
        Self::DuplicateTask,
        Self::UncheckedCoding,
    ];

    /// The name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotJson => "not_json",
            Self::Ambiguous => "ambiguous",
            Self::TooLarge => "too_large",
            Self::DuplicateKey => "duplicate_key",
            Self::Empty => "empty",
            Self::TooMany => "too_many",
            Self::UnknownKind => "unknown_kind",
            Self::UnknownKey => "unknown_key",
            Self::WrongType => "wrong_type",
            Self::BlankTask => "blank_task",
            Self::PlaceholderTask => "placeholder_task",
            Self::BlankCondition => "blank_condition",
            Self::ControlCharacters => "control_characters",
            Self::TaskTooLong => "task_too_long",
            Self::DuplicateTask => "duplicate_task",
            Self::UncheckedCoding => "unchecked_coding",
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One reason why a draft is no plan.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, thiserror::Error)]
#[serde(deny_unknown_fields)]
pub struct Refusal {
    /// The reason's stable name.
    pub code: Code,
    /// The phase it is about, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// The key it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// What is wrong and what to do, without the place.
    pub message: String,
    /// The line of the text, from 1; none where there was no text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The column of the text in characters, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
}

impl Refusal {
    pub(crate) fn new(code: Code, place: Place, at: Option<Position>, message: String) -> Self {
        let Place { phase, key } = place;
        Self {
            code,
            phase,
            key: key.as_deref().map(shown),
            message,
            line: at.map(|at| at.line),
            column: at.map(|at| at.column),
        }
    }

    pub(crate) fn of_text(code: Code, at: Position, message: String) -> Self {
        Self::new(code, Place::ROOT, Some(at), message)
    }
}

/// As much of a text as a message shows.
pub(crate) fn shown(text: &str) -> String {
    let clipped = Text::<64>::clip(text);
    let cut = if clipped.as_str().len() < text.len() {
        "…"
    } else {
        ""
    };
    format!("{clipped}{cut}")
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            code,
            phase,
            key: _,
            message,
            line,
            column,
        } = self;
        write!(f, "{code}: ")?;
        if let Some(phase) = phase {
            write!(f, "phase {phase}: ")?;
        }
        f.write_str(message)?;
        match (line, column) {
            (Some(line), Some(column)) => write!(f, " (line {line}, column {column})"),
            (None, _) | (_, None) => Ok(()),
        }
    }
}

/// Every reason why a draft is no plan; at least one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Refusals {
    // INVARIANT: 1 to MOST_SHOWN, in the order of the text's levels.
    all: Vec<Refusal>,
    omitted: usize,
}

impl Refusals {
    /// The refusals, or none when nothing was found.
    pub(crate) fn of(mut all: Vec<Refusal>) -> Option<Self> {
        let omitted = all.len().saturating_sub(MOST_SHOWN);
        all.truncate(MOST_SHOWN);
        (!all.is_empty()).then_some(Self { all, omitted })
    }

    /// All of them, but for those past [`MOST_SHOWN`].
    #[must_use]
    pub fn all(&self) -> &[Refusal] {
        &self.all
    }

    /// How many more there are than [`all`](Self::all) shows.
    #[must_use]
    pub const fn omitted(&self) -> usize {
        self.omitted
    }

    /// Whether one of them has this code.
    #[must_use]
    pub fn has(&self, code: Code) -> bool {
        self.all.iter().any(|refusal| refusal.code == code)
    }
}

impl From<Refusal> for Refusals {
    fn from(refusal: Refusal) -> Self {
        Self {
            all: Vec::from([refusal]),
            omitted: 0,
        }
    }
}

impl Serialize for Refusals {
    /// As the list of refusals.
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.all.serialize(serializer)
    }
}

impl fmt::Display for Refusals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.all.iter().map(ToString::to_string).collect();
        write!(f, "the plan is refused: {}", lines.join("; "))?;
        match self.omitted {
            0 => Ok(()),
            more => write!(f, "; and {more} more"),
        }
    }
}
