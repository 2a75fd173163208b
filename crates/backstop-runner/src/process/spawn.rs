//! Starting an agent: program, environment, limits; and why it could not be started, told apart.
//!
//! Deliberately absent: shells and quoting. Arguments are passed as they are.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use rustix::fs::{Access, access};
use rustix::io::Errno;
use tokio::process::{Child, Command};
use tokio::signal::unix::{SignalKind, signal};

use super::children;
use super::marker::Marker;
use super::running::Running;
use super::signals::with_none_blocked;

/// What is started, and how long it may go on.
pub struct Spawn {
    /// A name to be looked up in the absolute folders of `PATH`, or a path; a relative path starts at `dir`.
    pub program: OsString,
    /// Its arguments, not interpreted by any shell.
    pub args: Vec<OsString>,
    /// Where it works.
    pub dir: PathBuf,
    /// What its environment has besides the scrubbed one of this process.
    pub env: Vec<(OsString, OsString)>,
    /// What it does not have of the one of this process.
    pub unset: Vec<OsString>,
    /// What it reads.
    pub stdin: Stdin,
    /// Which attempt it is.
    pub marker: Marker,
    /// How long it may go on.
    pub limits: Limits,
    /// How many bytes are kept of the end of each pipe; at most 64 KiB.
    pub keep: usize,
}

impl Spawn {
    /// A program without arguments and additions, reading nothing, within the default limits.
    #[must_use]
    pub fn new(program: impl Into<OsString>, dir: impl Into<PathBuf>, marker: Marker) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            dir: dir.into(),
            env: Vec::new(),
            unset: Vec::new(),
            stdin: Stdin::Null,
            marker,
            limits: Limits::default(),
            keep: 32 << 10,
        }
    }
}

/// What an agent reads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Stdin {
    /// Nothing: `/dev/null`. Some agents wait for ever for the end of an open input.
    #[default]
    Null,
    /// These bytes, then the end.
    Text(Vec<u8>),
}

/// How long things may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Silence on both pipes; a listener may change it as it goes.
    pub idle: Option<Duration>,
    /// The whole attempt.
    pub wall: Option<Duration>,
    /// Staying after the terminal event.
    pub linger: Duration,
    /// From SIGTERM to SIGKILL.
    pub stop_grace: Duration,
    /// From the agent's end to the end of reading, when a survivor holds the pipes.
    pub drain: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            idle: Some(Duration::from_mins(10)),
            wall: None,
            linger: Duration::from_mins(1),
            stop_grace: Duration::from_secs(10),
            drain: Duration::from_secs(2),
        }
    }
}

