//! Finding and ending what an attempt has left behind: its group, its children, and whatever carries its marker.
//!
//! Deliberately absent: group signals. Here every process is signalled by itself, through a pidfd whose start time was
//! checked. Guesses: what an earlier runner left without marker, group, session or parent of the attempt is nobody's and
//! stays. And control groups: those here belong to the system's service manager, which allows nobody else to make some below its own.

use std::collections::BTreeSet;
use std::io;
use std::process;
use std::time::Duration;

use rustix::process::{Signal, WaitOptions, getpgrp, getpid, getsid, set_child_subreaper, waitpid};
use tokio::time::{Instant, sleep};

use super::identity::{Identity, Stat, raw};
use super::marker::{Marker, carries_marker, environment_of as environment};
use super::spawn::Orphans;
use super::table::Table;

/// How long the kernel gets to let a killed process go.
pub(super) const KILL_LIMIT: Duration = Duration::from_secs(5);

/// How often it is looked at what is left.
const LOOK: Duration = Duration::from_millis(20);

/// The same for a drop, which blocks the thread.
const DROP_LIMIT: Duration = Duration::from_millis(500);
const DROP_LOOK: Duration = Duration::from_millis(2);

/// What became of the processes that an attempt had left behind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[must_use = "nothing may start beside what is left"]
pub struct Swept {
    /// How many were ended.
    pub swept: usize,
    /// Which could not be ended.
    pub left: Vec<Identity>,
}

/// Makes this process the parent of orphans below it, so that no agent's child escapes to the first process of the system.
/// Once, when the runner starts; it covers the whole process.
///
/// # Errors
/// The kernel refuses.
pub fn become_subreaper() -> io::Result<()> {
    Ok(set_child_subreaper(Some(getpid()))?)
}

/// Every living process that carries exactly this marker, but for this process.
#[must_use]
pub fn find_survivors(marker: &Marker) -> Vec<Identity> {
    let table = Table::read();
    let others = table.alive().filter(|stat| stat.pid != process::id());
    others
        .filter(|stat| marker.is_on(stat.pid))
        .map(Stat::identity)
        .collect()
}

/// Ends an attempt that another process started, such as a runner that crashed: SIGTERM, `grace`, SIGKILL until none is
/// left. `identity` is the agent's own process; when its number belongs to another process by now, that one is not touched.
pub async fn stop_by_identity(identity: Identity, marker: &Marker, grace: Duration) -> Swept {
    Scent::of_stranger(identity, marker.clone())
        .sweep(grace)
        .await
}

/// Waits for orphans that have ended under this process, so that they do not pile up as zombies.
///
/// Only for what cannot be a child that this process started itself: another session, or a group led by another. So what
/// the runner starts itself must not be made the leader of a session.
pub fn reap_orphans() {
    let (own, group) = (process::id(), getpgrp().as_raw_pid());
    let session = getsid(None).map_or(0, rustix::process::Pid::as_raw_pid);
    let is = |number: u32, raw: i32| i64::from(number) == i64::from(raw);
    let orphans = Table::read();
    let orphans = orphans
        .all()
        .filter(|stat| stat.parent == own && stat.is_dead());
    for stat in orphans {
        let led_by_another = stat.group != stat.pid && !is(stat.group, group);
        if !is(stat.session, session) || led_by_another {
            reap(stat.identity());
        }
    }
}

/// Reaps this very process when it is a dead child of ours. A dead child keeps its number until then, so none other is hit.
fn reap(identity: Identity) {
    let ours = Stat::read(identity.pid).is_some_and(|stat| {
        stat.identity() == identity && stat.parent == process::id() && stat.is_dead()
    });
    if let (true, Some(pid)) = (ours, raw(identity.pid)) {
        let _ = waitpid(Some(pid), WaitOptions::NOHANG);
    }
}

/// By what the processes of an attempt are recognised.
#[derive(Debug, Clone)]
pub(super) struct Scent {
    leader: Identity,
    marker: Marker,
    seen: BTreeSet<Identity>,
    kin: Kin,
    orphans: Orphans,
}

/// What the leader is to this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kin {
    /// Our own child, unreaped: known by its number, and waited for elsewhere.
    Child,
    /// Another process started it: known by its number and its marker, and to be ended like the rest.
    Stranger,
}

impl Scent {
    /// Of what our own, unreaped child `leader` has started.
    pub(super) fn of_child(leader: Identity, marker: Marker, orphans: Orphans) -> Self {
        let mut scent = Self::new(leader, marker, Kin::Child);
        scent.orphans = orphans;
        scent
    }

    /// Of `leader`, whom another process started, and of what it has started.
    fn of_stranger(leader: Identity, marker: Marker) -> Self {
        Self::new(leader, marker, Kin::Stranger)
    }

    fn new(leader: Identity, marker: Marker, kin: Kin) -> Self {
        Self {
            leader,
            marker,
            seen: BTreeSet::new(),
            kin,
            orphans: Orphans::Left,
        }
    }

    /// Remembers who descends from the leader now: once its parents have gone, nothing tells any more. Forgets the dead.
    pub(super) fn remember(&mut self) {
        let table = Table::read();
        let alive: BTreeSet<Identity> = table.alive().map(Stat::identity).collect();
        self.seen.retain(|seen| alive.contains(seen));
        let mut roots: BTreeSet<u32> = self.seen.iter().map(|seen| seen.pid).collect();
        if self.is_leader_in(&table) {
            roots.insert(self.leader.pid);
        }
        let below = table.descendants(&roots);
        let found = table.alive().filter(|stat| below.contains(&stat.pid));
        self.seen.extend(found.map(Stat::identity));
    }

