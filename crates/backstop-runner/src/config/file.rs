//! The shape of the file.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};

use backstop_engine::gates::GateDraft;
use backstop_engine::mode::Mode;
use backstop_engine::vocab::MissionId;
use backstop_engine::{OnQuestion, Role, ShipBy};
use serde::Deserialize;
use toml::Spanned;

use super::{Duration, Size, Usd};
use crate::room::Need;

/// The whole file. Everything may be left out.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct File {
    /// `auto` or `supervise`.
    pub mode: Option<Mode>,
    /// The agent of every role that names none.
    pub agent: Option<Spanned<String>>,
    /// The model of every role that names none.
    pub model: Option<String>,
    /// The reasoning effort of every role that names none.
    pub effort: Option<String>,
    /// Host checks by their commands alone.
    pub checks: Vec<String>,
    /// Host checks with names.
    pub check: Vec<CheckTable>,
    /// Settings of agents, by the agent's name.
    pub agents: BTreeMap<Spanned<String>, AgentTable>,
    /// Who plays which role.
    pub roles: RoleTables,
    /// What roles are told, in place of the built-in prompts.
    pub prompts: PromptTable,
    /// Gates between roles, in place of the default board.
    pub gates: Vec<Spanned<GateDraft>>,
    /// A ready-made set of them, before those of `gates`.
    pub preset: Option<Preset>,
    /// Ceilings by account.
    pub ceilings: BTreeMap<Spanned<String>, Spanned<toml::Value>>,
    /// What happens without a person.
    pub auto: AutoTable,
    /// How gates behave.
    pub gate: GateTable,
    /// How work is handed over.
    pub ship: ShipTable,
    /// What must hold before anything is spent.
    pub preflight: PreflightTable,
    /// How a workspace is made ready.
    pub workspace: WorkspaceTable,
    /// Limits of time.
    pub limits: LimitTable,
    /// What the machine gives to missions.
    pub run: RunTable,
    /// What agents may not touch.
    pub review: ReviewTable,
}

impl File {
    /// This file, with `own` for every part that this one leaves out.
    #[must_use]
    pub fn over(self, own: Self) -> Self {
        fn part<T: Default + PartialEq>(first: T, second: T) -> T {
            if first == T::default() { second } else { first }
        }
        let mut agents = own.agents;
        agents.extend(self.agents);
        Self {
            mode: self.mode.or(own.mode),
            agent: self.agent.or(own.agent),
            model: self.model.or(own.model),
            effort: self.effort.or(own.effort),
            checks: part(self.checks, own.checks),
            check: part(self.check, own.check),
            agents,
            roles: RoleTables {
                scout: part(self.roles.scout, own.roles.scout),
                planner: part(self.roles.planner, own.roles.planner),
                implementer: part(self.roles.implementer, own.roles.implementer),
                reviewer: self.roles.reviewer.or(own.roles.reviewer),
                verifier: self.roles.verifier.or(own.roles.verifier),
                release_lead: self.roles.release_lead.or(own.roles.release_lead),
            },
            prompts: part(self.prompts, own.prompts),
            gates: part(self.gates, own.gates),
            preset: self.preset.or(own.preset),
            ceilings: part(self.ceilings, own.ceilings),
            auto: part(self.auto, own.auto),
            gate: part(self.gate, own.gate),
            ship: part(self.ship, own.ship),
            preflight: part(self.preflight, own.preflight),
            workspace: part(self.workspace, own.workspace),
            limits: part(self.limits, own.limits),
            run: part(self.run, own.run),
            review: part(self.review, own.review),
        }
    }
}

/// A host check.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckTable {
    /// A short name.
    pub name: Spanned<String>,
    /// The command, for a POSIX shell.
    pub command: Spanned<String>,
}

/// Settings of one agent.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AgentTable {
    /// The command of `exec`.
    pub command: Option<String>,
    /// The script of `scripted`.
    pub script: Option<String>,
    /// The program to start in place of the one on the search path.
    pub program: Option<String>,
    /// What is appended to its command line.
    pub args: Vec<String>,
    /// Whose limits it shares: agents of one account wait together. Its own name by default.
    pub account: Option<Spanned<String>>,
    /// What an attempt is charged that reports no cost, in US dollars.
    pub assumed_cost: Option<Usd>,
}

/// Who plays one role.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RoleTable {
    /// The agent.
    pub agent: Option<Spanned<String>>,
    /// The model.
    pub model: Option<String>,
    /// The reasoning effort.
    pub effort: Option<String>,
    /// Turns the role off; its stage is passed through.
    pub off: Option<Spanned<bool>>,
}

