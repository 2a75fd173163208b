//! One run: a mission from its opening to its end, through as many processes as it takes.

mod input;

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;
use std::sync::OnceLock;

use backstop_engine::vocab::EffectId;
use backstop_engine::{Charter, Ended, Event, Fact, Mission, Position, Refusal, Transition};
use backstop_runner::dispatcher::{AtGate, Core, DispatchError};
use backstop_runner::history::{HistoryError, Step};
use backstop_runner::journal::{self, JournalError};
use backstop_runner::ledger::Ledger;

use self::input::Input;
use super::jobs::Jobs;
use super::law::{Taken, Watch, by_person};
use super::person::Person;
use super::world::{Here, Over};
use super::{Covered, Outcome, Tape};
use crate::{Scene, fingerprint, is_note, operator, scenes};

/// After so many turns everything goes its plainest way.
const WILD: u64 = 400;
/// After so many it should long have ended.
const LAST: u64 = 3_000;

type Process = Core<Here, Here, Here>;

struct Run {
    here: Here,
    scene: Scene,
    charter: Charter,
    watch: Watch,
    person: Person,
    jobs: Jobs,
    /// What was taken, and how much of that is durable for certain.
    taken: Vec<Event>,
    safe: usize,
    /// The mission as the last process had it; none before the opening is durable.
    live: Option<Mission>,
    turns: u64,
    story: Vec<String>,
    covered: Covered,
}

pub(super) fn run(mut tape: Tape) -> Outcome {
    static SCENES: OnceLock<Vec<Scene>> = OnceLock::new();
    let scene = tape.one_of(SCENES.get_or_init(scenes)).clone();
    let charter = scene.opening.clone().charter();
    let mut run = Run {
        here: Here::new(tape),
        watch: Watch::of(&charter),
        scene,
        charter,
        person: Person::default(),
        jobs: Jobs::default(),
        taken: Vec::new(),
        safe: 0,
        live: None,
        turns: 0,
        story: Vec::new(),
        covered: Covered::default(),
    };
    run.tell(|run| format!("scene: {}", run.scene.name));
    while run.goes_on() {
        let over = run.process();
        run.jobs.clear();
        run.here.world().reboot(over);
    }
    run.finish()
}

fn ended(mission: &Mission) -> Option<&'static str> {
    match mission.position() {
        Position::Ended(Ended::Shipped(_)) => Some("shipped"),
        Position::Ended(Ended::Aborted) => Some("aborted"),
        Position::Busy(_) | Position::Waiting(..) | Position::AtGate(..) | Position::Parked(..) => {
            None
        }
    }
}

impl Run {
    fn goes_on(&mut self) -> bool {
        self.turns += 1;
        if self.turns == WILD {
            self.here.world().tape.calm();
        }
        if self.turns > LAST {
            let seen = format!("{:?}", self.live.as_ref().map(Mission::position));
            self.broke("ends", seen);
        }
        let over = self.live.as_ref().is_some_and(|live| ended(live).is_some());
        self.here.world().broken.is_none() && !over
    }

    fn finish(mut self) -> Outcome {
        if let Some(end) = self.live.as_ref().and_then(ended) {
            *self.covered.ends.entry(end).or_default() += 1;
        }
        let mut world = self.here.world();
        self.covered.runs = 1;
        self.covered.faults = std::mem::take(&mut world.faults);
        Outcome {
            broken: world.broken.take(),
            drawn: world.tape.drawn().to_vec(),
            story: std::mem::take(&mut self.story),
            covered: std::mem::take(&mut self.covered),
        }
    }

    fn tell(&mut self, line: impl Fn(&Self) -> String) {
        if self.here.world().tape.is_aloud() {
            let line = line(self);
            self.story.push(line);
        }
    }

    fn broke(&self, law: &'static str, seen: impl Into<String>) {
        self.here.world().broke(law, seen);
    }

    /// One process, from its start to its end.
    fn process(&mut self) -> Over {
        self.covered.processes += 1;
        self.tell(|_| "a process begins".into());
        let Some(mut ledger) = self.boot() else {
            return Over::Orderly;
        };
        self.live = Some(ledger.mission().clone());
        let stays = self.here.world().tape.below(3) != 2;
        let at_gate = if stays { AtGate::Stay } else { AtGate::Leave };
        if let Some(over) = self.before(&mut ledger, at_gate) {
            return over;
        }
        let mut core = Core::new(ledger, self.here.clone(), at_gate);
        core.begin();
        self.begun(core.mission());
        loop {
            self.jobs
                .plan(&mut self.here.world(), core.mission(), &self.scene.palette);
            self.live = Some(core.mission().clone());
            self.reached(core.mission());
            if self.here.world().is_dead || self.here.world().broken.is_some() {
                return Over::Killed;
            }
            if core.is_over() {
                return self.let_go(core);
            }
            if !self.goes_on() {
                return Over::Orderly;
            }
            if let Some(over) = self.turn(&mut core) {
                return over;
            }
        }
    }

