//! Slots: how many missions of a repository work at once, and whose turn is next.
//!
//! A slot is a file that is locked, so that it is free as soon as its process is gone, however that ended. Who waits stands
//! in line with a ticket, which is a locked file too; the first in line takes the next free slot.
//! Not in it: when a mission needs one (`executor::turn`).

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use backstop_engine::vocab::MissionId;
use serde::Serialize;

use super::Holder;
use super::lock::say;
use crate::disk;

/// How long a ticket may show no life before the others pass it over: its process may be stopped by its terminal.
const STALL: Duration = Duration::from_secs(10);

/// Between two looks of the first in line; the others look less often.
const BEAT: Duration = Duration::from_millis(50);

/// Between two looks at most.
const LONGEST_BEAT: Duration = Duration::from_secs(1);

/// The slots of a repository.
#[derive(Debug, Clone)]
pub(crate) struct Slots {
    dir: PathBuf,
}

/// A slot that is held; dropping it gives it up.
#[derive(Debug)]
pub(crate) struct Slot {
    _file: File,
}

/// How a mission stands in line for a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Line {
    /// How many missions are to have a slot before it.
    pub ahead: usize,
}

/// A mission that wants a slot; dropping it leaves the line.
#[derive(Debug)]
pub(crate) struct Waiter {
    mission: MissionId,
    ticket: Option<Ticket>,
    /// When a ticket before it last showed life, and since when that is known here.
    seen: BTreeMap<String, (Option<SystemTime>, Instant)>,
}

#[derive(Debug)]
struct Ticket {
    path: PathBuf,
    file: File,
}

/// What came of asking for a slot.
#[derive(Debug)]
pub(crate) enum Asked {
    /// It is there.
    Taken(Slot),
    /// It is not yet: how the mission stands, where that is known, and when to ask again.
    Wait(Option<Line>, Duration),
}

impl Waiter {
    pub(crate) const fn new(mission: MissionId) -> Self {
        Self {
            mission,
            ticket: None,
            seen: BTreeMap::new(),
        }
    }

    fn name(&self) -> Option<&str> {
        self.ticket.as_ref()?.path.file_name()?.to_str()
    }

    /// Whether a ticket that is held has not moved for too long.
    fn is_stalled(&mut self, name: &str, moved: Option<SystemTime>) -> bool {
        match self.seen.get(name) {
            Some((at, since)) if *at == moved => since.elapsed() > STALL,
            Some(_) | None => {
                self.seen.insert(name.to_owned(), (moved, Instant::now()));
                false
            }
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        // One that stays behind is taken away by the next who looks: nobody holds it any more.
        let _ = fs::remove_file(&self.path);
    }
}

impl Slots {
    pub(crate) const fn at(dir: PathBuf) -> Self {
        Self { dir }
    }

    fn line(&self) -> PathBuf {
        self.dir.join("line")
    }

    /// Asks for a slot, where at most so many missions may have one.
    ///
    /// # Errors
    /// When the files cannot be used.
    pub(crate) fn ask(&self, waiter: &mut Waiter, most: u16) -> io::Result<Asked> {
        disk::create_dirs(&self.line())?;
        let guard = open(&self.dir.join("guard"))?;
        if !lock(&guard)? {
            return Ok(Asked::Wait(None, BEAT));
        }
        let names = self.names()?;
        if self.is_first(&names, waiter)?
            && let Some(slot) = self.free(most)?
        {
            waiter.ticket = None;
            return Ok(Asked::Taken(slot));
        }
        self.stand(&names, waiter)?;
        let own = waiter.name().unwrap_or_default();
        let ahead = names.iter().filter(|name| name.as_str() < own).count();
        let beats = u32::try_from(ahead).unwrap_or(u32::MAX).saturating_add(1);
        let beat = BEAT.saturating_mul(beats).min(LONGEST_BEAT);
        Ok(Asked::Wait(Some(Line { ahead }), beat))
    }

    /// How this mission stands in line, if it does. A look, never a lock.
    pub(crate) fn stands(&self, mission: &MissionId) -> Option<Line> {
        let names = self.names().ok()?;
        let alive: Vec<&str> = names
            .iter()
            .map(String::as_str)
            .filter(|name| Holder::seen(&self.line().join(name)).is_some())
            .collect();
        let ahead = alive.iter().position(|name| {
            let whose = name.split_once('-').map(|(_, whose)| whose);
            whose == Some(mission.as_str())
        })?;
        Some(Line { ahead })
    }

    /// The names of all tickets, the first in line first.
    fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(self.line())? {
            names.extend(entry?.file_name().into_string().ok());
        }
        names.sort();
        Ok(names)
    }

