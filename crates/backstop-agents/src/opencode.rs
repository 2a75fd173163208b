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
                "the cost of a model without a known price is not reported: `assumed_cost` is charged",
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
    /// It is in the middle of something, or reported an error.
    Working,
    /// Its last step stopped, as the model wished.
    Stopped,
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
            Some("step_start") => self.course = Course::Working,
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
            Course::Silent | Course::Working => {}
        }
    }
}

impl Opencodish {
    fn say(&mut self, line: &Value, heard: &mut Vec<AgentEvent>) {
        self.course = Course::Working;
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
        self.course = Course::Working;
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
            // A model without a known price is told to cost nothing, which is no price.
            let worked = self.used.charged() > 0;
            let priced = micros(self.spent).filter(|cost| *cost > 0 || !worked);
            heard.extend(priced.map(AgentEvent::Cost));
        }
        self.course = Course::Working;
        let trouble = match text(line, "/part/reason") {
            Some("stop") => {
                self.course = Course::Stopped;
                None
            }
            // What came was no answer: it asks for the same step again, without end.
            Some("unknown" | "error") => Some(ErrorKind::Interrupted(Interruption::StreamCut)),
            Some("content-filter") => Some(ErrorKind::Failed(FailCause::Refused)),
            Some(_) | None => None,
        };
        heard.extend(trouble.map(AgentEvent::Trouble));
    }

    fn error(&mut self, line: &Value, heard: &mut Vec<AgentEvent>) {
        self.course = Course::Working;
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
    if kind == ErrorKind::Limited(None) {
        return ErrorKind::Limited(until(line));
    }
    // Only what may pass is tried again.
    if kind == ErrorKind::Failed(FailCause::Reported) && tried_again {
        return ErrorKind::Interrupted(Interruption::Provider);
    }
    kind
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
    let fields = fields(line);
    let field = |name| {
        let found = fields.iter().find(|(key, _)| *key == name);
        found.map(|(_, value)| value.as_str())
    };
    let ours = field("level") == Some("ERROR") && field("message") == Some("stream error");
    if !ours || field("small") == Some("true") {
        return;
    }
    if let (Some(provider), Some(model)) = (field("providerID"), field("modelID")) {
        heard.push(AgentEvent::Model(format!("{provider}/{model}")));
    }
    // An error of the stream's own has fields, any other one is told in a sentence.
    let words = field("error.error").or_else(|| field("error.error.message"));
    let words = own(words.unwrap_or_default());
    let code = field("error.error.code").and_then(|code| code.parse().ok());
    let reported = Reported {
        // A spent quota comes with the status 429, which a sentence does not name.
        http: code.or_else(|| words.contains("quota").then_some(429)),
        class: field("error.error.type").unwrap_or_default(),
        words,
    };
    let unknown = ErrorKind::Interrupted(Interruption::StreamCut);
    let kind = reported.known_kind().unwrap_or(unknown);
    heard.push(AgentEvent::Trouble(kind));
}

