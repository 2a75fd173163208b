//! A snapshot of the process table, and who descends from whom in it.
//!
//! Deliberately absent: environments. Reading those is dear and may be refused, see `marker`.

use std::collections::BTreeSet;
use std::fs;

use super::identity::Stat;

/// All processes as they were seen in one walk of `/proc`.
pub(super) struct Table(Vec<Stat>);

impl Table {
    /// Walks `/proc`. Processes that start or end meanwhile may be missing.
    pub(super) fn read() -> Self {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        Self(pids.filter_map(Stat::read).collect())
    }

    /// Everything in it, zombies too.
    pub(super) fn all(&self) -> impl Iterator<Item = Stat> {
        self.0.iter().copied()
    }

    /// What runs; no zombies.
    pub(super) fn alive(&self) -> impl Iterator<Item = Stat> {
        self.all().filter(|stat| !stat.is_dead())
    }

    /// The process with this number.
    pub(super) fn find(&self, pid: u32) -> Option<Stat> {
        self.all().find(|stat| stat.pid == pid)
    }

    /// Whose parents lead to one of `roots`, without the roots themselves.
    pub(super) fn descendants(&self, roots: &BTreeSet<u32>) -> BTreeSet<u32> {
        let mut found = BTreeSet::new();
        loop {
            let before = found.len();
            let children = self
                .0
                .iter()
                .filter(|stat| roots.contains(&stat.parent) || found.contains(&stat.parent));
            let children: Vec<u32> = children.map(|stat| stat.pid).collect();
            found.extend(children.into_iter().filter(|pid| !roots.contains(pid)));
            if found.len() == before {
                return found;
            }
        }
    }

    /// The process and its parents up to the first, each once.
    pub(super) fn lineage(&self, pid: u32) -> BTreeSet<u32> {
        let mut line = BTreeSet::new();
        let mut next = self.find(pid);
        while let Some(stat) = next {
            if !line.insert(stat.pid) {
                break;
            }
            next = self.find(stat.parent);
        }
        line
    }
}
