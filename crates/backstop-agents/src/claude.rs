//! Claude Code.
//!
//! Its words are JSON lines (`--output-format stream-json`); the last one has the type `result`. `subtype` is `success`
//! for errors too: `is_error` tells. An error that the provider sent is also shown as an answer of a synthetic model.

use backstop_outcome::{FailCause, Interruption, UnavailableCause};
use serde_json::Value;

use crate::adapter::{
    About, Access, Adapter, CommandLine, Features, Figure, Invocation, Parser, Stdin, Support,
    given, switched_on,
};
use crate::by_line::{ByLine, Grammar, list, micros, number, status, text};
use crate::claude_like::{Seen, failed, names, success};
use crate::trouble::{Reported, complaint, status_in};
use crate::{AgentEvent, ErrorKind, Reset, Stream, Terminal};

/// The adapter.
#[derive(Debug)]
pub(crate) struct Claude;

impl Adapter for Claude {
    fn name(&self) -> &'static str {
        "claude"
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
            program: "claude",
            tested: "2.1.332",
            variables: &[
                "ANTHROPIC_API_KEY",
                "CLAUDE_CODE_OAUTH_TOKEN",
                "ANTHROPIC_AUTH_TOKEN",
            ],
            logins: &[".claude/.credentials.json"],
            gaps: &[
                "with an API key the end of a limit is never named: it is waited for with growing pauses",
                "as root it refuses to run without asking, unless IS_SANDBOX=1 is set",
            ],
        })
    }

    fn structured(&self) -> Support {
        Support::Yes
    }

    fn carries(&self) -> &'static [Figure] {
        &[Figure::Cost]
    }

    fn unset(&self) -> &'static [&'static str] {
        &[
            "CLAUDECODE",
            "CLAUDE_CODE_ENTRYPOINT",
            "CLAUDE_CODE_SSE_PORT",
        ]
    }

    fn command(&self, invocation: &Invocation) -> Result<CommandLine, String> {
        let mut args: Vec<String> = [
            "-p",
            "--output-format",
            "stream-json",
            "--verbose",
            "--permission-mode",
            "bypassPermissions",
        ]
        .map(String::from)
        .into();
        if invocation.access == Access::Look {
            args.extend(["--disallowedTools", "Edit,Write,NotebookEdit"].map(String::from));
        }
        let schema = invocation.schema.as_ref().map(|schema| schema.text.clone());
        args.extend(given([
            ("--model", &invocation.model),
            ("--effort", &invocation.effort),
            ("--resume", &invocation.session),
            ("--json-schema", &schema),
        ]));
        Ok(CommandLine {
            program: Some(invocation.program("claude")),
            args,
            env: switched_on(&[
                "DISABLE_AUTOUPDATER",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
            ]),
            stdin: Stdin::Text(invocation.prompt.clone()),
        })
    }

    fn parser(&self) -> Box<dyn Parser> {
        Box::new(ByLine::<Claudish>::default())
    }
}

/// How lines begin that only the program itself writes; with JSON lines asked for, no answer of a model is a plain line.
const COMPLAINTS: &[&str] = &[
    "API Error",
    "You've hit your",
    "You've reached your",
    "Claude AI usage limit",
    "Claude usage limit",
    "Credit balance",
    "Not logged in",
    "Invalid API key",
    "Please run /login",
    "OAuth ",
    "error: ",
    "Error: ",
    "No conversation found",
    "--dangerously-skip-permissions cannot",
];

/// The grammar.
#[derive(Debug, Default)]
struct Claudish {
    /// When the window ends whose limit was reached.
    window: Option<Reset>,
    /// What is remembered of earlier lines.
    seen: Seen,
}

impl Grammar for Claudish {
    fn value(&mut self, line: &Value, heard: &mut Vec<AgentEvent>) {
        names(line, heard);
        match text(line, "/type") {
            Some("system") => self.system(line, heard),
            Some("rate_limit_event") => heard.extend(self.window(line)),
            Some("assistant") => self.assistant(line, heard),
            Some("user") => self.seen.results(line, heard),
            Some("result") => self.result(line, heard),
            Some(_) | None => {}
        }
    }

