//! One way through a mission, told step by step: what a test says happens, and what a test expects to be refused.

use backstop_engine::mode::Account;
use backstop_engine::outcome::Status;
use backstop_engine::vocab::{EffectId, Timestamp};
use backstop_engine::{
    Answer, AttemptEnded, CheckVerdict, ChecksRan, Effect, Event, Fact, Gate, Mission, Order,
    Point, PointVerdict, PreflightRan, Refusal, Rule, Ruling, ShipOutcome, Shipped, Verb,
};

use crate::ends::ended;
use crate::opening::Opening;
use crate::world::{check_results, fresh, note, operator, short};

/// A mission, and the facts that led to it.
#[derive(Debug, Clone)]
pub struct Walk {
    /// The mission as it is.
    pub mission: Mission,
    /// Every fact that was taken.
    pub facts: Vec<Event>,
    /// The rules that the last fact fired.
    pub because: Vec<Rule>,
}

impl Walk {
    /// At the preflight.
    ///
    /// # Panics
    /// When no mission can be opened so.
    #[must_use]
    pub fn open(opening: Opening) -> Self {
        let opened = opening.open();
        Self {
            mission: opened.mission,
            facts: Vec::new(),
            because: opened.because,
        }
    }

    /// Past the preflight.
    ///
    /// # Panics
    /// When no mission can be opened so.
    #[must_use]
    pub fn begin(opening: Opening) -> Self {
        let mut walk = Self::open(opening);
        walk.preflight(PointVerdict::Held(short("there")));
        walk
    }

    /// Something happens now.
    ///
    /// # Panics
    /// When it is refused.
    pub fn take(&mut self, fact: Fact) -> &mut Self {
        let at = self.mission.now();
        self.take_at(at, fact)
    }

    /// Something happens at a moment.
    ///
    /// # Panics
    /// When it is refused.
    pub fn take_at(&mut self, at: Timestamp, fact: Fact) -> &mut Self {
        let event = Event { at, fact };
        let done = self.mission.decide(&event).expect("a fact that fits");
        self.mission = done.mission;
        self.because = done.because;
        self.facts.push(event);
        self
    }

    /// Why something that happens now does not fit.
    ///
    /// # Panics
    /// When it is taken.
    #[must_use]
    pub fn refusal(&self, fact: Fact) -> Refusal {
        let at = self.mission.now();
        let event = Event { at, fact };
        self.mission
            .decide(&event)
            .expect_err("a fact that does not fit")
    }

    /// What was last started and is not answered.
    ///
    /// # Panics
    /// When nothing is.
    #[must_use]
    pub fn last(&self) -> (EffectId, Effect) {
        let last = self.mission.outstanding().last();
        let (id, effect) = last.expect("something is outstanding");
        (id, effect.clone())
    }

    /// The launch that runs.
    ///
    /// # Panics
    /// When none does.
    #[must_use]
    pub fn order(&self) -> Order {
        let mut outstanding = self.mission.outstanding();
        let launched = outstanding.find_map(|(_, effect)| effect.launched().cloned());
        launched.expect("an agent runs")
    }

    /// The open gate.
    ///
    /// # Panics
    /// When none is open.
    #[must_use]
    pub fn gate(&self) -> Gate {
        self.mission.gate().expect("a gate is open").clone()
    }

    /// What is spent of an account.
    #[must_use]
    pub const fn used(&self, account: Account) -> u64 {
        self.mission.meter().used(account)
    }

    /// The preflight has this one point, and the base is green.
    ///
    /// # Panics
    /// When no preflight runs.
    pub fn preflight(&mut self, verdict: PointVerdict) -> &mut Self {
        let effect = self.first();
        let checks = &self.mission.charter().fields().checks;
        let base_checks = check_results(checks, &[]);
        let name = short("git");
        self.take(Fact::PreflightRan(PreflightRan {
            effect,
            points: vec![Point { name, verdict }],
            base_checks,
        }))
    }

    /// What runs, and not the halt of it.
    fn first(&self) -> EffectId {
        let first = self.mission.outstanding().next();
        first.expect("something is outstanding").0
    }