/// Who plays which role.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RoleTables {
    /// Define.
    pub scout: RoleTable,
    /// Plan.
    pub planner: RoleTable,
    /// Code.
    pub implementer: RoleTable,
    /// Validate, where the table is there.
    pub reviewer: Option<RoleTable>,
    /// Validate, after the reviewer, where the table is there.
    pub verifier: Option<RoleTable>,
    /// Ship, where the table is there.
    pub release_lead: Option<RoleTable>,
}

impl RoleTables {
    /// The table of a role that is on. The first three are on unless they are turned off, the others where they have a
    /// table.
    #[must_use]
    pub fn on(&self, role: Role) -> Option<&RoleTable> {
        let table = match role {
            Role::Scout => Some(&self.scout),
            Role::Planner => Some(&self.planner),
            Role::Implementer => return Some(&self.implementer),
            Role::Reviewer => self.reviewer.as_ref(),
            Role::Verifier => self.verifier.as_ref(),
            Role::ReleaseLead => self.release_lead.as_ref(),
        };
        table.filter(|table| !table.off.as_ref().is_some_and(|off| *off.get_ref()))
    }
}

/// Files with what each role is told, relative to the repository's root.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PromptTable {
    /// Define.
    pub scout: Option<Spanned<PathBuf>>,
    /// Plan.
    pub planner: Option<Spanned<PathBuf>>,
    /// Code.
    pub implementer: Option<Spanned<PathBuf>>,
    /// Validate.
    pub reviewer: Option<Spanned<PathBuf>>,
    /// Validate, after the reviewer.
    pub verifier: Option<Spanned<PathBuf>>,
    /// Ship.
    pub release_lead: Option<Spanned<PathBuf>>,
    /// Before a mission: `backstop plan propose`.
    pub plan_propose: Option<Spanned<PathBuf>>,
}

impl PromptTable {
    /// The file of a role; none for the built-in prompt.
    #[must_use]
    pub const fn of(&self, role: Role) -> Option<&Spanned<PathBuf>> {
        match role {
            Role::Scout => self.scout.as_ref(),
            Role::Planner => self.planner.as_ref(),
            Role::Implementer => self.implementer.as_ref(),
            Role::Reviewer => self.reviewer.as_ref(),
            Role::Verifier => self.verifier.as_ref(),
            Role::ReleaseLead => self.release_lead.as_ref(),
        }
    }

    /// Every file that is named.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        let named = Role::ALL.into_iter().filter_map(|role| self.of(role));
        let named = named.chain(&self.plan_propose);
        named.map(|file| file.get_ref().as_path())
    }
}

/// A ready-made set of gates between roles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Preset {
    /// Nothing is coded, verified or released before a person, the reviewer and the suite have passed it.
    Stopship,
}

/// What happens without a person.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AutoTable {
    /// `gate` or `decide`.
    pub on_question: Option<OnQuestion>,
}

/// How gates behave.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GateTable {
    /// How long a gate waits before the mission parks.
    pub expiry: Option<Spanned<Duration>>,
}

/// How work is handed over.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ShipTable {
    /// `branch` or `merge`.
    pub by: Option<ShipBy>,
}

/// What must hold before anything is spent.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PreflightTable {
    /// The checks must pass on the base.
    pub require_green_base: bool,
    /// The operator's checkout must have no uncommitted changes.
    pub require_clean: bool,
}

/// How a workspace is made ready.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WorkspaceTable {
    /// Commands that run once in each fresh checkout.
    pub setup: Vec<String>,
    /// Files that git does not track and that each checkout needs.
    pub copy: Vec<String>,
}

/// Limits of time.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LimitTable {
    /// How long an agent may be silent.
    pub idle: Option<Spanned<Duration>>,
    /// How long one attempt may take.
    pub attempt: Option<Spanned<Duration>>,
    /// How long one check may take.
    pub check_timeout: Option<Spanned<Duration>>,
    /// How long a process has to end by itself when it is stopped.
    pub stop_grace: Option<Spanned<Duration>>,
    /// The shortest wait for a provider's limit.
    pub shortest_limit_wait: Option<Spanned<Duration>>,
}

/// The most days of one limit of time: an agent has no more of them in all.
const LONGEST_LIMIT_DAYS: u64 = 7;

/// The most days that a gate waits.
const LONGEST_EXPIRY_DAYS: u64 = 90;

/// How many missions may work at once where nothing is said.
pub const PARALLEL: u16 = 4;

/// How many missions may work at once at most.
pub const MOST_PARALLEL: u16 = 64;

/// What the machine gives to missions.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RunTable {
    /// How many missions of the repository work at once.
    pub parallel: Option<Spanned<i64>>,
    /// How much room a mission needs on each disk that it writes to.
    pub min_free_disk: Option<Size>,
    /// How much memory must be free for a mission.
    pub min_free_memory: Option<Size>,
}

