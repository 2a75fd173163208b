//! The lane marker: the environment variables by which everything that an agent starts is found again.
//!
//! Deliberately absent: proof. A process can drop its environment; its parents and its group then still tell.

use std::fs;
use std::process;

use serde::{Deserialize, Serialize};

use super::identity::Stat;

const MISSION: &str = "BACKSTOP_MISSION";

/// How many times a chain of parents is walked that changes under the walk.
const WALKS: u8 = 3;

/// Which attempt a process belongs to, as its environment says.
///
/// Two attempts are told apart by all six together: give no two living attempts the same six.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Marker {
    /// `BACKSTOP_MISSION`
    pub mission: String,
    /// `BACKSTOP_LANE`
    pub lane: String,
    /// `BACKSTOP_PHASE`
    pub phase: String,
    /// `BACKSTOP_STAGE`
    pub stage: String,
    /// `BACKSTOP_ROLE`
    pub role: String,
    /// `BACKSTOP_ATTEMPT`
    pub attempt: String,
}

impl Marker {
    /// The variables, as an agent sees them.
    #[must_use]
    pub fn variables(&self) -> [(&'static str, &str); 6] {
        [
            (MISSION, &self.mission),
            ("BACKSTOP_LANE", &self.lane),
            ("BACKSTOP_PHASE", &self.phase),
            ("BACKSTOP_STAGE", &self.stage),
            ("BACKSTOP_ROLE", &self.role),
            ("BACKSTOP_ATTEMPT", &self.attempt),
        ]
    }

    /// Whether the process with this number carries exactly this marker.
    pub(super) fn is_on(&self, pid: u32) -> bool {
        fs::read(environment(pid)).is_ok_and(|bytes| self.is_in(&bytes))
    }

    fn is_in(&self, environment: &[u8]) -> bool {
        self.variables().iter().all(|(name, value)| {
            let wanted = format!("{name}={value}");
            variables(environment).any(|found| found == wanted.as_bytes())
        })
    }
}

/// The environment of a process; nothing when it may not be looked at.
pub(super) fn environment_of(pid: u32) -> Vec<u8> {
    fs::read(environment(pid)).unwrap_or_default()
}

fn environment(pid: u32) -> String {
    format!("/proc/{pid}/environ")
}

fn variables(environment: &[u8]) -> impl Iterator<Item = &[u8]> {
    environment.split(|byte| *byte == 0)
}

/// Whether the process with this number carries a marker of any mission. What may not be looked at carries none.
#[must_use]
pub fn carries_marker(pid: u32) -> bool {
    let names_a_mission = |bytes: Vec<u8>| {
        variables(&bytes).any(|found| {
            found.starts_with(MISSION.as_bytes()) && found.get(MISSION.len()) == Some(&b'=')
        })
    };
    fs::read(environment(pid)).is_ok_and(names_a_mission)
}

/// Whether the process with this number belongs to a lane: it or one of its parents carries a marker, or it descends
/// from this process, which is where orphans of a lane end up. What is gone or cannot be followed counts as belonging:
/// an answer is only taken from someone who can be looked at.
#[must_use]
pub fn descends_from_marked(pid: u32) -> bool {
    (0..WALKS)
        .find_map(|_| walk(pid, process::id()))
        .unwrap_or(true)
}

/// Whether a marked process or `runner` is among the parents; none when a parent went away under the walk.
fn walk(pid: u32, runner: u32) -> Option<bool> {
    let mut at = Stat::read(pid).filter(|stat| !stat.is_dead())?;
    // A parent is never younger than its child but for reparenting, so the walk ends; the count guards against a loop.
    for _ in 0..u16::MAX {
        if carries_marker(at.pid) || (at.pid == runner && at.pid != pid) {
            return Some(true);
        }
        let parent = Stat::read(at.parent);
        // The child must still be there and still be that parent's, else the number was someone else's when it was read.
        if Stat::read(at.pid).map(|now| (now.identity(), now.parent))
            != Some((at.identity(), at.parent))
        {
            return None;
        }
        match parent {
            Some(parent) => at = parent,
            // The first process has no parent; where `/proc` hides other users' processes, theirs cannot be seen.
            None => return Some(false),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};

    fn marker() -> Marker {
        Marker {
            mission: "m1".to_owned(),
            lane: "1-coding".to_owned(),
            phase: "1".to_owned(),
            stage: "code".to_owned(),
            role: "implementer".to_owned(),
            attempt: "2".to_owned(),
        }
    }

    fn environ(marker: &Marker) -> Vec<u8> {
        let joined = marker
            .variables()
            .map(|(name, value)| format!("{name}={value}"));
        format!("PATH=/bin\0{}\0", joined.join("\0")).into_bytes()
    }

    #[test]
    fn a_marker_fits_only_when_all_six_do() {
        assert!(marker().is_in(&environ(&marker())));
        for other in [
            Marker {
                mission: "m".to_owned(),
                ..marker()
            },
            Marker {
                mission: "m11".to_owned(),
                ..marker()
            },
            Marker {
                lane: "2-coding".to_owned(),
                ..marker()
            },
            Marker {
                phase: "2".to_owned(),
                ..marker()
            },
            Marker {
                stage: "validate".to_owned(),
                ..marker()
            },
            Marker {
                role: "reviewer".to_owned(),
                ..marker()
            },
            Marker {
                attempt: "21".to_owned(),
                ..marker()
            },
        ] {
            assert!(!other.is_in(&environ(&marker())), "{other:?}");
        }
        assert!(!marker().is_in(b""));
    }

    #[test]
    fn a_parent_that_carries_a_marker_is_enough() {
        for (mission, belongs) in [(Some("m1"), true), (None, false)] {
            let mut shell = Command::new("/bin/sh");
            let script = "env -i /bin/sh -c 'echo $$; read line; :'; :";
            shell
                .args(["-c", script])
                .envs(mission.map(|value| (MISSION, value)));
            let shell = shell.stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut shell = shell.spawn().unwrap();
            let mut line = String::new();
            let mut said = BufReader::new(shell.stdout.take().unwrap());
            said.read_line(&mut line).unwrap();
            let pid = line.trim().parse().unwrap();
            assert!(!carries_marker(pid));
            assert_eq!(walk(pid, 0), Some(belongs));
            assert_eq!(
                walk(pid, process::id()),
                Some(true),
                "it is below this process"
            );
            drop(shell.stdin.take());
            shell.wait().unwrap();
        }
    }

    #[test]
    fn who_cannot_be_looked_at_is_taken_for_an_agent() {
        assert!(descends_from_marked(0));
        assert!(descends_from_marked(u32::MAX));
    }
}