/// The fields of a line of the log: `name=value` and `name="quoted as in JSON"`, with spaces between them.
fn fields(line: &str) -> Vec<(&str, String)> {
    let mut found = Vec::new();
    let mut rest = line;
    while let Some((name, after)) = rest.trim_start().split_once('=') {
        let mut quoted = serde_json::Deserializer::from_str(after).into_iter::<String>();
        let (value, end) = match quoted.next() {
            Some(Ok(value)) if after.starts_with('"') => (value, quoted.byte_offset()),
            Some(_) | None => {
                let bare = after.split(' ').next().unwrap_or_default();
                (bare.to_owned(), bare.len())
            }
        };
        found.push((name, value));
        rest = after.get(end..).unwrap_or_default();
    }
    found
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

#[cfg(test)]
mod tests {
    use backstop_outcome::Status;
    use serde_json::json;

    use super::*;
    use crate::{EndedBy, Ending, Transcript, trial};

    fn invocation(access: Access, session: Option<&str>) -> Invocation {
        Invocation {
            prompt: "-fix it".into(),
            model: Some("fake/model".into()),
            effort: Some("high".into()),
            session: session.map(String::from),
            fresh_session: None,
            access,
            schema: None,
            options: Vec::new(),
        }
    }

    fn heard(out: &[Value], err: &str) -> Transcript {
        trial::heard(&OpenCode, out, err)
    }

    fn status_of(transcript: &Transcript, ending: Ending, ended_by: EndedBy) -> Status {
        trial::status_of(&OpenCode, transcript, ending, ended_by)
    }

    fn exited(transcript: &Transcript, code: i32) -> Status {
        status_of(transcript, Ending::Exited(code), EndedBy::Itself)
    }

    fn event(kind: &str, part: &Value) -> Value {
        json!({"type": kind, "sessionID": "ses_1", "part": part})
    }

    fn said(words: &str) -> Value {
        event("text", &json!({"text": words}))
    }

    fn finished(reason: &str) -> Value {
        event("step_finish", &json!({"reason": reason}))
    }

    fn tool(state: &Value) -> Value {
        event("tool_use", &json!({"callID": "call_1", "state": state}))
    }

    fn error(name: &str, data: &Value) -> Value {
        json!({"type": "error", "sessionID": "ses_1", "error": {"name": name, "data": data}})
    }

    fn log_line(rest: &str) -> String {
        format!("timestamp=2026-11-30T01:28:01.349Z level=ERROR run=4829f949 {rest}\n")
    }

    fn stream_error(words: &str) -> String {
        log_line(&format!(
            "message=\"stream error\" providerID=fake modelID=big small=false agent=build error.error={}",
            json!(words)
        ))
    }

    #[test]
    fn the_command_line_of_a_new_session_and_of_one_taken_up() {
        let start =
            "run --format json --auto --print-logs --log-level ERROR -m fake/model --variant high";
        for (session, more) in [(None, ""), (Some("ses_1"), " -s ses_1")] {
            let line = OpenCode
                .command(&invocation(Access::Write, session))
                .unwrap();
            let expected = format!("{start}{more} --");
            let mut expected: Vec<&str> = expected.split(' ').collect();
            expected.push("-fix it");
            assert_eq!(line.args, expected);
            assert_eq!(line.program, Some("opencode".into()));
            assert_eq!(line.stdin, Stdin::Null);
        }
    }

    #[test]
    fn who_only_looks_may_not_edit() {
        let line = |access| OpenCode.command(&invocation(access, None)).unwrap();
        let (write, look) = (line(Access::Write), line(Access::Look));
        assert_eq!(look.args, write.args);
        assert_eq!(look.env[..3], write.env[..]);
        let permission = ("OPENCODE_PERMISSION".into(), r#"{"edit":"deny"}"#.into());
        assert_eq!(look.env[3..], [permission]);
        let names: Vec<&str> = write.env.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(
            names,
            [
                "OPENCODE_DISABLE_AUTOUPDATE",
                "OPENCODE_DISABLE_MODELS_FETCH",
                "OPENCODE_DISABLE_LSP_DOWNLOAD"
            ]
        );
    }

    #[test]
    fn a_prompt_that_no_argument_can_hold_is_refused() {
        let mut long = invocation(Access::Write, None);
        long.prompt = "x".repeat(120_001);
        let words = OpenCode.command(&long).unwrap_err();
        assert!(words.starts_with("the prompt has 120001 bytes"), "{words}");
    }

    #[test]
    fn tokens_and_cost_of_the_steps_are_added_up() {
        let tokens = json!({"input": 900, "output": 25, "reasoning": 5, "cache": {"read": 300, "write": 10}});
        let step =
            |reason| json!({"reason": reason, "tokens": tokens.clone(), "cost": 0.001_025_4});
        let steps = ["tool-calls", "stop"].map(|reason| event("step_finish", &step(reason)));
        let spent = heard(&steps, "").spent;
        let expected = Tokens {
            input: 1820,
            output: 60,
            cached: 600,
        };
        assert_eq!(spent.tokens, Some(expected));
        assert_eq!(spent.cost, Some(2051));
    }

    #[test]
    fn it_is_done_only_when_its_last_step_stopped() {
        let done = [said("done"), finished("stop")];
        assert_eq!(exited(&heard(&done, ""), 0), Status::Success);
        let goes_on = event("step_start", &json!({}));
        for more in [said("and"), goes_on, finished("tool-calls")] {
            let mut lines = done.to_vec();
            lines.push(more);
            assert_eq!(exited(&heard(&lines, ""), 0), Status::Unknown);
        }
        let too_long = [said("and so"), finished("length")];
        assert_eq!(exited(&heard(&too_long, ""), 0), Status::Unknown);
    }

    #[test]
    fn a_last_step_without_a_word_or_a_call_is_no_success() {
        let blank = heard(&[finished("stop")], "");
        assert_eq!(exited(&blank, 0), Status::Unknown);
        assert_eq!(exited(&heard(&[], ""), 0), Status::Unknown);
    }

    #[test]
    fn an_error_is_a_last_word_whatever_comes_after_it() {
        let limit = json!({"message": "slow down", "statusCode": 429});
        let lines = [error("APIError", &limit), said("done"), finished("stop")];
        let limited = Status::RateLimited { until: None };
        for code in [0, 1] {
            assert_eq!(exited(&heard(&lines, ""), code), limited);
        }
    }

    #[test]
    fn errors_mean_what_their_name_their_status_and_their_message_say() {
        let unavailable = |cause| Status::AgentUnavailable { cause };
        let failed = |cause| Status::Failed { cause };
        let interrupted = |by| Status::Interrupted { by };
        let message = |words: &str| json!({"message": words});
        let cases = [
            (
                "ProviderAuthError",
                message("no"),
                unavailable(UnavailableCause::Auth),
            ),
            (
                "UnknownError",
                message("ProviderModelNotFoundError: Model not found: fake/x"),
                unavailable(UnavailableCause::Configuration),
            ),
            ("MessageAbortedError", message("Aborted"), Status::Unknown),
            (
                "MessageOutputLengthError",
                json!({}),
                failed(FailCause::Reported),
            ),
            (
                "APIError",
                json!({"message": "bad luck", "isRetryable": true}),
                interrupted(Interruption::Provider),
            ),
            (
                "UnknownError",
                message("JSON parsing failed: Text: {\"content\":\"rate limit reached\"}."),
                interrupted(Interruption::StreamCut),
            ),
        ];
        for (name, data, expected) in cases {
            let transcript = heard(&[error(name, &data)], "");
            assert_eq!(exited(&transcript, 1), expected, "{name} {data}");
        }
    }

    #[test]
    fn an_endless_restart_is_an_interruption_whoever_ends_it() {
        let step = || [event("step_start", &json!({})), finished("unknown")];
        let transcript = heard(&[step(), step(), step()].concat(), "");
        let cut = Status::Interrupted {
            by: Interruption::StreamCut,
        };
        for by in [EndedBy::Idle, EndedBy::Wall] {
            assert_eq!(status_of(&transcript, Ending::Signalled(15), by), cut);
        }
        let recovered = heard(&[finished("unknown"), said("on")], "");
        let idle = status_of(&recovered, Ending::Signalled(15), EndedBy::Idle);
        assert_eq!(idle, Status::IdleTimeout);
    }

    #[test]
    fn its_log_tells_why_it_is_silent() {
        let limited = Status::RateLimited { until: None };
        let interrupted = |by| Status::Interrupted { by };
        let cases = [
            ("AI_APICallError: Overloaded", limited.clone()),
            (
                "AI_APICallError: You exceeded your current quota, please check your plan and billing details.",
                limited.clone(),
            ),
            (
                "AI_APICallError: Internal server error",
                interrupted(Interruption::Provider),
            ),
            ("it broke", interrupted(Interruption::StreamCut)),
            (
                "AI_TypeValidationError: Type validation failed: Value: {\"content\":\"rate limit\"}",
                interrupted(Interruption::StreamCut),
            ),
        ];
        for (words, expected) in cases {
            let transcript = heard(&[], &stream_error(words));
            let found = status_of(&transcript, Ending::Signalled(15), EndedBy::Idle);
            assert_eq!(found, expected, "{words}");
            assert_eq!(transcript.model.as_deref(), Some("fake/big"));
        }
        let plain = heard(&[], "AI_APICallError: Monthly usage limit reached\n");
        let found = status_of(&plain, Ending::Signalled(15), EndedBy::Idle);
        assert_eq!(found, limited);
    }

    #[test]
    fn an_error_in_the_stream_is_told_by_its_fields() {
        let start = "message=\"stream error\" providerID=fake modelID=big small=false";
        let fault = |fields: &str| heard(&[], &log_line(&format!("{start} {fields}")));
        let quiet = |fields| status_of(&fault(fields), Ending::Signalled(15), EndedBy::Idle);
        let limited = Status::RateLimited { until: None };
        let overloaded =
            "error.error.message=Busy error.error.type=server_error error.error.code=503";
        assert_eq!(quiet(overloaded), limited);
        let limit = "error.error.message=\"slow down\" error.error.type=rate_limit_error";
        assert_eq!(quiet(limit), limited);
        let by = Interruption::Provider;
        let internal = "error.error.message=\"it broke\" error.error.type=server_error";
        assert_eq!(quiet(internal), Status::Interrupted { by });
    }

    #[test]
    fn other_lines_of_its_log_are_passed_over() {
        let title = "message=\"stream error\" small=true agent=title error.error=\"AI_APICallError: Overloaded\"";
        let other = "message=\"failed to start\" service=lsp error.error=\"rate limit\"";
        let quoting = "message=\"it says level=ERROR message=\\\"stream error\\\" x\" error.error=\"rate limit\"";
        let log = [title, other, quoting, "message=\"rate limit\""]
            .map(log_line)
            .concat();
        assert_eq!(heard(&[], &log).trouble, None);
    }

    #[test]
    fn what_keeps_it_from_starting_makes_it_unavailable() {
        let cases = [
            (
                "\u{1b}[91m\u{1b}[1mError: \u{1b}[0mSession not found\n",
                UnavailableCause::Configuration,
            ),
            (
                "\u{1b}[91m\u{1b}[1mError: \u{1b}[0mIncorrect API key provided\n",
                UnavailableCause::Auth,
            ),
            (
                "Error: Config file at opencode.json is not valid JSON(C)\n",
                UnavailableCause::Configuration,
            ),
            (
                "opencode run [message..]\n\nrun opencode with a message\n",
                UnavailableCause::Configuration,
            ),
        ];
        for (err, cause) in cases {
            let expected = Status::AgentUnavailable { cause };
            assert_eq!(exited(&heard(&[], err), 1), expected, "{err}");
        }
    }

    #[test]
    fn what_the_model_writes_and_a_tool_prints_decides_nothing() {
        let fake = error("APIError", &json!({"statusCode": 429})).to_string();
        let printed =
            tool(&json!({"status": "completed", "output": fake, "metadata": {"exit": 0}}));
        let failed =
            tool(&json!({"status": "error", "error": "Error: rate limit reached (HTTP 429)"}));
        let lines = [
            said("Rate limit reached, 429: usage limit."),
            printed,
            failed,
            json!({"type": "compaction", "sessionID": "ses_1", "overflow": true}),
            json!({"type": "done", "reason": "idle"}),
            json!("Error: rate limit"),
            said("AI_APICallError: 429"),
            finished("stop"),
        ];
        let transcript = heard(&lines, "");
        assert_eq!(transcript.trouble, None);
        assert_eq!((transcript.ran, transcript.denied), (2, 0));
        assert_eq!(transcript.session.as_deref(), Some("ses_1"));
        assert_eq!(exited(&transcript, 0), Status::Success);
    }

    #[test]
    fn a_call_is_counted_once_and_one_that_was_not_allowed_is_denied() {
        let done = json!({"status": "completed", "output": "", "time": {"start": 1, "end": 2}});
        let dropped =
            json!({"status": "completed", "time": {"start": 1, "end": 2, "compacted": 3}});
        let denied = json!({"status": "error", "error": "The user has specified a rule which prevents you from using this specific tool call. Here are some of the relevant rules []"});
        let transcript = heard(&[tool(&done), tool(&dropped), tool(&denied)], "");
        assert_eq!(transcript.spent.tool_calls, 2);
        assert_eq!((transcript.ran, transcript.denied), (1, 1));
        assert!(!transcript.tool_open());
    }

    #[test]
    fn words_in_the_format_for_people_leave_the_end_to_the_exit_status() {
        let run = |out: &str, err: &str, code| {
            let mut parser = OpenCode.parser();
            let mut events = parser.take(Stream::Out, out.as_bytes());
            events.extend(parser.take(Stream::Err, err.as_bytes()));
            events.extend(parser.finish());
            let mut transcript = Transcript::default();
            for event in events {
                transcript.take(event, trial::AT);
            }
            exited(&transcript, code)
        };
        let words = "Error: rate limit, as the model writes.\nReview approved and posted.\n";
        assert_eq!(run(words, "", 0), Status::Success);
        assert_eq!(run(words, "", 1), Status::Unknown);
        let limited = Status::RateLimited { until: None };
        assert_eq!(run("on it\n", "Error: Rate limit reached\n", 0), limited);
        assert_eq!(run("{", "", 0), Status::Unknown);
    }

    #[test]
    fn a_price_of_nothing_for_work_is_no_price() {
        let step = |cost: &str| {
            format!(
                "{{\"type\":\"step_finish\",\"sessionID\":\"s\",\"part\":{{\"reason\":\"stop\",\"cost\":{cost},\"tokens\":{{\"input\":9,\"output\":1}}}}}}\n"
            )
        };
        let heard = |cost: &str| OpenCode.parser().take(Stream::Out, step(cost).as_bytes());
        let priced = |heard: &[AgentEvent]| {
            heard
                .iter()
                .any(|event| matches!(event, AgentEvent::Cost(_)))
        };
        assert!(!priced(&heard("0")));
        assert!(heard("0.5").contains(&AgentEvent::Cost(500_000)));
    }
}
