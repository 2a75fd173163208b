//! The runner's own dispatcher in a world made up from one number: time, disk, agents, host and person are simulated,
//! what decides, journals, replays and probes is the real code.
//!
//! One seed is one run, to the last byte of the journal. Deliberately absent: threads, real time, real files; the loop around
//! the dispatcher's core, which only chooses what comes first; the executor, which tests with real processes hold; and a disk
//! that loses what a second sync said was safe.

mod disk;
mod hands;
mod jobs;
mod law;
mod person;
mod run;
mod shrink;
mod tape;
mod world;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use backstop_engine::Rule;

pub use shrink::shrink;
pub use tape::Tape;

/// What a run broke: the law, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Which law.
    pub law: &'static str,
    /// What was seen.
    pub seen: String,
}

/// What came of one run.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The first law that was broken.
    pub broken: Option<Violation>,
    /// What was drawn.
    pub drawn: Vec<u64>,
    /// What happened, a line each.
    pub story: Vec<String>,
    /// What was covered.
    pub covered: Covered,
}

/// What runs have covered.
#[derive(Debug, Default)]
pub struct Covered {
    /// Runs.
    pub runs: u64,
    /// Facts that were decided on.
    pub facts: u64,
    /// Processes that had a mission in hand.
    pub processes: u64,
    /// Marks of the states that missions were in.
    pub states: HashSet<u64>,
    /// How often each fault was made.
    pub faults: BTreeMap<&'static str, u64>,
    /// How often each end was reached.
    pub ends: BTreeMap<&'static str, u64>,
    /// The rules that fired.
    pub rules: BTreeSet<Rule>,
}

impl Covered {
    /// Adds what another run has covered.
    pub fn add(&mut self, other: Self) {
        self.runs += other.runs;
        self.facts += other.facts;
        self.processes += other.processes;
        self.states.extend(other.states);
        self.rules.extend(other.rules);
        for (fault, times) in other.faults {
            *self.faults.entry(fault).or_default() += times;
        }
        for (end, times) in other.ends {
            *self.ends.entry(end).or_default() += times;
        }
    }
}

/// The run of this seed.
#[must_use]
pub fn simulate(seed: u64) -> Outcome {
    play(Tape::of(seed))
}

/// The run that draws this.
#[must_use]
pub fn play(tape: Tape) -> Outcome {
    run::run(tape)
}
