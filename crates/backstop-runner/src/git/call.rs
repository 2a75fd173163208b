//! One git command: its environment, its input and output, its limit. Knows nothing of repositories.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use super::GitError;
use crate::process::{self, Finished as Ended, Started, finish};

/// Configuration that wins over every file: nothing of a repository is run, nothing is tidied, what a ref names is durable.
const SETTINGS: [&str; 8] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.pager=cat",
    "core.fsync=committed,reference",
    "gc.auto=0",
    "maintenance.auto=false",
    "protocol.allow=never",
    "submodule.recurse=false",
];

/// How git is run: the program's environment and a limit on each command.
#[derive(Debug, Clone)]
pub struct Git {
    env: Vec<(OsString, OsString)>,
    limit: Duration,
}

impl Default for Git {
    fn default() -> Self {
        Self::new()
    }
}

impl Git {
    /// Git as this process would run it, without any `GIT_*` variable; a command may take half an hour.
    #[must_use]
    pub fn new() -> Self {
        Self {
            env: Vec::new(),
            limit: Duration::from_mins(30),
        }
    }

    /// The same with `name` set to `value` for every command.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// The same with another limit for each command.
    #[must_use]
    pub fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// A command that runs in `at`, and nowhere else when `at` cannot be entered.
    pub(super) fn at(&self, at: &Path) -> Call {
        let mut command = Command::new("git");
        let inherited = std::env::vars_os().map(|(name, _)| name);
        for name in inherited.filter(|name| name.as_encoded_bytes().starts_with(b"GIT_")) {
            command.env_remove(name);
        }
        command
            .current_dir(at)
            .env("LC_ALL", "C")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_NO_LAZY_FETCH", "1")
            .env("GIT_NO_REPLACE_OBJECTS", "1")
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .arg("--no-optional-locks");
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        Call {
            command,
            at: at.to_owned(),
            words: Vec::new(),
            input: None,
            limit: self.limit,
        }
    }
}

/// One command, being put together.
pub(super) struct Call {
    command: Command,
    at: PathBuf,
    words: Vec<String>,
    input: Option<Vec<u8>>,
    limit: Duration,
}

impl Call {
    pub(super) fn arg(mut self, word: impl AsRef<OsStr>) -> Self {
        if self.words.len() < 3 {
            self.words.push(word.as_ref().display().to_string());
        }
        self.command.arg(word);
        self
    }

    pub(super) fn args<W: AsRef<OsStr>>(self, words: impl IntoIterator<Item = W>) -> Self {
        words.into_iter().fold(self, Self::arg)
    }

    /// Configuration for this command alone; before its first word.
    pub(super) fn set(mut self, setting: &str) -> Self {
        self.command.args(["-c", setting]);
        self
    }

    pub(super) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    pub(super) fn input(mut self, bytes: Vec<u8>) -> Self {
        self.input = Some(bytes);
        self
    }

    /// The same in another folder.
    pub(super) fn inside(mut self, folder: &Path) -> Self {
        self.command.current_dir(folder);
        folder.clone_into(&mut self.at);
        self
    }

    /// Runs to success with stdin from a file, whatever its size.
    pub(super) fn reading(mut self, from: File) -> Result<(), GitError> {
        self.command.stdin(from).stdout(Stdio::null());
        self.streamed()
    }

    /// Runs to success with stdout to a file, whatever its size.
    pub(super) fn printing(mut self, to: File) -> Result<(), GitError> {
        self.command.stdin(Stdio::piped()).stdout(to);
        self.streamed()
    }

    fn streamed(mut self) -> Result<(), GitError> {
        let (at, what, limit) = (self.at.clone(), self.what(), self.limit);
        let input = self.input.take();
        let mut started = self.spawn(input)?;
        success(finish(&mut started.child, limit), &what, &at, limit).map(drop)
    }

    /// Runs to the end, whatever the status.
    pub(super) fn ended(mut self) -> Result<Ended, GitError> {
        let (at, what, limit) = (self.at.clone(), self.what(), self.limit);
        let input = self.input.take();
        let stdin = if input.is_some() {
            Stdio::piped()
        } else {
            Stdio::null()
        };
        self.command.stdin(stdin).stdout(Stdio::piped());
        let mut started = self.spawn(input)?;
        finish(&mut started.child, limit)
            .ok_or_else(|| timed_out(&what, &at, limit))?
            .map_err(|source| GitError::Start { at, source })
    }

