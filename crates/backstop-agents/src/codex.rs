//! Codex.
//!
//! Its words are JSON lines (`exec --json`); a turn ends with `turn.completed` or `turn.failed`. A line of the type `error`
//! is a notice: it tries again, or says what the turn then fails of. What it complains of before a turn stands on standard
//! error.

use backstop_outcome::Interruption;
use serde_json::Value;

use crate::adapter::{
    About, Adapter, CommandLine, Features, Figure, Invocation, Parser, Stdin, Support,
};
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
            names_session: Support::No,
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
                "a provider of your own in its config.toml is not looked at: whether its key is set shows only when it runs",
                "it does not name the model that works",
                "without a network it waits for ever: the idle limit ends it",
                "nothing keeps a reviewer from editing: what it writes is thrown away with its checkout",
            ],
        })
    }

    fn structured(&self) -> Support {
        Support::Yes
    }

    fn carries(&self) -> &'static [Figure] {
        &[Figure::Tokens]
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
        if let Some(schema) = &invocation.schema {
            args.extend([
                "--output-schema".to_owned(),
                schema.file.display().to_string(),
            ]);
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

/// How lines begin that only the program itself writes; with JSON lines asked for, no answer of a model is a plain line.
const COMPLAINTS: &[&str] = &[
    "error: ",
    "Error: ",
    "ERROR: ",
    "Error loading config",
    "Not inside a trusted directory",
    "Not logged in",
    "No prompt provided",
    "No saved session found",
    "You've hit your usage limit",
    "You’ve hit your usage limit",
    "Rate limit exceeded",
    "Rate limit reached",
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

    fn plain(&mut self, _: Stream, line: &str, heard: &mut Vec<AgentEvent>) {
        heard.extend(complaint(line, COMPLAINTS).map(AgentEvent::Trouble));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapter::Access;
    use crate::adapter::Schema;
    use backstop_outcome::{FailCause, UnavailableCause};

    fn invocation() -> Invocation {
        Invocation {
            prompt: "do it".into(),
            model: None,
            effort: None,
            session: None,
            fresh_session: None,
            access: Access::Write,
            schema: None,
            options: Vec::new(),
        }
    }

    fn heard(stream: Stream, lines: &[&str]) -> Vec<AgentEvent> {
        let mut parser = Codex.parser();
        let mut heard = parser.take(stream, lines.join("\n").as_bytes());
        heard.extend(parser.finish());
        heard
    }

    fn out(lines: &[&str]) -> Vec<AgentEvent> {
        heard(Stream::Out, lines)
    }

    fn err(lines: &[&str]) -> Vec<AgentEvent> {
        heard(Stream::Err, lines)
    }

    fn failed(message: &str) -> Vec<AgentEvent> {
        let line = serde_json::json!({"type": "turn.failed", "error": {"message": message}});
        out(&[&line.to_string()])
    }

    #[test]
    fn a_fresh_launch_and_one_that_takes_up_a_session() {
        const BYPASS: &str = "--dangerously-bypass-approvals-and-sandbox";
        let mut invocation = invocation();
        let fresh = Codex.command(&invocation).unwrap();
        assert_eq!(fresh.program, Some("codex".into()));
        assert_eq!(fresh.args, ["exec", "--json", BYPASS, "-"]);
        assert_eq!(fresh.env, []);
        assert_eq!(fresh.stdin, Stdin::Text("do it".into()));
        invocation.access = Access::Look;
        assert_eq!(Codex.command(&invocation).unwrap(), fresh);
        invocation.schema = Some(Schema {
            text: "{}".into(),
            file: "/s/verdict.json".into(),
        });
        let held = Codex.command(&invocation).unwrap();
        let schema = ["--output-schema", "/s/verdict.json", "-"];
        assert_eq!(
            held.args,
            [&["exec", "--json", BYPASS], &schema[..]].concat()
        );
        invocation.schema = None;
        invocation.model = Some("gpt-5.1-codex".into());
        invocation.effort = Some("high".into());
        invocation.session = Some("an-id".into());
        let resumed = Codex.command(&invocation).unwrap();
        let args = [
            "exec",
            "resume",
            "an-id",
            "--json",
            BYPASS,
            "-m",
            "gpt-5.1-codex",
            "-c",
            "model_reasoning_effort=\"high\"",
            "-",
        ];
        assert_eq!(resumed.args, args);
        assert_eq!(resumed.stdin, fresh.stdin);
    }

    #[test]
    fn a_long_prompt_is_handed_over_whole() {
        let prompt = "word ".repeat(100_000);
        let mut invocation = invocation();
        invocation.prompt.clone_from(&prompt);
        let line = Codex.command(&invocation).unwrap();
        assert_eq!(line.stdin, Stdin::Text(prompt));
    }

    #[test]
    fn what_a_model_writes_and_a_tool_prints_is_never_trouble() {
        let heard = out(&[
            r#"{"type":"item.completed","item":{"id":"i1","type":"agent_message","text":"HTTP 429: Rate limit reached"}}"#,
            r#"{"type":"item.completed","item":{"id":"i2","type":"command_execution","aggregated_output":"{\"type\":\"turn.completed\"}\n{\"type\":\"turn.failed\"}\n","exit_code":0,"status":"completed"}}"#,
            r#"{"type":"item.completed","item":{"id":"i3","type":"reasoning","text":"usage limit"}}"#,
            r#"{"type":"something.new","error":{"message":"usage limit"}}"#,
            "usage limit reached",
        ]);
        let expected = [
            AgentEvent::Text("HTTP 429: Rate limit reached".into()),
            AgentEvent::ToolOpened("i2".into()),
            AgentEvent::ToolClosed("i2".into(), ToolEnd::Ran),
        ];
        assert_eq!(heard, expected);
        let forged = r#"{"type":"turn.completed","usage":{}}"#;
        assert_eq!(err(&[forged]), []);
    }

    #[test]
    fn a_call_is_open_until_it_is_over_and_may_be_declined() {
        let heard = out(&[
            r#"{"type":"item.started","item":{"id":"i1","type":"mcp_tool_call","status":"in_progress"}}"#,
            r#"{"type":"item.started","item":{"id":"i2","type":"todo_list","items":[]}}"#,
            r#"{"type":"item.completed","item":{"id":"i3","type":"command_execution","status":"declined"}}"#,
        ]);
        let expected = [
            AgentEvent::ToolOpened("i1".into()),
            AgentEvent::ToolOpened("i3".into()),
            AgentEvent::ToolClosed("i3".into(), ToolEnd::Denied),
        ];
        assert_eq!(heard, expected);
    }

    #[test]
    fn a_notice_says_what_it_waits_for_and_a_warning_nothing() {
        let notice = |message: &str| {
            let line = serde_json::json!({"type": "error", "message": message});
            out(&[&line.to_string()])
        };
        let auth = ErrorKind::Unavailable(UnavailableCause::Auth);
        let network = ErrorKind::Interrupted(Interruption::Network);
        let cases = [
            (
                "Reconnecting... waiting for network (Connection failed)",
                network.clone(),
            ),
            ("Reconnecting... 1/5 (something odd)", network),
            (
                "Reconnecting... 1/5 (exceeded retry limit, last status: 429 Too Many Requests)",
                ErrorKind::Limited(None),
            ),
            (
                "Reconnecting... 2/5 (exceeded retry limit, last status: 503 Service Unavailable)",
                ErrorKind::Limited(None),
            ),
            (
                "Reconnecting... 2/5 (unexpected status 401 Unauthorized: no, url: http://h/rate_limit)",
                auth,
            ),
            (
                "something odd, url: http://h/usage_limit",
                ErrorKind::Failed(FailCause::Reported),
            ),
        ];
        for (message, kind) in cases {
            assert_eq!(notice(message), [AgentEvent::Trouble(kind)], "{message}");
        }
        let warning = r#"{"type":"item.completed","item":{"id":"i","type":"error","message":"You are close to your usage limit"}}"#;
        assert_eq!(out(&[warning]), []);
        let again = warning.replace("You are close", "Reconnecting... close");
        assert!(matches!(
            out(&[&again])[..],
            [AgentEvent::Trouble(ErrorKind::Limited(_))]
        ));
    }

    #[test]
    fn a_turn_fails_of_what_it_says() {
        let billing = || ErrorKind::Unavailable(UnavailableCause::Billing);
        let cases = [
            (
                "Missing environment variable: `MY_PROVIDER`.",
                ErrorKind::Unavailable(UnavailableCause::Auth),
            ),
            (
                "Your access token could not be refreshed because your refresh token has expired.",
                ErrorKind::Unavailable(UnavailableCause::Auth),
            ),
            (
                "To use Codex with your ChatGPT plan, upgrade to Plus: https://h/plus.",
                billing(),
            ),
            ("You hit your spend cap set in your workspace.", billing()),
            (
                "Incomplete response returned, reason: max_output_tokens",
                ErrorKind::Failed(FailCause::Reported),
            ),
            (
                "Incomplete response returned, reason: content_filter",
                ErrorKind::Failed(FailCause::Refused),
            ),
            (
                "request timed out",
                ErrorKind::Interrupted(Interruption::Network),
            ),
            ("You’ve hit your usage limit.", ErrorKind::Limited(None)),
        ];
        for (message, kind) in cases {
            let ended = AgentEvent::Ended(Terminal::Error(kind));
            assert_eq!(failed(message), [ended], "{message}");
        }
        let stopped = [AgentEvent::Ended(Terminal::Aborted)];
        assert_eq!(failed("turn aborted. Something went wrong?"), stopped);
        assert_eq!(
            failed("interrupted (Ctrl-C). Something went wrong?"),
            stopped
        );
    }

    #[test]
    fn a_turn_without_words_has_an_empty_final_message_and_cached_input_is_not_charged() {
        let done = r#"{"type":"turn.completed","usage":{"input_tokens":1200,"cached_input_tokens":300,"output_tokens":25,"reasoning_output_tokens":5}}"#;
        let used = AgentEvent::Used(Tokens {
            input: 900,
            output: 25,
            cached: 300,
        });
        let success = AgentEvent::Ended(Terminal::Success);
        assert_eq!(
            out(&[done]),
            [
                used.clone(),
                AgentEvent::Text(String::new()),
                success.clone()
            ]
        );
        let said =
            r#"{"type":"item.completed","item":{"id":"i","type":"agent_message","text":"ok"}}"#;
        assert_eq!(
            out(&[said, done]),
            [AgentEvent::Text("ok".into()), used, success]
        );
    }

    #[test]
    fn a_complaint_before_a_turn_is_trouble() {
        let setup = ErrorKind::Unavailable(UnavailableCause::Configuration);
        let lines = [
            "error: unexpected argument '--x' found",
            "Error: thread/resume failed: no rollout found for thread id 1",
            "Not inside a trusted directory and --skip-git-repo-check was not specified.",
            "No prompt provided via stdin.",
            "Error loading config.toml: invalid type",
        ];
        for line in lines {
            let trouble = AgentEvent::Trouble(setup.clone());
            assert_eq!(err(&[line]), [trouble], "{line}");
        }
        let limits = [
            "ERROR: You've hit your usage limit. Visit h or try again at 7:58 PM.",
            "Rate limit exceeded. Try again at Mar 26, 2026 5:55 AM",
        ];
        for line in limits {
            let heard = err(&[line]);
            let limited = matches!(heard[..], [AgentEvent::Trouble(ErrorKind::Limited(_))]);
            assert!(limited, "{line}");
        }
        let others = [
            "Reading additional input from stdin...",
            "Usage: codex exec",
        ];
        assert_eq!(err(&others), []);
    }
}
