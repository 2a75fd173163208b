//! The script of the built-in `scripted` agent, and the process that plays it.
//!
//! A script is a TOML file of steps; a launch plays the first step that fits its stage, role, visit and attempt. It edits
//! the workspace, waits, speaks and fails as told, so that a mission runs without a model or a network.

use std::io::{self, Read as _, Write as _};
use std::path::{Component, Path, PathBuf};
use std::process::Command;
use std::time::{Duration as StdDuration, SystemTime, UNIX_EPOCH};

use backstop_agents::Spoken;
use backstop_engine::Role;
use backstop_engine::outcome::{FailCause, Interruption, UnavailableCause};
use backstop_engine::vocab::Stage;
use serde::Deserialize;

use crate::config::{Duration, Usd};
use crate::process;

/// A script.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// The steps; the first that fits is played.
    #[serde(default)]
    pub step: Vec<Step>,
}

/// What one launch does.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Only at this stage.
    pub stage: Option<Stage>,
    /// Only in this role.
    pub role: Option<Role>,
    /// Only in the lane of this phase.
    pub phase: Option<u32>,
    /// Only at this visit.
    pub visit: Option<u32>,
    /// Only at this attempt.
    pub attempt: Option<u32>,
    /// What is done, in order.
    #[serde(rename = "do")]
    pub acts: Vec<Act>,
}

/// One thing that the agent does.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Act {
    /// Writes a file.
    Write {
        /// Where, inside the workspace.
        path: PathBuf,
        /// What.
        text: String,
    },
    /// Adds to a file.
    Append {
        /// Where, inside the workspace.
        path: PathBuf,
        /// What.
        text: String,
    },
    /// Removes a file.
    Remove(PathBuf),
    /// Runs a shell command in the workspace.
    Run(String),
    /// Waits.
    Wait(Duration),
    /// Says something; the last is its final message.
    Say(String),
    /// Names its session.
    Session(String),
    /// Counts a tool call.
    Tool(String),
    /// Counts tokens.
    Tokens(u64),
    /// Counts money, in US dollars.
    Cost(Usd),
    /// Prints bytes that mean nothing.
    Garbage(usize),
    /// Stops at a provider's limit that lifts after a while, or at an unknown time.
    RateLimit {
        /// After how long.
        after: Option<Duration>,
    },
    /// Stops to ask.
    Ask(String),
    /// Fails.
    Fail(FailCause),
    /// Cannot work.
    Unavailable(UnavailableCause),
    /// Is cut off.
    Interrupt(Interruption),
    /// Ends at once with this exit status, without a last word.
    Exit(i32),
    /// Never ends.
    Hang,
}

/// Which launch this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The stage.
    pub stage: Stage,
    /// The role.
    pub role: Role,
    /// The phase's number.
    pub phase: u32,
    /// The visit's number.
    pub visit: u32,
    /// The attempt's number.
    pub attempt: u32,
}

impl Place {
    /// The place that the environment of a lane names.
    ///
    /// # Errors
    /// Outside a lane.
    pub fn from_env() -> Result<Self, PlayError> {
        let read = |name: &str| std::env::var(name).map_err(|_| PlayError::NoLane);
        let number = |name: &str| read(name)?.parse::<u32>().map_err(|_| PlayError::NoLane);
        let role = read("BACKSTOP_ROLE")?.parse().ok();
        Ok(Self {
            stage: read("BACKSTOP_STAGE")?
                .parse()
                .map_err(|_| PlayError::NoLane)?,
            role: role
                .and_then(|name| Role::named(&name))
                .ok_or(PlayError::NoLane)?,
            phase: number("BACKSTOP_PHASE")?,
            visit: number("BACKSTOP_VISIT")?,
            attempt: number("BACKSTOP_ATTEMPT")?,
        })
    }
}

/// Why a script cannot be played.
#[derive(Debug, thiserror::Error)]
pub enum PlayError {
    /// Not launched by Backstop.
    #[error("the scripted agent only runs in a lane: name it as the agent of a mission")]
    NoLane,
    /// The file cannot be read or understood.
    #[error("cannot play `{}`: {words}", path.display())]
    Script {
        /// The file.
        path: PathBuf,
        /// Why.
        words: String,
    },
    /// A path that leads out of the workspace.
    #[error("`{}` leads out of the workspace: use a path inside it", .0.display())]
    Outside(PathBuf),
    /// A file or command did not do.
    #[error("{0}")]
    Io(#[from] io::Error),
}

impl Script {
    /// Reads the script at `path`.
    ///
    /// # Errors
    /// When it cannot be read or is no script.
    pub fn read(path: &Path) -> Result<Self, PlayError> {
        let refused = |words: String| PlayError::Script {
            path: path.into(),
            words,
        };
        let text = std::fs::read_to_string(path).map_err(|error| refused(error.to_string()))?;
        toml::from_str(&text).map_err(|error| refused(error.to_string()))
    }

