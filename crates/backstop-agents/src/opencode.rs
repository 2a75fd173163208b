//! `OpenCode`.
//!
//! Its words are JSON lines (`run --format json`), and none of them is a last word: it is done when its last step stopped
//! and it reported no error. While it waits and tries again it says nothing but in its log, which it is told to write to
//! standard error.

use backstop_outcome::{FailCause, Interruption, UnavailableCause};
use serde_json::Value;

use crate::adapter::{
    About, Access, Adapter, CommandLine, Features, Invocation, Parser, Stdin, Support, given,
    switched_on,
};
use crate::by_line::{ByLine, Grammar, micros, number, status, text};
use crate::trouble::{Reported, complaint};
use crate::{AgentEvent, ErrorKind, Reset, Stream, Terminal, Tokens, ToolEnd};

/// The adapter.
#[derive(Debug)]
pub(crate) struct OpenCode;

impl Adapter for OpenCode {
    fn name(&self) -> &'static str {
        "opencode"
    }

    fn features(&self) -> Features {
        Features {
            resume: Support::Yes,
            names_session: Support::No,
            model: Support::Yes,
            cost: Support::Yes,
            terminal: Support::Yes,
            edits: Support::No,
        }
    }

    fn about(&self) -> Option<About> {
        Some(About {
            program: "opencode",
            tested: "1.18.33",
            variables: &[
                "OPENCODE_API_KEY",
                "ANTHROPIC_API_KEY",
                "OPENAI_API_KEY",
                "OPENROUTER_API_KEY",
                "GEMINI_API_KEY",
                "GOOGLE_GENERATIVE_AI_API_KEY",
            ],
            logins: &[
                ".local/share/opencode/auth.json",
                ".config/opencode/opencode.json",
                ".config/opencode/opencode.jsonc",
            ],
            gaps: &[
                "while it waits for a limit to end it says so once and never names the end: it is stopped when it was \
                 silent too long, and the limit is waited for with growing pauses",
                "a connection that breaks again and again is tried again without end: only the time limit stops it",
                "a model without a known price is reported to cost nothing",
                "models that are newer than the installed version are not known to it: its list of models is not fetched",
                "a model is named with its provider, such as `anthropic/NAME`",
            ],
        })
    }

    fn command(&self, invocation: &Invocation) -> Result<CommandLine, String> {
        let prompt = invocation.prompt_as_argument("opencode")?;
        let mut args: Vec<String> = [
            "run",
            "--format",
            "json",
            "--auto",
            "--print-logs",
            "--log-level",
            "ERROR",
        ]
        .map(String::from)
        .into();
        args.extend(given([
            ("-m", &invocation.model),
            ("--variant", &invocation.effort),
            ("-s", &invocation.session),
        ]));
        // A prompt that begins with a dash is no flag.
        args.extend(["--".to_owned(), prompt]);
        let mut env = switched_on(&[
            "OPENCODE_DISABLE_AUTOUPDATE",
            "OPENCODE_DISABLE_MODELS_FETCH",
            "OPENCODE_DISABLE_LSP_DOWNLOAD",
        ]);
        if invocation.access == Access::Look {
            env.push(("OPENCODE_PERMISSION".into(), r#"{"edit":"deny"}"#.into()));
        }
        Ok(CommandLine {
            program: Some(invocation.program("opencode")),
            args,
            env,
            stdin: Stdin::Null,
        })
    }

    fn parser(&self) -> Box<dyn Parser> {
        Box::new(ByLine::<Opencodish>::default())
    }
}

/// How lines on standard error begin that only the program itself writes; the last one is its help, which it prints at a
/// flag that it does not know.
const COMPLAINTS: &[&str] = &[
    "Error: ",
    "AI_APICallError",
    "AI_RetryError",
    "ProviderModelNotFoundError",
    "opencode run [message..]",
];

/// How the error of a tool call begins that was not allowed.
const DENIALS: &[&str] = &[
    "The user rejected permission",
    "The user has specified a rule which prevents",
];

/// How far it came.
#[derive(Debug, Default, PartialEq, Eq)]
enum Course {
    /// It said nothing.
    #[default]
    Silent,
    /// It wrote plain text and no JSON: only its exit status tells how it ended.
    Prose,
    /// It is in the middle of something.
    Working,
    /// Its last step stopped, as the model wished.
    Stopped,
    /// It reported an error.
    Failed,
}

/// The grammar.
#[derive(Debug, Default)]
struct Opencodish {
    used: Tokens,
    /// US dollars.
    spent: f64,
    course: Course,
    /// Whether the model wrote anything or called a tool.
    acted: bool,
}

impl Grammar for Opencodish {
    fn value(&mut self, line: &Value, heard: &mut Vec<AgentEvent>) {
        if let Some(id) = text(line, "/sessionID") {
            heard.push(AgentEvent::Session(id.to_owned()));
        }
        match text(line, "/type") {
            Some("step_start") => self.reach(Course::Working),
            Some("text") => self.say(line, heard),
            Some("tool_use") => self.tool(line, heard),
            Some("step_finish") => self.step(line, heard),
            Some("error") => self.error(line, heard),
            Some(_) | None => {}
        }
    }

    fn plain(&mut self, stream: Stream, line: &str, heard: &mut Vec<AgentEvent>) {
        let line = without_colours(line);
        if line.starts_with("timestamp=") {
            log(&line, heard);
            return;
        }
        match stream {
            Stream::Err => self.complain(&line, heard),
            Stream::Out => self.write(&line, heard),
        }
    }

    fn end(&mut self, heard: &mut Vec<AgentEvent>) {
        match self.course {
            Course::Stopped | Course::Prose => {
                if !self.acted {
                    heard.push(AgentEvent::Text(String::new()));
                }
                heard.push(AgentEvent::Ended(Terminal::Success));
            }
            Course::Silent | Course::Working | Course::Failed => {}
        }
    }
}

impl Opencodish {
    /// An error stands, whatever comes after it: the program exits with 1.
    fn reach(&mut self, course: Course) {
        if self.course != Course::Failed {
            self.course = course;
        }
    }

    fn say(&mut self, line: &Value, heard: &mut Vec<AgentEvent>) {
        self.reach(Course::Working);
        self.acted = true;
        let said = text(line, "/part/text").map(str::to_owned);
        heard.extend(said.map(AgentEvent::Text));
    }

    /// A tool call is told when it is over.
    fn tool(&mut self, line: &Value, heard: &mut Vec<AgentEvent>) {
        // Told again when its output is dropped from the conversation.
        if line.pointer("/part/state/time/compacted").is_some() {
            return;
        }
        self.reach(Course::Working);
        self.acted = true;
        let id = text(line, "/part/callID").unwrap_or_default();
        let error = text(line, "/part/state/error").unwrap_or_default();
        let denied = DENIALS.iter().any(|denial| error.starts_with(denial));
        let end = if denied {
            ToolEnd::Denied
        } else {
            ToolEnd::Ran
        };
        heard.push(AgentEvent::ToolOpened(id.to_owned()));
        heard.push(AgentEvent::ToolClosed(id.to_owned(), end));
    }

    fn step(&mut self, line: &Value, heard: &mut Vec<AgentEvent>) {
        self.used = self.used.plus(tokens(line));
        heard.push(AgentEvent::Used(self.used));
        if let Some(cost) = line.pointer("/part/cost").and_then(Value::as_f64) {
            self.spent += cost;
            heard.extend(micros(self.spent).map(AgentEvent::Cost));
        }
        let trouble = match text(line, "/part/reason") {
            Some("stop") => return self.reach(Course::Stopped),
            // What came was no answer: it asks for the same step again, without end.
            Some("unknown" | "error") => Some(ErrorKind::Interrupted(Interruption::StreamCut)),
            Some("content-filter") => Some(ErrorKind::Failed(FailCause::Refused)),
            Some(_) | None => None,
        };
        self.reach(Course::Working);
        heard.extend(trouble.map(AgentEvent::Trouble));
    }

    fn error(&mut self, line: &Value, heard: &mut Vec<AgentEvent>) {
        self.reach(Course::Failed);
        let terminal = match text(line, "/error/name") {
            Some("MessageAbortedError") => Terminal::Aborted,
            name => Terminal::Error(reported(line, name.unwrap_or_default())),
        };
        heard.push(AgentEvent::Ended(terminal));
    }

    fn complain(&mut self, line: &str, heard: &mut Vec<AgentEvent>) {
        // What it says of its settings may name their format, which elsewhere means a stream that cannot be read.
        let settings = line.starts_with("Error: Config");
        let kind = settings
            .then_some(ErrorKind::Unavailable(UnavailableCause::Configuration))
            .or_else(|| complaint(line, COMPLAINTS));
        if kind.is_some() && matches!(self.course, Course::Silent | Course::Prose) {
            self.course = Course::Working;
        }
        heard.extend(kind.map(AgentEvent::Trouble));
    }

    /// Plain text on standard output is what the model wrote, in the format for people.
    fn write(&mut self, line: &str, heard: &mut Vec<AgentEvent>) {
        if line.trim().is_empty() || line.starts_with('{') {
            return;
        }
        if self.course == Course::Silent {
            self.course = Course::Prose;
        }
        self.acted = true;
        heard.push(AgentEvent::Text(line.to_owned()));
    }
}

fn tokens(line: &Value) -> Tokens {
    let of = |place| number(line, place);
    Tokens {
        input: of("/part/tokens/input").saturating_add(of("/part/tokens/cache/write")),
        output: of("/part/tokens/output").saturating_add(of("/part/tokens/reasoning")),
        cached: of("/part/tokens/cache/read"),
    }
}

/// What an `error` event means.
fn reported(line: &Value, name: &str) -> ErrorKind {
    if name == "ProviderAuthError" {
        return ErrorKind::Unavailable(UnavailableCause::Auth);
    }
    let words = text(line, "/error/data/message").unwrap_or_default();
    let kind = Reported {
        http: status(line, "/error/data/statusCode"),
        class: name,
        words: own(words),
    }
    .kind();
    let tried_again = line.pointer("/error/data/isRetryable") == Some(&Value::Bool(true));
    match kind {
        ErrorKind::Limited(None) => ErrorKind::Limited(until(line)),
        // Only what may pass is tried again.
        ErrorKind::Failed(FailCause::Reported) if tried_again => {
            ErrorKind::Interrupted(Interruption::Provider)
        }
        kind => kind,
    }
}

/// When a limit ends, where its message leaves it to the headers or the body of the answer.
fn until(line: &Value) -> Option<Reset> {
    let headers = line.pointer("/error/data/responseHeaders");
    let body = text(line, "/error/data/responseBody").unwrap_or_default();
    headers
        .and_then(|headers| Reset::find(&headers.to_string()))
        .or_else(|| Reset::find(body))
}

/// A line of its log: what kept a step from its end. The title of a session is made by a model of its own, and nothing
/// hangs on it.
fn log(line: &str, heard: &mut Vec<AgentEvent>) {
    let Some((head, error)) = line.split_once(" error.error=") else {
        return;
    };
    let ours = head.contains(" level=ERROR ") && head.contains(" message=\"stream error\"");
    if !ours || head.contains(" small=true") {
        return;
    }
    let field = |name| head.split(' ').find_map(|part| part.strip_prefix(name));
    if let (Some(provider), Some(model)) = (field("providerID="), field("modelID=")) {
        heard.push(AgentEvent::Model(format!("{provider}/{model}")));
    }
    let quoted = serde_json::Deserializer::from_str(error)
        .into_iter::<String>()
        .next();
    let words = quoted.and_then(Result::ok);
    let words = words.unwrap_or_else(|| error.to_owned());
    heard.push(AgentEvent::Trouble(broken(own(&words))));
}

/// What the log says of a step that broke. A spent quota comes with the status 429, which the log does not name.
fn broken(words: &str) -> ErrorKind {
    let reported = Reported {
        http: words.contains("quota").then_some(429),
        class: "",
        words,
    };
    let unknown = ErrorKind::Interrupted(Interruption::StreamCut);
    reported.known_kind().unwrap_or(unknown)
}

/// The words before those that they quote: an answer that could not be read is quoted in full, and a model wrote it.
fn own(words: &str) -> &str {
    let quotes = ["Text: ", "Value: "].map(|mark| words.find(mark));
    let end = quotes.into_iter().flatten().min().unwrap_or(words.len());
    words.get(..end).unwrap_or_default()
}

fn without_colours(line: &str) -> String {
    let mut parts = line.split('\u{1b}');
    let first = parts.next().unwrap_or_default();
    let plain = parts.map(|part| {
        let after = part.split_once(|c: char| c.is_ascii_alphabetic());
        after.map_or(part, |(_, rest)| rest)
    });
    std::iter::once(first).chain(plain).collect()
}
