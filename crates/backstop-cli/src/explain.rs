//! `explain`: why a mission moved as it did, step by step, with the name of every rule that fired.

use std::fmt::Write as _;

use backstop_runner::clock;
use backstop_runner::history::{History, Step};
use backstop_runner::view::{self, StepView};
use backstop_runner::words;

use crate::fault::{Fault, Status};
use crate::out;
use crate::place::{self, Place};

/// What `explain` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct ExplainArgs {
    /// The mission, or the beginning of its id [default: the latest that has not ended]
    mission: Option<String>,
    /// Only the newest decision
    #[arg(long)]
    last: bool,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

/// Explains every step, the newest last.
pub(crate) fn explain(place: &Place, args: &ExplainArgs) -> Result<Status, Fault> {
    let dir = place.mission(args.mission.as_deref())?;
    let history = place::read(&dir)?;
    let mut steps = steps(&history);
    if args.last {
        steps = last(&history, steps);
    }
    if args.json {
        return out::json(&steps);
    }
    let blocks: Vec<String> = steps.iter().map(block).collect();
    out::say(&blocks.join("\n"))
}

fn steps(history: &History) -> Vec<StepView> {
    let steps = history.walk();
    steps
        .map(|(step, mission)| view::step(step, &mission))
        .collect()
}

/// The newest step at which a rule decided; the opening always is one.
fn last(history: &History, steps: Vec<StepView>) -> Vec<StepView> {
    let newest = history.steps.iter().rposition(Step::decided).unwrap_or(0);
    steps.into_iter().skip(newest).take(1).collect()
}

fn block(step: &StepView) -> String {
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{:>4}  {}  {}",
        step.seq,
        clock::utc(step.at),
        step.fact
    );
    for line in &step.lines {
        let line = words::hanging(line, "        ");
        let _ = writeln!(text, "      {line}");
    }
    for because in &step.because {
        let _ = writeln!(text, "      because {}: {}", because.rule, because.words);
    }
    text
}