    /// A stop has come to what runs before anything else happens.
    fn reached(&self, mission: &Mission) {
        let mut world = self.here.world();
        if let (Some(_), Position::Busy(id)) = (mission.stopping(), mission.position())
            && !world.is_dead
            && !world.halted.contains(id)
        {
            world.broke("stop", format!("{id} was not told to halt"));
        }
    }

    fn let_go(&mut self, mut core: Process) -> Over {
        let synced = core.sync();
        if synced.is_ok() {
            self.safe = self.taken.len();
        }
        self.here.world().over()
    }

    /// Opens the mission, or takes it up; none where a fault came between.
    fn boot(&mut self) -> Option<Ledger<Here, Here>> {
        let path = Path::new("journal");
        let before = self.trouble();
        let replay = journal::replay::<Fact, _>(self.here.clone(), path);
        let taken = match Ledger::take_up(replay, self.here.clone()) {
            Ok(taken) => taken,
            Err(HistoryError::Journal(JournalError::Empty(_))) if self.live.is_none() => {
                self.here.world().bytes.clear();
                self.here.world().durable = 0;
                let journal = journal::begin(self.here.clone(), path);
                let opened = Ledger::open(journal, self.here.clone(), self.charter.clone());
                return opened.ok().map(|(ledger, step)| {
                    self.covered.rules.extend(step.because);
                    ledger
                });
            }
            Err(error) => {
                if before == self.trouble() {
                    self.broke("journal", error.to_string());
                }
                return None;
            }
        };
        self.compare(&taken.steps, taken.ledger.mission());
        Some(taken.ledger)
    }

    /// How many faults there were: an error without a new one has no excuse.
    fn trouble(&self) -> u64 {
        self.here.world().faults.values().sum()
    }

    /// What was durable is there, in order, and at most the one fact more that a fault came upon.
    fn compare(&mut self, steps: &[Step], mission: &Mission) {
        let event = |step: &Step| Event {
            at: step.at,
            fact: step.fact.clone(),
        };
        let read: Vec<Event> = steps.iter().skip(1).map(event).collect();
        let same = read
            .iter()
            .zip(&self.taken)
            .all(|(one, other)| one == other);
        if !same || read.len() < self.safe || read.len() > self.taken.len() + 1 {
            let seen = format!("{} of {}, {} safe", read.len(), self.taken.len(), self.safe);
            self.broke("nothing is lost", seen);
        }
        let whole = read.len() == self.taken.len();
        if whole && self.live.as_ref().is_some_and(|live| live != mission) {
            self.broke("replay", "the journal leads to another mission");
        }
        if !whole {
            self.again(&read);
        }
        self.taken = read;
        self.safe = self.taken.len();
    }

    /// Looks at the whole way again, as it is not the one that was lived.
    fn again(&mut self, read: &[Event]) {
        self.watch = Watch::of(&self.charter);
        let mut mission = Mission::open(self.charter.clone()).mission;
        for event in read {
            let Ok(done) = mission.decide(event) else {
                return self.broke("replay", "a fact of the journal does not fit");
            };
            self.look(&mission, event, &done);
            mission = done.mission;
        }
    }

    /// Everything that is open is started or probed, and nothing else.
    fn begun(&self, mission: &Mission) {
        let mut world = self.here.world();
        let told: BTreeSet<EffectId> = world.told.iter().map(|(id, ..)| *id).collect();
        let open: BTreeSet<EffectId> = self.watch.book.open.keys().copied().collect();
        if !world.is_dead && told != open {
            let seen = format!("{told:?} for {open:?} at {:?}", mission.position());
            world.broke("taken up", seen);
        }
    }

    /// What a person does to a mission before anything runs.
    fn before(&mut self, ledger: &mut Ledger<Here, Here>, at_gate: AtGate) -> Option<Over> {
        let leaves = at_gate == AtGate::Leave;
        let fact = match ledger.mission().position() {
            Position::Parked(..) if self.here.world().tape.below(2) == 0 => {
                Some(Fact::Resumed { by: operator() })
            }
            Position::Parked(..) => self.answer(ledger.mission()),
            Position::AtGate(..) if leaves => self.answer(ledger.mission()),
            Position::AtGate(..)
            | Position::Busy(_)
            | Position::Waiting(..)
            | Position::Ended(_) => None,
        }?;
        let before = ledger.mission().clone();
        let taken = ledger.take(fact);
        let mission = ledger.mission().clone();
        self.came_of(
            &before,
            taken.map_err(DispatchError::from),
            &mission,
            Misfit::Fault,
        )
    }

