//! Qwen Code.
//!
//! It took over the lines of Claude Code (`--output-format stream-json`), and is honest about `is_error`. An error of the
//! provider is printed twice: as text of the model, which says nothing here, and in the last line, which does.

use backstop_outcome::Interruption;
use serde_json::Value;

use crate::adapter::{
    About, Access, Adapter, CommandLine, Features, Invocation, Parser, Stdin, Support, given,
    switched_on,
};
use crate::by_line::{ByLine, Grammar, text};
use crate::claude_like::{Seen, failed, names, success};
use crate::trouble::{Reported, complaint, status_in};
use crate::{AgentEvent, ErrorKind, Stream, Terminal};

/// The adapter.
#[derive(Debug)]
pub(crate) struct Qwen;

impl Adapter for Qwen {
    fn name(&self) -> &'static str {
        "qwen"
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
            program: "qwen",
            tested: "0.24.4",
            variables: &["OPENAI_API_KEY"],
            logins: &[".qwen/settings.json", ".qwen/.env"],
            gaps: &[
                "it says nothing while it sleeps on a limit or a lost network: the idle limit ends it, and why it was quiet is not known",
                "it works with the key of a service that speaks as OpenAI does, and with no other login",
                "it needs Node 22: an older one makes npm install an older version in silence",
            ],
        })
    }

    fn command(&self, invocation: &Invocation) -> Result<CommandLine, String> {
        let mut args: Vec<String> = [
            "--output-format",
            "stream-json",
            "--auth-type",
            "openai",
            "--approval-mode",
            "yolo",
        ]
        .map(String::from)
        .into();
        if invocation.access == Access::Look {
            args.extend(["--exclude-tools", "edit,write_file,notebook_edit"].map(String::from));
        }
        args.extend(given([
            ("--model", &invocation.model),
            ("--resume", &invocation.session),
        ]));
        Ok(CommandLine {
            program: Some(invocation.program("qwen")),
            args,
            // It would start itself again as a child, which a signal to the parent does not reach.
            env: switched_on(&["QWEN_CODE_NO_RELAUNCH", "QWEN_CODE_SUPPRESS_YOLO_WARNING"]),
            stdin: Stdin::Text(invocation.prompt.clone()),
        })
    }

    fn parser(&self) -> Box<dyn Parser> {
        Box::new(ByLine::<Qwenish>::default())
    }
}

/// How lines begin that only the program itself writes; with JSON lines asked for, no answer of a model is a plain line.
const COMPLAINTS: &[&str] = &[
    "[API Error",
    "Reached max session turns",
    "No saved session",
    "Unknown argument",
    "Missing API key",
    "Retrying in ",
    "Error: ",
    "error: ",
];

/// The grammar.
#[derive(Debug, Default)]
struct Qwenish {
    /// What is remembered of earlier lines.
    seen: Seen,
}

impl Grammar for Qwenish {
    fn value(&mut self, line: &Value, heard: &mut Vec<AgentEvent>) {
        names(line, heard);
        match text(line, "/type") {
            Some("system") => heard.extend(self.system(line)),
            Some("assistant") => self.seen.assistant(line, heard),
            Some("user") => self.seen.results(line, heard),
            Some("result") => self.result(line, heard),
            Some(_) => {}
            // With one object asked for, a failure is one more on the other stream.
            None => heard.extend(text(line, "/error/message").map(trouble)),
        }
    }

    fn plain(&mut self, stream: Stream, line: &str, heard: &mut Vec<AgentEvent>) {
        match complaint(line, COMPLAINTS) {
            Some(kind) => heard.push(AgentEvent::Trouble(kind)),
            None if stream == Stream::Out && !line.trim().is_empty() => {
                heard.push(AgentEvent::Text(line.to_owned()));
            }
            None => {}
        }
    }
}

impl Qwenish {
    fn system(&mut self, line: &Value) -> Option<AgentEvent> {
        match text(line, "/subtype") {
            Some("retry") => Some(AgentEvent::Trouble(retry(line))),
            Some("permission_denied") => self.seen.deny(line),
            Some(_) | None => None,
        }
    }

    fn result(&mut self, line: &Value, heard: &mut Vec<AgentEvent>) {
        self.seen.totals(line, heard);
        if failed(line) {
            let words = text(line, "/error/message").or_else(|| text(line, "/result"));
            let kind = reported(words.unwrap_or_default());
            heard.push(AgentEvent::Ended(Terminal::Error(kind)));
        } else {
            success(line, heard);
        }
    }
}

