//! GitHub Copilot CLI.
//!
//! Its words are JSON lines (`--output-format json`); the last one has the type `result`, and the only one that is sure to
//! name the session. It says `exitCode` 0 after it was told to stop too: `abort` or an aborted `assistant.idle` tells.
//! What went wrong stands in `session.error`. The program is started by a launcher, which sees it die.

use backstop_outcome::{FailCause, Interruption};
use serde_json::Value;

use crate::adapter::{
    About, Access, Adapter, CommandLine, Features, Invocation, Parser, Stdin, Support, given,
};
use crate::by_line::{ByLine, Grammar, list, number, status, text};
use crate::trouble::{Reported, complaint};
use crate::{AgentEvent, ErrorKind, Stream, Terminal, Tokens, ToolEnd};

/// The adapter.
#[derive(Debug)]
pub(crate) struct Copilot;

impl Adapter for Copilot {
    fn name(&self) -> &'static str {
        "copilot"
    }

    fn features(&self) -> Features {
        Features {
            resume: Support::Yes,
            names_session: Support::Yes,
            model: Support::Yes,
            cost: Support::No,
            terminal: Support::Yes,
            edits: Support::No,
        }
    }

    fn about(&self) -> Option<About> {
        Some(About {
            program: "copilot",
            tested: "1.0.102",
            variables: &[
                "COPILOT_GITHUB_TOKEN",
                "GH_TOKEN",
                "GITHUB_TOKEN",
                "COPILOT_PROVIDER_BASE_URL",
                "COPILOT_PROVIDER_API_KEY",
                "COPILOT_PROVIDER_API_KEY_COMMAND",
                "COPILOT_PROVIDER_BEARER_TOKEN",
            ],
            logins: &[".copilot/config.json", ".config/gh/hosts.yml"],
            gaps: &[
                "it never says what it cost, and with a provider of one's own no tokens either: only time and tool calls \
                 can be limited",
                "it was tested with a provider of one's own, not with a login at GitHub",
                "the end of a limit is only known where the provider's message names it",
                "an answer that was cut off because it grew too long looks like a finished one",
            ],
        })
    }

    fn command(&self, invocation: &Invocation) -> Result<CommandLine, String> {
        let mut args = vec![
            "-p".to_owned(),
            invocation.prompt_as_argument("copilot")?,
            "--output-format".to_owned(),
            "json".to_owned(),
            "--allow-all-tools".to_owned(),
        ];
        if invocation.access == Access::Look {
            args.push("--deny-tool=write".to_owned());
        }
        args.extend(["--no-auto-update", "--disable-builtin-mcps"].map(String::from));
        args.extend(given([
            ("--model", &invocation.model),
            ("--reasoning-effort", &invocation.effort),
        ]));
        let session = match &invocation.session {
            Some(_) => ("--resume", &invocation.session),
            None => ("--session-id", &invocation.fresh_session),
        };
        args.extend(given([session]));
        Ok(CommandLine {
            program: Some(invocation.program("copilot")),
            args,
            env: Vec::new(),
            stdin: Stdin::Null,
        })
    }

    fn parser(&self) -> Box<dyn Parser> {
        Box::new(ByLine::<Copilotish>::default())
    }
}

/// How lines on standard error begin that only the program itself writes.
const COMPLAINTS: &[&str] = &["error: ", "Error: "];

/// The grammar.
#[derive(Debug, Default)]
struct Copilotish {
    used: Tokens,
    /// Why the last call of the model failed, until an answer comes.
    failure: Option<ErrorKind>,
    /// The error that stands, until it goes on after it.
    error: Option<ErrorKind>,
    /// It was told to stop.
    aborted: bool,
}

impl Grammar for Copilotish {
    fn value(&mut self, line: &Value, heard: &mut Vec<AgentEvent>) {
        match text(line, "/type") {
            Some("session.start") => heard.extend(session(line, "/data/sessionId")),
            Some("session.tools_updated") => heard.extend(model(line)),
            Some("assistant.message_delta") => heard.extend(self.recover(line)),
            Some("assistant.message") => self.message(line, heard),
            Some("assistant.usage") => heard.push(self.usage(line)),
            Some("assistant.idle") if line.pointer("/data/aborted") == Some(&Value::Bool(true)) => {
                self.abort(heard);
            }
            Some("abort") => self.abort(heard),
            Some("tool.execution_start") => self.open(line, heard),
            Some("tool.execution_complete") => heard.push(close(line)),
            Some("model.call_failure") => self.call_failed(line, heard),
            Some("session.error") => self.session_failed(line, heard),
            Some("result") => self.result(line, heard),
            Some(_) | None => {}
        }
    }

    fn plain(&mut self, stream: Stream, line: &str, heard: &mut Vec<AgentEvent>) {
        match stream {
            Stream::Err => heard.extend(launcher(line).or_else(|| complained(line))),
            Stream::Out if line.trim().is_empty() => {}
            Stream::Out => heard.push(AgentEvent::Text(line.to_owned())),
        }
    }
}

impl Copilotish {
    /// The first words after a call that failed: the next one came through.
    fn recover(&mut self, line: &Value) -> Option<AgentEvent> {
        self.failure.take()?;
        let words = text(line, "/data/deltaContent")?;
        Some(AgentEvent::Text(words.to_owned()))
    }

