//! How many processes the kernel has killed for memory in this process's control group.
//!
//! Deliberately absent: blame. The counter is shared by all that runs in the group: it is evidence, not a verdict.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// What the kernel's counter says about an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Oom {
    /// There is no counter here: only a SIGKILL that nobody here sent hints at it.
    Unmeasured,
    /// The counter did not move.
    No,
    /// It moved by this much while the attempt ran.
    Counter(u64),
}

/// A place to read the counter, and its reading when it was found.
#[derive(Debug)]
pub(super) struct Counter {
    file: PathBuf,
    before: u64,
}

impl Counter {
    /// Finds the counter of this process's group; none where there is none.
    pub(super) fn find() -> Option<Self> {
        let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
        let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
        candidates(&groups, &mounts).into_iter().find_map(|file| {
            let before = read(&file)?;
            Some(Self { file, before })
        })
    }

    /// How far the counter has moved since it was found.
    pub(super) fn moved(counter: Option<&Self>) -> Oom {
        let now = counter.and_then(|counter| read(&counter.file).zip(Some(counter.before)));
        match now.map(|(now, before)| now.saturating_sub(before)) {
            None => Oom::Unmeasured,
            Some(0) => Oom::No,
            Some(moved) => Oom::Counter(moved),
        }
    }
}

/// The file in which the kernel counts for this process; none where it does not.
#[must_use]
pub fn oom_counter() -> Option<PathBuf> {
    Counter::find().map(|counter| counter.file)
}

fn read(file: &Path) -> Option<u64> {
    kills(&fs::read_to_string(file).ok()?)
}

fn kills(text: &str) -> Option<u64> {
    let mut lines = text.lines();
    lines.find_map(|line| line.strip_prefix("oom_kill ")?.trim().parse().ok())
}

/// A version of control groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    /// One hierarchy for each controller.
    One,
    /// One for all.
    Two,
}

/// Where the counter may be, version 2 first: its counts include the groups below.
fn candidates(groups: &str, mounts: &str) -> Vec<PathBuf> {
    let found = folders(groups, mounts).into_iter();
    found
        .map(|(version, folder)| match version {
            Version::Two => folder.join("memory.events"),
            Version::One => folder.join("memory.oom_control"),
        })
        .collect()
}

/// The folders of the control groups that hold this process's memory, version 2 first.
pub(super) fn folders(groups: &str, mounts: &str) -> Vec<(Version, PathBuf)> {
    let unified = groups.lines().find_map(|line| line.strip_prefix("0::"));
    let memory = groups.lines().find_map(|line| {
        let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
        controllers
            .split(',')
            .any(|name| name == "memory")
            .then_some(path)
    });
    let found = [
        unified.and_then(|path| Some((Version::Two, mounted(mounts, "cgroup2", path)?))),
        memory.and_then(|path| Some((Version::One, mounted(mounts, "cgroup", path)?))),
    ];
    found.into_iter().flatten().collect()
}

/// Where `path` of a control group hierarchy is mounted. Lines are `id parent dev root point options - type source options`.
fn mounted(mounts: &str, kind: &str, path: &str) -> Option<PathBuf> {
    mounts.lines().find_map(|line| {
        let (place, what) = line.split_once(" - ")?;
        let mut what = what.split(' ');
        let fits = what.next() == Some(kind)
            && (kind == "cgroup2" || what.nth(1)?.split(',').any(|name| name == "memory"));
        let mut place = place.split(' ').skip(3);
        let (root, point) = (place.next()?, place.next()?);
        let below = Path::new(path).strip_prefix(root).ok()?;
        fits.then(|| Path::new(point).join(below))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
29 1 0:26 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw
35 31 0:32 / /sys/fs/cgroup/cpu rw,relatime shared:3 - cgroup cgroup rw,cpu
36 31 0:33 /docker/7 /sys/fs/cgroup/memory rw,relatime shared:3 - cgroup cgroup rw,memory
";

    #[test]
    fn the_counter_is_found_below_the_mount_of_its_hierarchy() {
        let groups = "4:cpu:/x\n3:memory:/docker/7/a\n0::/user.slice/u.scope\n";
        let wanted = [
            "/sys/fs/cgroup/unified/user.slice/u.scope/memory.events",
            "/sys/fs/cgroup/memory/a/memory.oom_control",
        ];
        assert_eq!(candidates(groups, MOUNTS), wanted.map(PathBuf::from));
    }

    #[test]
    fn a_group_outside_the_mount_has_no_counter() {
        assert!(candidates("3:memory:/docker/8\n", MOUNTS).is_empty());
        assert!(candidates("", "").is_empty());
    }

    #[test]
    fn both_versions_of_the_counter_are_read() {
        assert_eq!(
            kills("low 0\nhigh 0\nmax 4\noom 1\noom_kill 3\noom_group_kill 0\n"),
            Some(3)
        );
        assert_eq!(
            kills("oom_kill_disable 0\nunder_oom 0\noom_kill 2\n"),
            Some(2)
        );
        assert_eq!(kills("oom_kill_disable 0\nunder_oom 0\n"), None);
    }

    #[test]
    fn a_counter_that_moved_is_told_apart_from_none() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("memory.events");
        fs::write(&file, "oom_kill 5\n").unwrap();
        let counter = Counter {
            file: file.clone(),
            before: 5,
        };
        assert_eq!(Counter::moved(Some(&counter)), Oom::No);
        fs::write(&file, "oom_kill 7\n").unwrap();
        assert_eq!(Counter::moved(Some(&counter)), Oom::Counter(2));
        assert_eq!(Counter::moved(None), Oom::Unmeasured);
    }
}