    /// Whether nobody stands before this one; takes away tickets that nobody holds.
    fn is_first(&self, names: &[String], waiter: &mut Waiter) -> io::Result<bool> {
        let own = waiter.name().map(ToOwned::to_owned);
        let before = |name: &&String| own.as_ref().is_none_or(|own| *name < own);
        for name in names.iter().filter(before) {
            let path = self.line().join(name);
            let file = match disk::open_regular(disk::private().read(true), &path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                opened => opened?,
            };
            if lock(&file)? {
                fs::remove_file(&path)?;
                continue;
            }
            let moved = file.metadata().and_then(|found| found.modified()).ok();
            if !waiter.is_stalled(name, moved) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// A free slot. Slots beyond the number that are still held, since it was lowered, count.
    fn free(&self, most: u16) -> io::Result<Option<Slot>> {
        let mut numbers: BTreeSet<u16> = (1..=most).collect();
        for entry in fs::read_dir(&self.dir)? {
            let name = entry?.file_name();
            numbers.extend(name.to_str().and_then(|name| name.parse::<u16>().ok()));
        }
        let (mut held, mut free) = (0_u16, None);
        for number in numbers {
            let file = open(&self.dir.join(number.to_string()))?;
            if !lock(&file)? {
                held = held.saturating_add(1);
            } else if free.is_none() && number <= most {
                free = Some(Slot { _file: file });
            }
        }
        Ok(free.filter(|_| held < most))
    }

    /// Stands in line, at its end where it does not yet, and shows life.
    fn stand(&self, names: &[String], waiter: &mut Waiter) -> io::Result<()> {
        if let Some(ticket) = &waiter.ticket {
            if waiter
                .name()
                .is_some_and(|own| names.iter().any(|name| name == own))
            {
                return ticket.file.set_modified(SystemTime::now());
            }
            // Somebody cleared the line.
            waiter.ticket = None;
        }
        let number = |name: &String| name.split_once('-')?.0.parse::<u64>().ok();
        let last = names.iter().filter_map(number).max().unwrap_or(0);
        let name = format!("{:012}-{}", last.saturating_add(1), waiter.mission);
        let path = self.line().join(name);
        let mut file = open(&path)?;
        lock(&file)?;
        say(&mut file, &Holder::here())?;
        waiter.ticket = Some(Ticket { path, file });
        Ok(())
    }
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = disk::private();
    options.read(true).write(true).create(true).truncate(false);
    disk::open_regular(&options, path)
}

/// Whether the lock is had.
fn lock(file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slots() -> (tempfile::TempDir, Slots) {
        let root = tempfile::tempdir().unwrap();
        let slots = Slots::at(root.path().join("slots"));
        (root, slots)
    }

    fn waiter(name: &str) -> Waiter {
        Waiter::new(name.parse().unwrap())
    }

    fn taken(slots: &Slots, waiter: &mut Waiter, most: u16) -> Option<Slot> {
        match slots.ask(waiter, most).unwrap() {
            Asked::Taken(slot) => Some(slot),
            Asked::Wait(..) => None,
        }
    }

    fn ahead(slots: &Slots, name: &str) -> Option<usize> {
        let mission = name.parse().unwrap();
        slots.stands(&mission).map(|line| line.ahead)
    }

    #[test]
    fn no_more_than_so_many_have_a_slot_and_the_first_in_line_is_next() {
        let (_root, slots) = slots();
        let (mut a, mut b, mut c, mut d) = (waiter("a"), waiter("b"), waiter("c"), waiter("d"));
        let first = taken(&slots, &mut a, 2).unwrap();
        let _second = taken(&slots, &mut b, 2).unwrap();
        assert!(taken(&slots, &mut c, 2).is_none());
        assert!(taken(&slots, &mut d, 2).is_none());
        assert_eq!((ahead(&slots, "c"), ahead(&slots, "d")), (Some(0), Some(1)));
        assert_eq!(ahead(&slots, "a"), None);
        drop(first);
        // Whoever comes later waits although a slot is free, and so does who had one before.
        assert!(taken(&slots, &mut a, 2).is_none());
        assert!(taken(&slots, &mut d, 2).is_none());
        let _third = taken(&slots, &mut c, 2).unwrap();
        assert_eq!((ahead(&slots, "d"), ahead(&slots, "a")), (Some(0), Some(1)));
        assert!(taken(&slots, &mut d, 2).is_none());
    }

    #[test]
    fn who_leaves_the_line_holds_nobody_up() {
        let (_root, slots) = slots();
        let (mut a, mut b, mut c) = (waiter("a"), waiter("b"), waiter("c"));
        let held = taken(&slots, &mut a, 1).unwrap();
        assert!(taken(&slots, &mut b, 1).is_none());
        assert!(taken(&slots, &mut c, 1).is_none());
        drop(b);
        drop(held);
        assert!(taken(&slots, &mut c, 1).is_some());
    }

    #[test]
    fn a_ticket_and_a_slot_of_a_process_that_is_gone_hold_nobody_up() {
        let (_root, slots) = slots();
        let mut a = waiter("a");
        let held = taken(&slots, &mut waiter("z"), 1).unwrap();
        fs::write(slots.line().join("000000000001-gone"), "").unwrap();
        assert!(taken(&slots, &mut a, 1).is_none());
        assert!(!slots.line().join("000000000001-gone").exists());
        drop(held);
        assert!(taken(&slots, &mut a, 1).is_some());
    }

    #[test]
    fn a_ticket_that_shows_no_life_is_passed_over_and_kept() {
        let (_root, slots) = slots();
        let (mut a, mut stopped, mut c) = (waiter("a"), waiter("stopped"), waiter("c"));
        let held = taken(&slots, &mut a, 1).unwrap();
        assert!(taken(&slots, &mut stopped, 1).is_none());
        assert!(taken(&slots, &mut c, 1).is_none());
        drop(held);
        assert!(taken(&slots, &mut c, 1).is_none());
        let long_ago = Instant::now().checked_sub(STALL * 2).unwrap();
        for (_, since) in c.seen.values_mut() {
            *since = long_ago;
        }
        let held = taken(&slots, &mut c, 1).unwrap();
        drop(held);
        assert!(taken(&slots, &mut stopped, 1).is_some());
    }

    #[test]
    fn a_number_that_is_lowered_counts_the_slots_that_are_still_held() {
        let (_root, slots) = slots();
        let mut all = ["a", "b", "c"].map(waiter);
        let mut held: Vec<_> = all
            .iter_mut()
            .map(|one| taken(&slots, one, 3).unwrap())
            .collect();
        let mut d = waiter("d");
        // The slots that are held then are the second and the third.
        drop(held.remove(0));
        assert!(taken(&slots, &mut d, 2).is_none());
        drop(held.remove(0));
        assert!(taken(&slots, &mut d, 2).is_some());
    }
}
