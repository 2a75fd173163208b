//! The key registry: every key a plan may have, who reads it, and what it means. A key that is not here is refused.

use serde::Serialize;

/// A key of a plan. A new one does not compile until it is registered, taken from a draft and read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Key {
    /// `phases`
    Phases,
    /// `kind`
    Kind,
    /// `task`
    Task,
    /// `done_when`
    DoneWhen,
    /// `done_when_check`
    DoneWhenCheck,
    /// `allow_empty`
    AllowEmpty,
}

/// The object that a key belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// The plan itself.
    Plan,
    /// A phase.
    Phase,
}

/// Who acts on a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reader {
    /// The engine, when it decides what comes next.
    Engine,
    /// Every agent of the phase's lane.
    Agents,
    /// The reviewer at Validate.
    Reviewer,
    /// The host, which runs it.
    Host,
}

/// Whether a key has to be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Need {
    /// It has to be there.
    Required,
    /// It may be left out.
    Optional,
}

/// The type of a key's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// An array of 1 to 4 phases.
    Phases,
    /// The name of a phase kind.
    Kind,
    /// A text of at most 8 KiB that says something.
    Text,
    /// `true` or `false`.
    Flag,
}

impl Shape {
    /// What a message calls it.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Phases => "an array of phases",
            Self::Kind => "the name of a kind",
            Self::Text => "a string",
            Self::Flag => "`true` or `false`",
        }
    }
}

/// What the registry knows about a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub struct Entry {
    /// The key.
    pub key: Key,
    /// Its name in JSON.
    pub name: &'static str,
    /// The object it belongs to.
    pub level: Level,
    /// Who acts on it.
    pub reader: Reader,
    /// Whether it has to be there.
    pub need: Need,
    /// The type of its value.
    pub shape: Shape,
    /// What it means, for schemas and prompts.
    pub meaning: &'static str,
}

/// The registry.
pub const KEYS: [Entry; 6] = [
    Key::Phases.entry(),
    Key::Kind.entry(),
    Key::Task.entry(),
    Key::DoneWhen.entry(),
    Key::DoneWhenCheck.entry(),
    Key::AllowEmpty.entry(),
];

impl Key {
    /// What the registry knows about this key.
    #[must_use]
    pub const fn entry(self) -> Entry {
        let (name, level, reader, need, shape) = self.row();
        Entry {
            key: self,
            name,
            level,
            reader,
            need,
            shape,
            meaning: self.meaning(),
        }
    }

    /// Its name in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.row().0
    }

    const fn row(self) -> (&'static str, Level, Reader, Need, Shape) {
        use Need::{Optional, Required};
        use Reader::{Agents, Engine, Host, Reviewer};
        let phase = Level::Phase;
        match self {
            Self::Phases => ("phases", Level::Plan, Engine, Required, Shape::Phases),
            Self::Kind => ("kind", phase, Engine, Required, Shape::Kind),
            Self::Task => ("task", phase, Agents, Required, Shape::Text),
            Self::DoneWhen => ("done_when", phase, Reviewer, Optional, Shape::Text),
            Self::DoneWhenCheck => ("done_when_check", phase, Host, Optional, Shape::Text),
            Self::AllowEmpty => ("allow_empty", phase, Engine, Optional, Shape::Flag),
        }
    }

    const fn meaning(self) -> &'static str {
        match self {
            Self::Phases => "the pieces of work, run one after the other in this order",
            Self::Kind => {
                "what kind of work it is; decides what counts as evidence that it was done"
            }
            Self::Task => {
                "what the agents of this phase are to do; all they are told about their part"
            }
            Self::DoneWhen => "the condition that the reviewer judges the work by",
            Self::DoneWhenCheck => {
                "a command that the host runs and that has to exit with 0; a model's one runs only after an operator approved the plan"
            }
            Self::AllowEmpty => {
                "whether a coding phase may end without a change of the tree; false when left out"
            }
        }
    }

    /// The key with this name at this level; names are exact.
    #[must_use]
    pub fn named(level: Level, name: &str) -> Option<Self> {
        let found = KEYS.iter().find(|e| e.level == level && e.name == name);
        found.map(|entry| entry.key)
    }
}