/// Why a program could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpawnError {
    /// No such program.
    #[error("program `{}` was not found: install it, or give its path", .program.display())]
    ProgramMissing {
        /// The program as it was asked for.
        program: PathBuf,
    },
    /// A file that cannot be run.
    #[error("`{}` cannot be executed: make it executable (`chmod +x`), or give another program", .path.display())]
    NotExecutable {
        /// The file.
        path: PathBuf,
    },
    /// A script or binary whose interpreter or loader does not exist.
    #[error("`{}` exists, but the interpreter that it names does not: install that, or give another program", .path.display())]
    InterpreterMissing {
        /// The file.
        path: PathBuf,
    },
    /// The working directory is not there, or is no directory, or may not be entered.
    #[error("the working directory `{}` cannot be entered ({source}): create it, or give another one", .path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// More arguments and environment than the kernel takes.
    #[error("the command line of `{}` has {bytes} bytes, more than the system takes: pass the text on stdin", .path.display())]
    TooLong {
        /// The program.
        path: PathBuf,
        /// The bytes of all arguments.
        bytes: usize,
    },
    /// Anything else, such as no more processes or memory.
    #[error("`{}` could not be started: {source}", .path.display())]
    Other {
        /// The program.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

/// Starts an agent in a process group of its own. Must be called within a tokio runtime with I/O and time.
///
/// # Errors
/// The program or the directory cannot be used, or the system has no room for a process.
pub fn spawn(spawn: Spawn) -> Result<Running, SpawnError> {
    enter(&spawn.dir)?;
    let own = std::env::vars_os().filter(|(name, _)| !spawn.unset.contains(name));
    let env = environment(own, &spawn.env, &spawn.marker);
    let path = find(&spawn.program, &spawn.dir, env.get(OsStr::new("PATH")))?;
    let other = |source| SpawnError::Other {
        path: path.clone(),
        source,
    };
    // Before the start: no end is missed, and a SIGCHLD that was ignored from outside does not let the system forget it.
    let signals = signal(SignalKind::child()).map_err(other)?;
    let start = || with_none_blocked(|| launch(&spawn, &path, env));
    let child = children::list(start, Child::id, Some(&spawn.marker))
        .map_err(|source| told_apart(source, &path, &spawn))?;
    Running::of(child, spawn, signals).map_err(other)
}

// The path is absolute and there is no `pre_exec`: so the standard library can use `posix_spawn`, which costs the same
// however much memory this process has.
fn launch(spawn: &Spawn, path: &Path, env: BTreeMap<OsString, OsString>) -> io::Result<Child> {
    let stdin = match spawn.stdin {
        Stdin::Null => Stdio::null(),
        Stdin::Text(_) => Stdio::piped(),
    };
    Command::new(path)
        .args(&spawn.args)
        .current_dir(&spawn.dir)
        .env_clear()
        .envs(env)
        .stdin(stdin)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
}

/// The environment of an agent: this process's own without git's and Backstop's variables, the additions, the marker.
fn environment(
    own: impl Iterator<Item = (OsString, OsString)>,
    additions: &[(OsString, OsString)],
    marker: &Marker,
) -> BTreeMap<OsString, OsString> {
    let mut env: BTreeMap<_, _> = own.filter(|(name, _)| !is_scrubbed(name)).collect();
    env.extend(additions.iter().cloned());
    let marks = marker
        .variables()
        .map(|(name, value)| (name.into(), value.into()));
    env.extend(marks);
    env
}

/// Git's variables would point an agent at another repository; Backstop's may be secrets.
fn is_scrubbed(name: &OsStr) -> bool {
    let name = name.as_bytes();
    name.starts_with(b"GIT_") || name.starts_with(b"BACKSTOP_")
}

fn enter(dir: &Path) -> Result<(), SpawnError> {
    let entered = match std::fs::metadata(dir) {
        Ok(found) if !found.is_dir() => Err(io::ErrorKind::NotADirectory.into()),
        Ok(_) => access(dir, Access::EXEC_OK).map_err(io::Error::from),
        Err(source) => Err(source),
    };
    entered.map_err(|source| SpawnError::Directory {
        path: dir.to_owned(),
        source,
    })
}

/// Where the program is. The system's own search cannot tell a missing program from a missing directory.
fn find(program: &OsStr, dir: &Path, path: Option<&OsString>) -> Result<PathBuf, SpawnError> {
    let missing = || SpawnError::ProgramMissing {
        program: program.into(),
    };
    let is_path = program.as_bytes().contains(&b'/');
    let places: Vec<PathBuf> = match path {
        _ if program.is_empty() => return Err(missing()),
        _ if is_path => vec![PathBuf::from(program)],
        // A relative folder would let an agent plant programs in the workspace.
        Some(path) => std::env::split_paths(path)
            .filter(|place| place.is_absolute())
            .map(|place| place.join(program))
            .collect(),
        None => return Err(missing()),
    };
    // Absolute, since the lookup happens here and the start in `dir`.
    let dir = std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned());
    let found = places
        .into_iter()
        .map(|place| dir.join(place))
        .filter(|place| place.exists());
    let mut unusable = None;
    for place in found {
        if place.is_file() && access(&place, Access::EXEC_OK).is_ok() {
            return Ok(place);
        }
        unusable = unusable.or(Some(place));
    }
    // A folder on the path that happens to have the name is not the program.
    match unusable {
        Some(path) if is_path || path.is_file() => Err(SpawnError::NotExecutable { path }),
        Some(_) | None => Err(missing()),
    }
}

fn told_apart(source: io::Error, path: &Path, spawn: &Spawn) -> SpawnError {
    let path = path.to_owned();
    match Errno::from_io_error(&source) {
        Some(Errno::NOENT) if path.exists() && spawn.dir.exists() => {
            SpawnError::InterpreterMissing { path }
        }
        Some(Errno::NOENT) if spawn.dir.exists() => SpawnError::ProgramMissing { program: path },
        Some(Errno::NOENT | Errno::NOTDIR) => SpawnError::Directory {
            path: spawn.dir.clone(),
            source,
        },
        Some(Errno::ACCESS | Errno::NOEXEC | Errno::ISDIR) => SpawnError::NotExecutable { path },
        Some(Errno::TOOBIG) => {
            let bytes = spawn.args.iter().map(|arg| arg.len() + 1).sum();
            SpawnError::TooLong { path, bytes }
        }
        _ => SpawnError::Other { path, source },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marker() -> Marker {
        let text = str::to_owned;
        Marker {
            mission: text("m1"),
            lane: text("1-coding"),
            phase: text("1"),
            stage: text("code"),
            role: text("implementer"),
            attempt: text("1"),
        }
    }

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
        pairs
            .iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect()
    }

    #[test]
    fn an_agent_sees_neither_gits_variables_nor_backstops_secrets() {
        let own = pairs(&[
            ("PATH", "/bin"),
            ("GIT_DIR", "/elsewhere/.git"),
            ("GITHUB_TOKEN", "kept: the agent's own business"),
            ("BACKSTOP_OPERATOR_SECRET", "s"),
            ("BACKSTOP_MISSION", "an outer one"),
        ]);
        let added = pairs(&[("BACKSTOP_ARTIFACT", "/a"), ("BACKSTOP_LANE", "forged")]);
        let env = environment(own.into_iter(), &added, &marker());
        let seen = |name: &str| env.get(OsStr::new(name)).and_then(|value| value.to_str());
        assert_eq!(seen("PATH"), Some("/bin"));
        assert_eq!(seen("GIT_DIR"), None);
        assert!(seen("GITHUB_TOKEN").is_some());
        assert_eq!(seen("BACKSTOP_OPERATOR_SECRET"), None);
        assert_eq!(seen("BACKSTOP_ARTIFACT"), Some("/a"));
        assert_eq!(seen("BACKSTOP_MISSION"), Some("m1"));
        assert_eq!(seen("BACKSTOP_LANE"), Some("1-coding"));
        assert_eq!(env.len(), 9);
    }
}