    /// The attempt that runs, as one that ends so.
    #[must_use]
    pub fn end(&self, status: Status) -> AttemptEnded {
        ended(&self.mission, self.first(), status)
    }

    /// The attempt ends so, and changed nothing.
    ///
    /// # Panics
    /// When no agent runs.
    pub fn ends(&mut self, status: Status) -> &mut Self {
        let end = self.end(status);
        self.take(Fact::AttemptEnded(Box::new(end)))
    }

    /// The attempt succeeds with a new tree.
    ///
    /// # Panics
    /// When no agent runs.
    pub fn works(&mut self) -> &mut Self {
        let mut end = self.end(Status::Success);
        end.head = Some(fresh(end.effect));
        self.take(Fact::AttemptEnded(Box::new(end)))
    }

    /// The role that judges rules so.
    ///
    /// # Panics
    /// When no agent runs.
    pub fn rules(&mut self, ruling: Ruling) -> &mut Self {
        let mut end = self.end(Status::Success);
        end.ruling = Some(ruling);
        self.take(Fact::AttemptEnded(Box::new(end)))
    }

    /// The checks say this, and pass where nothing is said.
    ///
    /// # Panics
    /// When no checks run.
    pub fn checks(&mut self, verdicts: &[CheckVerdict]) -> &mut Self {
        let wanted = self
            .mission
            .phase()
            .map(|phase| self.mission.charter().checks(phase));
        let effect = self.first();
        let tree = self.mission.lane().head.tree;
        let results = check_results(&wanted.unwrap_or_default(), verdicts);
        self.take(Fact::ChecksRan(ChecksRan {
            effect,
            tree,
            results,
        }))
    }

    /// A check fails.
    ///
    /// # Panics
    /// When no checks run.
    pub fn red(&mut self) -> &mut Self {
        self.checks(&[CheckVerdict::Failed { exit: 1 }])
    }

    /// Every check passes.
    ///
    /// # Panics
    /// When no checks run.
    pub fn green(&mut self) -> &mut Self {
        self.checks(&[])
    }

    /// The lane lands.
    ///
    /// # Panics
    /// When nothing lands.
    pub fn lands(&mut self) -> &mut Self {
        let (effect, tree) = (self.first(), self.mission.lane().head.tree);
        self.take(Fact::Landed { effect, tree })
    }

    /// The ship step ends so.
    ///
    /// # Panics
    /// When nothing ships.
    pub fn ships(&mut self, outcome: ShipOutcome) -> &mut Self {
        let effect = self.first();
        self.take(Fact::Shipped(Shipped { effect, outcome }))
    }

    /// Time comes to the deadline.
    ///
    /// # Panics
    /// When there is none.
    pub fn due(&mut self) -> &mut Self {
        let at = self.mission.deadline().expect("a deadline");
        let fact = self.mission.due().expect("what is due then");
        self.take_at(at, fact)
    }

    /// An answer to the open gate, with everything that it could need.
    ///
    /// # Panics
    /// When no gate is open.
    #[must_use]
    pub fn answer(&self, verb: Verb) -> Answer {
        let gate = self.gate();
        Answer {
            gate: gate.id,
            digest: gate.digest,
            verb,
            accounts: Vec::new(),
            note: Some(note()),
            by: operator(),
        }
    }

    /// The operator answers the open gate.
    ///
    /// # Panics
    /// When no gate is open, or it does not offer this.
    pub fn answers(&mut self, verb: Verb) -> &mut Self {
        let answer = self.answer(verb);
        self.take(Fact::Answered(answer))
    }

    /// The operator stops the mission.
    ///
    /// # Panics
    /// When it is stopping already.
    pub fn stop(&mut self) -> &mut Self {
        self.take(Fact::StopRequested { by: operator() })
    }

    /// The operator goes on with it.
    ///
    /// # Panics
    /// When it is not parked.
    pub fn resume(&mut self) -> &mut Self {
        self.take(Fact::Resumed { by: operator() })
    }
}
