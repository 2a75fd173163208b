//! Does effects: each is a task that ends in one fact. What is decided on the facts is not here.

mod asking;
mod attempt;
mod checks;
mod cut;
mod ear;
mod hand_over;
mod preflight;
mod reading;
mod ready;
mod recording;
mod turn;
mod work;

use std::collections::BTreeMap;
use std::future::pending;
use std::panic::resume_unwind;
use std::sync::Arc;

use backstop_engine::vocab::EffectId;
use backstop_engine::{CheckRun, Effect, Fact, Landing, Launch, Merge, ProcessRef, Shipment};
use tokio::sync::{mpsc, watch};
use tokio::task::{JoinError, JoinSet};

use crate::edge::Ground;
use crate::state::Line;
pub(crate) use asking::{Answer, ask};
pub use cut::Cut;
use turn::Turn;

/// Tells a task that it is to stop.
pub(crate) type Halted = watch::Receiver<bool>;

/// Whoever does effects. Each that is started or probed is answered by one fact, sooner or later; waits, questions and halts
/// by none.
pub trait Execute {
    /// Starts an effect that nobody has started.
    fn start(&mut self, id: EffectId, effect: &Effect);

    /// Takes up an effect that an earlier process may have started. `process` is its agent, where that is on record.
    fn probe(&mut self, id: EffectId, effect: &Effect, process: Option<ProcessRef>);
}

/// Starts effects and remembers how to stop them.
#[derive(Debug)]
pub struct Executor {
    ground: Arc<Ground>,
    facts: mpsc::UnboundedSender<Fact>,
    halts: BTreeMap<EffectId, watch::Sender<bool>>,
    turn: Arc<Turn>,
    tasks: JoinSet<()>,
}

impl Executor {
    /// An executor whose facts go to `facts`.
    #[must_use]
    pub fn new(ground: Arc<Ground>, facts: mpsc::UnboundedSender<Fact>) -> Self {
        Self {
            turn: Arc::new(Turn::new(&ground)),
            ground,
            facts,
            halts: BTreeMap::new(),
            tasks: JoinSet::new(),
        }
    }

    /// How the mission stands in line for a slot, while it does.
    #[must_use]
    pub fn line(&self) -> watch::Receiver<Option<Line>> {
        self.turn.line()
    }

    /// Stops everything that runs and waits for its end.
    pub async fn halt_all(&mut self) {
        for halt in self.halts.values() {
            halt.send_replace(true);
        }
        // One that panicked has ended too.
        while self.tasks.join_next().await.is_some() {}
    }

    /// Waits until the task of an effect panics, which is a fault of this program; what it said. May be given up and
    /// called again.
    pub async fn broken(&mut self) -> String {
        loop {
            match self.tasks.join_next().await {
                Some(Ok(())) => {}
                Some(Err(error)) => return words(error),
                None => pending().await,
            }
        }
    }

    fn halt(&self, target: EffectId) {
        if let Some(halt) = self.halts.get(&target) {
            halt.send_replace(true);
        }
    }

    fn halted(&mut self, id: EffectId) -> Halted {
        self.halts.retain(|_, halt| halt.receiver_count() > 0);
        let (halt, halted) = watch::channel(false);
        self.halts.insert(id, halt);
        halted
    }

    /// Runs a task whose end is a fact. A dispatcher that is gone wants no facts.
    fn task(&mut self, work: impl Future<Output = Fact> + Send + 'static) {
        let facts = self.facts.clone();
        self.tasks.spawn(async move {
            let _ = facts.send(work.await);
        });
    }

    #[cfg(test)]
    pub(crate) fn break_off(&mut self, words: &'static str) {
        let ground = Arc::clone(&self.ground);
        self.task(async move { blocking(&ground, move |_| panic!("{words}")).await });
    }

    fn preflight(&mut self, id: EffectId) {
        let (ground, halted) = (Arc::clone(&self.ground), self.halted(id));
        let turn = Arc::clone(&self.turn);
        self.task(async move {
            Fact::PreflightRan(match turn.take(&ground, &halted).await {
                Ok(()) => preflight::run(&ground, id, halted).await,
                Err(unready) => preflight::not_run(id, &unready),
            })
        });
    }

