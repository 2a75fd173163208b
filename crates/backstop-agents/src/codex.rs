//! Codex.
//!
//! Its words are JSON lines (`exec --json`); a turn ends with `turn.completed` or `turn.failed`. A line of the type `error`
//! is a notice: it tries again, or says what the turn then fails of. What it complains of before a turn stands on standard
//! error.

use backstop_outcome::Interruption;
use serde_json::Value;

use crate::adapter::{About, Adapter, CommandLine, Features, Invocation, Parser, Stdin, Support};
use crate::by_line::{ByLine, Grammar, number, text};
use crate::trouble::{Reported, complaint, status_in};
use crate::{AgentEvent, ErrorKind, Stream, Terminal, Tokens, ToolEnd};

/// The adapter.
#[derive(Debug)]
pub(crate) struct Codex;

impl Adapter for Codex {
    fn name(&self) -> &'static str {
        "codex"
    }

    fn features(&self) -> Features {
        Features {
            resume: Support::Yes,
            model: Support::Yes,
            cost: Support::No,
            terminal: Support::Yes,
            edits: Support::No,
        }
    }

    fn about(&self) -> Option<About> {
        Some(About {
            program: "codex",
            tested: "0.171.0",
            variables: &["CODEX_API_KEY"],
            logins: &[".codex/auth.json"],
            gaps: &[
                "the end of a limit is a clock time without a zone: it is taken as one of this machine",
                "a run that takes up a session reports the tokens of the runs before it too",
                "a provider of your own in its config.toml is not looked at: whether its key is set shows only when it runs",
                "it names no costs, and not the model that works",
                "without a network it waits for ever: the idle limit ends it",
                "nothing keeps a reviewer from editing: what it writes is thrown away with its checkout",
            ],
        })
    }

    fn command(&self, invocation: &Invocation) -> Result<CommandLine, String> {
        let mut args = vec!["exec".to_owned()];
        if let Some(session) = &invocation.session {
            args.extend(["resume".to_owned(), session.clone()]);
        }
        args.extend(["--json", "--dangerously-bypass-approvals-and-sandbox"].map(String::from));
        if let Some(model) = &invocation.model {
            args.extend(["-m".to_owned(), model.clone()]);
        }
        if let Some(effort) = &invocation.effort {
            let setting = format!("model_reasoning_effort=\"{effort}\"");
            args.extend(["-c".to_owned(), setting]);
        }
        args.push("-".to_owned());
        Ok(CommandLine {
            program: Some(invocation.program("codex")),
            args,
            env: Vec::new(),
            stdin: Stdin::Text(invocation.prompt.clone()),
        })
    }

    fn parser(&self) -> Box<dyn Parser> {
        Box::new(ByLine::<Codexish>::default())
    }
}

/// How lines on standard error begin that only the program itself writes.
const COMPLAINTS: &[&str] = &[
    "error: ",
    "Error: ",
    "ERROR: ",
    "Error loading config",
    "Not inside a trusted directory",
    "Not logged in",
    "No prompt provided",
    "No saved session found",
];

/// Items that are tool calls.
const TOOLS: &[&str] = &[
    "command_execution",
    "file_change",
    "mcp_tool_call",
    "collab_tool_call",
    "web_search",
];

/// How a notice begins that says that it tries again.
const AGAIN: &str = "Reconnecting...";

/// How a turn failed that somebody told to stop.
const STOPPED: &[&str] = &["turn aborted", "interrupted (Ctrl-C)"];

/// The grammar.
#[derive(Debug, Default)]
struct Codexish {
    /// Whether the model wrote something.
    spoke: bool,
}

