//! Who belongs to a lane: by the marker in its environment, and by its parents.
//!
//! The marker is the environment variables by which everything that an agent starts is found again. It is no proof: a process
//! can drop or forge its environment. Its parents then still tell, as what a lane leaves behind becomes the runner's child.
//!
//! Deliberately absent: who belonged to a lane once. What outlives a runner that was killed gets another parent, and without
//! its marker nothing tells it from a person.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process;

use serde::{Deserialize, Serialize};

use super::identity::Stat;

const MISSION: &str = "BACKSTOP_MISSION";

/// What Backstop's program is called.
const PROGRAM: &[u8] = b"backstop";

/// The commands that run agents: those that drive a mission, those that go on with it after an answer or a stop, and the
/// one that asks for a plan.
const DRIVING: [&[u8]; 6] = [b"run", b"resume", b"demo", b"gate", b"stop", b"propose"];

/// The option of a command that leaves the driving to another process, and returns.
const DETACH: &[u8] = b"--detach";

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

/// Whether the process with this number belongs to a lane: it or one of its parents carries a marker, or one of its
/// parents is a runner, which is where orphans of a lane end up. Which mission's makes no difference: no agent answers any gate.
/// What is gone or cannot be followed counts as belonging: an answer is only taken from someone who can be looked at.
#[must_use]
pub fn descends_from_marked(pid: u32) -> bool {
    (0..WALKS)
        .find_map(|_| walk(pid, process::id()))
        .unwrap_or(true)
}

/// Whether a process with this number drives a mission: Backstop's program, with a command that does.
fn is_runner(pid: u32) -> bool {
    // A command line that cannot be read may be a driving one.
    is_backstop(pid) && fs::read(format!("/proc/{pid}/cmdline")).map_or(true, |line| drives(&line))
}

/// Whether it runs the same file as this process, or one with Backstop's name: an upgrade replaces the file under a runner.
fn is_backstop(pid: u32) -> bool {
    let place = format!("/proc/{pid}/exe");
    let file = |place: &str| {
        let found = fs::metadata(place).ok()?;
        Some((found.dev(), found.ino()))
    };
    let own = file("/proc/self/exe");
    (own.is_some() && file(&place) == own)
        || fs::read_link(&place).is_ok_and(|path| is_named(&path))
}

fn is_named(program: &Path) -> bool {
    let name = program.file_name().map_or(&b""[..], |name| name.as_bytes());
    // What the system adds when the file is gone.
    name.strip_suffix(b" (deleted)").unwrap_or(name) == PROGRAM
}

/// Whether a command line drives a mission. `run --detach` does not: the runner that it leaves behind is its child for a
/// moment, and is no lane's.
fn drives(line: &[u8]) -> bool {
    let words = || line.split(|byte| *byte == 0).skip(1);
    // After `--` there are no options, only words such as a goal.
    let detaches = words()
        .take_while(|word| *word != b"--")
        .any(|word| word == DETACH);
    !detaches && words().any(|word| DRIVING.contains(&word))
}

/// Whether a marked process, a runner or `own` is among the parents; none when a parent went away under the walk.
fn walk(pid: u32, own: u32) -> Option<bool> {
    let mut at = Stat::read(pid).filter(|stat| !stat.is_dead())?;
    // A parent is never younger than its child but for reparenting, so the walk ends; the count guards against a loop.
    for _ in 0..u16::MAX {
        let is_above = at.pid != pid;
        if carries_marker(at.pid) || (is_above && (at.pid == own || is_runner(at.pid))) {
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

    /// Words as the system shows them.
    fn line(words: &str) -> Vec<u8> {
        words
            .split(' ')
            .flat_map(|word| [word.as_bytes(), b"\0"].concat())
            .collect()
    }

    #[test]
    fn a_command_that_goes_on_with_a_mission_drives_it() {
        for driving in [
            "backstop run goal",
            "backstop --state-dir /s resume m1 --wait",
            "backstop demo",
            "backstop gate approve g1",
            "backstop stop m1",
            "backstop plan propose goal",
            "backstop run -- --detach",
        ] {
            assert!(drives(&line(driving)), "{driving}");
        }
        for other in [
            "backstop",
            "run",
            "backstop status",
            "backstop logs m1 --follow",
            "backstop plan approve p1",
            "backstop run goal --detach",
            "backstop run --detach -- goal",
        ] {
            assert!(!drives(&line(other)), "{other}");
        }
    }

    #[test]
    fn backstop_is_known_by_its_file_or_its_name() {
        assert!(is_backstop(process::id()));
        let parent = std::os::unix::process::parent_id();
        assert!(!is_backstop(parent));
        assert!(!is_runner(parent));
        for name in ["/usr/bin/backstop", "backstop", "/b/backstop (deleted)"] {
            assert!(is_named(Path::new(name)), "{name}");
        }
        for name in ["/backstop/sh", "/b/backstop-2", "/b/xbackstop", "/"] {
            assert!(!is_named(Path::new(name)), "{name}");
        }
    }

    #[test]
    fn a_parent_that_is_a_runner_is_enough() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("backstop");
        // Copied by another process: a file that this one has open for writing cannot be run.
        let copied = Command::new("cp").arg("/bin/sh").arg(&program).status();
        assert!(copied.unwrap().success());
        for (words, belongs) in [
            (&["resume", "m1", "--wait"][..], true),
            (&["status"], false),
            (&["run", "goal", "--detach"], false),
        ] {
            let mut runner = Command::new(&program);
            runner.args(["-c", "sh -c 'echo $$; read line; :'; :"]);
            let runner = runner.args(words).stdin(Stdio::piped());
            let mut runner = runner.stdout(Stdio::piped()).spawn().unwrap();
            let mut line = String::new();
            let mut said = BufReader::new(runner.stdout.take().unwrap());
            said.read_line(&mut line).unwrap();
            let pid = line.trim().parse().unwrap();
            assert_eq!(walk(pid, 0), Some(belongs), "{words:?}");
            assert_eq!(walk(runner.id(), 0), Some(false), "itself is no parent");
            drop(runner.stdin.take());
            runner.wait().unwrap();
        }
    }

    #[test]
    fn who_cannot_be_looked_at_is_taken_for_an_agent() {
        assert!(descends_from_marked(0));
        assert!(descends_from_marked(u32::MAX));
    }
}
