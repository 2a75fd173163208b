//! What the process tests share: markers of their own, a shell to start, ears, and waiting for conditions.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::time::{Duration, Instant};

use backstop_runner::process::{
    Heard, Identity, Limits, Listen, Marker, Pipe, Running, Spawn, Stdin, become_subreaper, spawn,
};

/// Far more than anything here takes.
pub(crate) const GENEROUS: Duration = Duration::from_mins(1);

/// Gives one test the whole process: the end of an attempt ends every child of the process that is neither listed nor known
/// to another attempt, whichever test it is of.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A marker that no other test has.
pub(crate) fn marker() -> Marker {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    static SUBREAPER: Once = Once::new();
    SUBREAPER.call_once(|| become_subreaper().unwrap());
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let text = str::to_owned;
    Marker {
        mission: format!("test-{}", std::process::id()),
        lane: text("1-coding"),
        phase: text("1"),
        stage: text("code"),
        role: text("implementer"),
        attempt: number.to_string(),
    }
}

/// A shell script, without limits of time and with a short grace.
pub(crate) fn shell(script: &str) -> Spawn {
    let mut asked = Spawn::new("sh", "/", marker());
    asked.args = vec!["-c".into(), script.into()];
    asked.limits = Limits {
        idle: None,
        wall: None,
        linger: GENEROUS,
        stop_grace: GENEROUS,
        drain: Duration::from_millis(300),
    };
    asked
}

/// The script, started; reading `text` when there is some.
pub(crate) fn start(mut asked: Spawn, text: Option<&str>) -> Running {
    if let Some(text) = text {
        asked.stdin = Stdin::Text(text.as_bytes().to_vec());
    }
    spawn(asked).unwrap()
}

/// Hears everything and says nothing.
pub(crate) fn silent(_: Pipe, _: &[u8]) -> Heard {
    Heard::Carry
}

/// Gathers the output; once there are `lines` of it, says `then`.
pub(crate) struct Ear {
    pub(crate) text: String,
    lines: usize,
    then: Heard,
}

impl Ear {
    pub(crate) fn new(lines: usize, then: Heard) -> Self {
        Self {
            text: String::new(),
            lines,
            then,
        }
    }

    /// The numbers among the words that were heard, as processes that ran when they were heard.
    pub(crate) fn pids(&self) -> Vec<u32> {
        self.text
            .split_whitespace()
            .filter_map(|word| word.parse().ok())
            .collect()
    }
}

impl Listen for Ear {
    fn hear(&mut self, _: Pipe, bytes: &[u8]) -> Heard {
        self.text.push_str(&String::from_utf8_lossy(bytes));
        if self.text.lines().count() >= self.lines && self.text.ends_with('\n') {
            self.then
        } else {
            Heard::Carry
        }
    }
}

/// Whether a process with this number runs.
pub(crate) fn runs(pid: u32) -> bool {
    Identity::of(pid).is_some_and(Identity::is_alive)
}

/// Waits until it holds.
pub(crate) fn until(what: &str, holds: impl Fn() -> bool) {
    let deadline = Instant::now() + GENEROUS;
    while !holds() {
        assert!(Instant::now() < deadline, "never: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
