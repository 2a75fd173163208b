//! The one loop that owns a mission: every source becomes one input, every input one decision.
//!
//! The order is fixed (`Core`): decide, append and sync, commit in memory, start effects. A fact that cannot be made
//! durable stops everything: nothing runs on a decision that a crash could forget.

mod core;

use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use backstop_engine::vocab::Signature;
use backstop_engine::{Fact, Mission, Refusal};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::sleep;

use crate::clock::{LONGEST_SLEEP, Wall};
use crate::edge::Ground;
use crate::executor::Executor;
use crate::history::Step;
use crate::journal::JournalError;
use crate::ledger::Ledger;
use crate::process;
use crate::state::Line;

pub use self::core::Core;

/// Something from outside that asks for a decision and wants to know what came of it.
#[derive(Debug)]
pub struct Request {
    /// What is to be decided on.
    pub fact: Fact,
    /// Where the outcome goes.
    pub reply: oneshot::Sender<Result<(), String>>,
}

/// When a dispatcher lets go of a mission that has not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtGate {
    /// It leaves: the answer comes to a later process.
    Leave,
    /// It stays and waits for the answer.
    Stay,
}

/// Why a dispatcher cannot go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DispatchError {
    /// The journal takes nothing more.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A fact of the host's own does not fit: a fault of this program.
    #[error(
        "the mission refuses what the host saw, which should not happen: {0}: look at `backstop journal tail`, then `backstop resume`"
    )]
    Misfit(Refusal),
    /// An effect has no end: a fault of this program.
    #[error(
        "an effect broke off, which should not happen: `{0}`: what it did is not lost: look at `backstop journal tail`, then `backstop resume`"
    )]
    Broken(String),
}

/// Who is told of each step as it happens.
///
/// The loop that drives calls it: whoever waits here for a terminal or a person holds the mission up.
pub trait Observe: Send {
    /// A step was decided and is durable, and its effects are started. `mission` is what it led to. Answers may be sent to
    /// `door`. The first call is about the latest step so far, which another process may have taken.
    fn step(&mut self, step: &Step, mission: &Mission, door: &mpsc::Sender<Request>);

    /// The mission stands in line for a slot, and how; or it does not any more.
    fn stands(&mut self, line: Option<Line>, mission: &Mission);
}

/// Everything that a dispatcher works with.
pub struct Dispatcher<O> {
    core: Core<Executor, Wall>,
    facts: mpsc::UnboundedReceiver<Fact>,
    requests: mpsc::Receiver<Request>,
    door: mpsc::Sender<Request>,
    observer: O,
    latest: Option<Step>,
    line: watch::Receiver<Option<Line>>,
}

/// How a dispatcher let go of its mission.
#[derive(Debug)]
pub struct Driven {
    /// The mission as it is now.
    pub mission: Mission,
    /// Whether a signal to this process stopped it.
    pub interrupted: bool,
}

/// The mission at the moment at which the dispatcher takes it over.
pub struct Opening {
    /// The mission and its journal.
    pub ledger: Ledger<Wall>,
    /// The step that led to it.
    pub latest: Option<Step>,
    /// Where it is worked on.
    pub ground: Arc<Ground>,
    /// What comes from outside.
    pub requests: mpsc::Receiver<Request>,
    /// The other end of it.
    pub door: mpsc::Sender<Request>,
}

impl<O: Observe> Dispatcher<O> {
    /// A dispatcher of this mission.
    #[must_use]
    pub fn new(opening: Opening, observer: O, at_gate: AtGate) -> Self {
        let Opening {
            ledger,
            latest,
            ground,
            requests,
            door,
        } = opening;
        let (sender, facts) = mpsc::unbounded_channel();
        let executor = Executor::new(ground, sender);
        Self {
            line: executor.line(),
            core: Core::new(ledger, executor, at_gate),
            facts,
            requests,
            door,
            observer,
            latest,
        }
    }

    /// Starts what nobody has started, and probes what an earlier process may have.
    pub fn begin(&mut self) {
        self.core.begin();
    }

    /// Starts an effect that panics with these words.
    #[cfg(test)]
    pub(crate) fn break_off(&mut self, words: &'static str) {
        self.core.executor().break_off(words);
    }

    /// Drives the mission until it ends, parks, or waits for a person who is to answer elsewhere.
    ///
    /// # Errors
    /// When the journal refuses or an effect breaks off; what runs is stopped then, and its work is kept.
    pub async fn run(mut self, by: Signature) -> Result<Driven, DispatchError> {
        let driven = self.drive(by).await;
        if driven.is_err() {
            // Nothing outlives a runner that cannot go on.
            self.core.executor().halt_all().await;
        }
        driven.map(|()| Driven {
            interrupted: self.core.is_interrupted(),
            mission: self.core.into_mission(),
        })
    }

    async fn drive(&mut self, by: Signature) -> Result<(), DispatchError> {
        let mut interrupts = Interrupts::listen();
        let latest = self.latest.take();
        self.observe(latest);
        while !self.core.is_over() {
            let sleep = sleep(self.until_due());
            let step = tokio::select! {
                biased;
                () = interrupts.next() => self.core.interrupted(&by)?,
                Some(request) = self.requests.recv() => {
                    self.requested(request)?;
                    continue;
                }
                Some(fact) = self.facts.recv() => Some(self.core.happened(fact)?),
                Ok(()) = self.line.changed() => {
                    let line = *self.line.borrow_and_update();
                    self.observer.stands(line, self.core.mission());
                    continue;
                }
                words = self.core.executor().broken() => return Err(DispatchError::Broken(words)),
                () = sleep => self.core.due()?,
            };
            self.observe(step);
        }
        self.core.sync()
    }

    fn observe(&mut self, step: Option<Step>) {
        if let Some(step) = step {
            self.observer.step(&step, self.core.mission(), &self.door);
        }
    }

    fn until_due(&self) -> Duration {
        let left = self.core.until_due();
        left.map_or(LONGEST_SLEEP, |left| {
            Duration::from_millis(left.as_millis()).min(LONGEST_SLEEP)
        })
    }

    fn requested(&mut self, request: Request) -> Result<(), DispatchError> {
        let decided = self.core.requested(request.fact)?;
        let told = decided.map(|step| self.observe(Some(step)));
        // Whoever asked may be gone; the decision stands.
        let _ = request
            .reply
            .send(told.map_err(|refusal| refusal.to_string()));
        Ok(())
    }
}

/// Ctrl-C, the request to terminate, and the end of the terminal.
pub(crate) struct Interrupts(Vec<Signal>);

impl Interrupts {
    pub(crate) fn listen() -> Self {
        let mut kinds = vec![SignalKind::interrupt(), SignalKind::terminate()];
        // Who started this with `nohup` wants it to go on without a terminal.
        if !process::ignores_hangup() {
            kinds.push(SignalKind::hangup());
        }
        Self(
            kinds
                .into_iter()
                .filter_map(|kind| signal(kind).ok())
                .collect(),
        )
    }

    pub(crate) async fn next(&mut self) {
        std::future::poll_fn(|context| {
            let came = |signal: &mut Signal| signal.poll_recv(context) == Poll::Ready(Some(()));
            if self.0.iter_mut().any(came) {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .await;
    }
}