    /// Runs to success; what it printed.
    pub(super) fn bytes(self) -> Result<Vec<u8>, GitError> {
        let (at, what, limit) = (self.at.clone(), self.what(), self.limit);
        let ended = self.ended()?;
        success(Some(Ok(ended)), &what, &at, limit)
    }

    /// Runs to success; the one line it printed.
    pub(super) fn line(self) -> Result<String, GitError> {
        let what = self.what();
        let bytes = self.bytes()?;
        match std::str::from_utf8(bytes.strip_suffix(b"\n").unwrap_or(&bytes)) {
            Ok(line) => Ok(line.to_owned()),
            Err(_) => Err(unreadable(&what, &bytes)),
        }
    }

    /// Runs to success; the one line it printed, as whatever it stands for.
    pub(super) fn parsed<T: std::str::FromStr>(self) -> Result<T, GitError> {
        let what = self.what();
        let line = self.line()?;
        line.parse().map_err(|_| unreadable(&what, line.as_bytes()))
    }

    /// Runs to success.
    pub(super) fn done(self) -> Result<(), GitError> {
        self.bytes().map(drop)
    }

    /// Whether it succeeds; an exit status other than 0 and 1 is an error.
    pub(super) fn holds(self) -> Result<bool, GitError> {
        let (at, what) = (self.at.clone(), self.what());
        let ended = self.ended()?;
        match ended.status.code() {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            Some(_) | None => Err(failed(&ended, &what, &at)),
        }
    }

    /// What it prints; an exit status other than 0 and 1 is an error.
    pub(super) fn found(self) -> Result<Vec<u8>, GitError> {
        let (at, what) = (self.at.clone(), self.what());
        let ended = self.ended()?;
        match ended.status.code() {
            Some(0 | 1) => Ok(ended.stdout),
            Some(_) | None => Err(failed(&ended, &what, &at)),
        }
    }

    fn what(&self) -> String {
        self.words.join(" ")
    }

    fn spawn(mut self, input: Option<Vec<u8>>) -> Result<Started, GitError> {
        let started = process::start(self.command.stderr(Stdio::piped()));
        let at = self.at;
        let mut started = started.map_err(|source| GitError::Start { at, source })?;
        if let (Some(mut stdin), Some(bytes)) = (started.child.stdin.take(), input) {
            // A command that ends without reading its input says why by its status.
            thread::spawn(move || drop(stdin.write_all(&bytes)));
        }
        Ok(started)
    }
}

fn success(
    ended: Option<io::Result<Ended>>,
    what: &str,
    at: &Path,
    limit: Duration,
) -> Result<Vec<u8>, GitError> {
    let ended = ended.ok_or_else(|| timed_out(what, at, limit))?;
    let ended = ended.map_err(|source| GitError::Start {
        at: at.to_owned(),
        source,
    })?;
    if ended.status.success() {
        return Ok(ended.stdout);
    }
    Err(failed(&ended, what, at))
}

fn failed(ended: &Ended, what: &str, at: &Path) -> GitError {
    let said = String::from_utf8_lossy(&ended.stderr);
    if let Some(path) = locked(&said) {
        return GitError::Locked { path };
    }
    GitError::Failed {
        command: what.to_owned(),
        at: at.to_owned(),
        status: ended.status.to_string(),
        said: said.trim().chars().take(2000).collect(),
    }
}

/// The lock file that was in git's way (`unable_to_lock_message` of its `lockfile.c`).
fn locked(said: &str) -> Option<String> {
    let (_, rest) = said.split_once("Unable to create '")?;
    let (file, _) = rest.split_once(".lock': File exists")?;
    Some(format!("{file}.lock"))
}

fn timed_out(what: &str, at: &Path, limit: Duration) -> GitError {
    GitError::TimedOut {
        command: what.to_owned(),
        at: at.to_owned(),
        seconds: limit.as_secs(),
    }
}

pub(super) fn unreadable(what: &str, found: &[u8]) -> GitError {
    let found = String::from_utf8_lossy(found);
    GitError::Unreadable {
        command: what.to_owned(),
        found: found.trim().chars().take(200).collect(),
    }
}

/// The parts of NUL-terminated output.
pub(super) fn parts(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes
        .split(|byte| *byte == 0)
        .filter(|part| !part.is_empty())
}
