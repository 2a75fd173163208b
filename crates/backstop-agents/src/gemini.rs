//! Gemini CLI.
//!
//! Its words are JSON lines (`-o stream-json`); the last one has the type `result`. The model's answer comes in pieces. An
//! error of the provider it tries again after is told only on standard error, in a line before a stack trace. With
//! `-o json` one object stands on standard output, or one on standard error where it failed.

use backstop_outcome::{FailCause, Interruption};
use serde_json::Value;

use crate::adapter::{
    About, Adapter, CommandLine, Features, Invocation, LONGEST_ARGUMENT, Parser, Stdin, Support,
};
use crate::by_line::{ByLine, Grammar, number, text};
use crate::trouble::{Reported, complaint, status_in};
use crate::{AgentEvent, ErrorKind, Stream, Terminal, Tokens, ToolEnd};

/// The adapter.
#[derive(Debug)]
pub(crate) struct Gemini;

impl Adapter for Gemini {
    fn name(&self) -> &'static str {
        "gemini"
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
            program: "gemini",
            tested: "0.61.0",
            variables: &[
                "GEMINI_API_KEY",
                "GOOGLE_API_KEY",
                "GOOGLE_APPLICATION_CREDENTIALS",
            ],
            logins: &[".gemini/oauth_creds.json"],
            gaps: &[
                "it has no setting for the reasoning effort: one that is asked for is passed over",
                "it names no costs",
                "a session can be taken up only in the folder that it began in",
                "a connection that breaks in the middle of an answer ends the run: it does not try again by itself",
                "while the provider is overloaded it tries again for minutes: the idle limit ends it",
                "nothing keeps a reviewer from editing: what it writes is thrown away with its checkout",
            ],
        })
    }

    fn command(&self, invocation: &Invocation) -> Result<CommandLine, String> {
        let mut args: Vec<String> = [
            "-o",
            "stream-json",
            "--approval-mode",
            "yolo",
            "--skip-trust",
        ]
        .map(String::from)
        .into();
        for (flag, value) in [("-m", &invocation.model), ("--resume", &invocation.session)] {
            args.extend(
                value
                    .iter()
                    .flat_map(|value| [flag.to_owned(), value.clone()]),
            );
        }
        // Standard input is read only if its first byte comes within half a second, so it is for what no argument can hold.
        let stdin = if invocation.prompt.len() > LONGEST_ARGUMENT {
            Stdin::Text(invocation.prompt.clone())
        } else {
            // As a word of its own a prompt that begins with a dash would be taken for a flag.
            args.push(format!("--prompt={}", invocation.prompt));
            Stdin::Null
        };
        Ok(CommandLine {
            program: Some(invocation.program("gemini")),
            args,
            // Otherwise it starts itself again as a child, and the parent passes no signal on.
            env: vec![("GEMINI_CLI_NO_RELAUNCH".to_owned(), "true".to_owned())],
            stdin,
        })
    }

    fn parser(&self) -> Box<dyn Parser> {
        Box::new(ByLine::<Geminish>::default())
    }
}

/// How lines on standard error begin that only the program itself writes. A failed tool stands there too, after
/// `Error executing tool`.
const COMPLAINTS: &[&str] = &[
    "Error when talking to",
    "Error initializing",
    "Error resuming session",
    "Error authenticating",
    "[API Error: ",
    "You exceeded your current quota",
    "Please retry in ",
    "Please set an Auth method",
    "When using Gemini API",
    "When using Vertex AI",
    "Manual authorization is required",
    "Authentication ",
    "Failed to authenticate",
    "The configured auth type",
    "The enforced auth",
    "Invalid auth method",
    "Unknown argument",
    "Not enough arguments",
    "Invalid values",
    "Invalid configuration",
    "No input provided via stdin",
    "Reached max session turns",
    "Gemini CLI is not running in a trusted directory",
];

/// How a line begins that tells of a try that failed.
const ATTEMPT: &str = "Attempt ";

/// How it says that a tool was not allowed; one that is not offered is not allowed.
const DENIED: &[&str] = &[
    "policy_violation",
    "execution_denied",
    "tool_not_registered",
];

