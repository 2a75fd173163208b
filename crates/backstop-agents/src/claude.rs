//! Claude Code.
//!
//! Its words are JSON lines (`--output-format stream-json`); the last one has the type `result`. `subtype` is `success`
//! for errors too: `is_error` tells. An error that the provider sent is also shown as an answer of a synthetic model.

use backstop_outcome::{FailCause, Interruption, UnavailableCause};
use serde_json::Value;

use crate::adapter::{
    About, Access, Adapter, CommandLine, Features, Invocation, Parser, Stdin, Support,
};
use crate::by_line::{ByLine, Grammar, list, micros, number, text};
use crate::trouble::{Reported, complaint, status_in};
use crate::{AgentEvent, ErrorKind, Reset, Stream, Terminal, Tokens, ToolEnd};

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
        for (flag, value) in [
            ("--model", &invocation.model),
            ("--effort", &invocation.effort),
            ("--resume", &invocation.session),
        ] {
            args.extend(
                value
                    .iter()
                    .flat_map(|value| [flag.to_owned(), value.clone()]),
            );
        }
        Ok(CommandLine {
            program: Some(invocation.program("claude")),
            args,
            env: [
                "DISABLE_AUTOUPDATER",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
            ]
            .map(|name| (name.to_owned(), "1".to_owned()))
            .into(),
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
    /// What the messages before the newest one used.
    before: Tokens,
    /// The newest message and what it used so far.
    newest: (String, Tokens),
    /// Calls that were not allowed.
    denied: Vec<String>,
}

impl Grammar for Claudish {
    fn value(&mut self, line: &Value, heard: &mut Vec<AgentEvent>) {
        if let Some(id) = text(line, "/session_id") {
            heard.push(AgentEvent::Session(id.to_owned()));
        }
        match text(line, "/type") {
            Some("system") => self.system(line, heard),
            Some("rate_limit_event") => heard.extend(self.window(line)),
            Some("assistant") => self.assistant(line, heard),
            Some("user") => self.results(line, heard),
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
            Some("init") => {
                let model = text(line, "/model").map(str::to_owned);
                heard.extend(model.map(AgentEvent::Model));
            }
            Some("api_retry") => {
                let class = text(line, "/error").unwrap_or_default();
                let mut kind = self.reported(status(line, "/error_status"), class, "");
                // A try that failed for a reason without a name is a connection that broke.
                if kind == ErrorKind::Failed(FailCause::Reported) {
                    kind = ErrorKind::Interrupted(Interruption::Network);
                }
                heard.push(AgentEvent::Trouble(kind));
            }
            Some("permission_denied") => heard.extend(self.deny(line)),
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
        let own = text(line, "/parent_tool_use_id").is_none();
        for part in parts {
            match text(part, "/type") {
                Some("tool_use") => open(part, heard),
                // What a subagent says is said to the agent.
                Some("text") if own => say(part, heard),
                Some(_) | None => {}
            }
        }
        say(line, heard);
        heard.extend(self.used(line));
    }

    /// What was used so far. A message is announced in parts, each with the same figures.
    fn used(&mut self, line: &Value) -> Option<AgentEvent> {
        let usage = line.pointer("/message/usage")?;
        let id = text(line, "/message/id")?;
        if self.newest.0 != id {
            self.before = self.before.plus(self.newest.1);
            id.clone_into(&mut self.newest.0);
        }
        self.newest.1 = tokens(usage);
        Some(AgentEvent::Used(self.before.plus(self.newest.1)))
    }

    fn results(&self, line: &Value, heard: &mut Vec<AgentEvent>) {
        let ids = list(line, "/message/content")
            .iter()
            .filter_map(|part| text(part, "/tool_use_id"))
            .filter(|id| !self.denied.iter().any(|denied| denied == id));
        heard.extend(ids.map(|id| AgentEvent::ToolClosed(id.to_owned(), ToolEnd::Ran)));
    }

    /// A call that was not allowed, told once.
    fn deny(&mut self, denial: &Value) -> Option<AgentEvent> {
        let id = text(denial, "/tool_use_id").or_else(|| text(denial, "/tool_name"))?;
        if self.denied.iter().any(|denied| denied == id) {
            return None;
        }
        self.denied.push(id.to_owned());
        Some(AgentEvent::ToolClosed(id.to_owned(), ToolEnd::Denied))
    }

    fn result(&mut self, line: &Value, heard: &mut Vec<AgentEvent>) {
        for denial in list(line, "/permission_denials") {
            heard.extend(self.deny(denial));
        }
        if let Some(usage) = line.pointer("/usage") {
            heard.push(AgentEvent::Used(tokens(usage)));
        }
        let cost = line.pointer("/total_cost_usd").and_then(Value::as_f64);
        heard.extend(cost.and_then(micros).map(AgentEvent::Cost));
        let failed = line.pointer("/is_error") == Some(&Value::Bool(true))
            || text(line, "/subtype").is_some_and(|subtype| subtype.starts_with("error"));
        if failed {
            heard.push(AgentEvent::Ended(self.failure(line)));
            return;
        }
        let said = text(line, "/result").map(str::to_owned);
        heard.extend(said.map(AgentEvent::Text));
        heard.push(AgentEvent::Ended(Terminal::Success));
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

fn open(part: &Value, heard: &mut Vec<AgentEvent>) {
    let id = text(part, "/id")
        .or_else(|| text(part, "/name"))
        .unwrap_or_default();
    heard.push(AgentEvent::ToolOpened(id.to_owned()));
    if text(part, "/name") == Some("AskUserQuestion") {
        let question = text(part, "/input/question")
            .or_else(|| text(part, "/input/questions/0/question"))
            .unwrap_or("it asked something");
        heard.push(AgentEvent::Asks(question.to_owned()));
    }
}

fn say(part: &Value, heard: &mut Vec<AgentEvent>) {
    heard.extend(text(part, "/text").map(|text| AgentEvent::Text(text.to_owned())));
}

fn status(line: &Value, place: &str) -> Option<u16> {
    u16::try_from(number(line, place))
        .ok()
        .filter(|status| *status != 0)
}

fn tokens(usage: &Value) -> Tokens {
    Tokens {
        input: number(usage, "/input_tokens")
            .saturating_add(number(usage, "/cache_creation_input_tokens")),
        output: number(usage, "/output_tokens"),
        cached: number(usage, "/cache_read_input_tokens"),
    }
}
