//! Where a mission is, at a glance, and what it needs from a person.

use backstop_engine::mode::Mode;
use backstop_engine::vocab::{Attempt, MissionId, Phase, Stage, Timestamp, Visit};
use backstop_engine::{Ended, Position, Role};
use serde::Serialize;

use super::{GateLine, GateView, ReviewView, Spent, board, gate, review, spent};
use crate::accounts::{self, Limit};
use crate::clock;
use crate::history::{History, Step};
use crate::queue;
use crate::state::{Holder, Line, MissionDir};
use crate::words;

/// All missions of a repository.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Missions {
    /// Those whose journals can be read, the most urgent first.
    pub missions: Vec<Status>,
    /// Those whose journals cannot.
    pub damaged: Vec<Damaged>,
}

/// A mission whose journal cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Damaged {
    /// The mission.
    pub mission: MissionId,
    /// What is wrong, and what to do.
    pub words: String,
}

/// What a mission is doing.
// The order is that of urgency to a person, within what needs one and what does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// A person is asked.
    AtGate,
    /// Nothing runs until a person goes on.
    Parked,
    /// It stops.
    Stopping,
    /// It stands in the queue; nothing of it has run.
    Queued,
    /// An agent or the host is at work.
    Working,
    /// It waits for a moment.
    Waiting,
    /// Done: the approved work was handed over.
    Shipped,
    /// Ended by a person.
    Aborted,
}

/// A mission at a glance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Status {
    /// Its id.
    pub mission: MissionId,
    /// The first line of its goal.
    pub goal: String,
    /// Its mode now.
    pub mode: Mode,
    /// What it is doing.
    pub state: State,
    /// The same in words.
    pub now: String,
    /// The stage it is in.
    pub stage: Stage,
    /// The phase it is in, from 1.
    pub phase: Phase,
    /// How many phases it has.
    pub phases: usize,
    /// The visit of that stage.
    pub visit: Visit,
    /// Whose turn it is in that visit; nobody's while the host works.
    pub role: Option<Role>,
    /// The last attempt of that visit, if one was made.
    pub attempt: Option<Attempt>,
    /// When it was opened.
    pub opened_at: Timestamp,
    /// Since when it is where it is.
    pub since: Timestamp,
    /// The limit of its provider's account, met by whatever mission, that it waits for before it launches an agent.
    pub limit: Option<Limit>,
    /// How it stands in line for a slot, while as many missions as may work at once.
    pub slot: Option<Line>,
    /// When it goes on by itself, while it waits for a moment.
    pub wakes_at: Option<Timestamp>,
    /// The process that drives it now.
    pub driven_by: Option<u32>,
    /// The gates between the roles of the lane.
    pub board: Vec<GateLine>,
    /// The review loop of the lane, from its first Validate with a reviewer on.
    pub review: Option<ReviewView>,
    /// What was spent.
    pub spend: Vec<Spent>,
    /// What it needs from a person, if anything.
    pub needs: Option<Needs>,
}

/// What a mission needs from a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Needs {
    /// In words.
    pub words: String,
    /// The command to begin with.
    pub command: String,
    /// The gate that waits, if it is one.
    pub gate: Option<GateView>,
}

impl Missions {
    /// Puts the most urgent first: what needs a person, gates by their end, else the latest to move.
    pub fn sort(&mut self) {
        self.missions.sort_by_key(Status::urgency);
    }
}

impl Status {
    /// Sorts the most urgent first.
    #[must_use]
    pub fn urgency(&self) -> (bool, State, u64) {
        let gate = self.needs.as_ref().and_then(|needs| needs.gate.as_ref());
        let latest = u64::MAX.saturating_sub(self.since.as_millis());
        let order = gate.map_or(latest, |gate| gate.expires_at.as_millis());
        (self.needs.is_none(), self.state, order)
    }
}

/// A mission at a glance, driven by `holder`.
#[must_use]
pub fn status(history: &History, dir: &MissionDir) -> Status {
    let holder = dir.holder();
    let holder = holder.as_ref();
    let mission = &history.mission;
    let fields = mission.charter().fields();
    let lane = mission.lane();
    let waits = matches!(mission.position(), Position::Waiting(..));
    let moved = history.steps.iter().rev().find(|step| Step::decided(step));
    let slot = dir.slots().stands(dir.id());
    let state = match slot {
        Some(_) => State::Waiting,
        None if holder.is_none() && dir.is_queued() && !queue::has_begun(history) => State::Queued,
        None => state(history),
    };
    Status {
        mission: fields.mission.clone(),
        goal: words::first_line(fields.goal.as_str()).to_owned(),
        mode: mission.mode(),
        state,
        now: if state == State::Queued {
            "in the queue; nothing of it has run".into()
        } else {
            words::position(mission)
        },
        stage: mission.stage(),
        phase: lane.phase,
        phases: fields.plan.phases().len(),
        visit: lane.visit(),
        role: lane.role,
        attempt: lane.attempt,
        opened_at: fields.opened_at,
        since: moved.map_or(fields.opened_at, |step| step.at),
        limit: accounts::held(history, &dir.accounts(), clock::now()),
        slot,
        wakes_at: mission.deadline().filter(|_| waits),
        driven_by: holder.and_then(|holder| holder.pid),
        board: board(lane),
        review: review(lane),
        spend: spent(mission.meter()),
        needs: needs(history, dir, holder),
    }
}

fn state(history: &History) -> State {
    match history.mission.position() {
        Position::Busy(_) if history.mission.stopping().is_some() => State::Stopping,
        Position::Busy(_) => State::Working,
        Position::Waiting(..) => State::Waiting,
        Position::AtGate(..) => State::AtGate,
        Position::Parked(..) => State::Parked,
        Position::Ended(Ended::Shipped(_)) => State::Shipped,
        Position::Ended(Ended::Aborted) => State::Aborted,
    }
}

fn needs(history: &History, dir: &MissionDir, holder: Option<&Holder>) -> Option<Needs> {
    let mission = &history.mission;
    let id = &mission.charter().fields().mission;
    let resume = |words: &str| Needs {
        words: words.to_owned(),
        command: format!("backstop resume {id}"),
        gate: None,
    };
    if let Some(open) = mission.gate() {
        let why = open.reasons.iter().map(|reason| words::reason(*reason));
        return Some(Needs {
            words: why.collect::<Vec<_>>().join("; "),
            command: format!("backstop gate show {} --mission {id}", open.id),
            gate: Some(gate(mission, open)),
        });
    }
    match (mission.position(), holder) {
        (Position::Parked(..), _) => Some(resume("it is parked: nothing runs until you go on")),
        (Position::Busy(_) | Position::Waiting(..), None) if dir.is_queued() => {
            let idle = dir.queue_worker().is_none();
            idle.then(|| Needs {
                words: "nobody works on the queue: it stands still until you go on".into(),
                command: "backstop queue start".into(),
                gate: None,
            })
        }
        (Position::Busy(_) | Position::Waiting(..), None) => Some(resume(
            "no process drives it: it stands still until you go on",
        )),
        (
            Position::Busy(_) | Position::Waiting(..) | Position::AtGate(..) | Position::Ended(_),
            _,
        ) => None,
    }
}
