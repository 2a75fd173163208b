//! How an attempt's process ended: what was seen, not what it means.
//!
//! Deliberately absent: statuses. The adapters and the outcome policy judge.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::identity::Identity;
use super::oom::Oom;

const SIGKILL: i32 = 9;

/// How the agent's own process went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// It exited with this code. Codes of 128 and more are codes too: some agents fold HTTP statuses into them.
    Code(i32),
    /// It died of this signal.
    Signal(i32),
    /// It was sent SIGKILL and is still there: the kernel does not let it go.
    Unreaped,
}

impl From<ExitStatus> for Exit {
    fn from(status: ExitStatus) -> Self {
        let signal = status.signal().map(Self::Signal);
        signal
            .or(status.code().map(Self::Code))
            .unwrap_or(Self::Unreaped)
    }
}

/// Who ended it. Everything but `Itself` means that a signal came from here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndedBy {
    /// Nobody here.
    Itself,
    /// The idle watchdog: no output for the allowed silence.
    Idle,
    /// The wall clock of the attempt.
    Wall,
    /// It was told that its work is done and did not leave.
    Linger,
    /// An operator, or the end of the runner.
    Stop,
    /// A ceiling that is counted from the stream.
    Budget,
}

/// What came out of one pipe.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Captured {
    /// The last bytes, at most [`Spawn::keep`](super::Spawn::keep).
    pub tail: Vec<u8>,
    /// All bytes that came.
    pub total: u64,
}

impl Captured {
    /// The last bytes as text; what is not UTF-8 is replaced.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.tail).into_owned()
    }
}

/// Everything that was seen of an attempt's end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// How the agent's own process went.
    pub exit: Exit,
    /// Who ended it.
    pub ended_by: EndedBy,
    /// The standard output.
    pub stdout: Captured,
    /// The standard error.
    pub stderr: Captured,
    /// How long it ran; time in which this machine slept does not count.
    pub active: Duration,
    /// How many processes had outlived the agent and were ended.
    pub swept: usize,
    /// What could not be ended. The next attempt must not start beside it.
    pub left: Vec<Identity>,
    /// Whether both pipes were read to their end.
    pub drained: bool,
    /// What the kernel's counter says.
    pub oom: Oom,
}

impl Ended {
    /// Whether the agent was killed by a SIGKILL that did not come from here, or says 137 itself.
    #[must_use]
    pub fn is_killed_from_outside(&self) -> bool {
        let killed = matches!(self.exit, Exit::Signal(SIGKILL) | Exit::Code(137));
        killed && self.ended_by == EndedBy::Itself
    }
}
