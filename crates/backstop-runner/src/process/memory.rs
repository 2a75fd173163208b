//! How much memory is free for what this process starts: by the machine's word, and by the limits of the control groups that
//! it lives in.

use std::fs;
use std::path::Path;

use super::oom::{Version, folders};

/// How much memory is free, in bytes, and what says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FreeMemory {
    /// In bytes.
    pub bytes: u64,
    /// Whether a control group has less of it than the machine.
    pub by: BoundBy,
}

/// What bounds the memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BoundBy {
    /// All the machine has.
    Machine,
    /// The limit of a control group.
    Group,
}

impl FreeMemory {
    /// Looks; none where nothing tells.
    #[must_use]
    pub fn look() -> Option<Self> {
        Self::told(&|path| fs::read_to_string(path).ok())
    }

    fn told(read: &dyn Fn(&Path) -> Option<String>) -> Option<Self> {
        let machine = read(Path::new("/proc/meminfo")).and_then(|text| available(&text));
        let groups = read(Path::new("/proc/self/cgroup")).unwrap_or_default();
        let mounts = read(Path::new("/proc/self/mountinfo")).unwrap_or_default();
        let found = folders(&groups, &mounts).into_iter();
        let group = found
            .flat_map(|(version, folder)| {
                let all: Vec<_> = folder
                    .ancestors()
                    .map(|one| left(version, one, read))
                    .collect();
                all
            })
            .flatten()
            .min();
        let machine = machine.map(|bytes| Self {
            bytes,
            by: BoundBy::Machine,
        });
        let group = group.map(|bytes| Self {
            bytes,
            by: BoundBy::Group,
        });
        machine
            .into_iter()
            .chain(group)
            .min_by_key(|free| free.bytes)
    }
}

/// What the machine can give without swapping: `MemAvailable`.
fn available(meminfo: &str) -> Option<u64> {
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

/// What a control group has left below its limit; none where it has no limit. What caches files can be given back.
fn left(version: Version, group: &Path, read: &dyn Fn(&Path) -> Option<String>) -> Option<u64> {
    let (limit, usage) = match version {
        Version::Two => ("memory.max", "memory.current"),
        Version::One => ("memory.limit_in_bytes", "memory.usage_in_bytes"),
    };
    let number = |name: &str| read(&group.join(name))?.trim().parse::<u64>().ok();
    let used = number(usage)?;
    let stat = read(&group.join("memory.stat")).unwrap_or_default();
    let cached = stat.lines().filter_map(|line| {
        let (name, bytes) = line.split_once(' ')?;
        let cache = match version {
            Version::Two => ["inactive_file", "active_file"],
            Version::One => ["total_inactive_file", "total_active_file"],
        };
        cache
            .contains(&name)
            .then(|| bytes.trim().parse::<u64>().ok())?
    });
    let kept = used.saturating_sub(cached.fold(0, u64::saturating_add));
    // Without a limit version 2 says `max`, and version 1 a number that no machine has.
    Some(number(limit)?.saturating_sub(kept))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(files: &[(&str, &str)]) -> Option<(u64, BoundBy)> {
        let read = |path: &Path| {
            let found = files.iter().find(|(name, _)| Path::new(name) == path);
            found.map(|(_, text)| (*text).to_owned())
        };
        FreeMemory::told(&read).map(|free| (free.bytes, free.by))
    }

    const MEMINFO: (&str, &str) = (
        "/proc/meminfo",
        "MemTotal:       8000 kB\nMemFree:        1000 kB\nMemAvailable:   4000 kB\n",
    );

    #[test]
    fn what_the_machine_has_counts_where_no_group_is_limited() {
        assert_eq!(told(&[]), None);
        assert_eq!(told(&[MEMINFO]), Some((4_096_000, BoundBy::Machine)));
        let unlimited = [
            MEMINFO,
            ("/proc/self/cgroup", "0::/a\n"),
            (
                "/proc/self/mountinfo",
                "29 1 0:26 / /cg rw - cgroup2 cgroup2 rw\n",
            ),
            ("/cg/a/memory.max", "max\n"),
            ("/cg/a/memory.current", "5\n"),
        ];
        assert_eq!(told(&unlimited), Some((4_096_000, BoundBy::Machine)));
    }

    #[test]
    fn the_tightest_group_counts_and_its_cached_files_do_not() {
        let two = [
            MEMINFO,
            ("/proc/self/cgroup", "0::/a/b\n"),
            (
                "/proc/self/mountinfo",
                "29 1 0:26 / /cg rw - cgroup2 cgroup2 rw\n",
            ),
            ("/cg/a/memory.max", "1000\n"),
            ("/cg/a/memory.current", "900\n"),
            (
                "/cg/a/memory.stat",
                "anon 400\ninactive_file 300\nactive_file 100\n",
            ),
            ("/cg/a/b/memory.max", "5000\n"),
            ("/cg/a/b/memory.current", "10\n"),
        ];
        assert_eq!(told(&two), Some((500, BoundBy::Group)));
        let one = [
            MEMINFO,
            ("/proc/self/cgroup", "3:memory:/a\n"),
            (
                "/proc/self/mountinfo",
                "36 31 0:33 / /m rw - cgroup cgroup rw,memory\n",
            ),
            ("/m/a/memory.limit_in_bytes", "1000\n"),
            ("/m/a/memory.usage_in_bytes", "700\n"),
            (
                "/m/a/memory.stat",
                "inactive_file 1\ntotal_inactive_file 200\n",
            ),
        ];
        assert_eq!(told(&one), Some((500, BoundBy::Group)));
    }

    #[test]
    fn this_machine_tells() {
        assert!(FreeMemory::look().is_some_and(|free| free.bytes > 0));
    }
}
