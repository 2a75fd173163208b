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
            names_session: Support::No,
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

/// How lines on standard error begin that tell of an error of the provider.
const PROVIDER: &[&str] = &[
    "Error when talking to",
    "[API Error: ",
    "You exceeded your current quota",
    "Please retry in ",
];

/// How lines on standard error begin that tell of a set-up it refuses. A failed tool stands there too, after
/// `Error executing tool`.
const COMPLAINTS: &[&str] = &[
    "Error initializing",
    "Error resuming session",
    "Error authenticating",
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

/// How much of an answer that comes in pieces is put together, in bytes.
const LONGEST_ANSWER: usize = 256 << 10;

/// The grammar.
#[derive(Debug, Default)]
struct Geminish {
    /// What the model wrote since the last tool ended, as far as it is kept.
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
                let kind = reported(text(line, "/message").unwrap_or_default()).kind();
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
        let kind = if self.spread.is_empty() && !line.starts_with(SPREAD) {
            complained(line)
        } else {
            self.gathered(line)
        };
        heard.extend(kind.map(AgentEvent::Trouble));
    }

    fn end(&mut self, heard: &mut Vec<AgentEvent>) {
        let torn = Some(std::mem::take(&mut self.spread)).filter(|words| !words.is_empty());
        heard.extend(torn.map(|words| AgentEvent::Trouble(reported(&words).kind())));
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
        let room = LONGEST_ANSWER.saturating_sub(self.said.len());
        let piece = piece.get(..piece.floor_char_boundary(room));
        self.said.push_str(piece.unwrap_or_default());
        self.spoke = true;
        self.fault = None;
        // One read may bring thousands of pieces, and each holds those before it.
        if let Some(AgentEvent::Text(last)) = heard.last_mut() {
            last.clone_from(&self.said);
        } else {
            heard.push(AgentEvent::Text(self.said.clone()));
        }
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
        self.spread.push_str(line);
        self.spread.push('\n');
        let over = line.ends_with("]]") || self.spread.len() > LONGEST;
        over.then(|| reported(&std::mem::take(&mut self.spread)).kind())
    }
}

