//! What an agent says while it runs, freed of the grammar it says it in.

use backstop_outcome::{FailCause, Interruption, UnavailableCause};

use crate::Reset;

/// Where bytes came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

/// Something an agent's own program said. What tools print and models write is never one of the deciding kinds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentEvent {
    /// A name under which the conversation can be taken up again.
    Session(String),
    /// The model that really works.
    Model(String),
    /// A tool call began; its name among the calls.
    ToolOpened(String),
    /// A tool call ended, and how.
    ToolClosed(String, ToolEnd),
    /// The program wrote a file. Only some say so.
    Edited,
    /// What the model wrote; the last one is its final message.
    Text(String),
    /// The model asks a person.
    Asks(String),
    /// All that was used in this run so far.
    Used(Tokens),
    /// All that was spent so far, in millionths of a US dollar.
    Cost(u64),
    /// What keeps the agent from going on: it waits, tries again, or gives up. What it does next takes it back.
    Trouble(ErrorKind),
    /// The agent's last word.
    Ended(Terminal),
}

/// How a tool call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ToolEnd {
    /// It ran, well or badly.
    Ran,
    /// It was not allowed to.
    Denied,
}

/// Tokens of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Tokens {
    /// Read by the model and not from a cache.
    pub input: u64,
    /// Written by the model.
    pub output: u64,
    /// Read from a cache.
    pub cached: u64,
}

impl Tokens {
    /// What counts against the budget: uncached input plus output.
    #[must_use]
    pub const fn charged(self) -> u64 {
        self.input.saturating_add(self.output)
    }

    /// What is left when so much of what counts was counted before.
    #[must_use]
    pub const fn beyond(self, counted: u64) -> Self {
        Self {
            input: self.input.saturating_sub(counted),
            output: self
                .output
                .saturating_sub(counted.saturating_sub(self.input)),
            cached: self.cached,
        }
    }

    /// Both together.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
            cached: self.cached.saturating_add(other.cached),
        }
    }
}

/// An agent's last word, as its own program wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Terminal {
    /// It says that it is done.
    Success,
    /// It says that it is not.
    Error(ErrorKind),
    /// It stopped to ask this.
    Asked(String),
    /// It was told to stop.
    Aborted,
}

/// What an agent's own program says went wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ErrorKind {
    /// The provider's limit or overload, and when it ends where that was said.
    Limited(Option<Reset>),
    /// The agent cannot work as it is set up.
    Unavailable(UnavailableCause),
    /// Broken off from outside.
    Interrupted(Interruption),
    /// The work failed.
    Failed(FailCause),
    /// The program saw the agent killed.
    Killed,
}