/// How an error begins that goes on over the next lines.
const SPREAD: &str = "[API Error: [{";

/// The longest error over several lines that is gathered, in bytes.
const LONGEST: usize = 8 << 10;

/// The grammar.
#[derive(Debug, Default)]
struct Geminish {
    /// What the model wrote since the last tool ended.
    said: String,
    /// Whether the model wrote something at all.
    spoke: bool,
    /// An error that it told of, as long as nothing came after it.
    fault: Option<ErrorKind>,
    /// An error over several lines whose end has not come yet.
    spread: String,
}

impl Grammar for Geminish {
    fn value(&mut self, line: &Value, heard: &mut Vec<AgentEvent>) {
        match text(line, "/type") {
            Some("init") => {
                heard.extend(session(line));
                let model = text(line, "/model").map(str::to_owned);
                heard.extend(model.map(AgentEvent::Model));
            }
            Some("message") => self.message(line, heard),
            Some("tool_use") => {
                self.fault = None;
                heard.push(AgentEvent::ToolOpened(tool(line)));
            }
            Some("tool_result") => {
                self.said.clear();
                heard.push(AgentEvent::ToolClosed(tool(line), tool_end(line)));
            }
            Some("error") => {
                let kind = reported("", text(line, "/message").unwrap_or_default());
                self.fault = Some(kind.clone());
                heard.push(AgentEvent::Trouble(kind));
            }
            Some("result") => self.result(line, heard),
            None if line.pointer("/response").is_some() => self.whole(line, heard),
            Some(_) | None => {}
        }
    }

    /// Tools that fail are told of on standard error, in their own words: only the shape of an error is taken from there,
    /// and never for a last word.
    fn value_on_err(&mut self, object: &Value, heard: &mut Vec<AgentEvent>) {
        if let (None, Some(kind)) = (text(object, "/type"), error(object)) {
            heard.push(AgentEvent::Trouble(kind));
        }
    }

    fn plain(&mut self, stream: Stream, line: &str, heard: &mut Vec<AgentEvent>) {
        if stream != Stream::Err {
            return;
        }
        // A fatal error is printed in red.
        let line = line.trim_start_matches("\u{1b}[31m");
        let line = line.trim_start_matches("✕ ");
        if let Some(kind) = self.gathered(line).or_else(|| complained(line)) {
            heard.push(AgentEvent::Trouble(kind));
        }
    }
}

impl Geminish {
    fn message(&mut self, line: &Value, heard: &mut Vec<AgentEvent>) {
        let ("assistant", Some(piece)) = (
            text(line, "/role").unwrap_or_default(),
            text(line, "/content"),
        ) else {
            return;
        };
        if line.pointer("/delta") != Some(&Value::Bool(true)) {
            self.said.clear();
        }
        self.said.push_str(piece);
        self.spoke = true;
        self.fault = None;
        heard.push(AgentEvent::Text(self.said.clone()));
    }

    fn result(&mut self, line: &Value, heard: &mut Vec<AgentEvent>) {
        if let Some(stats) = line.pointer("/stats") {
            heard.push(AgentEvent::Used(streamed(stats)));
        }
        let claimed = text(line, "/status") == Some("success");
        // It claims success also where it told of an error before and stopped over it.
        let fault = error(line).or_else(|| self.fault.take());
        let Some(kind) = fault.or_else(|| (!claimed).then(unknown)) else {
            self.done(heard);
            return;
        };
        let stopped = text(line, "/error/type").is_some_and(|name| name.contains("Cancel"));
        heard.push(AgentEvent::Ended(if stopped {
            Terminal::Aborted
        } else {
            Terminal::Error(kind)
        }));
    }

    /// The one object of `-o json`.
    fn whole(&mut self, object: &Value, heard: &mut Vec<AgentEvent>) {
        heard.extend(session(object));
        heard.extend(summed(object).map(AgentEvent::Used));
        if let Some(kind) = error(object) {
            heard.push(AgentEvent::Ended(Terminal::Error(kind)));
            return;
        }
        if let Some(said) = text(object, "/response") {
            self.spoke = true;
            heard.push(AgentEvent::Text(said.to_owned()));
        }
        self.done(heard);
    }

