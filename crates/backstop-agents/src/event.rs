//! What an agent says while it runs, freed of the grammar it says it in.

use backstop_outcome::{FailCause, Interruption, UnavailableCause};
use backstop_vocab::Timestamp;

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
    /// A tool call began.
    ToolOpened(String),
    /// A tool call ended.
    ToolClosed(String),
    /// What the model wrote; the last one is its final message.
    Text(String),
    /// Tokens used since the last such event: uncached input plus output.
    Tokens(u64),
    /// Money spent since the last such event, in millionths of a US dollar.
    Cost(u64),
    /// The provider makes the agent wait, or cannot be reached.
    Notice(Notice),
    /// The agent's last word.
    Ended(Terminal),
}

/// Why an agent goes quiet though it is alive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Notice {
    /// The provider's limit, until this moment where it is known.
    Limited(Option<Timestamp>),
    /// The provider cannot be reached.
    Network,
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
}

/// What an agent's own program says went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The provider's limit, until this moment where it is known.
    Limited(Option<Timestamp>),
    /// The agent cannot work as it is set up.
    Unavailable(UnavailableCause),
    /// Broken off from outside.
    Interrupted(Interruption),
    /// The work failed.
    Failed(FailCause),
}
