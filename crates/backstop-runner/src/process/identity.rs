//! Which process is meant: a pid together with its start time, so that a pid that was given away again is never signalled.
//!
//! Deliberately absent: groups. A group is signalled only while its leader is unreaped, see `running`.

use std::fs;

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};
use serde::{Deserialize, Serialize};

/// One process, and none that gets its number later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// The process number.
    pub pid: u32,
    /// When it started: clock ticks since boot, field 22 of `/proc/<pid>/stat`.
    pub start_time: u64,
}

impl Identity {
    /// The process that has this number now; none when there is none. A zombie counts.
    #[must_use]
    pub fn of(pid: u32) -> Option<Self> {
        Stat::read(pid).map(Stat::identity)
    }

    /// Whether this very process still runs; a zombie does not.
    #[must_use]
    pub fn is_alive(self) -> bool {
        Stat::read(self.pid).is_some_and(|stat| stat.identity() == self && !stat.is_dead())
    }

    /// Sends `signal` to this very process; false when it is gone or may not be signalled.
    pub(super) fn signal(self, signal: Signal) -> bool {
        let Some(pid) = raw(self.pid) else {
            return false;
        };
        // The descriptor comes first: when the start time still fits afterwards, the number was ours in between, and
        // what the descriptor names cannot be replaced any more.
        match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(fd) => self.is_alive() && pidfd_send_signal(&fd, signal).is_ok(),
            // Old kernels lack the call, old container filters refuse it.
            Err(Errno::NOSYS | Errno::PERM) => self.is_alive() && kill_process(pid, signal).is_ok(),
            Err(_) => false,
        }
    }
}

/// Whether this process was started with SIGHUP ignored, and has not changed that since.
#[must_use]
pub fn ignores_hangup() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    // The first signal has the lowest bit of the last digit.
    mask.and_then(|mask| mask.trim().chars().last()?.to_digit(16))
        .is_some_and(|digit| digit & 1 == 1)
}

/// The number as rustix takes it; none for 0 and for numbers that no kernel gives.
pub(super) fn raw(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw)
}

/// What `/proc/<pid>/stat` says about a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stat {
    pub(super) pid: u32,
    pub(super) parent: u32,
    pub(super) group: u32,
    pub(super) session: u32,
    start_time: u64,
    zombie: bool,
    threads: u64,
}

impl Stat {
    /// The process with this number; none when there is none or it may not be looked at.
    pub(super) fn read(pid: u32) -> Option<Self> {
        Self::parse(pid, &fs::read(format!("/proc/{pid}/stat")).ok()?)
    }

    fn parse(pid: u32, text: &[u8]) -> Option<Self> {
        // The program's name comes in parentheses and may itself hold spaces and parentheses.
        let name_ends = text.iter().rposition(|byte| *byte == b')')?;
        let rest = std::str::from_utf8(text.get(name_ends + 1..)?).ok()?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        let field = |number: usize| fields.get(number - 3);
        Some(Self {
            pid,
            zombie: matches!(*field(3)?, "Z" | "X"),
            parent: field(4)?.parse().ok()?,
            group: field(5)?.parse().ok()?,
            session: field(6)?.parse().ok()?,
            threads: field(20)?.parse().ok()?,
            start_time: field(22)?.parse().ok()?,
        })
    }

    /// Who it is.
    pub(super) fn identity(self) -> Identity {
        Identity {
            pid: self.pid,
            start_time: self.start_time,
        }
    }

    /// Whether nothing of it runs any more. A process whose first thread alone has ended still runs.
    pub(super) fn is_dead(self) -> bool {
        self.zombie && self.threads <= 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TAIL: &str = "R 7 8 9 0 -1 4194304 1 0 0 0 1 2 0 0 20 0 3 0 123456 9 9 9";

    #[test]
    fn a_program_name_with_parentheses_and_spaces_does_not_shift_the_fields() {
        for name in ["sh", "a b", "x) R 1 1 1", "((", "\u{fffd}"] {
            let stat = Stat::parse(5, format!("5 ({name}) {TAIL}").as_bytes()).unwrap();
            let seen = (stat.parent, stat.group, stat.session, stat.start_time);
            assert_eq!(seen, (7, 8, 9, 123_456), "{name}");
        }
        assert!(Stat::parse(5, b"5 (sh R 1").is_none());
        assert!(Stat::parse(5, b"5 (sh) R 1").is_none());
    }

    #[test]
    fn a_zombie_is_dead_only_with_its_last_thread() {
        let zombie = |threads: u32| {
            let text = format!("5 (sh) Z 7 8 9 0 -1 4 1 0 0 0 1 2 0 0 20 0 {threads} 0 123 9");
            Stat::parse(5, text.as_bytes()).unwrap()
        };
        assert!(zombie(1).is_dead());
        assert!(!zombie(2).is_dead());
    }

    #[test]
    fn a_wrong_start_time_is_another_process() {
        let me = Identity::of(std::process::id()).unwrap();
        let other = Identity {
            start_time: me.start_time + 1,
            ..me
        };
        assert!(me.is_alive());
        assert!(!other.is_alive());
        assert!(!other.signal(Signal::KILL), "this test would be gone");
    }

    #[test]
    fn no_process_has_the_number_zero() {
        assert_eq!(Identity::of(0), None);
        assert!(raw(0).is_none() && raw(u32::MAX).is_none());
    }
}
