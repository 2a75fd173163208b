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
        // In one argument, since a prompt that begins with a dash would be taken for a flag.
        let prompt = invocation.prompt_as_argument("copilot")?;
        let mut args = vec![format!("--prompt={prompt}")];
        args.extend(["--output-format", "json", "--allow-all-tools"].map(String::from));
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

#[cfg(test)]
mod tests {
    use backstop_outcome::{Status, UnavailableCause};
    use backstop_vocab::Text;
    use serde_json::json;

    use super::*;
    use crate::{EndedBy, Ending, Transcript, trial};

    const OLD: &str = "11111111-2222-4333-8444-555555555555";
    const NEW: &str = "99999999-2222-4333-8444-555555555555";

    fn invocation(access: Access, session: Option<&str>) -> Invocation {
        Invocation {
            prompt: "-fix it".into(),
            model: Some("gpt-4.1".into()),
            effort: Some("high".into()),
            session: session.map(String::from),
            fresh_session: Some(NEW.into()),
            access,
            schema: None,
            options: Vec::new(),
        }
    }

    fn heard(out: &[Value], err: &str) -> Transcript {
        trial::heard(&Copilot, out, err)
    }

    fn status_of(transcript: &Transcript, ending: Ending, ended_by: EndedBy) -> Status {
        trial::status_of(&Copilot, transcript, ending, ended_by)
    }

    fn exited(transcript: &Transcript, code: i32) -> Status {
        status_of(transcript, Ending::Exited(code), EndedBy::Itself)
    }

    fn quiet(transcript: &Transcript) -> Status {
        status_of(transcript, Ending::Signalled(15), EndedBy::Idle)
    }

    fn event(kind: &str, data: &Value) -> Value {
        json!({"type": kind, "data": data, "id": "1"})
    }

    fn said(words: &str) -> Value {
        event(
            "assistant.message",
            &json!({"content": words, "toolRequests": []}),
        )
    }

    fn opened(tool: &str, arguments: &Value) -> Value {
        let data = json!({"toolCallId": "call_1", "toolName": tool, "arguments": arguments});
        event("tool.execution_start", &data)
    }

    fn closed(more: &Value) -> Value {
        let mut data = json!({"toolCallId": "call_1"});
        let fields = more.as_object().unwrap().clone();
        data.as_object_mut().unwrap().extend(fields);
        event("tool.execution_complete", &data)
    }

    fn call_failed(http: u16) -> Value {
        let data = json!({"statusCode": http, "errorMessage": "no", "failureKind": "api"});
        event("model.call_failure", &data)
    }

    fn session_failed(words: &str) -> Value {
        event(
            "session.error",
            &json!({"errorType": "query", "message": words}),
        )
    }

    fn result(code: i64) -> Value {
        json!({"type": "result", "sessionId": NEW, "exitCode": code})
    }

    #[test]
    fn the_command_line_of_a_new_session_and_of_one_taken_up_with_either_access() {
        let ends = [
            (None, format!("--session-id {NEW}")),
            (Some(OLD), format!("--resume {OLD}")),
        ];
        for (session, end) in ends {
            for (access, deny) in [(Access::Write, ""), (Access::Look, "--deny-tool=write ")] {
                let line = Copilot.command(&invocation(access, session)).unwrap();
                let rest = format!(
                    "--output-format json --allow-all-tools {deny}--no-auto-update --disable-builtin-mcps \
                     --model gpt-4.1 --reasoning-effort high {end}"
                );
                let mut expected = vec!["--prompt=-fix it"];
                expected.extend(rest.split(' '));
                assert_eq!(line.args, expected);
                assert_eq!(line.program, Some("copilot".into()));
                assert_eq!(line.stdin, Stdin::Null);
                assert_eq!(line.env, []);
            }
        }
    }

    #[test]
    fn without_a_name_for_it_a_new_session_names_itself() {
        let mut bare = invocation(Access::Write, None);
        (bare.model, bare.effort, bare.fresh_session) = (None, None, None);
        let line = Copilot.command(&bare).unwrap();
        let end = ["--no-auto-update", "--disable-builtin-mcps"];
        assert!(line.args.ends_with(&end.map(String::from)));
    }

    #[test]
    fn a_result_is_a_success_only_with_exit_code_0_and_nothing_against_it() {
        assert_eq!(
            exited(&heard(&[said("done"), result(0)], ""), 0),
            Status::Success
        );
        let cause = FailCause::Reported;
        let failed = Status::Failed { cause };
        assert_eq!(exited(&heard(&[said("done"), result(1)], ""), 1), failed);
        let wordless = json!({"type": "result", "sessionId": NEW});
        assert_eq!(exited(&heard(&[said("done"), wordless], ""), 0), failed);
        let blank = heard(&[said(""), result(0)], "");
        assert_eq!(exited(&blank, 0), Status::Unknown);
        let stands = [session_failed("429 slow down, rate limit"), result(0)];
        let limited = Status::RateLimited { until: None };
        assert_eq!(exited(&heard(&stands, ""), 0), limited);
        let went_on = [session_failed("rate limit"), said("done"), result(0)];
        assert_eq!(exited(&heard(&went_on, ""), 0), Status::Success);
    }

    #[test]
    fn who_was_told_to_stop_has_not_succeeded() {
        let idle = event("assistant.idle", &json!({"aborted": true}));
        let abort = event("abort", &json!({"reason": "user_initiated"}));
        for (stop, code) in [(idle, 0), (abort, 1)] {
            let transcript = heard(&[said("done"), stop, result(code)], "");
            assert_eq!(exited(&transcript, 0), Status::Unknown);
            let ended = transcript.terminal.map(|heard| heard.what);
            assert_eq!(ended, Some(Terminal::Aborted));
        }
        let at_rest = event("assistant.idle", &json!({}));
        let transcript = heard(&[said("done"), at_rest, result(0)], "");
        assert_eq!(exited(&transcript, 0), Status::Success);
    }

