//! The state of the simulated world: one machine with a disk, a clock, agents that run, and a process that may be killed.
//! What the runner sees of it is in `disk` and `hands`.

use std::cell::{RefCell, RefMut};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use backstop_engine::Effect;
use backstop_engine::vocab::{EffectId, Timestamp};
use backstop_runner::clock::Clock;

use super::{Tape, Violation};

/// How an effect came to the hands that do it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    Started,
    Probed,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Over {
    /// It stopped what ran first.
    Orderly,
    /// It was killed where it was.
    Killed,
}

/// How wild a world is: each fault happens once in so many times, 0 for never.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mood {
    pub(super) kill: u64,
    pub(super) disk: u64,
    pub(super) trouble: u64,
    pub(super) unrest: u64,
}

impl Mood {
    fn draw(tape: &mut Tape) -> Self {
        Self {
            kill: *tape.one_of(&[0, 400, 100, 30]),
            disk: *tape.one_of(&[0, 400, 60]),
            trouble: *tape.one_of(&[0, 8, 3, 2]),
            unrest: *tape.one_of(&[0, 40, 12, 5]),
        }
    }
}

#[derive(Debug)]
pub(super) struct World {
    pub(super) tape: Tape,
    pub(super) mood: Mood,
    /// How long the machine runs, and what its clock says beyond that, in milliseconds.
    pub(super) uptime: u64,
    pub(super) ahead: u64,
    /// The journal: what was written, and how much of that survives a loss of power.
    pub(super) bytes: Vec<u8>,
    pub(super) durable: usize,
    pub(super) read: usize,
    pub(super) is_full: bool,
    /// Whether the process was killed: nothing that it does any more reaches the world.
    pub(super) is_dead: bool,
    /// What the present process was told to do and the world has not taken up yet.
    pub(super) told: Vec<(EffectId, Effect, How)>,
    /// Every effect that any process was told to start.
    pub(super) known: BTreeSet<EffectId>,
    /// The agents that are alive.
    pub(super) agents: BTreeSet<EffectId>,
    /// The effects that the present process was told to halt.
    pub(super) halted: BTreeSet<EffectId>,
    /// The shipments that went through.
    pub(super) shipped: BTreeSet<EffectId>,
    pub(super) faults: BTreeMap<&'static str, u64>,
    pub(super) broken: Option<Violation>,
}

impl World {
    fn new(mut tape: Tape) -> Self {
        Self {
            mood: Mood::draw(&mut tape),
            tape,
            uptime: 0,
            ahead: 1_000_000_000,
            bytes: Vec::new(),
            durable: 0,
            read: 0,
            is_full: false,
            is_dead: false,
            told: Vec::new(),
            known: BTreeSet::new(),
            agents: BTreeSet::new(),
            halted: BTreeSet::new(),
            shipped: BTreeSet::new(),
            faults: BTreeMap::new(),
            broken: None,
        }
    }

    /// What the clock says.
    pub(super) const fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.uptime.saturating_add(self.ahead))
    }

    pub(super) fn count(&mut self, fault: &'static str) {
        *self.faults.entry(fault).or_default() += 1;
    }

    /// Whether this fault happens now.
    pub(super) fn fault(&mut self, once_in: u64, fault: &'static str) -> bool {
        let happens = self.tape.once_in(once_in);
        if happens {
            self.count(fault);
        }
        happens
    }

    /// Kills the process here, perhaps.
    pub(super) fn kill(&mut self, place: &'static str) {
        if !self.is_dead && self.fault(self.mood.kill, place) {
            self.is_dead = true;
        }
    }

    pub(super) fn broke(&mut self, law: &'static str, seen: impl Into<String>) {
        let seen = seen.into();
        self.broken.get_or_insert(Violation { law, seen });
    }

    /// How a process ends that ends now.
    pub(super) const fn over(&self) -> Over {
        if self.is_dead {
            Over::Killed
        } else {
            Over::Orderly
        }
    }

    /// The process is gone, and the next one begins. Agents outlive a process, but neither a loss of power nor an orderly end.
    pub(super) fn reboot(&mut self, over: Over) {
        let power = self.is_dead && self.tape.once_in(2);
        if power {
            let lost = self.bytes.len().saturating_sub(self.durable);
            let kept = self.durable + self.tape.index(lost + 1);
            self.count(if lost > 0 {
                "power lost with unsynced notes or decisions"
            } else {
                "power lost"
            });
            self.bytes.truncate(kept);
            self.durable = kept;
        }
        if power || over == Over::Orderly {
            self.agents.clear();
        }
        self.is_dead = false;
        self.is_full = false;
        self.read = 0;
        self.told.clear();
        self.halted.clear();
    }
}

/// A handle to the world, as the runner's disk, clock and hands.
#[derive(Debug, Clone)]
pub(super) struct Here(Rc<RefCell<World>>);

impl Here {
    pub(super) fn new(tape: Tape) -> Self {
        Self(Rc::new(RefCell::new(World::new(tape))))
    }

    pub(super) fn world(&self) -> RefMut<'_, World> {
        self.0.borrow_mut()
    }
}

impl Clock for Here {
    fn now(&self) -> Timestamp {
        self.world().now()
    }
}
