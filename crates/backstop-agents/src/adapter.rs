//! What every agent has: a command line, a grammar, and known limits.

use std::path::PathBuf;

use crate::aider::Aider;
use crate::claude::Claude;
use crate::codex::Codex;
use crate::copilot::Copilot;
use crate::exec::Exec;
use crate::gemini::Gemini;
use crate::opencode::OpenCode;
use crate::qwen::Qwen;
use crate::scripted::Scripted;
use crate::{AgentEvent, Stream};

/// The operator's setting for the program to start.
pub const PROGRAM: &str = "program";

/// The longest prompt that is handed over as an argument, in bytes (Linux takes 128 KiB in one argument).
pub(crate) const LONGEST_ARGUMENT: usize = 120_000;

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
    /// The name of a new session: a new UUID, which the caller makes for an agent that takes one
    /// ([`Features::names_session`]) and keeps, since the agent may be killed before it says it. It counts only where
    /// no session is taken up.
    pub fresh_session: Option<String>,
    /// What the agent may do.
    pub access: Access,
    /// What its final message has to be; for agents that can be held to it.
    pub schema: Option<Schema>,
    /// Settings of this agent that the operator gave by name, such as the command of `exec`.
    pub options: Vec<(String, String)>,
}

/// A JSON schema, as text and as a file outside the checkout: programs take one or the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schema {
    /// Its text.
    pub text: String,
    /// A file that holds the same.
    pub file: PathBuf,
}

/// What an agent may do in its checkout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// Read, run commands and write files.
    Write,
    /// Read and run commands. What it writes all the same counts for nothing: its checkout is thrown away.
    Look,
}

impl Invocation {
    /// A program to start in place of `usual`, where the operator names one.
    #[must_use]
    pub fn program(&self, usual: &str) -> PathBuf {
        PathBuf::from(self.option(PROGRAM).unwrap_or(usual))
    }

    /// The operator's setting `name`.
    #[must_use]
    pub fn option(&self, name: &str) -> Option<&str> {
        self.options
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }

    /// The prompt, for a program that takes it as an argument alone.
    pub(crate) fn prompt_as_argument(&self, program: &str) -> Result<String, String> {
        if self.prompt.len() > LONGEST_ARGUMENT {
            return Err(format!(
                "the prompt has {} bytes, more than the {LONGEST_ARGUMENT} that `{program}` can be given as an argument: \
                 shorten the goal or the role's prompt, or use another agent",
                self.prompt.len()
            ));
        }
        Ok(self.prompt.clone())
    }
}

/// The flags whose values are given.
pub(crate) fn given<const N: usize>(flags: [(&str, &Option<String>); N]) -> Vec<String> {
    let given = |(flag, value): (&str, &Option<String>)| {
        let value = value.clone()?;
        Some([flag.to_owned(), value])
    };
    flags.into_iter().filter_map(given).flatten().collect()
}

/// Variables that are set to 1.
pub(crate) fn switched_on(names: &[&str]) -> Vec<(String, String)> {
    let switch = |name: &&str| ((*name).to_owned(), "1".to_owned());
    names.iter().map(switch).collect()
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
    /// Taking the name of a new session from its caller, so that one that was killed at once can be resumed too.
    pub names_session: Support,
    /// Having a model work for it, which costs money.
    pub model: Support,
    /// Reporting what it cost.
    pub cost: Support,
    /// Saying by itself how it ended; without it only the exit status tells.
    pub terminal: Support,
    /// Saying which files it wrote: one that says none wrote none, whatever else it left behind.
    pub edits: Support,
}

/// What is known of the program of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct About {
    /// The program that is looked for on the search path.
    pub program: &'static str,
    /// The version that its recordings were made with.
    pub tested: &'static str,
    /// Environment variables, any of which logs it in.
    pub variables: &'static [&'static str],
    /// Files under the home directory, any of which is a login.
    pub logins: &'static [&'static str],
    /// What does not work, or not well.
    pub gaps: &'static [&'static str],
}

/// A figure that agents report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Figure {
    /// Tokens.
    Tokens,
    /// Money.
    Cost,
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

    /// What is known of its program; none for an agent that has none of its own.
    fn about(&self) -> Option<About> {
        None
    }

    /// Whether an answer can be asked for by a schema.
    fn structured(&self) -> Support {
        Support::No
    }

    /// What a resumed session goes on counting from where it was, so that its figures hold what was charged before.
    fn carries(&self) -> &'static [Figure] {
        &[]
    }

    /// Variables that must not reach it, such as those that tell it that it runs inside of itself.
    fn unset(&self) -> &'static [&'static str] {
        &[]
    }

    /// What to start.
    ///
    /// # Errors
    /// When the invocation lacks something; the words say what to do.
    fn command(&self, invocation: &Invocation) -> Result<CommandLine, String>;

    /// A reader for one run.
    fn parser(&self) -> Box<dyn Parser>;
}

/// Every adapter.
const ALL: &[&dyn Adapter] = &[
    &Aider, &Claude, &Codex, &Copilot, &Gemini, &OpenCode, &Qwen, &Exec, &Scripted,
];

/// Every adapter, in the order of names, those without a model last.
pub fn all() -> impl Iterator<Item = &'static dyn Adapter> {
    ALL.iter().copied()
}

/// The adapter of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static dyn Adapter> {
    all().find(|adapter| adapter.name() == name)
}

/// The adapter of this name.
///
/// # Errors
/// When there is none; the words list those that there are.
pub fn known(name: &str) -> Result<&'static dyn Adapter, String> {
    find(name).ok_or_else(|| {
        let names: Vec<&str> = names().collect();
        format!(
            "`{name}` is not an agent that Backstop knows: use one of {}",
            names.join(", ")
        )
    })
}

/// The names of all adapters.
pub fn names() -> impl Iterator<Item = &'static str> {
    all().map(Adapter::name)
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