    fn answer(&mut self, mission: &Mission) -> Option<Fact> {
        let mut world = self.here.world();
        self.person.answer(mission, &mut world.tape)
    }

    /// One input and what comes of it.
    fn turn(&mut self, core: &mut Process) -> Option<Over> {
        let input = self.input(core)?;
        let before = core.mission().clone();
        let asked = matches!(input, Input::Person(Fact::Answered(_)));
        let misfit = if matches!(input, Input::Again(_)) {
            Misfit::Expected
        } else {
            Misfit::Fault
        };
        let lift = |step: Step| Ok(step);
        let result = match input {
            Input::Host(fact) => core.happened(fact).map(lift),
            Input::Again(fact) => {
                let note = is_note(&fact);
                let result = core.happened(fact);
                if result.is_ok() && !note {
                    self.broke("late", "an answer was taken a second time");
                }
                result.map(lift)
            }
            Input::Person(fact) => core.requested(fact),
            Input::Signal => core.interrupted(&operator()).transpose()?.map(lift),
            Input::Due => core.due().transpose()?.map(lift),
            Input::Lost => return Some(Over::Orderly),
        };
        if asked && let Ok(told) = &result {
            self.person.hears(told);
        }
        let mission = core.mission().clone();
        self.came_of(&before, result, &mission, misfit)
    }

    fn came_of(
        &mut self,
        before: &Mission,
        result: Result<Result<Step, Refusal>, DispatchError>,
        after: &Mission,
        misfit: Misfit,
    ) -> Option<Over> {
        let over = self.here.world().over();
        match result {
            Ok(Ok(step)) => {
                self.step(before, step, after);
                return None;
            }
            Ok(Err(refusal)) => {
                self.tell(|_| format!("    refused: {refusal}"));
                self.unmoved(before, after);
                return None;
            }
            Err(DispatchError::Misfit(refusal)) => {
                self.tell(|_| format!("    misfit: {refusal}"));
                if misfit == Misfit::Fault {
                    self.broke("misfit", refusal.to_string());
                }
            }
            // Faults of the disk, and the end of the process, are all that a journal may refuse for.
            Err(DispatchError::Journal(error)) => {
                self.tell(|_| format!("    {error}"));
                if self.here.world().faults.is_empty() {
                    self.broke("journal", error.to_string());
                }
            }
            Err(error) => self.broke("dispatch", error.to_string()),
        }
        self.unmoved(before, after);
        Some(over)
    }

    fn unmoved(&self, before: &Mission, after: &Mission) {
        if before != after {
            self.broke("refusal", "what was refused changed the mission");
        }
    }

    fn step(&mut self, before: &Mission, step: Step, after: &Mission) {
        self.tell(|_| format!("    {} fired {:?}", words(&step.fact), step.because));
        let event = Event {
            at: step.at,
            fact: step.fact,
        };
        let done = Transition {
            mission: after.clone(),
            effects: step.effects,
            because: step.because,
        };
        self.look(before, &event, &done);
        // Only the hands that do effects tell anything twice: time and people are asked anew.
        let of_time = matches!(
            event.fact,
            Fact::WaitEnded { .. } | Fact::GateExpired { .. }
        );
        if !by_person(&event.fact) && !of_time {
            self.jobs.took(&event.fact);
        }
        self.taken.push(event);
        let world = self.here.world();
        if world.durable == world.bytes.len() {
            self.safe = self.taken.len();
        }
    }

    fn look(&mut self, before: &Mission, event: &Event, done: &Transition) {
        let taken = Taken {
            before,
            event,
            done,
        };
        if let Some(broken) = self.watch.see(&taken) {
            self.broke(broken.law, broken.seen);
        }
        self.covered.facts += 1;
        self.covered.rules.extend(done.because.iter().copied());
        let mut hash = DefaultHasher::new();
        self.scene.name.hash(&mut hash);
        fingerprint(&done.mission, &self.scene.uncounted).hash(&mut hash);
        self.covered.states.insert(hash.finish());
    }
}

/// A fact in a line.
fn words(fact: &Fact) -> String {
    if let Fact::AttemptEnded(ended) = fact {
        let head = ended.head.as_ref().map(|head| head.tree.to_string());
        return format!(
            "AttemptEnded({} {:?}, head {head:?})",
            ended.effect, ended.status
        );
    }
    format!("{fact:?}").chars().take(160).collect()
}

/// Whether a fact that does not fit is the world's doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Misfit {
    Expected,
    Fault,
}
