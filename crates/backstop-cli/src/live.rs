//! What a person sees while a mission runs: a line for each thing that happens, and why.

use std::fmt::Write as _;

use backstop_engine::{Mission, Rule};
use backstop_runner::clock;
use backstop_runner::dispatcher::{Observe, Request};
use backstop_runner::history::Step;
use backstop_runner::state::Line;
use backstop_runner::{story, words};
use tokio::sync::mpsc;

use crate::screen::{self, Stream};

/// Whether the rules behind each step are told too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reasons {
    /// Yes.
    Told,
    /// Only what happens.
    Left,
}

/// Behind the time of a line; a further line of the same words begins here, so that none of them passes for a step.
const INDENT: &str = "          ";

/// A step in lines.
pub fn told(step: &Step, mission: &Mission, reasons: Reasons) -> String {
    let mut text = String::new();
    let time = clock::utc(step.at);
    let time = time.get(11..19).unwrap_or_default();
    for line in story::lines(step, mission) {
        let _ = writeln!(text, "{time}  {}", words::hanging(&line, INDENT));
    }
    if reasons == Reasons::Told {
        for rule in step.because.iter().filter(|rule| !is_plain(**rule)) {
            let _ = writeln!(text, "{INDENT}because {}", words::rule(*rule));
        }
    }
    text
}

/// Tells each step on a stream.
pub struct Narrator {
    stream: Stream,
    reasons: Reasons,
    stands: bool,
}

impl Narrator {
    /// Tells on `stream`.
    pub const fn new(stream: Stream, reasons: Reasons) -> Self {
        let stands = false;
        Self {
            stream,
            reasons,
            stands,
        }
    }
}

impl Observe for Narrator {
    fn step(&mut self, step: &Step, mission: &Mission, _door: &mpsc::Sender<Request>) {
        screen::say(self.stream, &told(step, mission, self.reasons));
    }

    /// Told once, when it begins.
    fn stands(&mut self, line: Option<Line>, _mission: &Mission) {
        let told = std::mem::replace(&mut self.stands, line.is_some());
        if let Some(line) = line.filter(|_| !told) {
            let time = clock::utc(clock::now());
            let time = time.get(11..19).unwrap_or_default();
            let text = format!("{time}  waits {}\n", words::line(line));
            screen::say(self.stream, &text);
        }
    }
}

/// Tells nothing.
pub struct Silent;

impl Observe for Silent {
    fn step(&mut self, _step: &Step, _mission: &Mission, _door: &mpsc::Sender<Request>) {}
    fn stands(&mut self, _line: Option<Line>, _mission: &Mission) {}
}

/// Rules that only say what the line above them says.
const fn is_plain(rule: Rule) -> bool {
    matches!(
        rule,
        Rule::Noted | Rule::Opened | Rule::Entered(_) | Rule::LaneOpened | Rule::Answered(_)
    )
}