    /// The step that this launch plays; without one, the agent is done at once.
    #[must_use]
    pub fn step(&self, place: Place) -> Option<&Step> {
        let fits = |wanted: Option<u32>, number: u32| wanted.is_none_or(|wanted| wanted == number);
        self.step.iter().find(|step| {
            step.stage.is_none_or(|stage| stage == place.stage)
                && step.role.is_none_or(|role| role == place.role)
                && fits(step.phase, place.phase)
                && fits(step.visit, place.visit)
                && fits(step.attempt, place.attempt)
        })
    }
}

/// Plays this launch's step of the script in the present folder, and gives the exit status.
///
/// # Errors
/// When the script cannot be read, or something in it does not do.
pub fn play(script: &Path, place: Place) -> Result<i32, PlayError> {
    let script = Script::read(script)?;
    // A real agent reads its prompt; an unread pipe would break the writer.
    io::stdin().lock().read_to_end(&mut Vec::new())?;
    // It uses no model, and says so.
    speak(&Spoken::Cost(0))?;
    for act in script.step(place).map_or(&[][..], |step| &step.acts) {
        if let Some(status) = perform(act)? {
            return Ok(status);
        }
    }
    speak(&Spoken::Done)?;
    Ok(0)
}

/// Does one thing; an exit status ends the play.
fn perform(act: &Act) -> Result<Option<i32>, PlayError> {
    match act {
        Act::Write { path, text } => write(path, text)?,
        Act::Append { path, text } => append(path, text)?,
        Act::Remove(path) => std::fs::remove_file(inside(path)?)?,
        Act::Run(command) => run(command)?,
        Act::Wait(duration) => std::thread::sleep(duration.get()),
        Act::Say(text) => speak(&Spoken::Text(text.clone()))?,
        Act::Session(id) => speak(&Spoken::Session(id.clone()))?,
        Act::Tool(name) => {
            speak(&Spoken::ToolOpened(name.clone()))?;
            speak(&Spoken::ToolClosed(name.clone()))?;
        }
        Act::Tokens(n) => speak(&Spoken::Tokens(*n))?,
        Act::Cost(cost) => speak(&Spoken::Cost(cost.micro().unwrap_or(0)))?,
        Act::Garbage(bytes) => garbage(*bytes)?,
        Act::RateLimit { after } => {
            return end(&Spoken::RateLimited {
                until: after.map(|after| from_now(after.get())),
            });
        }
        Act::Ask(question) => return end(&Spoken::Asks(question.clone())),
        Act::Fail(cause) => return end(&Spoken::Failed(*cause)),
        Act::Unavailable(cause) => return end(&Spoken::Unavailable(*cause)),
        Act::Interrupt(by) => return end(&Spoken::Interrupted(*by)),
        Act::Exit(status) => return Ok(Some(*status)),
        Act::Hang => loop {
            std::thread::park();
        },
    }
    Ok(None)
}

fn end(last: &Spoken) -> Result<Option<i32>, PlayError> {
    speak(last)?;
    Ok(Some(1))
}

fn speak(word: &Spoken) -> io::Result<()> {
    let line = serde_json::to_string(word).map_err(io::Error::other)?;
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}

fn inside(path: &Path) -> Result<&Path, PlayError> {
    let stays = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    if path.components().all(stays) {
        Ok(path)
    } else {
        Err(PlayError::Outside(path.into()))
    }
}

fn write(path: &Path, text: &str) -> Result<(), PlayError> {
    if let Some(folder) = inside(path)?.parent() {
        std::fs::create_dir_all(folder)?;
    }
    Ok(std::fs::write(path, text)?)
}

fn append(path: &Path, text: &str) -> Result<(), PlayError> {
    let file = std::fs::OpenOptions::new()
        .append(true)
        .create(true)
        .open(inside(path)?);
    Ok(file?.write_all(text.as_bytes())?)
}

/// The command's failure is its own affair, as it is for a real agent's tools.
fn run(command: &str) -> Result<(), PlayError> {
    process::start(Command::new("/bin/sh").args(["-c", command]))?
        .child
        .wait()?;
    Ok(())
}

/// Bytes that are neither text nor lines of the protocol.
fn garbage(bytes: usize) -> io::Result<()> {
    let block: Vec<u8> = (0..=255).cycle().take(4096).collect();
    let mut out = io::stdout().lock();
    let mut left = bytes;
    while left > 0 {
        let part = left.min(block.len());
        out.write_all(block.get(..part).unwrap_or(&block))?;
        left -= part;
    }
    writeln!(out)
}

/// A moment in milliseconds since the Unix epoch.
fn from_now(after: StdDuration) -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since.saturating_add(after).as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
[[step]]
stage = "code"
visit = 2
do = [{ say = "second" }]

[[step]]
role = "verifier"
do = [{ say = "PASS" }]

[[step]]
stage = "code"
do = [{ write = { path = "a/b.txt", text = "x" } }, "hang", { rate_limit = { after = "2s" } }]
"#;

    #[test]
    fn the_first_step_that_fits_is_played() {
        let script: Script = toml::from_str(TEXT).unwrap();
        let place = |role: Role, visit| Place {
            stage: role.stage(),
            role,
            phase: 1,
            visit,
            attempt: 1,
        };
        let played = |role, visit| script.step(place(role, visit));
        assert_eq!(played(Role::Implementer, 2), script.step.first());
        assert_eq!(played(Role::Implementer, 1), script.step.get(2));
        assert_eq!(played(Role::Verifier, 1), script.step.get(1));
        assert_eq!(played(Role::Reviewer, 1), None);
        assert_eq!(played(Role::Scout, 1), None);
    }

    #[test]
    fn a_path_out_of_the_workspace_is_refused() {
        for path in ["../x", "/etc/passwd", "a/../../x"] {
            assert!(inside(Path::new(path)).is_err(), "{path}");
        }
        assert!(inside(Path::new("./a/b")).is_ok());
    }
}
