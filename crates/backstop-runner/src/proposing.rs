//! Asks an agent for a plan, and tells it everything that is wrong with what it wrote, until there is a valid plan or the
//! proposals are spent.
//!
//! The agent runs as an attempt does, in a checkout of its own in which nothing counts. Deliberately absent: approving.

mod prompt;

pub use prompt::{Asked, evidence};

use std::sync::Arc;
use std::time::Duration;

use backstop_engine::mode::Account;
use backstop_engine::outcome::Status;
use backstop_engine::plan::{Author, Plan, Refusals, Route};
use backstop_engine::vocab::{Attempt, MissionId, Phase, PhaseKind, Signature, Stage, Text, Visit};
use backstop_engine::{AgentSpec, Allowance, Charter, Cost, Order, Role, Usage};
use tokio::sync::watch;

use crate::dispatcher::Interrupts;
use crate::drive::{self, DriveError};
use crate::edge::{Effort, Ground, Settings};
use crate::executor::{self, Answer};
use crate::git::{Host, LaneRef, Repository};
use crate::opening::{self, Asking, OpeningError, Wish};
use crate::plans::{self, Held, PlanError, Plans, RefusedProposal, State, Stored};
use crate::process::{self, Marker};
use crate::state::Home;
use crate::words;

/// How long what a proposal left behind has to end by itself, where its settings are not known any more.
const GRACE: Duration = Duration::from_secs(10);

/// Why no plan can be asked for.
#[derive(Debug, thiserror::Error)]
pub enum ProposeError {
    /// The wish or the configuration.
    #[error(transparent)]
    Opening(#[from] OpeningError),
    /// The stored plan.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The ground to work on.
    #[error(transparent)]
    Drive(#[from] DriveError),
    /// A part of the system.
    #[error("cannot become the parent of orphans: {0}")]
    Subreaper(std::io::Error),
    /// Something of an earlier asking cannot be ended.
    #[error("process {0} of an earlier proposal could not be ended: end it, then ask again")]
    Left(u32),
}

/// What happens while a plan is asked for.
#[derive(Debug)]
pub enum Told<'a> {
    /// An agent is asked.
    Asked {
        /// Which proposal it is, from 1.
        number: u8,
        /// Who is asked.
        agent: &'a Route,
    },
    /// The proposal is no plan.
    Refused {
        /// Which proposal it is, from 1.
        number: u8,
        /// Why.
        refusals: &'a Refusals,
    },
}

/// How the asking ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// There is a valid plan.
    Proposed,
    /// Every proposal was refused.
    Spent,
    /// The agent cannot run.
    Unavailable,
    /// The agent ended without an answer.
    Failed,
    /// An operator stopped it.
    Interrupted,
}