/// Why it tries again: it names a pause for a limit alone, and starts at once over an answer that broke off.
fn retry(line: &Value) -> ErrorKind {
    match line.pointer("/data/delayMs") {
        Some(_) => ErrorKind::Limited(None),
        None => ErrorKind::Interrupted(Interruption::StreamCut),
    }
}

fn trouble(words: &str) -> AgentEvent {
    AgentEvent::Trouble(reported(words))
}

fn reported(words: &str) -> ErrorKind {
    let words = words.strip_prefix("[API Error: ").unwrap_or(words);
    Reported {
        http: status_in(words),
        class: "",
        words,
    }
    .kind()
}

#[cfg(test)]
mod tests {
    use super::*;
    use backstop_outcome::{FailCause, UnavailableCause};

    fn asked(access: Access, session: Option<&str>) -> CommandLine {
        let invocation = Invocation {
            prompt: "-fix it".into(),
            model: session.map(|_| "coder".to_owned()),
            effort: Some("high".into()),
            session: session.map(str::to_owned),
            fresh_session: None,
            access,
            schema: None,
            options: Vec::new(),
        };
        Qwen.command(&invocation).unwrap()
    }

    const FIXED: [&str; 6] = [
        "--output-format",
        "stream-json",
        "--auth-type",
        "openai",
        "--approval-mode",
        "yolo",
    ];

    #[test]
    fn a_first_launch_reads_the_prompt_where_no_shell_and_no_flag_can_mistake_it() {
        let line = asked(Access::Write, None);
        assert_eq!(line.program, Some("qwen".into()));
        assert_eq!(line.args, FIXED);
        assert_eq!(line.stdin, Stdin::Text("-fix it".into()));
        let env = [
            ("QWEN_CODE_NO_RELAUNCH".to_owned(), "1".to_owned()),
            ("QWEN_CODE_SUPPRESS_YOLO_WARNING".to_owned(), "1".to_owned()),
        ];
        assert_eq!(line.env, env);
    }

    #[test]
    fn a_session_is_taken_up_by_its_id() {
        let line = asked(Access::Write, Some("s1"));
        let resumed = ["--model", "coder", "--resume", "s1"];
        assert_eq!(line.args, [&FIXED[..], &resumed].concat());
    }

    #[test]
    fn who_only_looks_is_given_no_tool_that_writes() {
        let line = asked(Access::Look, None);
        let looks = ["--exclude-tools", "edit,write_file,notebook_edit"];
        assert_eq!(line.args, [&FIXED[..], &looks].concat());
    }

    fn heard(stream: Stream, line: &str) -> Vec<AgentEvent> {
        let mut parser = Qwen.parser();
        let mut heard = parser.take(stream, line.as_bytes());
        heard.extend(parser.finish());
        heard
    }

    #[test]
    fn a_try_that_names_a_pause_is_a_limit_and_one_that_does_not_is_a_broken_answer() {
        let again = |data: &str| {
            let line = format!("{{\"type\":\"system\",\"subtype\":\"retry\",\"data\":{data}}}");
            heard(Stream::Out, &line)
        };
        let limited = AgentEvent::Trouble(ErrorKind::Limited(None));
        let cut = AgentEvent::Trouble(ErrorKind::Interrupted(Interruption::StreamCut));
        let paused = again("{\"attempt\":1,\"delayMs\":60000}");
        assert_eq!(paused, std::slice::from_ref(&limited));
        assert_eq!(again("{\"reason\":\"retry\"}"), [cut]);
        let line = "Retrying in 60s (attempt 1/10): [API Error: Overloaded]";
        assert_eq!(heard(Stream::Err, line), [limited]);
        let ours = "Retrying provider attempt (0 buffered tool call(s) discarded).";
        assert_eq!(heard(Stream::Err, ours), []);
    }

    #[test]
    fn what_keeps_it_from_starting_is_read_from_its_own_lines() {
        let setup = AgentEvent::Trouble(ErrorKind::Unavailable(UnavailableCause::Configuration));
        let lines = [
            "No saved session found with ID 1. Run `qwen --resume` without an ID.",
            "Unknown argument: no-such-flag",
        ];
        for line in lines {
            assert_eq!(
                heard(Stream::Err, line),
                std::slice::from_ref(&setup),
                "{line}"
            );
        }
        let turns = "Reached max session turns for this session.";
        let capped = AgentEvent::Trouble(ErrorKind::Failed(FailCause::TurnCap));
        assert_eq!(heard(Stream::Err, turns), [capped]);
    }

    #[test]
    fn an_error_that_the_model_writes_of_is_no_trouble() {
        let line = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"[API Error: 429 slow]"}]}}"#;
        let text = AgentEvent::Text("[API Error: 429 slow]".into());
        assert_eq!(heard(Stream::Out, line), [text]);
    }
}