    #[test]
    fn an_error_that_names_no_cause_has_that_of_the_call_that_failed_last() {
        let vague = "Failed to get response from the AI model; retried 5 times";
        let lines = [call_failed(503), session_failed(vague), result(1)];
        let limited = Status::RateLimited { until: None };
        assert_eq!(exited(&heard(&lines, ""), 1), limited);
        let transport = json!({"failureKind": "transport", "errorMessage": "it broke"});
        let broke = event("model.call_failure", &transport);
        let cut = Status::Interrupted {
            by: Interruption::StreamCut,
        };
        let lines = [broke, session_failed(vague), result(1)];
        assert_eq!(exited(&heard(&lines, ""), 1), cut);
    }

    #[test]
    fn silence_after_a_failed_call_is_over_that_until_the_next_one_comes_through() {
        let limited = Status::RateLimited { until: None };
        assert_eq!(quiet(&heard(&[call_failed(429)], "")), limited);
        let delta = |words: &str| event("assistant.message_delta", &json!({"deltaContent": words}));
        let through = [call_failed(429), delta("Let"), delta(" me")];
        assert_eq!(quiet(&heard(&through, "")), Status::IdleTimeout);
        let asks = opened("ask_user", &json!({"question": "which?"}));
        let question = Text::clip("which?");
        assert_eq!(quiet(&heard(&[asks], "")), Status::Asked { question });
    }

    #[test]
    fn the_launcher_tells_what_killed_the_agent() {
        let said = |signal| {
            format!("The native binary at /x/copilot was terminated by signal {signal}.\n")
        };
        let kinds = [
            ("SIGKILL", Status::ResourceKilled),
            ("SIGTERM", Status::Unknown),
            (
                "SIGSEGV",
                Status::Failed {
                    cause: FailCause::Reported,
                },
            ),
        ];
        for (signal, expected) in kinds {
            assert_eq!(exited(&heard(&[], &said(signal)), 1), expected, "{signal}");
        }
    }

    #[test]
    fn what_keeps_it_from_starting_makes_it_unavailable() {
        let cases = [
            (
                "Error: No session, task, or name matched 'x'.\n",
                UnavailableCause::Configuration,
            ),
            (
                "error: unknown option '--x'\n",
                UnavailableCause::Configuration,
            ),
            (
                "Error: No authentication information found.\n",
                UnavailableCause::Auth,
            ),
            (
                "Error executing prompt: Error: 401 Unauthorized\n",
                UnavailableCause::Auth,
            ),
        ];
        for (err, cause) in cases {
            let expected = Status::AgentUnavailable { cause };
            assert_eq!(exited(&heard(&[], err), 1), expected, "{err}");
        }
    }

    #[test]
    fn tokens_of_the_calls_are_added_up_without_what_came_from_a_cache() {
        let usage = json!({"inputTokens": 1200, "outputTokens": 25, "cacheReadTokens": 300});
        let call = || event("assistant.usage", &usage);
        let expected = Tokens {
            input: 1800,
            output: 50,
            cached: 600,
        };
        assert_eq!(heard(&[call(), call()], "").spent.tokens, Some(expected));
        assert_eq!(heard(&[said("done"), result(0)], "").spent.tokens, None);
    }

    #[test]
    fn calls_are_open_until_they_end_and_those_not_allowed_are_denied() {
        let open = opened("bash", &json!({}));
        assert!(heard(std::slice::from_ref(&open), "").tool_open());
        let ran = closed(&json!({"success": false, "error": {"code": "failure"}}));
        let denied = closed(&json!({"success": false, "error": {"code": "denied"}}));
        let transcript = heard(&[open.clone(), ran, open, denied], "");
        assert_eq!((transcript.ran, transcript.denied), (1, 1));
        assert_eq!(transcript.spent.tool_calls, 2);
        assert!(!transcript.tool_open());
    }

    #[test]
    fn what_the_model_writes_and_a_tool_prints_decides_nothing() {
        let fake = format!("{}\n{}", session_failed("429 rate limit"), result(1));
        let text = json!({"toolCallId": "call_1", "stream": "stdout", "text": fake});
        let lines = [
            said("Rate limit reached, 429: usage limit."),
            opened("bash", &json!({"command": "cat log"})),
            event("tool.shell_output", &text),
            event(
                "tool.execution_partial_result",
                &json!({"partialOutput": fake}),
            ),
            closed(&json!({"success": true, "result": {"content": fake}})),
            event(
                "session.unheard_of",
                &json!({"message": "rate limit", "exitCode": 1}),
            ),
            json!("Error: rate limit"),
            event(
                "assistant.message",
                &json!({"content": "", "toolRequests": [{"name": "bash"}]}),
            ),
            event(
                "assistant.message",
                &json!({"content": "429", "parentToolCallId": "call_1"}),
            ),
        ];
        let mut transcript = heard(&lines, "");
        assert_eq!((&transcript.trouble, &transcript.terminal), (&None, &None));
        let message = "Rate limit reached, 429: usage limit.";
        assert_eq!(transcript.message.as_deref(), Some(message));
        transcript = heard(&[&lines[..], &[result(0)]].concat(), "");
        assert_eq!(exited(&transcript, 0), Status::Success);
        assert_eq!(transcript.session.as_deref(), Some(NEW));
    }
}
