//! Finding and ending what an attempt has left behind: its group, its children, whatever carries its marker, and every
//! child of this process that this process did not start.
//!
//! Deliberately absent: group signals. Here every process is signalled by itself, through a pidfd whose start time was
//! checked. Guesses: what an earlier runner left without marker, group, session or parent of the attempt is nobody's and
//! stays. And control groups: those here belong to the system's service manager, which allows nobody else to make some below its own.

use std::collections::BTreeSet;
use std::process;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::process::{Signal, WaitOptions, waitpid};
use tokio::time::{Instant, sleep};

use super::children::{self, List};
use super::identity::{Identity, Stat, raw};
use super::marker::Marker;
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
pub fn reap_orphans() {
    let (table, list) = children::look();
    let dead = list.strays(&table).filter(|stat| stat.is_dead());
    dead.map(Stat::identity).for_each(reap);
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

/// By what the processes of an attempt are recognised. Clones share one memory.
#[derive(Debug, Clone)]
pub(super) struct Scent {
    leader: Identity,
    marker: Marker,
    seen: Arc<Mutex<BTreeSet<Identity>>>,
    kin: Kin,
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
    pub(super) fn of_child(leader: Identity, marker: Marker) -> Self {
        Self::new(leader, marker, Kin::Child)
    }

    /// Of `leader`, whom another process started, and of what it has started.
    fn of_stranger(leader: Identity, marker: Marker) -> Self {
        Self::new(leader, marker, Kin::Stranger)
    }

    fn new(leader: Identity, marker: Marker, kin: Kin) -> Self {
        Self {
            leader,
            marker,
            seen: Arc::default(),
            kin,
        }
    }

    /// The agent's own process.
    pub(super) const fn leader(&self) -> Identity {
        self.leader
    }

    fn seen(&self) -> MutexGuard<'_, BTreeSet<Identity>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers who descends from the leader now: once its parents have gone, nothing tells any more. Forgets the dead.
    pub(super) fn remember(&self) {
        self.remember_in(&Table::read());
    }

    fn remember_in(&self, table: &Table) {
        let alive: BTreeSet<Identity> = table.alive().map(Stat::identity).collect();
        let mut seen = self.seen();
        seen.retain(|seen| alive.contains(seen));
        let mut roots: BTreeSet<u32> = seen.iter().map(|seen| seen.pid).collect();
        if self.is_leader_in(table) {
            roots.insert(self.leader.pid);
        }
        let below = table.descendants(&roots);
        let found = table.alive().filter(|stat| below.contains(&stat.pid));
        seen.extend(found.map(Stat::identity));
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

    /// What is still alive and ends with the attempt; never this process, one that it descends from, or one that it started.
    pub(super) fn survivors(&self) -> Vec<Identity> {
        let (table, list) = children::look();
        let mut found = self.own(&table);
        if self.kin == Kin::Child {
            found.extend(self.strays(&table, &list));
        }
        found.extend(table.descendants(&found));
        let spared = table.lineage(process::id());
        let found = table.alive().filter(|stat| found.contains(&stat.pid));
        found
            .filter(|stat| !spared.contains(&stat.pid) && !list.holds(stat.identity()))
            .map(Stat::identity)
            .collect()
    }

    /// Whose group, memory, marker or session says that it is the attempt's.
    fn own(&self, table: &Table) -> BTreeSet<u32> {
        let group_is_ours = self.is_leader_in(table);
        let seen = self.seen();
        let is_ours = |stat: &Stat| {
            (group_is_ours && stat.group == self.leader.pid)
                || seen.contains(&stat.identity())
                || self.marker.is_on(stat.pid)
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
        found
    }

    /// Living children that this process did not start, whatever they look like: a lane has left them. What another attempt
    /// that still runs knows as its own is left to its end: a daemon that an agent forked off must live as long as the agent. A
    /// forged marker gains no more than that: the last attempt leaves none.
    fn strays(&self, table: &Table, list: &List) -> BTreeSet<u32> {
        let strays = list.strays(table).filter(|stat| !stat.is_dead());
        let mut strays: BTreeSet<u32> = strays.map(|stat| stat.pid).collect();
        for other in list.others(self.leader) {
            other.remember_in(table);
            if !strays.is_empty() {
                let kept = other.own(table);
                strays.retain(|pid| !kept.contains(pid));
            }
        }
        strays
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
    pub(super) async fn sweep(&self, grace: Duration) -> Swept {
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
    fn meet(&self, met: &mut BTreeSet<Identity>) -> Vec<Identity> {
        let found = self.twice();
        self.seen().extend(found.iter().copied());
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
