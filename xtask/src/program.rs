//! Programs that the checks start: a command line that can be printed, run and read.
//!
//! Deliberately absent: a shell. Arguments go to the program as they are.

use std::fmt;
use std::path::Path;
use std::process::{Command, ExitStatus, Output, Stdio};

use crate::failure::Failure;

/// A command line: settings, a program, its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    settings: Vec<(&'static str, &'static str)>,
    unset: Vec<&'static str>,
    program: String,
    arguments: Vec<String>,
}

impl Line {
    /// `program` with arguments that are separated by spaces.
    pub(crate) fn new(program: &str, arguments: &str) -> Self {
        Self {
            settings: Vec::new(),
            unset: Vec::new(),
            program: program.to_owned(),
            arguments: arguments.split_whitespace().map(str::to_owned).collect(),
        }
    }

    /// The same line with one more argument, which may hold spaces.
    pub(crate) fn with(mut self, argument: impl Into<String>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// The same line with an environment variable set.
    pub(crate) fn setting(mut self, name: &'static str, value: &'static str) -> Self {
        self.settings.push((name, value));
        self
    }

    /// The same line without an environment variable.
    pub(crate) fn without(mut self, name: &'static str) -> Self {
        self.unset.push(name);
        self
    }

    /// Runs it in `root`, showing what it prints.
    pub(crate) fn run(&self, root: &Path) -> Result<(), Failure> {
        match self.status(root)? {
            status if status.success() => Ok(()),
            status => Err(self.ended(status)),
        }
    }

    /// Runs it in `root`, showing what it prints, and gives how it ended.
    pub(crate) fn status(&self, root: &Path) -> Result<ExitStatus, Failure> {
        let status = self.command(root).status();
        status.map_err(|error| self.failed(format!("cannot be started: {error}")))
    }

    /// That it ended badly.
    pub(crate) fn ended(&self, status: ExitStatus) -> Failure {
        self.failed(format!("ended with {status}"))
    }

    /// Runs it in `root` and gives what it prints on standard output.
    pub(crate) fn read(&self, root: &Path) -> Result<String, Failure> {
        let output = self.output(root)?;
        if !output.status.success() {
            return Err(self.complaint(&output));
        }
        String::from_utf8(output.stdout)
            .map_err(|error| Failure::unreadable(self.to_string(), error))
    }

    /// Runs it in `root` and gives all it prints, however it ends.
    pub(crate) fn output(&self, root: &Path) -> Result<Output, Failure> {
        let output = self.command(root).stdin(Stdio::null()).output();
        output.map_err(|error| self.failed(format!("cannot be started: {error}")))
    }

    /// That it ended badly, with what it said.
    pub(crate) fn complaint(&self, output: &Output) -> Failure {
        let said = String::from_utf8_lossy(&output.stderr);
        self.failed(format!("ended with {}: {}", output.status, said.trim()))
    }

    fn command(&self, root: &Path) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).current_dir(root);
        command.envs(self.settings.iter().copied());
        for name in &self.unset {
            command.env_remove(name);
        }
        command
    }

    fn failed(&self, ended: String) -> Failure {
        Failure::Program {
            line: self.to_string(),
            ended,
        }
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, value) in &self.settings {
            write!(f, "{name}={} ", quoted(value))?;
        }
        f.write_str(&self.program)?;
        for argument in &self.arguments {
            write!(f, " {}", quoted(argument))?;
        }
        Ok(())
    }
}

fn quoted(word: &str) -> String {
    if word.contains(char::is_whitespace) {
        return format!("'{word}'");
    }
    word.to_owned()
}

/// A line for the cargo that started us, which is printed and repeated as `cargo`.
pub(crate) fn cargo(arguments: &str) -> Line {
    Line::new("cargo", arguments)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_printed_as_a_person_would_repeat_it() {
        let line = cargo("doc --workspace").setting("RUSTDOCFLAGS", "-D warnings");
        assert_eq!(
            line.to_string(),
            "RUSTDOCFLAGS='-D warnings' cargo doc --workspace"
        );
    }

    #[test]
    fn a_program_that_ends_badly_is_a_failure_with_its_words() {
        let line = Line::new("sh", "-c").with("echo broken >&2; exit 3");
        let failure = line.read(Path::new(".")).unwrap_err().to_string();
        assert!(
            failure.ends_with("ended with exit status: 3: broken"),
            "{failure}"
        );
        assert!(line.run(Path::new(".")).is_err());
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let failure = Line::new("no-such-program", "")
            .run(Path::new("."))
            .unwrap_err();
        assert!(
            failure
                .to_string()
                .starts_with("`no-such-program` cannot be started")
        );
    }
}