    /// An answer in which the model wrote nothing has an empty final message.
    fn done(&self, heard: &mut Vec<AgentEvent>) {
        if !self.spoke {
            heard.push(AgentEvent::Text(String::new()));
        }
        heard.push(AgentEvent::Ended(Terminal::Success));
    }

    /// What an error over several lines means, once it is whole.
    fn gathered(&mut self, line: &str) -> Option<ErrorKind> {
        if self.spread.is_empty() && !line.starts_with(SPREAD) {
            return None;
        }
        self.spread.push_str(line);
        self.spread.push('\n');
        let over = line.ends_with("]]") || self.spread.len() > LONGEST;
        over.then(|| reported("", &std::mem::take(&mut self.spread)))
    }
}

/// What a line on standard error complains of.
fn complained(line: &str) -> Option<ErrorKind> {
    if line.starts_with(ATTEMPT) {
        // A try that failed for a reason without a name is a connection that broke.
        let broken = ErrorKind::Interrupted(Interruption::Network);
        let tried = line.contains(" failed") && line.contains("Retrying");
        let told = Reported {
            http: status_in(line),
            class: "",
            words: line,
        };
        return (tried || line.contains(" failed: ")).then(|| told.known_kind().unwrap_or(broken));
    }
    // The report that it wrote has a name that says nothing of the error.
    let complaint = |line: &str| complaint(line, COMPLAINTS);
    match line.split_once("Full report available at: ") {
        Some((head, rest)) => {
            let words = rest.split_once(".json ").map_or(rest, |(_, words)| words);
            complaint(&format!("{head}{words}"))
        }
        None => complaint(line),
    }
}

/// The error that an object holds.
fn error(object: &Value) -> Option<ErrorKind> {
    let error = object.pointer("/error").filter(|error| error.is_object())?;
    let words = text(error, "/message").unwrap_or_default();
    let class = text(error, "/type").unwrap_or_default();
    let http = u16::try_from(number(error, "/code")).ok();
    let http = http.filter(|code| (400..600).contains(code));
    let http = http.or_else(|| status_in(words));
    Some(Reported { http, class, words }.kind())
}

fn reported(class: &str, words: &str) -> ErrorKind {
    let http = status_in(words);
    Reported { http, class, words }.kind()
}

const fn unknown() -> ErrorKind {
    ErrorKind::Failed(FailCause::Reported)
}

fn session(object: &Value) -> Option<AgentEvent> {
    text(object, "/session_id").map(|id| AgentEvent::Session(id.to_owned()))
}

fn tool(line: &Value) -> String {
    let id = text(line, "/tool_id").or_else(|| text(line, "/tool_name"));
    id.unwrap_or_default().to_owned()
}

fn tool_end(line: &Value) -> ToolEnd {
    match text(line, "/error/type") {
        Some(class) if DENIED.contains(&class) => ToolEnd::Denied,
        Some(_) | None => ToolEnd::Ran,
    }
}

/// The figures of a `result`. What the model thought is in the total alone, and was written by it.
fn streamed(stats: &Value) -> Tokens {
    let read = number(stats, "/input_tokens");
    let cached = number(stats, "/cached");
    let written = number(stats, "/total_tokens").saturating_sub(read);
    Tokens {
        input: read.saturating_sub(cached),
        output: number(stats, "/output_tokens").max(written),
        cached,
    }
}

/// The figures of all models in the object of `-o json`.
fn summed(object: &Value) -> Option<Tokens> {
    let models = object.pointer("/stats/models")?.as_object()?;
    let each = models.values().map(|model| {
        let read = number(model, "/tokens/prompt");
        let cached = number(model, "/tokens/cached");
        let written = number(model, "/tokens/total").saturating_sub(read);
        Tokens {
            input: read.saturating_sub(cached),
            output: number(model, "/tokens/candidates").max(written),
            cached,
        }
    });
    Some(each.fold(Tokens::default(), Tokens::plus))
}
