//! The list of the children that this process started itself. Below a runner, every other child is an orphan of a lane.
//!
//! A child is on the list before anyone can look: it is started, and the table of processes is read, under one lock.
//!
//! Deliberately absent: what a child looks like. Its environment, its group and its session are in its own hands.

use std::collections::BTreeMap;
use std::io;
use std::process::{self, Child, Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::{getpid, set_child_subreaper};

use super::identity::{Identity, Stat};
use super::marker::Marker;
use super::sweep::Scent;
use super::table::Table;

static LIST: Mutex<List> = Mutex::new(List {
    started: BTreeMap::new(),
    is_reaper: false,
});

/// Who is whose among the children of this process.
#[derive(Debug, Clone)]
pub(super) struct List {
    /// Those started here, with the scent of each that is an attempt.
    started: BTreeMap<Identity, Option<Scent>>,
    /// Whether orphans come to this process; before that, each child is the business of whoever started it.
    is_reaper: bool,
}

impl List {
    /// Whether this process started it.
    pub(super) fn holds(&self, identity: Identity) -> bool {
        self.started.contains_key(&identity)
    }

    /// The children of this process that it did not start, zombies too.
    pub(super) fn strays(&self, table: &Table) -> impl Iterator<Item = Stat> {
        let own = process::id();
        table
            .all()
            .filter(move |stat| stat.parent == own && self.is_reaper)
            .filter(|stat| !self.holds(stat.identity()))
    }

    /// The attempts that run besides the one of `leader`.
    pub(super) fn others(&self, leader: Identity) -> impl Iterator<Item = &Scent> {
        let others = self.started.iter().filter(move |(who, _)| **who != leader);
        others.filter_map(|(_, scent)| scent.as_ref())
    }
}

fn lock() -> MutexGuard<'static, List> {
    LIST.lock().unwrap_or_else(PoisonError::into_inner)
}

/// All processes, and the list as it was at that moment.
pub(super) fn look() -> (Table, List) {
    let list = lock();
    (Table::read(), list.clone())
}

/// Makes this process the parent of orphans below it, so that no agent's child escapes to the first process of the system,
/// and makes the end of each attempt end them.
///
/// It covers the whole process, which from here on starts its children with [`start`] and [`output`] alone. Children that
/// it has already are left alone; a shell that became this program may have had some.
///
/// # Errors
/// The kernel refuses.
pub fn become_subreaper() -> io::Result<()> {
    let mut list = lock();
    if !list.is_reaper {
        let own = process::id();
        let table = Table::read();
        let inherited = table.all().filter(|stat| stat.parent == own);
        for stat in inherited {
            list.started.entry(stat.identity()).or_default();
        }
    }
    set_child_subreaper(Some(getpid()))?;
    list.is_reaper = true;
    Ok(())
}

/// A place on the list, held until it is dropped. To be dropped when the child was reaped.
#[derive(Debug)]
pub(super) struct Listed(Option<Identity>);

impl Listed {
    /// By what the processes of this attempt are recognised; none when it is no attempt or `/proc` cannot be read.
    pub(super) fn scent(&self) -> Option<Scent> {
        lock().started.get(&self.0?)?.clone()
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        if let Some(identity) = self.0 {
            lock().started.remove(&identity);
        }
    }
}

/// Starts a child and lists it, as an attempt when it has a marker.
pub(super) fn list<C>(
    start: impl FnOnce() -> io::Result<C>,
    number: impl FnOnce(&C) -> Option<u32>,
    marker: Option<&Marker>,
) -> io::Result<(C, Listed)> {
    let mut list = lock();
    let child = start()?;
    let identity = number(&child).and_then(Identity::of);
    if let Some(identity) = identity {
        let scent = marker.map(|marker| Scent::of_child(identity, marker.clone()));
        list.started.insert(identity, scent);
    }
    Ok((child, Listed(identity)))
}

/// A child that this process started. Keep it until the child was waited for: what nobody keeps is taken for an orphan.
#[derive(Debug)]
pub struct Started {
    /// The child.
    pub child: Child,
    listed: Listed,
}

/// Starts a child that no sweep takes for an orphan.
///
/// # Errors
/// It cannot be started.
pub fn start(command: &mut Command) -> io::Result<Started> {
    let (child, listed) = list(|| command.spawn(), |child| Some(child.id()), None)?;
    Ok(Started { child, listed })
}

/// Runs a command to its end, reading nothing; what it printed.
///
/// # Errors
/// It cannot be started or waited for.
pub fn output(command: &mut Command) -> io::Result<Output> {
    command.stdin(Stdio::null());
    let Started { child, listed } = start(command.stdout(Stdio::piped()).stderr(Stdio::piped()))?;
    let output = child.wait_with_output();
    drop(listed);
    output
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_stray(list: &List, child: &Child) -> bool {
        let table = Table::read();
        let mut strays = list.strays(&table);
        strays.any(|stat| stat.pid == child.id())
    }

    #[test]
    fn a_child_is_a_stray_when_orphans_come_here_and_nobody_here_started_it() {
        let mut child = Command::new("sleep").arg("1000").spawn().unwrap();
        let identity = Identity::of(child.id()).unwrap();
        let cases = [(true, false), (true, true), (false, false), (false, true)];
        let seen = cases.map(|(is_reaper, is_listed)| {
            let started = is_listed.then_some((identity, None)).into_iter().collect();
            is_stray(&List { started, is_reaper }, &child)
        });
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(seen, [true, false, false, false]);
    }

    #[test]
    fn a_child_is_on_the_list_as_long_as_it_is_kept() {
        let mut started = start(Command::new("sleep").arg("1000")).unwrap();
        let identity = Identity::of(started.child.id()).unwrap();
        let mut held = vec![look().1.holds(identity)];
        started.child.kill().unwrap();
        started.child.wait().unwrap();
        held.push(look().1.holds(identity));
        drop(started);
        held.push(look().1.holds(identity));
        assert_eq!(held, [true, true, false]);
    }
}
