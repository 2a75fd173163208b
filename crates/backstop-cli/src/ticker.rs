//! The live line of a mission, on a terminal: what runs now, for how long, at what cost. Elsewhere there is none.

use std::io::{IsTerminal as _, Write as _};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use backstop_engine::Mission;
use backstop_engine::mode::Account;
use backstop_runner::dispatcher::{Observe, Request};
use backstop_runner::history::Step;
use backstop_runner::words;
use tokio::sync::mpsc;

/// How often the line is drawn anew.
const BEAT: Duration = Duration::from_secs(1);

/// Goes back to the start of the line and clears it: the `EL` control of terminals, with 2.
const CLEAR: &str = "\r\x1b[2K";

/// Draws the live line below what the observer inside prints.
pub struct Ticker<O> {
    inner: O,
    line: Option<Line>,
}

/// The line and the thread that keeps it fresh.
struct Line {
    words: Arc<Mutex<Words>>,
    // Dropping it ends the thread.
    _beat: Sender<()>,
}

struct Words {
    text: String,
    since: Instant,
}

impl<O> Ticker<O> {
    /// With a live line where standard error is a terminal that can draw one.
    pub fn new(inner: O) -> Self {
        let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        let line = (std::io::stderr().is_terminal() && !dumb).then(Line::start);
        Self { inner, line }
    }
}

impl<O: Observe> Observe for Ticker<O> {
    fn step(&mut self, step: &Step, mission: &Mission, door: &mpsc::Sender<Request>) {
        let Some(line) = &self.line else {
            return self.inner.step(step, mission, door);
        };
        // Held while the observer prints, so that the two never mix.
        let mut words = line.words.lock().unwrap_or_else(PoisonError::into_inner);
        words.clear();
        self.inner.step(step, mission, door);
        *words = Words {
            text: text(mission),
            since: Instant::now(),
        };
        words.draw();
    }
}

impl<O> Drop for Ticker<O> {
    fn drop(&mut self) {
        if let Some(line) = &self.line {
            let mut words = line.words.lock().unwrap_or_else(PoisonError::into_inner);
            words.clear();
        }
    }
}

impl Line {
    fn start() -> Self {
        let words = Arc::new(Mutex::new(Words {
            text: String::new(),
            since: Instant::now(),
        }));
        let (beat, stopped) = channel::<()>();
        let shared = Arc::clone(&words);
        std::thread::spawn(move || {
            while stopped.recv_timeout(BEAT) == Err(RecvTimeoutError::Timeout) {
                shared.lock().unwrap_or_else(PoisonError::into_inner).draw();
            }
        });
        Self { words, _beat: beat }
    }
}

impl Words {
    /// Where nothing runs nothing is drawn: a question may stand on the line.
    fn draw(&self) {
        if self.text.is_empty() {
            return;
        }
        let mut out = std::io::stderr().lock();
        let passed = self.since.elapsed().as_secs();
        let _ = write!(out, "{CLEAR}▸ {} · {passed}s", self.text);
        let _ = out.flush();
    }

    fn clear(&mut self) {
        if !std::mem::take(&mut self.text).is_empty() {
            eprint!("{CLEAR}");
        }
    }
}

/// What runs now, short enough for a narrow terminal. Nothing where nothing runs.
fn text(mission: &Mission) -> String {
    if mission.gate().is_some() || !words::is_running(mission) {
        return String::new();
    }
    let lane = mission.lane();
    let cost = Account::Cost.amount(mission.meter().total(Account::Cost));
    format!(
        "{} · visit {} · {cost}",
        words::position(mission),
        lane.visit()
    )
}