    fn message(&mut self, line: &Value, heard: &mut Vec<AgentEvent>) {
        self.go_on();
        // What a subagent says is said to the agent.
        if text(line, "/data/parentToolCallId").is_some() {
            return;
        }
        heard.extend(model(line));
        let words = text(line, "/data/content").unwrap_or_default();
        if !words.is_empty() || list(line, "/data/toolRequests").is_empty() {
            heard.push(AgentEvent::Text(words.to_owned()));
        }
    }

    fn go_on(&mut self) {
        self.failure = None;
        self.error = None;
    }

    /// What one call of the model used; its input includes what came from the cache.
    fn usage(&mut self, line: &Value) -> AgentEvent {
        let cached = number(line, "/data/cacheReadTokens");
        self.used = self.used.plus(Tokens {
            input: number(line, "/data/inputTokens").saturating_sub(cached),
            output: number(line, "/data/outputTokens"),
            cached,
        });
        AgentEvent::Used(self.used)
    }

    fn abort(&mut self, heard: &mut Vec<AgentEvent>) {
        self.aborted = true;
        heard.push(AgentEvent::Ended(Terminal::Aborted));
    }

    fn open(&mut self, line: &Value, heard: &mut Vec<AgentEvent>) {
        self.go_on();
        let id = text(line, "/data/toolCallId").unwrap_or_default();
        heard.push(AgentEvent::ToolOpened(id.to_owned()));
        if text(line, "/data/toolName") == Some("ask_user") {
            let question = text(line, "/data/arguments/question").unwrap_or("it asked something");
            heard.push(AgentEvent::Asks(question.to_owned()));
        }
    }

    fn call_failed(&mut self, line: &Value, heard: &mut Vec<AgentEvent>) {
        let mut kind = Reported {
            http: status(line, "/data/statusCode"),
            class: text(line, "/data/errorCode").unwrap_or_default(),
            words: text(line, "/data/errorMessage").unwrap_or_default(),
        }
        .kind();
        let transport = text(line, "/data/failureKind") == Some("transport");
        if transport && kind == ErrorKind::Failed(FailCause::Reported) {
            kind = ErrorKind::Interrupted(Interruption::StreamCut);
        }
        self.failure = Some(kind.clone());
        heard.push(AgentEvent::Trouble(kind));
    }

    /// What ends a turn. Where its words do not tell, the call that failed last does.
    fn session_failed(&mut self, line: &Value, heard: &mut Vec<AgentEvent>) {
        let kind = Reported {
            http: status(line, "/data/statusCode"),
            class: text(line, "/data/errorType").unwrap_or_default(),
            words: text(line, "/data/message").unwrap_or_default(),
        }
        .known_kind()
        .or_else(|| self.failure.clone())
        .unwrap_or(ErrorKind::Failed(FailCause::Reported));
        self.error = Some(kind.clone());
        heard.push(AgentEvent::Trouble(kind));
    }

    fn result(&mut self, line: &Value, heard: &mut Vec<AgentEvent>) {
        heard.extend(session(line, "/sessionId"));
        if self.aborted {
            return;
        }
        let done = line.pointer("/exitCode").and_then(Value::as_i64) == Some(0);
        let failure = self.error.take().or_else(|| self.failure.take());
        heard.push(AgentEvent::Ended(match failure {
            Some(kind) => Terminal::Error(kind),
            None if done => Terminal::Success,
            None => Terminal::Error(ErrorKind::Failed(FailCause::Reported)),
        }));
    }
}

fn session(line: &Value, place: &str) -> Option<AgentEvent> {
    let id = text(line, place)?;
    Some(AgentEvent::Session(id.to_owned()))
}

fn model(line: &Value) -> Option<AgentEvent> {
    let name = text(line, "/data/model")?;
    Some(AgentEvent::Model(name.to_owned()))
}

fn close(line: &Value) -> AgentEvent {
    let id = text(line, "/data/toolCallId").unwrap_or_default();
    let end = match text(line, "/data/error/code") {
        Some("denied" | "rejected") => ToolEnd::Denied,
        Some(_) | None => ToolEnd::Ran,
    };
    AgentEvent::ToolClosed(id.to_owned(), end)
}

/// What the launcher says of the program that it started. It exits with 1 then, whatever the signal was.
fn launcher(line: &str) -> Option<AgentEvent> {
    let (program, signal) = line.split_once("was terminated by signal ")?;
    if !program.to_lowercase().contains("native binary") {
        return None;
    }
    let name: String = signal
        .chars()
        .take_while(char::is_ascii_alphanumeric)
        .collect();
    Some(AgentEvent::Ended(match name.as_str() {
        "SIGKILL" => Terminal::Error(ErrorKind::Killed),
        "SIGTERM" | "SIGINT" | "SIGHUP" => Terminal::Aborted,
        _ => Terminal::Error(ErrorKind::Failed(FailCause::Reported)),
    }))
}

fn complained(line: &str) -> Option<AgentEvent> {
    // After it was told to stop it complains of its own half-closed session too, which means nothing.
    let prompt = line.strip_prefix("Error executing prompt: ");
    let kind = match prompt {
        Some(words) => Reported {
            words,
            ..Reported::default()
        }
        .known_kind(),
        None => complaint(line, COMPLAINTS),
    };
    kind.map(AgentEvent::Trouble)
}
