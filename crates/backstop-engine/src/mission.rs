//! The mission: its state, the one function that moves it, and its replay.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;

use backstop_gates::Holder;
use backstop_mode::{Account, Meter, Mode};
use backstop_plan::PhaseSpec;
use backstop_vocab::{CommitId, Digest, EffectId, GateId, Phase, Signature, Stage, Timestamp};
use serde::Serialize;

use crate::turn::Turn;
use crate::{
    Charter, CheckFor, Effect, Event, Fact, Gate, Head, Landed, Lane, Merge, Refusal, Role, Rule,
    Verb, Wait,
};
use crate::{answer, attempt, checks, held, operator, preflight, ship};

/// What is done when a wait ends, a gate lets go, or a parked mission goes on.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Next {
    /// The preflight.
    Preflight,
    /// A new attempt of the present visit, charged to `attempts`.
    Attempt,
    /// The same, but already charged as a fault or a wait.
    Resume(Account),
    /// The turn of another role in the present visit, which begins with a new conversation.
    Turn(Role),
    /// A new visit of the present stage.
    Visit,
    /// The host checks.
    Checks(CheckFor),
    /// Landing the cleared tree.
    Land,
    /// Merging a base that moved.
    Merge(Merge),
    /// What was waited for, until its moment.
    Wait(Wait, Box<Next>),
    /// What follows a landed lane.
    AfterLanding,
    /// The ship gate.
    ShipGate,
}

/// How a mission ended.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// The approved digest was handed over; where it is.
    Shipped(backstop_vocab::Text<512>),
    /// An operator ended it.
    Aborted,
}

/// Why a mission is parked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ParkCause {
    /// An operator stopped it.
    Stopped,
    /// A gate waited longer than it may.
    Expired,
}

/// What a parked mission goes on with.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ParkedAt {
    /// A gate that can still be answered.
    Gate(Gate),
    /// Work.
    Work(Pending),
}

/// Work that a parked mission has still to do; opaque outside the engine.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct Pending(pub(crate) Next);

/// What pending work begins with, once nothing is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Begins {
    /// The preflight.
    Preflight,
    /// An attempt of an agent.
    Attempt,
    /// The host checks.
    Checks,
    /// Putting the cleared lane on the mission branch.
    Landing,
    /// Merging a base that moved.
    Merge,
    /// The next lane, or the ship gate after the last.
    Following,
    /// The ship gate.
    ShipGate,
}

impl Pending {
    /// What it begins with.
    #[must_use]
    pub fn begins(&self) -> Begins {
        match &self.0 {
            Next::Preflight => Begins::Preflight,
            Next::Attempt | Next::Resume(_) | Next::Turn(_) => Begins::Attempt,
            // Every other stage begins its visit with a role.
            Next::Visit | Next::Checks(_) => Begins::Checks,
            Next::Land => Begins::Landing,
            Next::Merge(_) => Begins::Merge,
            Next::Wait(_, then) => Self(Next::clone(then)).begins(),
            Next::AfterLanding => Begins::Following,
            Next::ShipGate => Begins::ShipGate,
        }
    }

    /// What it still waits for, and what it does then; none when it goes on at once.
    #[must_use]
    pub fn wait(&self) -> Option<(Wait, Self)> {
        match &self.0 {
            Next::Wait(wait, then) => Some((*wait, Self(Next::clone(then)))),
            Next::Preflight
            | Next::Attempt
            | Next::Resume(_)
            | Next::Turn(_)
            | Next::Visit
            | Next::Checks(_)
            | Next::Land
            | Next::Merge(_)
            | Next::AfterLanding
            | Next::ShipGate => None,
        }
    }
}

/// Where a mission is.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Position {
    /// This effect is being done.
    Busy(EffectId),
    /// Until the effect's moment; then what it waits with.
    Waiting(EffectId, Wait, Pending),
    /// A person is asked.
    AtGate(EffectId, Gate),
    /// Nothing runs; a person goes on with it.
    Parked(ParkCause, ParkedAt),
    /// Nothing moves it any more.
    Ended(Ended),
}

/// A mission: a value that [`Mission::decide`] turns into the next one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Mission {
    pub(crate) charter: Arc<Charter>,
    pub(crate) mode: Mode,
    pub(crate) meter: Meter,
    // INVARIANT: never decreases.
    pub(crate) now: Timestamp,
    pub(crate) assumed_cost: u64,
    pub(crate) base: CommitId,
    pub(crate) lane: Lane,
    pub(crate) landed: Vec<Landed>,
    pub(crate) position: Position,
    // INVARIANT: a stop that was asked for and has not parked the mission yet.
    pub(crate) stopping: Option<Signature>,
    pub(crate) outstanding: BTreeMap<EffectId, Effect>,
    pub(crate) next_effect: EffectId,
    pub(crate) gates: u32,
    pub(crate) answered: Vec<(GateId, Signature, Verb)>,
}

