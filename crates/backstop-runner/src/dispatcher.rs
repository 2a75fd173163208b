//! The one loop that owns a mission: every source becomes one input, every input one decision.
//!
//! The order is fixed: decide, append and sync, commit in memory, start effects. A fact that cannot be made durable
//! stops everything: nothing runs on a decision that a crash could forget.

use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use backstop_engine::vocab::{EffectId, Signature};
use backstop_engine::{
    Effect, Event, Fact, Mission, Position, ProcessRef, Refusal, Rule, Transition,
};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{mpsc, oneshot};
use tokio::time::sleep;

use crate::clock;
use crate::edge::Ground;
use crate::executor::Executor;
use crate::history::Step;
use crate::journal::{Durability, JournalError, Writer};
use crate::process;
use crate::words::rule_name;

/// The longest single sleep: a clock that was set, or a machine that slept, is noticed after it.
const LONGEST_SLEEP: Duration = Duration::from_secs(20);

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
}

/// Everything that a dispatcher works with.
pub struct Dispatcher<O> {
    mission: Mission,
    journal: Writer,
    executor: Executor,
    facts: mpsc::UnboundedReceiver<Fact>,
    requests: mpsc::Receiver<Request>,
    door: mpsc::Sender<Request>,
    observer: O,
    latest: Option<Step>,
    at_gate: AtGate,
    interrupted: bool,
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
    /// The mission.
    pub mission: Mission,
    /// The step that led to it.
    pub latest: Option<Step>,
    /// Its journal.
    pub journal: Writer,
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
            mission,
            latest,
            journal,
            ground,
            requests,
            door,
        } = opening;
        let (sender, facts) = mpsc::unbounded_channel();
        let executor = Executor::new(ground, sender);
        let interrupted = false;
        Self {
            mission,
            journal,
            executor,
            facts,
            requests,
            door,
            observer,
            latest,
            at_gate,
            interrupted,
        }
    }

    /// Starts an effect that nobody has started.
    pub fn start(&mut self, id: EffectId, effect: &Effect) {
        self.executor.start(id, effect);
    }

    /// Takes up an effect that an earlier process may have started. `process` is the last agent on record.
    pub fn probe(
        &mut self,
        id: EffectId,
        effect: &Effect,
        process: Option<(EffectId, ProcessRef)>,
    ) {
        let process = process
            .filter(|(launch, _)| *launch == id)
            .map(|(_, process)| process);
        self.executor.probe(id, effect, process);
    }

    /// Starts an effect that panics with these words.
    #[cfg(test)]
    pub(crate) fn break_off(&mut self, words: &'static str) {
        self.executor.break_off(words);
    }

    /// Drives the mission until it ends, parks, or waits for a person who is to answer elsewhere.
    ///
    /// # Errors
    /// When the journal refuses or an effect breaks off; what runs is stopped then, and its work is kept.
    pub async fn run(mut self, by: Signature) -> Result<Driven, DispatchError> {
        let driven = self.drive(by).await;
        if driven.is_err() {
            // Nothing outlives a runner that cannot go on.
            self.executor.halt_all().await;
        }
        driven.map(|()| Driven {
            mission: self.mission,
            interrupted: self.interrupted,
        })
    }

    async fn drive(&mut self, by: Signature) -> Result<(), DispatchError> {
        let mut interrupts = Interrupts::listen();
        if let Some(step) = self.latest.take() {
            self.observer.step(&step, &self.mission, &self.door);
        }
        while !self.is_over() {
            let sleep = sleep(self.until_due());
            tokio::select! {
                biased;
                () = interrupts.next() => self.interrupted(&by)?,
                Some(request) = self.requests.recv() => self.requested(request)?,
                Some(fact) = self.facts.recv() => self.happened(fact)?,
                words = self.executor.broken() => return Err(DispatchError::Broken(words)),
                () = sleep => self.due()?,
            }
        }
        Ok(self.journal.sync()?)
    }

    fn is_over(&self) -> bool {
        match self.mission.position() {
            Position::Ended(_) | Position::Parked(..) => true,
            Position::AtGate(..) => self.at_gate == AtGate::Leave,
            Position::Busy(_) | Position::Waiting(..) => false,
        }
    }

    fn until_due(&self) -> Duration {
        let left = self
            .mission
            .deadline()
            .map(|due| due.since(clock::now()).as_millis());
        left.map_or(LONGEST_SLEEP, |ms| {
            Duration::from_millis(ms).min(LONGEST_SLEEP)
        })
    }

    fn due(&mut self) -> Result<(), DispatchError> {
        let now = clock::now();
        match (self.mission.deadline(), self.mission.due()) {
            (Some(deadline), Some(fact)) if deadline <= now => self.happened(fact),
            _ => Ok(()),
        }
    }

    fn interrupted(&mut self, by: &Signature) -> Result<(), DispatchError> {
        let fact = Fact::StopRequested { by: by.clone() };
        self.interrupted = true;
        match self.decide(fact)? {
            Ok(()) | Err(Refusal::AlreadyStopping) => Ok(()),
            Err(refusal) => Err(DispatchError::Misfit(refusal)),
        }
    }

    fn requested(&mut self, request: Request) -> Result<(), DispatchError> {
        let decided = self.decide(request.fact)?;
        // Whoever asked may be gone; the decision stands.
        let _ = request
            .reply
            .send(decided.map_err(|refusal| refusal.to_string()));
        Ok(())
    }

    fn happened(&mut self, fact: Fact) -> Result<(), DispatchError> {
        self.decide(fact)?.map_err(DispatchError::Misfit)
    }

    /// Decides, journals, commits, starts.
    fn decide(&mut self, fact: Fact) -> Result<Result<(), Refusal>, DispatchError> {
        let event = Event {
            at: clock::now(),
            fact,
        };
        let Transition {
            mission,
            effects,
            because,
        } = match self.mission.decide(&event) {
            Ok(moved) => moved,
            Err(refusal) => {
                tracing::info!(%refusal, "a fact was refused");
                return Ok(Err(refusal));
            }
        };
        let Event { at, fact } = event;
        let seq = self.journal.append(at, &fact, durability(&because))?;
        self.mission = mission;
        let step = Step {
            seq,
            at,
            fact,
            because,
            effects,
        };
        let rules: Vec<String> = step.because.iter().copied().map(rule_name).collect();
        tracing::debug!(
            seq = seq.number(),
            ?rules,
            effects = step.effects.len(),
            "decided"
        );
        for (id, effect) in &step.effects {
            self.executor.start(*id, effect);
        }
        self.observer.step(&step, &self.mission, &self.door);
        Ok(Ok(()))
    }
}

/// A mere note rides with the next decision; every decision is durable before it has an effect.
fn durability(because: &[Rule]) -> Durability {
    if because.iter().all(|rule| *rule == Rule::Noted) {
        Durability::Ride
    } else {
        Durability::Sync
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
