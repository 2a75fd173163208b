//! What a person sees while a mission runs: a line for each thing that happens, and why.

use std::io::Write;

use backstop_engine::{Mission, Rule};
use backstop_runner::clock;
use backstop_runner::dispatcher::{Observe, Request};
use backstop_runner::history::Step;
use backstop_runner::{story, words};
use tokio::sync::mpsc;

/// Whether the rules behind each step are told too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reasons {
    /// Yes.
    Told,
    /// Only what happens.
    Left,
}

/// Tells each step on a stream.
pub struct Narrator<W> {
    out: W,
    reasons: Reasons,
}

impl<W: Write> Narrator<W> {
    /// Tells on `out`.
    pub const fn new(out: W, reasons: Reasons) -> Self {
        Self { out, reasons }
    }

    /// Tells one step. A stream that is closed wants no more.
    pub fn tell(&mut self, step: &Step, mission: &Mission) {
        let time = clock::utc(step.at);
        let time = time.get(11..19).unwrap_or_default();
        for line in story::lines(step, mission) {
            let _ = writeln!(self.out, "{time}  {}", words::shown(&line));
        }
        if self.reasons == Reasons::Told {
            for rule in step.because.iter().filter(|rule| !is_plain(**rule)) {
                let _ = writeln!(self.out, "          because {}", words::rule(*rule));
            }
        }
        let _ = self.out.flush();
    }
}

impl<W: Write + Send> Observe for Narrator<W> {
    fn step(&mut self, step: &Step, mission: &Mission, _door: &mpsc::Sender<Request>) {
        self.tell(step, mission);
    }
}

/// Rules that only say what the line above them says.
const fn is_plain(rule: Rule) -> bool {
    matches!(
        rule,
        Rule::Noted | Rule::Opened | Rule::Entered(_) | Rule::LaneOpened | Rule::Answered(_)
    )
}