/// Asks for a plan for the goal of `wish`, and stores what came of it.
///
/// # Errors
/// When nobody can be asked, or the state directory refuses.
pub async fn propose(
    (home, repository): (&Home, &Repository),
    wish: &Wish,
    by: Signature,
    tell: impl FnMut(&Told<'_>) + Send,
) -> Result<(Stored, End), ProposeError> {
    let asking = opening::asking(repository, wish, by)?;
    process::become_subreaper().map_err(ProposeError::Subreaper)?;
    take_back(home, repository).await?;
    let author = Author::Model(route(&asking.agent));
    let fields = asking.charter.fields();
    let fresh = plans::fresh(fields.mission.clone(), fields.goal.as_str(), author, None);
    let held = Plans::of(home).store(fresh)?;
    let ground = ground(&held, repository, asking.charter.clone())?;
    let mut round = Round {
        allowance: whole(&asking.charter),
        asking,
        ground,
        held,
        answer: String::new(),
        tell,
    };
    let end = round.run().await?;
    let Round { ground, held, .. } = round;
    give_back(&ground.host);
    Ok((held.stored().clone(), end))
}

/// Where the agent works: the ground of a mission in the folder of the plan.
fn ground(
    held: &Held,
    repository: &Repository,
    charter: Charter,
) -> Result<Arc<Ground>, ProposeError> {
    let settings = Settings::thaw(&charter).map_err(DriveError::from)?;
    let base = crate::git::Base::from(&charter.fields().base);
    let ground = drive::ground(held.dir(), repository, charter, settings)?;
    ground.host.hold(&base).map_err(DriveError::from)?;
    Ok(ground)
}

/// The name of the way to the model.
fn route(agent: &AgentSpec) -> Route {
    match &agent.model {
        Some(model) => Text::clip(&format!("{}/{model}", agent.agent)),
        None => Text::clip(agent.agent.as_str()),
    }
}

/// Removes the checkout, and the ref that kept the base. What stays takes up room and nothing else.
fn give_back(host: &Host) {
    // The base is the operator's own commit: no agent has added anything to it.
    let given = host.clone().give_back();
    let given = given.and_then(|()| host.release(&host.holdings()?));
    if let Err(error) = given {
        tracing::warn!("the checkout of the planner stays: {error}");
    }
}

/// What all proposals together may spend: the ceilings of the mission that they are for.
fn whole(charter: &Charter) -> Allowance {
    let of = |account| charter.fields().ceilings.of(account);
    Allowance {
        tool_calls: of(Account::ToolCalls),
        tokens: of(Account::Tokens),
        cost: of(Account::Cost),
        active_ms: of(Account::ActiveTime),
    }
}

/// The asking while it goes on.
struct Round<T> {
    asking: Asking,
    ground: Arc<Ground>,
    held: Held,
    allowance: Allowance,
    /// The last answer.
    answer: String,
    tell: T,
}

impl<T: FnMut(&Told<'_>)> Round<T> {
    async fn run(&mut self) -> Result<End, ProposeError> {
        let (halt, halted) = watch::channel(false);
        let mut interrupts = Interrupts::listen();
        let stopping = tokio::spawn(async move {
            interrupts.next().await;
            halt.send_replace(true);
            // The agent's end is waited for: who listens must not be told that nobody will stop it.
            std::future::pending::<()>().await;
        });
        let end = loop {
            match self.turn(&halted).await {
                Ok(None) => {}
                Ok(Some(end)) => break Ok(end),
                Err(error) => break Err(error),
            }
        };
        stopping.abort();
        end
    }

    /// One proposal; none when another may follow.
    async fn turn(&mut self, halted: &watch::Receiver<bool>) -> Result<Option<End>, ProposeError> {
        let Ok((proposals, turn)) = self.held.stored().proposals.take() else {
            let spent = "every proposal was refused";
            return self.park(spent, End::Spent).map(Some);
        };
        // It counts from here on, whatever becomes of it.
        self.held.change(|stored| stored.proposals = proposals)?;
        let number = turn.number();
        let agent = route(&self.asking.agent);
        (self.tell)(&Told::Asked {
            number,
            agent: &agent,
        });
        let order = self.order(number);
        let prompt = prompt::prompt(&self.asking, self.held.stored(), &self.answer);
        let answer = executor::ask(&self.ground, &order, prompt, halted.clone()).await;
        let asked = self.spend(&answer.usage);
        self.held.change(|stored| {
            stored.transcript = answer.transcript;
            stored.asking = Some(asked);
        })?;
        if let Some(end) = ended(&answer.status) {
            let why = format!("{}\n{}", words::status(&answer.status), answer.words);
            return self.park(why.trim_end(), end).map(Some);
        }
        match Plan::read(&answer.message, self.asking.checked) {
            Ok(plan) => {
                let proposed = turn.propose(plan, Author::Model(agent));
                self.held.change(|stored| {
                    stored.plan = Some(proposed.plan().clone());
                    stored.state = State::Proposed;
                })?;
                Ok(Some(End::Proposed))
            }
            Err(refusals) => self.refuse(number, &refusals, answer),
        }
    }

    fn refuse(
        &mut self,
        number: u8,
        refusals: &Refusals,
        answer: Answer,
    ) -> Result<Option<End>, ProposeError> {
        (self.tell)(&Told::Refused { number, refusals });
        let refused = RefusedProposal {
            number,
            refusals: refusals.all().to_vec(),
            omitted: refusals.omitted(),
            transcript: answer.transcript,
        };
        self.held.change(|stored| stored.refused.push(refused))?;
        if number > 1 && answer.message == self.answer {
            let why = "the same answer came again, although it was told what is wrong with it";
            return self.park(why, End::Spent).map(Some);
        }
        self.answer = answer.message;
        Ok(None)
    }

    fn park(&mut self, why: &str, end: End) -> Result<End, ProposeError> {
        let why = Text::clip(why);
        self.held
            .change(|stored| stored.state = State::Parked(why))?;
        Ok(end)
    }

    fn order(&self, number: u8) -> Order {
        let start = self.asking.charter.fields().base.commit.clone();
        Order {
            role: Role::Planner,
            agent: self.asking.agent.clone(),
            phase: Phase::FIRST,
            stage: Stage::Plan,
            visit: Visit::FIRST,
            attempt: Attempt::try_from(u32::from(number)).unwrap_or(Attempt::FIRST),
            entry: start.clone(),
            start,
            session: None,
            briefs: Vec::new(),
            handoffs: Vec::new(),
            reports: Vec::new(),
            allowance: self.allowance,
        }
    }

    /// Takes it from what is left; what all proposals so far took.
    fn spend(&mut self, usage: &Usage) -> Effort {
        let (cost, assumed) = match usage.cost {
            Cost::Reported(cost) => (cost, 0),
            Cost::NoModelWork => (0, 0),
            Cost::Unreported => (
                self.asking.agent.assumed_cost,
                self.asking.agent.assumed_cost,
            ),
        };
        let left = &mut self.allowance;
        left.tool_calls = left.tool_calls.saturating_sub(usage.tool_calls);
        left.tokens = left.tokens.saturating_sub(usage.tokens);
        left.cost = left.cost.saturating_sub(cost);
        left.active_ms = left.active_ms.saturating_sub(usage.active_ms);
        let stored = self.held.stored();
        let before = stored.asking.unwrap_or_default();
        Effort {
            proposals: stored.proposals.spent(),
            tool_calls: before.tool_calls.saturating_add(usage.tool_calls),
            tokens: before.tokens.saturating_add(usage.tokens),
            cost_micro_usd: before.cost_micro_usd.saturating_add(cost),
            assumed_micro_usd: before.assumed_micro_usd.saturating_add(assumed),
            active_ms: before.active_ms.saturating_add(usage.active_ms),
        }
    }
}

/// Whether an agent that ended so has said nothing that could be a plan.
const fn ended(status: &Status) -> Option<End> {
    match status {
        Status::Success => None,
        Status::Cancelled => Some(End::Interrupted),
        Status::AgentUnavailable { .. } => Some(End::Unavailable),
        Status::RateLimited { .. }
        | Status::Ambiguous
        | Status::Interrupted { .. }
        | Status::ResourceKilled
        | Status::Failed { .. }
        | Status::Unknown
        | Status::IdleTimeout
        | Status::OverBudget { .. }
        | Status::Asked { .. } => Some(End::Failed),
    }
}

/// Ends what is left of askings whose process was killed, and puts that on record.
async fn take_back(home: &Home, repository: &Repository) -> Result<(), ProposeError> {
    let plans = Plans::of(home);
    for (id, read) in plans.all()? {
        if !read.is_ok_and(|stored| stored.state == State::Asking) {
            continue;
        }
        let mut held = match plans.hold(&id) {
            Ok(held) if held.stored().state == State::Asking => held,
            // It is asked for right now, or its record is for others to mend.
            Ok(_) | Err(_) => continue,
        };
        for marker in markers(&id, held.stored().proposals.spent()) {
            for survivor in process::find_survivors(&marker) {
                let swept = process::stop_by_identity(survivor, &marker, GRACE).await;
                if let Some(left) = swept.left.first() {
                    return Err(ProposeError::Left(left.pid));
                }
            }
        }
        if let Ok(host) = Host::at(repository, &id, held.dir().path()) {
            give_back(&host);
        }
        let why = Text::clip("the process that asked for it was killed");
        held.change(|stored| stored.state = State::Parked(why))?;
    }
    Ok(())
}

/// What an asking may have had at work: an agent for each proposal, and the setup of its checkout.
fn markers(id: &MissionId, spent: u8) -> Vec<Marker> {
    let lane = LaneRef {
        phase: Phase::FIRST,
        kind: PhaseKind::Research,
    };
    let marker = |stage: &str, role: &str, attempt: u8| Marker {
        mission: id.to_string(),
        lane: lane.to_string(),
        phase: Phase::FIRST.to_string(),
        stage: stage.into(),
        role: role.into(),
        attempt: attempt.to_string(),
    };
    let (plan, planner) = (Stage::Plan.to_string(), Role::Planner.to_string());
    let agents = (1..=spent).map(|attempt| marker(&plan, &planner, attempt));
    agents.chain([marker("validate", "host", 0)]).collect()
}