impl Grammar for Codexish {
    fn value(&mut self, line: &Value, heard: &mut Vec<AgentEvent>) {
        let words = |place| text(line, place).unwrap_or_default();
        match words("/type") {
            "thread.started" => {
                let id = text(line, "/thread_id").map(str::to_owned);
                heard.extend(id.map(AgentEvent::Session));
            }
            "item.started" => heard.extend(call(line).map(AgentEvent::ToolOpened)),
            "item.completed" => self.completed(line, heard),
            "error" => heard.push(AgentEvent::Trouble(notice(words("/message")))),
            "turn.completed" => self.done(line, heard),
            "turn.failed" => heard.push(AgentEvent::Ended(failure(words("/error/message")))),
            _ => {}
        }
    }

    /// With JSON lines asked for, all of its own JSON goes to standard output.
    fn value_on_err(&mut self, _: &Value, _: &mut Vec<AgentEvent>) {}

    fn plain(&mut self, stream: Stream, line: &str, heard: &mut Vec<AgentEvent>) {
        if stream == Stream::Err {
            heard.extend(complaint(line, COMPLAINTS).map(AgentEvent::Trouble));
        }
    }
}

impl Codexish {
    fn completed(&mut self, line: &Value, heard: &mut Vec<AgentEvent>) {
        if let Some(id) = call(line) {
            let end = match text(line, "/item/status") {
                Some("declined") => ToolEnd::Denied,
                Some(_) | None => ToolEnd::Ran,
            };
            // Some calls are told of only when they are over.
            heard.extend([
                AgentEvent::ToolOpened(id.clone()),
                AgentEvent::ToolClosed(id, end),
            ]);
            return;
        }
        match (text(line, "/item/type"), text(line, "/item/text")) {
            (Some("agent_message"), Some(said)) => self.say(said, heard),
            (Some("error"), _) => heard.extend(warning(line)),
            _ => {}
        }
    }

    fn done(&mut self, line: &Value, heard: &mut Vec<AgentEvent>) {
        if let Some(usage) = line.pointer("/usage") {
            heard.push(AgentEvent::Used(tokens(usage)));
        }
        // A turn in which the model wrote nothing has an empty final message.
        if !self.spoke {
            self.say("", heard);
        }
        heard.push(AgentEvent::Ended(Terminal::Success));
    }

    fn say(&mut self, said: &str, heard: &mut Vec<AgentEvent>) {
        self.spoke = true;
        heard.push(AgentEvent::Text(said.to_owned()));
    }
}

/// The name of a tool call among the calls; none for an item that is none.
fn call(line: &Value) -> Option<String> {
    let kind = text(line, "/item/type")?;
    let id = text(line, "/item/id").unwrap_or(kind);
    TOOLS.contains(&kind).then(|| id.to_owned())
}

/// A notice of the program.
fn notice(message: &str) -> ErrorKind {
    let Some(reason) = message.strip_prefix(AGAIN) else {
        return reported(message).kind();
    };
    // It connects again for a reason without a name: a connection that broke.
    let broken = ErrorKind::Interrupted(Interruption::Network);
    reported(reason).known_kind().unwrap_or(broken)
}

/// An item that is an error is a warning that it goes on in spite of, unless it says that it tries again.
fn warning(line: &Value) -> Option<AgentEvent> {
    let message = text(line, "/item/message").filter(|message| message.starts_with(AGAIN));
    message.map(|message| AgentEvent::Trouble(notice(message)))
}

fn failure(message: &str) -> Terminal {
    if STOPPED.iter().any(|mark| message.starts_with(mark)) {
        return Terminal::Aborted;
    }
    Terminal::Error(reported(message).kind())
}

/// An address is no part of what went wrong.
fn reported(message: &str) -> Reported<'_> {
    let words = message.split_once(", url: ").map_or(message, |(it, _)| it);
    Reported {
        http: status_in(words),
        class: "",
        words,
    }
}

/// What it calls input has the cached part in it.
fn tokens(usage: &Value) -> Tokens {
    let cached = number(usage, "/cached_input_tokens");
    Tokens {
        input: number(usage, "/input_tokens").saturating_sub(cached),
        output: number(usage, "/output_tokens"),
        cached,
    }
}