    fn plain(&mut self, stream: Stream, line: &str, heard: &mut Vec<AgentEvent>) {
        match complaint(line, COMPLAINTS) {
            Some(kind) => heard.push(AgentEvent::Trouble(kind)),
            // A limit stands only in the last line: what comes after it says that the program went on.
            None if stream == Stream::Out && !line.trim().is_empty() => {
                heard.push(AgentEvent::Text(line.to_owned()));
            }
            None => {}
        }
    }
}

impl Claudish {
    fn system(&mut self, line: &Value, heard: &mut Vec<AgentEvent>) {
        match text(line, "/subtype") {
            Some("api_retry") => {
                let class = text(line, "/error").unwrap_or_default();
                let mut kind = self.reported(status(line, "/error_status"), class, "");
                // A try that failed for a reason without a name is a connection that broke.
                if kind == ErrorKind::Failed(FailCause::Reported) {
                    kind = ErrorKind::Interrupted(Interruption::Network);
                }
                heard.push(AgentEvent::Trouble(kind));
            }
            Some("permission_denied") => heard.extend(self.seen.deny(line)),
            Some(_) | None => {}
        }
    }

    /// A window of a subscription that is full.
    fn window(&mut self, line: &Value) -> Option<AgentEvent> {
        let info = line.pointer("/rate_limit_info")?;
        if text(info, "/status") != Some("rejected") {
            return None;
        }
        let windowless = info.pointer("/rateLimitType").is_none();
        if windowless && text(info, "/overageDisabledReason") == Some("org_level_disabled") {
            let billing = ErrorKind::Unavailable(UnavailableCause::Billing);
            return Some(AgentEvent::Trouble(billing));
        }
        self.window = Reset::epoch(number(info, "/resetsAt"));
        Some(AgentEvent::Trouble(ErrorKind::Limited(self.window.clone())))
    }

    fn assistant(&mut self, line: &Value, heard: &mut Vec<AgentEvent>) {
        let class = text(line, "/error");
        let parts = list(line, "/message/content");
        if class.is_some() || text(line, "/message/model") == Some("<synthetic>") {
            let words = parts.iter().find_map(|part| text(part, "/text"));
            let words = words.unwrap_or_default();
            let http = status(line, "/api_error_status").or_else(|| status_in(words));
            let kind = self.reported(http, class.unwrap_or_default(), words);
            heard.push(AgentEvent::Trouble(kind));
            return;
        }
        self.seen.assistant(line, heard);
    }

    fn result(&mut self, line: &Value, heard: &mut Vec<AgentEvent>) {
        self.seen.totals(line, heard);
        let cost = line.pointer("/total_cost_usd").and_then(Value::as_f64);
        heard.extend(cost.and_then(micros).map(AgentEvent::Cost));
        if failed(line) {
            heard.push(AgentEvent::Ended(self.failure(line)));
        } else {
            success(line, heard);
        }
    }

    fn failure(&self, line: &Value) -> Terminal {
        let reason = text(line, "/terminal_reason").unwrap_or_default();
        if reason.starts_with("aborted") {
            return Terminal::Aborted;
        }
        let errors = list(line, "/errors").iter().filter_map(Value::as_str);
        let words: Vec<&str> = errors.chain(text(line, "/result")).collect();
        let words = words.join("\n");
        let http = status(line, "/api_error_status").or_else(|| status_in(&words));
        let class = match text(line, "/stop_reason") {
            Some("refusal") => "model_refusal",
            Some(_) | None => reason,
        };
        Terminal::Error(self.reported(http, class, &words))
    }

    /// What an error means; a limit ends when its window does.
    fn reported(&self, http: Option<u16>, class: &str, words: &str) -> ErrorKind {
        let kind = Reported { http, class, words }.kind();
        if kind == ErrorKind::Limited(None) {
            return ErrorKind::Limited(self.window.clone());
        }
        kind
    }
}