/// What a fact does to a mission.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "a transition that is dropped did not happen"]
pub struct Transition {
    /// The mission afterwards.
    pub mission: Mission,
    /// What must be started, once the fact is durable.
    pub effects: Vec<(EffectId, Effect)>,
    /// The rules that fired, in order.
    pub because: Vec<Rule>,
}

/// A journal that no mission can have written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("fact {index} of the journal does not fit: {refusal}")]
pub struct ReplayError {
    /// The place of the fact among the facts after the charter, from 0.
    pub index: usize,
    /// Why it does not fit.
    pub refusal: Refusal,
}

impl Mission {
    /// Opens a mission: its first effect is the preflight.
    pub fn open(charter: Charter) -> Transition {
        let fields = charter.fields();
        let (base, now) = (fields.base.clone(), fields.opened_at);
        let head = Head {
            commit: base.commit.clone(),
            tree: base.tree,
            commits: Some(0),
        };
        let mission = Self {
            mode: fields.mode,
            meter: Meter::new(fields.ceilings),
            now,
            assumed_cost: 0,
            lane: held::lane(&charter, Phase::FIRST, head),
            base: base.commit,
            landed: Vec::new(),
            position: Position::Busy(EffectId::default()),
            stopping: None,
            outstanding: BTreeMap::new(),
            next_effect: EffectId::default(),
            gates: 0,
            answered: Vec::new(),
            charter: Arc::new(charter),
        };
        let mut turn = Turn::of(&mission, now);
        turn.because(Rule::Opened);
        preflight::begin(&mut turn);
        turn.finish()
    }

    /// What `event` makes of this mission: a new mission, effects to start, and the rules that fired.
    ///
    /// # Errors
    /// A [`Refusal`] when the fact does not fit; this mission is then as it was.
    pub fn decide(&self, event: &Event) -> Result<Transition, Refusal> {
        if matches!(self.position, Position::Ended(_)) {
            return Err(Refusal::Ended);
        }
        let mut turn = Turn::of(self, event.at);
        match &event.fact {
            Fact::Opened(_) => Err(Refusal::AlreadyOpen),
            Fact::PreflightRan(ran) => preflight::ran(&mut turn, ran),
            Fact::AttemptStarted(started) => attempt::started(&mut turn, started),
            Fact::SessionOpened(opened) => attempt::session(&mut turn, opened),
            Fact::AttemptEnded(ended) => attempt::ended(&mut turn, ended),
            Fact::ChecksRan(ran) => checks::ran(&mut turn, ran),
            Fact::WaitEnded { effect } => operator::wait_ended(&mut turn, *effect),
            Fact::Landed { effect, tree } => ship::landed(&mut turn, *effect, *tree),
            Fact::LandFailed { effect, cause: _ } => ship::land_failed(&mut turn, *effect),
            Fact::Shipped(shipped) => ship::shipped(&mut turn, shipped),
            Fact::BaseMerged(merged) => ship::merged(&mut turn, merged),
            Fact::Answered(answer) => answer::answered(&mut turn, answer),
            Fact::GateExpired { gate } => operator::expired(&mut turn, gate),
            Fact::StopRequested { by } => operator::stop(&mut turn, by),
            Fact::Resumed { by: _ } => operator::resumed(&mut turn),
            Fact::Tightened {
                account,
                ceiling,
                by: _,
            } => operator::tightened(&mut turn, *account, *ceiling),
            Fact::Supervised { by: _ } => operator::supervised(&mut turn),
        }?;
        Ok(turn.finish())
    }

    /// The mission that the facts of a journal lead to.
    ///
    /// # Errors
    /// When a fact does not fit the ones before it.
    pub fn replay(
        charter: Charter,
        events: impl IntoIterator<Item = Event>,
    ) -> Result<Self, ReplayError> {
        let opened = Self::open(charter).mission;
        events
            .into_iter()
            .enumerate()
            .try_fold(opened, |mission, (index, event)| {
                let moved = mission.decide(&event);
                moved
                    .map(|transition| transition.mission)
                    .map_err(|refusal| ReplayError { index, refusal })
            })
    }