    /// Whether anything of the leader's group still runs, but for the leader.
    pub(super) fn has_group(&self) -> bool {
        let table = Table::read();
        table
            .alive()
            .any(|stat| stat.group == self.leader.pid && stat.pid != self.leader.pid)
    }

    /// Whether the leader still has its number; then that number cannot be the group of anyone else.
    ///
    /// Start times begin anew with each boot, so that a stranger must also carry the marker.
    fn is_leader_in(&self, table: &Table) -> bool {
        let found = table.find(self.leader.pid).map(Stat::identity) == Some(self.leader);
        match self.kin {
            Kin::Child => found,
            Kin::Stranger => found && self.marker.is_on(self.leader.pid),
        }
    }

    /// What of the attempt is still alive; never this process, nor one that it descends from.
    pub(super) fn survivors(&self) -> Vec<Identity> {
        let table = Table::read();
        let spared = table.lineage(process::id());
        let group_is_ours = self.is_leader_in(&table);
        let foster = Foster::here();
        let is_ours = |stat: &Stat| {
            (group_is_ours && stat.group == self.leader.pid)
                || self.seen.contains(&stat.identity())
                || self.marker.is_on(stat.pid)
                || (self.orphans == Orphans::Ended && foster.took_in(stat))
        };
        // Nothing of the attempt is older than its leader: the environments of all others need not be read.
        let candidates = table
            .alive()
            .filter(|stat| stat.identity().start_time >= self.leader.start_time);
        let mut found: BTreeSet<u32> = candidates.filter(is_ours).map(|stat| stat.pid).collect();
        let led: Vec<u32> = table
            .alive()
            .filter(|stat| found.contains(&stat.session))
            .map(|stat| stat.pid)
            .collect();
        found.extend(led);
        found.extend(table.descendants(&found));
        let found = table.alive().filter(|stat| found.contains(&stat.pid));
        let found = found.filter(|stat| !spared.contains(&stat.pid));
        let wanted = |stat: &Stat| self.kin == Kin::Stranger || stat.pid != self.leader.pid;
        found.filter(wanted).map(Stat::identity).collect()
    }

    /// The survivors. That there are none is believed the second time only: for a moment, a process that becomes another
    /// program has no environment, and one that forks and leaves can slip through a walk.
    fn twice(&self) -> Vec<Identity> {
        let found = self.survivors();
        if found.is_empty() {
            self.survivors()
        } else {
            found
        }
    }

    /// SIGTERM, `grace`, SIGKILL until none is left or the kernel does not let go.
    pub(super) async fn sweep(&mut self, grace: Duration) -> Swept {
        let mut met = BTreeSet::new();
        let asked = self.meet(&mut met);
        signal(&asked, Signal::TERM);
        // A stopped process takes SIGTERM only when it goes on.
        signal(&asked, Signal::CONT);
        wait_until_gone(&asked, grace).await;
        let deadline = Instant::now() + KILL_LIMIT;
        let left = loop {
            let left = self.meet(&mut met);
            if left.is_empty() || Instant::now() >= deadline {
                break left;
            }
            signal(&left, Signal::KILL);
            wait_until_gone(&left, LOOK).await;
        };
        met.iter().copied().for_each(reap);
        Swept {
            swept: met.len() - left.len(),
            left,
        }
    }

    /// The survivors. They are remembered: one whose parent goes first would not be recognised again.
    fn meet(&mut self, met: &mut BTreeSet<Identity>) -> Vec<Identity> {
        let found = self.twice();
        self.seen.extend(found.iter().copied());
        met.extend(found.iter().copied());
        found
    }

    /// SIGKILL to all until none is left, for where nothing can be awaited. Blocks, but not for long.
    pub(super) fn kill(&self) {
        let deadline = std::time::Instant::now() + DROP_LIMIT;
        loop {
            let left = self.twice();
            if left.is_empty() || std::time::Instant::now() >= deadline {
                break;
            }
            signal(&left, Signal::KILL);
            std::thread::sleep(DROP_LOOK);
        }
    }
}

fn has_words(pid: u32) -> bool {
    std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|words| !words.is_empty())
}

/// This process as the parent of orphans that have dropped their marker, as a daemon does that an agent has started
/// with an empty environment. They can come from a lane alone, and free they could answer its gate once the runner is gone.
struct Foster {
    own: u32,
    group: u32,
    environment: Vec<u8>,
}

impl Foster {
    fn here() -> Self {
        let own = process::id();
        Self {
            own,
            group: Stat::read(own).map_or(0, |stat| stat.group),
            environment: environment(own),
        }
    }

    /// Whether it is an orphan without any marker. What this process starts itself is either in its own group, as git is,
    /// or leads one and is marked. On its way to that it has the environment of this process at first, and then for a
    /// moment neither words nor environment.
    fn took_in(&self, stat: &Stat) -> bool {
        stat.parent == self.own
            && stat.group != self.group
            && has_words(stat.pid)
            && environment(stat.pid) != self.environment
            && !carries_marker(stat.pid)
    }
}

fn signal(who: &[Identity], signal: Signal) {
    for identity in who {
        identity.signal(signal);
    }
}

async fn wait_until_gone(who: &[Identity], most: Duration) {
    let deadline = Instant::now() + most;
    while who.iter().any(|identity| identity.is_alive()) && Instant::now() < deadline {
        sleep(LOOK.min(most)).await;
    }
}
