//! The built-in agent that plays a script, so that a mission can be tried and tested without a model or a network.
//!
//! It is a process like any other and speaks JSON lines of [`Spoken`]. The script itself is played by the runner.

use backstop_outcome::{FailCause, Interruption, UnavailableCause};
use backstop_vocab::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::adapter::{Adapter, CommandLine, Features, Invocation, Parser, Stdin, Support};
use crate::by_line::{ByLine, Grammar};
use crate::{AgentEvent, ErrorKind, Reset, Stream, Terminal, Tokens, ToolEnd};

/// The operator's setting that holds the path of the script.
pub const SCRIPT: &str = "script";

/// One line of the scripted agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Spoken {
    /// Names its session.
    Session(String),
    /// Begins a tool call.
    ToolOpened(String),
    /// Ends a tool call.
    ToolClosed(String),
    /// Says something.
    Text(String),
    /// Used so many tokens.
    Tokens(u64),
    /// Spent so much, in millionths of a US dollar.
    Cost(u64),
    /// Has to wait for the provider.
    Limited {
        /// Until when, in milliseconds since the Unix epoch.
        until: Option<u64>,
    },
    /// Is done.
    Done,
    /// Stopped to ask.
    Asks(String),
    /// Stopped at the provider's limit.
    RateLimited {
        /// Until when, in milliseconds since the Unix epoch.
        until: Option<u64>,
    },
    /// Cannot work as it is set up.
    Unavailable(UnavailableCause),
    /// Was cut off.
    Interrupted(Interruption),
    /// Failed.
    Failed(FailCause),
}

/// The adapter.
#[derive(Debug)]
pub(crate) struct Scripted;

impl Adapter for Scripted {
    fn name(&self) -> &'static str {
        "scripted"
    }

    fn features(&self) -> Features {
        Features {
            resume: Support::Yes,
            names_session: Support::No,
            model: Support::No,
            cost: Support::Yes,
            terminal: Support::Yes,
            edits: Support::No,
        }
    }

    fn command(&self, invocation: &Invocation) -> Result<CommandLine, String> {
        let Some(script) = invocation.option(SCRIPT) else {
            return Err("the `scripted` agent needs a script: set `[agents.scripted] script = \"…\"` or give `--script`".into());
        };
        let mut args = vec!["scripted-agent".into(), "--script".into(), script.into()];
        if let Some(session) = &invocation.session {
            args.extend(["--session".into(), session.clone()]);
        }
        let stdin = Stdin::Text(invocation.prompt.clone());
        Ok(CommandLine {
            program: None,
            args,
            env: Vec::new(),
            stdin,
        })
    }

    fn parser(&self) -> Box<dyn Parser> {
        Box::new(ByLine::<Script>::default())
    }
}

/// Reads [`Spoken`] lines, which say what was used since the last one.
#[derive(Debug, Default)]
struct Script {
    tokens: Tokens,
    cost: u64,
}

impl Grammar for Script {
    fn value(&mut self, value: &Value, heard: &mut Vec<AgentEvent>) {
        if let Ok(spoken) = serde_json::from_value(value.clone()) {
            heard.push(self.event(spoken));
        }
    }

    fn plain(&mut self, _: Stream, _: &str, _: &mut Vec<AgentEvent>) {}

    fn speaks_on(&self, stream: Stream) -> bool {
        stream == Stream::Out
    }
}

impl Script {
    fn event(&mut self, spoken: Spoken) -> AgentEvent {
        let ended = |kind| AgentEvent::Ended(Terminal::Error(kind));
        let moment = |ms: Option<u64>| ms.map(|ms| Reset::At(Timestamp::from_millis(ms)));
        match spoken {
            Spoken::Session(id) => AgentEvent::Session(id),
            Spoken::ToolOpened(id) => AgentEvent::ToolOpened(id),
            Spoken::ToolClosed(id) => AgentEvent::ToolClosed(id, ToolEnd::Ran),
            Spoken::Text(text) => AgentEvent::Text(text),
            Spoken::Tokens(n) => self.used(n),
            Spoken::Cost(n) => {
                self.cost = self.cost.saturating_add(n);
                AgentEvent::Cost(self.cost)
            }
            Spoken::Limited { until } => AgentEvent::Trouble(ErrorKind::Limited(moment(until))),
            Spoken::Done => AgentEvent::Ended(Terminal::Success),
            Spoken::Asks(question) => AgentEvent::Ended(Terminal::Asked(question)),
            Spoken::RateLimited { until } => ended(ErrorKind::Limited(moment(until))),
            Spoken::Unavailable(cause) => ended(ErrorKind::Unavailable(cause)),
            Spoken::Interrupted(by) => ended(ErrorKind::Interrupted(by)),
            Spoken::Failed(cause) => ended(ErrorKind::Failed(cause)),
        }
    }

    fn used(&mut self, input: u64) -> AgentEvent {
        self.tokens.input = self.tokens.input.saturating_add(input);
        AgentEvent::Used(self.tokens)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_are_not_its_own_are_passed_over() {
        let mut parser = Scripted.parser();
        let heard = parser.take(
            Stream::Out,
            b"hello\n{\"x\":1}\n\"done\"\n{\"cost\":5}\n{\"text\":",
        );
        assert_eq!(
            heard,
            [AgentEvent::Ended(Terminal::Success), AgentEvent::Cost(5)]
        );
        assert_eq!(parser.finish(), []);
        assert_eq!(parser.take(Stream::Err, b"\"done\"\n"), []);
    }
}