    /// What was started and not answered: all that must be probed or done again after a crash.
    pub fn outstanding(&self) -> impl Iterator<Item = (EffectId, &Effect)> {
        self.outstanding.iter().map(|(id, effect)| (*id, effect))
    }

    /// The next moment at which time itself is a fact: the end of a wait, or of a gate.
    #[must_use]
    pub fn deadline(&self) -> Option<Timestamp> {
        match &self.position {
            Position::Waiting(_, wait, _) => Some(wait.until),
            Position::AtGate(_, gate) => Some(gate.expires_at),
            Position::Busy(_) | Position::Parked(..) | Position::Ended(_) => None,
        }
    }

    /// The fact that is due at the deadline.
    #[must_use]
    pub fn due(&self) -> Option<Fact> {
        match &self.position {
            Position::Waiting(effect, ..) => Some(Fact::WaitEnded { effect: *effect }),
            Position::AtGate(_, gate) => Some(Fact::GateExpired {
                gate: gate.id.clone(),
            }),
            Position::Busy(_) | Position::Parked(..) | Position::Ended(_) => None,
        }
    }

    /// What it was opened with.
    #[must_use]
    pub fn charter(&self) -> &Charter {
        &self.charter
    }

    /// The mode it is in.
    #[must_use]
    pub const fn mode(&self) -> Mode {
        self.mode
    }

    /// What has been spent.
    pub const fn meter(&self) -> &Meter {
        &self.meter
    }

    /// How much of the cost was assumed, as no agent reported it; in millionths of a US dollar.
    #[must_use]
    pub const fn assumed_cost(&self) -> u64 {
        self.assumed_cost
    }

    /// Where it is.
    #[must_use]
    pub const fn position(&self) -> &Position {
        &self.position
    }

    /// The lane it is in.
    #[must_use]
    pub const fn lane(&self) -> &Lane {
        &self.lane
    }

    /// The lanes that are on the mission branch, in order.
    #[must_use]
    pub fn landed(&self) -> &[Landed] {
        &self.landed
    }

    /// The last commit of the base that is part of the work.
    #[must_use]
    pub const fn base(&self) -> &CommitId {
        &self.base
    }

    /// The last moment it heard of.
    #[must_use]
    pub const fn now(&self) -> Timestamp {
        self.now
    }

    /// Who asked it to stop, while it is stopping.
    #[must_use]
    pub const fn stopping(&self) -> Option<&Signature> {
        self.stopping.as_ref()
    }

    /// The gate that can be answered now, at it or parked at it.
    #[must_use]
    pub const fn gate(&self) -> Option<&Gate> {
        match &self.position {
            Position::AtGate(_, gate) | Position::Parked(_, ParkedAt::Gate(gate)) => Some(gate),
            Position::Busy(_)
            | Position::Waiting(..)
            | Position::Parked(_, ParkedAt::Work(_))
            | Position::Ended(_) => None,
        }
    }

    /// The gates that hold whoever would work next, or the landing where nobody would.
    #[must_use]
    pub fn holders(&self) -> Vec<Holder> {
        held::holders(&self.lane)
    }

    /// Every answer so far: the gate, who, and what they chose.
    #[must_use]
    pub fn answers(&self) -> &[(GateId, Signature, Verb)] {
        &self.answered
    }

    /// The tree that may land or ship as things stand: judged clean, or overridden by an operator.
    #[must_use]
    pub const fn cleared(&self) -> Option<Digest> {
        self.lane.cleared
    }

    /// The phase of the present lane.
    #[must_use]
    pub fn phase(&self) -> Option<&PhaseSpec> {
        self.charter.fields().plan.phase(self.lane.phase)
    }

    /// The stage it is in, in a word; Ship once every lane has landed.
    #[must_use]
    pub const fn stage(&self) -> Stage {
        self.lane.stage
    }
}

/// Spreads waits that start at the same moment, and stays the same on every replay.
///
/// The mixing steps are those of `SplitMix64` (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators).
const fn mix(seed: u64, n: u64) -> u64 {
    let z = seed.wrapping_add(n.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Mission {
    pub(crate) fn jitter(&self) -> u64 {
        mix(
            self.charter.fields().settings.seed,
            self.next_effect.number(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::mix;

    /// The first numbers of `SplitMix64` from the seed 0.
    #[test]
    fn the_mixing_is_that_of_a_known_generator() {
        let known = [
            0xe220_a839_7b1d_cdaf,
            0x6e78_9e6a_a1b9_65f4,
            0x06c4_5d18_8009_454f,
        ];
        assert_eq!([1, 2, 3].map(|n| mix(0, n)), known);
    }
}
