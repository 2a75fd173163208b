//! Any command as an agent: the prompt on standard input or as an argument, the final message on standard output, the
//! end by its exit status.

use crate::adapter::{
    Adapter, CommandLine, Features, Invocation, LONGEST_ARGUMENT, Parser, Stdin, Support,
};
use crate::{AgentEvent, Stream};

/// The operator's setting that holds the command.
pub const EXEC_COMMAND: &str = "command";

/// Stands for the prompt in the command.
const PROMPT: &str = "{prompt}";

/// The most of standard output that is kept as the final message, in bytes.
const KEPT: usize = 256 << 10;

/// The adapter.
#[derive(Debug)]
pub(crate) struct Exec;

impl Adapter for Exec {
    fn name(&self) -> &'static str {
        "exec"
    }

    fn features(&self) -> Features {
        Features {
            resume: Support::No,
            names_session: Support::No,
            model: Support::Yes,
            cost: Support::No,
            terminal: Support::No,
            edits: Support::No,
        }
    }

    fn command(&self, invocation: &Invocation) -> Result<CommandLine, String> {
        let command = invocation
            .option(EXEC_COMMAND)
            .filter(|text| !text.trim().is_empty());
        let Some(command) = command else {
            return Err("the `exec` agent needs a command: set `[agents.exec] command = \"…\"` or give `--exec-command`".into());
        };
        let line = |args, stdin| CommandLine {
            program: Some("/bin/sh".into()),
            args,
            env: Vec::new(),
            stdin,
        };
        let Some(placed) = place_prompt(command) else {
            return Ok(line(
                vec!["-c".into(), command.into()],
                Stdin::Text(invocation.prompt.clone()),
            ));
        };
        if invocation.prompt.len() > LONGEST_ARGUMENT {
            return Err(format!(
                "the prompt has {} bytes, too many for `{PROMPT}`: let the command read it from standard input",
                invocation.prompt.len()
            ));
        }
        let args = vec![
            "-c".into(),
            placed,
            "agent".into(),
            invocation.prompt.clone(),
        ];
        Ok(line(args, Stdin::Null))
    }

    fn parser(&self) -> Box<dyn Parser> {
        Box::new(Output::default())
    }
}

/// The command with the shell's first positional parameter in place of the prompt, so that the shell never reads the
/// prompt as code; none when the command does not take it.
fn place_prompt(command: &str) -> Option<String> {
    command.contains(PROMPT).then(|| {
        let quoted = command
            .replace("\"{prompt}\"", PROMPT)
            .replace("'{prompt}'", PROMPT);
        quoted.replace(PROMPT, "\"$1\"")
    })
}

/// Keeps the end of standard output.
#[derive(Debug, Default)]
struct Output {
    kept: Vec<u8>,
}

impl Parser for Output {
    fn take(&mut self, stream: Stream, bytes: &[u8]) -> Vec<AgentEvent> {
        if stream == Stream::Out {
            let newest = bytes.len().saturating_sub(KEPT);
            self.kept.extend(bytes.iter().skip(newest));
            let over = self.kept.len().saturating_sub(KEPT);
            self.kept.drain(..over);
        }
        Vec::new()
    }

    fn finish(&mut self) -> Vec<AgentEvent> {
        let text = String::from_utf8_lossy(&self.kept).trim().to_owned();
        if text.is_empty() {
            Vec::new()
        } else {
            vec![AgentEvent::Text(text)]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapter::Access;

    fn asked(command: &str) -> Invocation {
        Invocation {
            prompt: "fix $(rm -rf /) \"it\"".into(),
            model: None,
            effort: None,
            session: None,
            fresh_session: None,
            access: Access::Write,
            schema: None,
            options: vec![(EXEC_COMMAND.into(), command.into())],
        }
    }

    #[test]
    fn without_a_place_for_it_the_prompt_goes_to_standard_input() {
        let line = Exec.command(&asked("cat >note")).unwrap();
        assert_eq!(line.args, ["-c", "cat >note"]);
        assert_eq!(line.stdin, Stdin::Text("fix $(rm -rf /) \"it\"".into()));
    }

    #[test]
    fn the_shell_never_reads_the_prompt_as_code() {
        for command in [
            "do {prompt} now",
            "do \"{prompt}\" now",
            "do '{prompt}' now",
        ] {
            let line = Exec.command(&asked(command)).unwrap();
            assert_eq!(
                line.args,
                ["-c", "do \"$1\" now", "agent", "fix $(rm -rf /) \"it\""]
            );
            assert_eq!(line.stdin, Stdin::Null);
        }
    }

    #[test]
    fn a_missing_command_says_what_to_do() {
        assert!(
            Exec.command(&asked("  "))
                .unwrap_err()
                .contains("--exec-command")
        );
    }

    #[test]
    fn the_end_of_standard_output_is_the_final_message() {
        let mut parser = Exec.parser();
        parser.take(Stream::Err, b"noise");
        for _ in 0..3 {
            parser.take(Stream::Out, &vec![b'x'; KEPT]);
        }
        parser.take(Stream::Out, b"\ndone\n");
        let heard = parser.finish();
        assert!(
            matches!(heard.as_slice(), [AgentEvent::Text(text)] if text.ends_with("\ndone") && text.len() < KEPT)
        );
    }
}
