//! What every agent has: a command line, a grammar, and known limits.

use std::path::PathBuf;

use crate::exec::Exec;
use crate::scripted::Scripted;
use crate::{AgentEvent, Stream};

/// What one launch asks of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invocation {
    /// What the agent is told.
    pub prompt: String,
    /// The model asked for.
    pub model: Option<String>,
    /// The reasoning effort asked for.
    pub effort: Option<String>,
    /// The session to take up.
    pub session: Option<String>,
    /// Settings of this agent that the operator gave by name, such as the command of `exec`.
    pub options: Vec<(String, String)>,
}

impl Invocation {
    /// The operator's setting `name`.
    #[must_use]
    pub fn option(&self, name: &str) -> Option<&str> {
        self.options
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }
}

/// What to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandLine {
    /// The program, found by the search path; none means this very program.
    pub program: Option<PathBuf>,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables added to the environment.
    pub env: Vec<(String, String)>,
    /// What it reads.
    pub stdin: Stdin,
}

/// What an agent reads on standard input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stdin {
    /// Nothing: the end at once.
    Null,
    /// This, then the end.
    Text(String),
}

/// Whether an agent can do something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Support {
    /// It can.
    Yes,
    /// It cannot.
    No,
}

/// What is known of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Features {
    /// Taking up a session by its id.
    pub resume: Support,
    /// Having a model work for it, which costs money.
    pub model: Support,
    /// Reporting what it cost.
    pub cost: Support,
    /// Saying by itself how it ended; without it only the exit status tells.
    pub terminal: Support,
}

/// Reads one run of an agent.
pub trait Parser: Send {
    /// Takes bytes as they come and gives what they complete. Unknown events and broken lines are passed over.
    fn take(&mut self, stream: Stream, bytes: &[u8]) -> Vec<AgentEvent>;

    /// Gives what is left when no more bytes come.
    fn finish(&mut self) -> Vec<AgentEvent>;
}

/// One agent.
pub trait Adapter: Send + Sync {
    /// The name by which configurations call it.
    fn name(&self) -> &'static str;

    /// What is known of it.
    fn features(&self) -> Features;

    /// What to start.
    ///
    /// # Errors
    /// When the invocation lacks something; the words say what to do.
    fn command(&self, invocation: &Invocation) -> Result<CommandLine, String>;

    /// A reader for one run.
    fn parser(&self) -> Box<dyn Parser>;
}

/// Every adapter.
const ALL: [&dyn Adapter; 2] = [&Exec, &Scripted];

/// The adapter of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static dyn Adapter> {
    ALL.into_iter().find(|adapter| adapter.name() == name)
}

/// The names of all adapters.
pub fn names() -> impl Iterator<Item = &'static str> {
    ALL.into_iter().map(Adapter::name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_adapter_is_found_by_its_name() {
        for name in names() {
            assert_eq!(find(name).unwrap().name(), name);
        }
        assert!(find("nobody").is_none());
    }
}
