//! The live line of a mission, on a terminal: what runs now, for how long, at what cost. Elsewhere there is none.

use std::time::Instant;

use backstop_engine::Mission;
use backstop_engine::mode::Account;
use backstop_runner::dispatcher::{Observe, Request};
use backstop_runner::history::Step;
use backstop_runner::state::Line;
use backstop_runner::words;
use tokio::sync::mpsc;

use crate::screen;

/// What runs, and since when.
#[derive(Debug, Clone)]
pub(crate) struct Live {
    text: String,
    since: Instant,
}

impl Live {
    /// What runs from now on.
    pub(crate) fn new(text: String) -> Self {
        let since = Instant::now();
        Self { text, since }
    }

    /// One line that a terminal of so many columns does not wrap: a wrapped line could not be cleared.
    pub(crate) fn line(&self, now: Instant, columns: usize) -> String {
        let passed = now.saturating_duration_since(self.since).as_secs();
        let (begin, end) = (format!("▸ {}", self.text), format!(" · {passed}s"));
        // The last column stays free, since some terminals wrap as soon as it is filled.
        let most = columns.saturating_sub(1);
        let room = most.saturating_sub(end.chars().count());
        if begin.chars().count() <= room {
            return begin + &end;
        }
        let cut = begin.chars().take(room.saturating_sub(1));
        cut.chain(['…']).chain(end.chars()).take(most).collect()
    }
}

/// Shows the live line below what the observer inside tells.
pub struct Ticker<O>(pub O);

impl<O: Observe> Observe for Ticker<O> {
    fn step(&mut self, step: &Step, mission: &Mission, door: &mpsc::Sender<Request>) {
        let live = live(mission);
        // It is gone before a question takes its place.
        if live.is_none() {
            screen::live(None);
        }
        self.0.step(step, mission, door);
        if live.is_some() {
            screen::live(live);
        }
    }

    fn stands(&mut self, line: Option<Line>, mission: &Mission) {
        self.0.stands(line, mission);
        let waits = line.map(|line| Live::new(format!("waiting {}", words::line(line))));
        screen::live(waits.or_else(|| live(mission)));
    }
}

impl<O> Drop for Ticker<O> {
    fn drop(&mut self) {
        screen::live(None);
    }
}

/// What runs now, short enough for a narrow terminal. Nothing where nothing runs.
fn live(mission: &Mission) -> Option<Live> {
    if mission.gate().is_some() || !words::is_running(mission) {
        return None;
    }
    let lane = mission.lane();
    let cost = Account::Cost.amount(mission.meter().total(Account::Cost));
    let now = words::position(mission);
    Some(Live::new(format!(
        "{now} · visit {} · {cost}",
        lane.visit()
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_never_fills_a_terminal_however_narrow() {
        let live = Live::new("waiting until 2031-05-06 07:08:09Z · visit 2 · $0.25".into());
        let drawn = |columns| live.line(live.since, columns);
        assert_eq!(
            drawn(80),
            "▸ waiting until 2031-05-06 07:08:09Z · visit 2 · $0.25 · 0s"
        );
        assert_eq!(drawn(40), "▸ waiting until 2031-05-06 07:08:… · 0s");
        for columns in 0..80 {
            assert!(drawn(columns).chars().count() < columns.max(1), "{columns}");
        }
    }
}
