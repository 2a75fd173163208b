//! One step of a mission: what happened, and every rule that fired.

use backstop_engine::vocab::Timestamp;
use backstop_engine::{Fact, Mission, Rule};
use serde::Serialize;

use crate::history::Step;
use crate::journal::Seq;
use crate::{story, words};

/// A rule by its stable name, with its words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Because {
    /// The name, in `snake_case`, with a dot before what it is about.
    pub rule: String,
    /// What it says, in a clause.
    pub words: String,
}

/// The rules that fired.
#[must_use]
pub fn because(rules: &[Rule]) -> Vec<Because> {
    let one = |rule: &Rule| Because {
        rule: words::rule_name(*rule),
        words: words::rule(*rule),
    };
    rules.iter().map(one).collect()
}

/// A step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StepView {
    /// The record of the journal.
    pub seq: Seq,
    /// When.
    pub at: Timestamp,
    /// The name of the fact.
    pub fact: &'static str,
    /// What happened, in lines.
    pub lines: Vec<String>,
    /// The rules that fired, in order; at least one.
    pub because: Vec<Because>,
}

/// A step, and the mission that it led to.
#[must_use]
pub fn step(step: &Step, mission: &Mission) -> StepView {
    let mut lines = story::lines(step, mission);
    if matches!(step.fact, Fact::SessionOpened(_)) {
        lines.push("the agent named its session, which can be taken up again".into());
    }
    StepView {
        seq: step.seq,
        at: step.at,
        fact: words::fact_name(&step.fact),
        lines,
        because: because(&step.because),
    }
}