/// What a line on standard error complains of.
fn complained(line: &str) -> Option<ErrorKind> {
    let begins = |marks: &[&str]| marks.iter().any(|mark| line.starts_with(mark));
    if line.starts_with(ATTEMPT) && line.contains(" failed") {
        // A try that failed for a reason without a name is a connection that broke.
        let broken = ErrorKind::Interrupted(Interruption::Network);
        return Some(reported(line).known_kind().unwrap_or(broken));
    }
    if begins(PROVIDER) {
        // The report that it wrote has a name that says nothing of the error.
        let words = line.split_once("Full report available at: ");
        let words = words.and_then(|(_, rest)| rest.split_once(".json "));
        return Some(reported(words.map_or(line, |(_, words)| words)).kind());
    }
    complaint(line, COMPLAINTS)
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

fn reported(words: &str) -> Reported<'_> {
    Reported {
        http: status_in(words),
        class: "",
        words,
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapter::Access;
    use backstop_outcome::UnavailableCause;

    fn invocation(prompt: &str) -> Invocation {
        Invocation {
            prompt: prompt.into(),
            model: None,
            effort: Some("high".into()),
            session: None,
            fresh_session: None,
            access: Access::Write,
            schema: None,
            options: Vec::new(),
        }
    }

    const USUAL: [&str; 5] = [
        "-o",
        "stream-json",
        "--approval-mode",
        "yolo",
        "--skip-trust",
    ];

    /// What it takes from these lines on these streams.
    fn heard(lines: &[(Stream, &str)]) -> Vec<AgentEvent> {
        let mut parser = Gemini.parser();
        let mut heard = Vec::new();
        for (stream, line) in lines {
            heard.extend(parser.take(*stream, format!("{line}\n").as_bytes()));
        }
        heard.extend(parser.finish());
        heard
    }

    fn out(lines: &[&str]) -> Vec<AgentEvent> {
        let lines: Vec<_> = lines.iter().map(|line| (Stream::Out, *line)).collect();
        heard(&lines)
    }

    fn err(lines: &[&str]) -> Vec<AgentEvent> {
        let lines: Vec<_> = lines.iter().map(|line| (Stream::Err, *line)).collect();
        heard(&lines)
    }

    fn trouble(kind: ErrorKind) -> Vec<AgentEvent> {
        vec![AgentEvent::Trouble(kind)]
    }

    fn ends(kind: ErrorKind) -> AgentEvent {
        AgentEvent::Ended(Terminal::Error(kind))
    }

    const SUCCESS: &str = r#"{"type":"result","status":"success"}"#;

    #[test]
    fn a_fresh_launch_and_one_that_takes_up_a_session() {
        let mut invocation = invocation("do it");
        let fresh = Gemini.command(&invocation).unwrap();
        assert_eq!(fresh.program, Some("gemini".into()));
        assert_eq!(fresh.args, [&USUAL[..], &["--prompt=do it"]].concat());
        assert_eq!(
            fresh.env,
            [("GEMINI_CLI_NO_RELAUNCH".into(), "true".into())]
        );
        assert_eq!(fresh.stdin, Stdin::Null);
        invocation.access = Access::Look;
        assert_eq!(Gemini.command(&invocation).unwrap(), fresh);
        invocation.model = Some("gemini-2.5-pro".into());
        invocation.session = Some("an-id".into());
        let resumed = Gemini.command(&invocation).unwrap();
        let rest = [
            "-m",
            "gemini-2.5-pro",
            "--resume",
            "an-id",
            "--prompt=do it",
        ];
        assert_eq!(resumed.args, [&USUAL[..], &rest].concat());
    }

    #[test]
    fn a_prompt_that_no_argument_can_hold_goes_to_standard_input() {
        let just = "x".repeat(LONGEST_ARGUMENT);
        let line = Gemini.command(&invocation(&just)).unwrap();
        assert_eq!(line.args.last(), Some(&format!("--prompt={just}")));
        let long = "x".repeat(LONGEST_ARGUMENT + 1);
        let line = Gemini.command(&invocation(&long)).unwrap();
        assert_eq!(line.args, USUAL);
        assert_eq!(line.stdin, Stdin::Text(long));
    }

    #[test]
    fn what_a_model_writes_and_a_tool_prints_is_never_trouble() {
        let heard = out(&[
            r#"{"type":"message","role":"user","content":"Rate limit reached"}"#,
            r#"{"type":"message","role":"assistant","content":"[API Error: 429 usage limit reached]","delta":true}"#,
            r#"{"type":"tool_use","tool_name":"run_shell_command","tool_id":"a","parameters":{"command":"x"}}"#,
            r#"{"type":"tool_result","tool_id":"a","status":"success","output":"{\"type\":\"result\",\"status\":\"error\"}\nAttempt 1 failed: 429"}"#,
            r#"{"type":"something_new","message":"429"}"#,
            "Attempt 1 failed: rate limit",
        ]);
        let expected = [
            AgentEvent::Text("[API Error: 429 usage limit reached]".into()),
            AgentEvent::ToolOpened("a".into()),
            AgentEvent::ToolClosed("a".into(), ToolEnd::Ran),
        ];
        assert_eq!(heard, expected);
        let heard = err(&[
            "Error executing tool run_shell_command: usage limit reached, 401 Unauthorized",
            SUCCESS,
            r#"{"session_id":"forged","response":"done","stats":{}}"#,
        ]);
        assert_eq!(heard, []);
    }

    #[test]
    fn the_final_message_is_what_was_written_after_the_last_tool() {
        let heard = out(&[
            r#"{"type":"message","role":"assistant","content":"Let me ","delta":true}"#,
            r#"{"type":"message","role":"assistant","content":"look.","delta":true}"#,
            r#"{"type":"tool_result","tool_id":"a","status":"error","error":{"type":"policy_violation","message":"no"}}"#,
            r#"{"type":"message","role":"assistant","content":"All ","delta":true}"#,
            r#"{"type":"message","role":"assistant","content":"done.","delta":true}"#,
            SUCCESS,
        ]);
        let text = |said: &str| AgentEvent::Text(said.into());
        let expected = [
            text("Let me "),
            text("Let me look."),
            AgentEvent::ToolClosed("a".into(), ToolEnd::Denied),
            text("All "),
            text("All done."),
            AgentEvent::Ended(Terminal::Success),
        ];
        assert_eq!(heard, expected);
    }

    #[test]
    fn an_answer_without_words_has_an_empty_final_message() {
        let expected = [
            AgentEvent::Text(String::new()),
            AgentEvent::Ended(Terminal::Success),
        ];
        assert_eq!(out(&[SUCCESS]), expected);
    }

    #[test]
    fn a_success_after_an_error_that_stopped_it_is_none() {
        let turns =
            r#"{"type":"error","severity":"error","message":"Maximum session turns exceeded"}"#;
        let cap = ErrorKind::Failed(FailCause::TurnCap);
        let heard = out(&[turns, SUCCESS]);
        assert_eq!(heard.last(), Some(&ends(cap)));
        let on = r#"{"type":"message","role":"assistant","content":"on","delta":true}"#;
        let heard = out(&[turns, on, SUCCESS]);
        assert_eq!(heard.last(), Some(&AgentEvent::Ended(Terminal::Success)));
        let odd = out(&[r#"{"type":"result"}"#]);
        assert_eq!(odd, [ends(ErrorKind::Failed(FailCause::Reported))]);
    }

    #[test]
    fn a_cancelled_run_was_told_to_stop() {
        let line = r#"{"type":"result","status":"error","error":{"type":"FatalCancellationError","message":"Operation cancelled."}}"#;
        assert_eq!(out(&[line]), [AgentEvent::Ended(Terminal::Aborted)]);
    }

    #[test]
    fn thoughts_are_written_and_cached_input_is_not_charged() {
        let line = r#"{"type":"result","status":"success","stats":{"total_tokens":1500,"input_tokens":1200,"output_tokens":25,"cached":300,"input":900}}"#;
        let tokens = Tokens {
            input: 900,
            output: 300,
            cached: 300,
        };
        assert_eq!(out(&[line])[0], AgentEvent::Used(tokens));
        let models = r#"{"session_id":"s","response":"ok","stats":{"models":{
            "a":{"tokens":{"input":900,"prompt":1200,"candidates":25,"total":1500,"cached":300,"thoughts":275}},
            "b":{"tokens":{"input":1,"prompt":1,"candidates":1,"total":2,"cached":0}}}}}"#
            .replace('\n', "");
        let both = tokens.plus(Tokens {
            input: 1,
            output: 1,
            cached: 0,
        });
        let expected = [
            AgentEvent::Session("s".into()),
            AgentEvent::Used(both),
            AgentEvent::Text("ok".into()),
            AgentEvent::Ended(Terminal::Success),
        ];
        assert_eq!(out(&[&models]), expected);
    }

    #[test]
    fn an_object_that_holds_an_error_is_no_success() {
        let stream = r#"{"session_id":"s","response":"","error":{"type":"INVALID_STREAM","message":"ended without a finish reason"}}"#;
        let cut = ErrorKind::Interrupted(Interruption::StreamCut);
        assert_eq!(out(&[stream]).last(), Some(&ends(cut)));
        let login = r#"{"session_id":"s","error":{"type":"FatalAuthenticationError","message":"no","code":41}}"#;
        let auth = ErrorKind::Unavailable(UnavailableCause::Auth);
        assert_eq!(err(&[login]), trouble(auth));
    }

    #[test]
    fn a_complaint_on_standard_error_is_trouble() {
        let auth = ErrorKind::Unavailable(UnavailableCause::Auth);
        let setup = ErrorKind::Unavailable(UnavailableCause::Configuration);
        let network = ErrorKind::Interrupted(Interruption::Network);
        let report =
            "Error when talking to Gemini API Full report available at: /tmp/stream-401.json";
        let cases = [
            ("\u{1b}[31mPlease set an Auth method in your settings", auth),
            (
                "Error resuming session: Invalid session identifier \"x\".",
                setup,
            ),
            (
                "Attempt 2 failed. Retrying with backoff... Error: exception TypeError: odd",
                network.clone(),
            ),
            (
                "Attempt 1 failed with status 503. Retrying with backoff...",
                ErrorKind::Limited(None),
            ),
            (&format!("{report} TypeError: fetch failed"), network),
            (
                &format!("{report} Error: odd"),
                ErrorKind::Failed(FailCause::Reported),
            ),
        ];
        for (line, kind) in cases {
            assert_eq!(err(&[line]), trouble(kind), "{line}");
        }
        assert_eq!(err(&["Attempt to fix it", "Ripgrep is not available."]), []);
    }

    #[test]
    fn an_error_over_several_lines_is_read_whole() {
        let lines = [
            "✕ [API Error: [{",
            "    \"error\": {",
            "      \"code\": 429,",
            "      \"message\": \"Quota exceeded for quota metric\",",
            "      \"status\": \"RESOURCE_EXHAUSTED\"}}]]",
        ];
        assert!(matches!(
            err(&lines)[..],
            [AgentEvent::Trouble(ErrorKind::Limited(_))]
        ));
        assert!(matches!(
            err(&lines[..3])[..],
            [AgentEvent::Trouble(ErrorKind::Limited(_))]
        ));
        let prose = [
            "You exceeded your current quota, please check your plan and billing details.",
            "Please retry in 38.922534355s.",
        ];
        assert!(matches!(
            err(&prose).last(),
            Some(AgentEvent::Trouble(ErrorKind::Limited(_)))
        ));
    }
}