impl RunTable {
    /// How many missions of the repository work at once; none for a number that is out of bounds.
    #[must_use]
    pub fn parallel(&self) -> Option<u16> {
        let Some(asked) = &self.parallel else {
            return Some(PARALLEL);
        };
        let number = u16::try_from(*asked.get_ref()).ok();
        number.filter(|number| (1..=MOST_PARALLEL).contains(number))
    }

    /// What must be free before a mission begins.
    #[must_use]
    pub fn need(&self) -> Need {
        let default = Need::default();
        Need {
            disk: self.min_free_disk.map_or(default.disk, Size::bytes),
            memory: self.min_free_memory.map_or(default.memory, Size::bytes),
        }
    }
}

/// What agents may not touch.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ReviewTable {
    /// Paths, or folders with a final `/`, besides `backstop.toml`.
    pub protected: Vec<Spanned<String>>,
}

/// What is wrong, and where.
type Fault = (Range<usize>, String);

/// Finds what the types alone cannot: an agent nobody knows, a key that this agent does not read, an account that is no
/// name, a check without a name or a command, a number that is out of bounds.
pub(super) fn check(file: &File) -> Result<(), Fault> {
    agents(file)?;
    if let Some(off) = file
        .roles
        .implementer
        .off
        .as_ref()
        .filter(|off| *off.get_ref())
    {
        let words = "the implementer is never off: without one nothing is coded".into();
        return Err((off.span(), words));
    }
    times(file)?;
    file.review.protected.iter().try_for_each(protected)?;
    if let (Some(asked), None) = (&file.run.parallel, file.run.parallel()) {
        let words = format!(
            "`{}` missions cannot work at once: `parallel` is a whole number from 1 to {MOST_PARALLEL}; there is no spelling for \"unlimited\"",
            asked.get_ref()
        );
        return Err((asked.span(), words));
    }
    for check in &file.check {
        for text in [&check.name, &check.command] {
            if text.get_ref().trim().is_empty() {
                return Err((
                    text.span(),
                    "this is blank: fill it in or remove the check".into(),
                ));
            }
        }
    }
    Ok(())
}

fn agents(file: &File) -> Result<(), Fault> {
    let named = Role::ALL
        .into_iter()
        .filter_map(|role| file.roles.on(role))
        .filter_map(|role| role.agent.as_ref())
        .chain(&file.agent)
        .chain(file.agents.keys());
    for agent in named {
        backstop_agents::known(agent.get_ref()).map_err(|words| (agent.span(), words))?;
    }
    for (name, table) in &file.agents {
        let own = name.get_ref().as_str();
        let reads = |key| match key {
            "command" => own == "exec",
            "script" => own == "scripted",
            _ => !matches!(own, "exec" | "scripted"),
        };
        let set = [
            ("command", table.command.is_some()),
            ("script", table.script.is_some()),
            ("program", table.program.is_some()),
        ];
        if let Some((key, _)) = set.into_iter().find(|(key, set)| *set && !reads(key)) {
            let words = format!("the agent `{own}` reads no `{key}`: remove it");
            return Err((name.span(), words));
        }
        table.account.as_ref().map_or(Ok(()), account)?;
    }
    Ok(())
}

fn account(account: &Spanned<String>) -> Result<(), Fault> {
    // It names a file, as the ids of missions do.
    account.get_ref().parse::<MissionId>().map_err(|_| {
        let words = format!(
            "`{}` is no name of an account: use 1 to 64 of a-z, 0-9, `.`, `_` and `-`",
            account.get_ref()
        );
        (account.span(), words)
    })?;
    Ok(())
}

/// A path outside the repository is none that an attempt is judged by.
fn protected(path: &Spanned<String>) -> Result<(), Fault> {
    let parts = || Path::new(path.get_ref()).components();
    if parts().next().is_some() && parts().all(|part| matches!(part, Component::Normal(_))) {
        return Ok(());
    }
    let words = format!(
        "`{}` is no path in the repository: write it from its root, like `ci/` or `check.sh`",
        path.get_ref()
    );
    Err((path.span(), words))
}

/// Every time has an end, and none is over before it begins.
fn times(file: &File) -> Result<(), Fault> {
    let limits = &file.limits;
    let of_work = [
        &limits.idle,
        &limits.attempt,
        &limits.check_timeout,
        &limits.stop_grace,
        &limits.shortest_limit_wait,
    ];
    let all = of_work.into_iter().map(|time| (time, LONGEST_LIMIT_DAYS));
    for (time, days) in all.chain([(&file.gate.expiry, LONGEST_EXPIRY_DAYS)]) {
        let Some(time) = time else { continue };
        let most = days * 24 * 3_600_000;
        if !(1..=most).contains(&time.get_ref().millis()) {
            let words = format!("this is too short or too long: use 1ms to {days}d");
            return Err((time.span(), words));
        }
    }
    Ok(())
}