    fn launch(&mut self, id: EffectId, launch: &Launch) {
        let (ground, turn, live) = (
            Arc::clone(&self.ground),
            Arc::clone(&self.turn),
            self.live(id),
        );
        let order = launch.order().clone();
        self.task(async move {
            Fact::AttemptEnded(Box::new(attempt::run(&ground, &order, live, &turn).await))
        });
    }

    fn live(&mut self, id: EffectId) -> attempt::Live {
        let (facts, halted) = (self.facts.clone(), self.halted(id));
        attempt::Live { id, facts, halted }
    }

    fn cut(&mut self, id: EffectId, launch: &Launch, process: Option<ProcessRef>) {
        let (ground, turn, live) = (
            Arc::clone(&self.ground),
            Arc::clone(&self.turn),
            self.live(id),
        );
        let cut = Cut {
            id,
            order: launch.order().clone(),
            process,
        };
        self.task(async move {
            Fact::AttemptEnded(Box::new(cut::take_up(&ground, &cut, live, &turn).await))
        });
    }

    fn checks(&mut self, id: EffectId, run: &CheckRun) {
        let (ground, halted, run) = (Arc::clone(&self.ground), self.halted(id), run.clone());
        let turn = Arc::clone(&self.turn);
        self.task(async move {
            let may = turn.take(&ground, &halted).await;
            Fact::ChecksRan(checks::run(&ground, id, &run, (may, halted)).await)
        });
    }

    fn land(&mut self, id: EffectId, landing: &Landing) {
        let (ground, landing) = (Arc::clone(&self.ground), landing.clone());
        self.task(async move { hand_over::land(&ground, id, landing).await });
    }

    fn ship(&mut self, id: EffectId, shipment: &Shipment) {
        let (ground, shipment) = (Arc::clone(&self.ground), shipment.clone());
        self.task(async move { hand_over::ship(&ground, id, shipment).await });
    }

    fn merge(&mut self, id: EffectId, merge: &Merge) {
        let (ground, merge) = (Arc::clone(&self.ground), merge.clone());
        self.task(async move { hand_over::merge(&ground, id, merge).await });
    }
}

impl Execute for Executor {
    /// Waits and questions need nothing done, as the dispatcher has the clock and the door; others may work meanwhile.
    fn start(&mut self, id: EffectId, effect: &Effect) {
        tracing::debug!(%id, "started");
        match effect {
            Effect::Preflight => self.preflight(id),
            Effect::Launch(launch) => self.launch(id, launch),
            Effect::RunChecks(run) => self.checks(id, run),
            Effect::Land(landing) => self.land(id, landing),
            Effect::Ship(shipment) => self.ship(id, shipment),
            Effect::MergeBase(merge) => self.merge(id, merge),
            Effect::Halt(target) => self.halt(*target),
            Effect::Wait(_) | Effect::Ask(_) => self.turn.give_up(),
        }
    }

    /// A launch whose agent may have begun is ended and surveyed; everything else is done again, as doing it twice is doing it once.
    fn probe(&mut self, id: EffectId, effect: &Effect, process: Option<ProcessRef>) {
        match effect {
            Effect::Launch(launch) => self.cut(id, launch, process),
            Effect::Preflight
            | Effect::RunChecks(_)
            | Effect::Land(_)
            | Effect::Ship(_)
            | Effect::MergeBase(_)
            | Effect::Halt(_)
            | Effect::Wait(_)
            | Effect::Ask(_) => self.start(id, effect),
        }
    }
}

/// Does what blocks, such as git, away from the dispatcher's thread. Where it panics, so does the effect.
async fn blocking<T: Send + 'static>(
    ground: &Arc<Ground>,
    work: impl FnOnce(&Ground) -> T + Send + 'static,
) -> T {
    let ground = Arc::clone(ground);
    let done = tokio::task::spawn_blocking(move || work(&ground)).await;
    done.unwrap_or_else(|error| resume_unwind(error.into_panic()))
}

/// What a panic said.
fn words(error: JoinError) -> String {
    let Ok(panic) = error.try_into_panic() else {
        return "it was given up".into();
    };
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("it did not say why").into()
}
