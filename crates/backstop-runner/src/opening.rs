//! From a wish and the configuration to a charter: what a new mission is opened with.

mod configured;
mod guarded;
mod planning;
mod team;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use backstop_agents::{EXEC_COMMAND, PROGRAM, SCRIPT};
use backstop_engine::gates::{self, SpecFaults, Specs};
use backstop_engine::mode::Mode;
use backstop_engine::plan::{Checks, Plan, Refusals};
use backstop_engine::vocab::{PhaseKind, Signature, Span, Stage, Text, TextError};
use backstop_engine::{
    AgentSpec, Base, Charter, CharterDraft, CharterFault, Check, Checked, GreenBase,
};
use backstop_engine::{Role, Settings, ShipBy};
use toml::Spanned;

use crate::accounts;
use crate::clock;
use crate::config::{self, ConfigError, Duration, File, Preset};
use crate::edge::{self, Limits, PlanOrigin, SettingsError};
use crate::git::{GitError, Repository};

pub use configured::{Configured, configuration, parallel};
pub use planning::read_plan;
pub(crate) use planning::{name, title};

/// What the operator asks for on the command line; everything but the goal or the plan may be left to the configuration.
#[derive(Debug, Clone, Default)]
pub struct Wish {
    /// What is wanted.
    pub goal: Option<String>,
    /// A plan.
    pub plan: Option<Planned>,
    /// The agent of every role.
    pub agent: Option<String>,
    /// The command of the `exec` agent.
    pub exec_command: Option<String>,
    /// The script of the `scripted` agent.
    pub script: Option<PathBuf>,
    /// Host checks besides the configured ones.
    pub checks: Vec<String>,
    /// Opens the mission without any check.
    pub unchecked: Unchecked,
    /// The mode.
    pub mode: Option<Mode>,
    /// The first stage.
    pub from: Option<Stage>,
    /// The base.
    pub base: Option<String>,
    /// How the work is handed over.
    pub ship: Option<ShipBy>,
}

/// A plan in place of a goal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Planned {
    /// A file, JSON or TOML.
    File(PathBuf),
    /// One that was stored, and approved, and where it is from.
    Stored(Box<(Plan, PlanOrigin)>),
}

/// Whether the operator wants no check at all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Unchecked {
    /// Checks are wanted.
    #[default]
    Refused,
    /// `--no-check`.
    Wanted,
}

/// Why no charter can be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpeningError {
    /// A file is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Nothing is wanted.
    #[error("nothing to do: give a goal in quotes (\"fix the login\") or a plan (`--plan FILE`)")]
    NoGoal,
    /// A goal that nothing checks.
    #[error(
        "no command would check this work, and a reviewer is no check: give `--check COMMAND`, set `checks = [\"COMMAND\"]` in backstop.toml, or open the mission without checks on purpose (`--no-check`)"
    )]
    Unchecked,
    /// No agent is named.
    #[error(
        "no agent is named: give `--agent NAME`, or set `agent = \"NAME\"` in backstop.toml; `backstop doctor` lists them"
    )]
    NoAgent,
    /// The named agent is not known, or cannot be started as it is set.
    #[error("{0}")]
    Agent(String),
    /// Two agents at once.
    #[error(
        "`{flag}` is for the `{of}` agent, and `--agent {name}` names another: leave one of them out"
    )]
    TwoAgents {
        /// The flag.
        flag: &'static str,
        /// Whose it is.
        of: &'static str,
        /// The name.
        name: String,
    },
    /// The plan file cannot be read.
    #[error("cannot read the plan `{}`: {words}", path.display())]
    PlanFile {
        /// The file.
        path: PathBuf,
        /// Why not.
        words: String,
    },
    /// The plan is none.
    #[error("the plan cannot be used:\n{}", listed(.0))]
    Plan(Refusals),
    /// The base that was asked for leads nowhere.
    #[error(transparent)]
    Base(GitError),
    /// The repository has nothing to start from.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The charter does not hold.
    #[error(transparent)]
    Charter(#[from] CharterFault),
    /// The gates between roles do not fit together.
    #[error("the gates in `backstop.toml` do not fit together: {0}")]
    Gates(SpecFaults),
    /// There is no branch to move forward.
    #[error(
        "the base is on no branch, so `merge` has nothing to move forward: name a branch with `--base`, or ship as a branch"
    )]
    NoBranch,
    /// Something is too long.
    #[error("the {what} is too long: {source}")]
    TooLong {
        /// What.
        what: &'static str,
        /// How long.
        source: TextError,
    },
    /// The settings are too long.
    #[error(transparent)]
    Settings(#[from] SettingsError),
}

/// Every refusal of a plan, a line each.
#[must_use]
pub fn listed(refusals: &Refusals) -> String {
    refusals
        .all()
        .iter()
        .map(|refusal| format!("  - {refusal}"))
        .collect::<Vec<_>>()
        .join("\n")
}

/// The charter of a new mission.
///
/// # Errors
/// Everything that is wrong with the wish or the configuration.
pub fn charter(
    repository: &Repository,
    wish: &Wish,
    opened_by: Signature,
) -> Result<Charter, OpeningError> {
    let set = Set::read(repository, wish)?;
    let plan = planning::plan(wish, &set.checks)?;
    frozen(repository, wish, (set, plan), opened_by)
}

/// What a plan is asked for with.
#[derive(Debug)]
pub struct Asking {
    /// The charter of a mission that looks around for the goal. It is never opened: only its settings are wanted.
    pub charter: Charter,
    /// Who is asked: the planner's agent, whether or not that role is on.
    pub agent: AgentSpec,
    /// What coding phases are checked by besides the plan's own checks.
    pub checked: Checks,
    /// The operator's own text in place of the built-in one; a template.
    pub own: Option<String>,
}

/// What a plan for the goal is asked for with.
///
/// # Errors
/// Everything that is wrong with the wish or the configuration.
pub fn asking(
    repository: &Repository,
    wish: &Wish,
    asked_by: Signature,
) -> Result<Asking, OpeningError> {
    let goal = wish.goal.as_deref().filter(|goal| !goal.trim().is_empty());
    let goal = goal.ok_or(OpeningError::NoGoal)?;
    let set = Set::read(repository, wish)?;
    let Configured { file, ceilings, .. } = &set.configured;
    let agent = team::spec(file, wish, &file.roles.planner, ceilings)?;
    let checked = planning::checked(wish.unchecked, &set.checks);
    let own = set.configured.prompts.plan_propose.clone();
    let plan = Plan::single(PhaseKind::Research, goal, checked).map_err(OpeningError::Plan)?;
    let charter = frozen(repository, wish, (set, plan), asked_by)?;
    Ok(Asking {
        charter,
        agent,
        checked,
        own,
    })
}

/// What is configured, with the checks of the wish.
struct Set {
    configured: Configured,
    checks: Vec<Check>,
}

impl Set {
    fn read(repository: &Repository, wish: &Wish) -> Result<Self, OpeningError> {
        let configured = configuration(repository.root())?;
        let checks = planning::checks(&configured.file, wish)?;
        Ok(Self { configured, checks })
    }
}

fn frozen(
    repository: &Repository,
    wish: &Wish,
    (set, plan): (Set, Plan),
    opened_by: Signature,
) -> Result<Charter, OpeningError> {
    let Set { configured, checks } = set;
    let Configured {
        file,
        ceilings,
        prompts,
    } = configured;
    let checked = match wish.unchecked {
        Unchecked::Wanted => Checked::Waived,
        Unchecked::Refused => Checked::ByHost,
    };
    let goal = wish.goal.clone().unwrap_or_else(|| title(&plan));
    let base = base(repository, wish)?;
    let settings = settings(&file, wish);
    if settings.ship == ShipBy::Merge && base.branch.is_none() {
        return Err(OpeningError::NoBranch);
    }
    let edge = edge(&file, prompts.roles, wish, repository.root());
    let draft = CharterDraft {
        mission: name(&goal),
        goal: text("goal", &goal)?,
        mode: wish.mode.or(file.mode).unwrap_or(Mode::Auto),
        ceilings,
        plan,
        base,
        from: wish.from.unwrap_or(Stage::Define),
        opened_by,
        opened_at: clock::now(),
        roles: team::roles(&file, wish, &ceilings)?,
        checks: if wish.unchecked == Unchecked::Wanted {
            Vec::new()
        } else {
            checks
        },
        checked,
        gates: gates(&file)?,
        settings,
        edge: edge.freeze()?,
    };
    team::startable(&draft, &edge.agents)?;
    let unfit: Vec<_> = draft.gate_faults().collect();
    if !unfit.is_empty() {
        return Err(config::unfit_gates(repository.root(), &unfit).into());
    }
    Ok(Charter::try_from(draft)?)
}

fn base(repository: &Repository, wish: &Wish) -> Result<Base, OpeningError> {
    let base = repository.resolve_commit(wish.base.as_deref());
    let base = base.map_err(|error| {
        let misnamed = wish.base.is_some() && matches!(error, GitError::NoCommit { .. });
        if misnamed {
            OpeningError::Base(error)
        } else {
            OpeningError::Git(error)
        }
    })?;
    let branch = base
        .branch
        .map(|branch| text("name of the base branch", &branch));
    Ok(Base {
        commit: base.commit,
        tree: base.tree,
        branch: branch.transpose()?,
    })
}

/// The configured gates between roles; none for the default board.
fn gates(file: &File) -> Result<Option<Specs>, OpeningError> {
    let preset = match file.preset {
        Some(Preset::Stopship) => gates::stopship(),
        None => Vec::new(),
    };
    let own = file.gates.iter().map(|gate| gate.get_ref().clone());
    let all: Vec<_> = preset.into_iter().chain(own).collect();
    if all.is_empty() {
        return Ok(None);
    }
    let specs = Specs::load(&all, &gates::standard_roles());
    specs.map(Some).map_err(OpeningError::Gates)
}

fn text<const MAX: usize>(what: &'static str, words: &str) -> Result<Text<MAX>, OpeningError> {
    words
        .parse()
        .map_err(|source| OpeningError::TooLong { what, source })
}

fn settings(file: &File, wish: &Wish) -> Settings {
    let span = |time: &Spanned<Duration>| Span::from_millis(time.get_ref().millis());
    let defaults = Settings::default();
    Settings {
        ship: wish.ship.or(file.ship.by).unwrap_or(defaults.ship),
        on_question: file.auto.on_question.unwrap_or(defaults.on_question),
        green_base: if file.preflight.require_green_base {
            GreenBase::Required
        } else {
            GreenBase::Shown
        },
        gate_expiry: file.gate.expiry.as_ref().map_or(defaults.gate_expiry, span),
        quota_floor: file
            .limits
            .shortest_limit_wait
            .as_ref()
            .map_or(defaults.quota_floor, span),
        seed: uuid::Uuid::now_v7().as_u64_pair().1,
    }
}

fn edge(file: &File, prompts: BTreeMap<Role, String>, wish: &Wish, root: &Path) -> edge::Settings {
    let defaults = Limits::default();
    let ms = |time: &Option<Spanned<Duration>>, default| {
        time.as_ref()
            .map_or(default, |time| time.get_ref().millis())
    };
    let mut protected = vec![config::FILE_NAME.to_owned()];
    protected.extend(
        file.review
            .protected
            .iter()
            .map(|path| path.get_ref().clone()),
    );
    let own = file.prompts.files();
    protected.extend(own.flat_map(|named| guarded::within(root, named)));
    edge::Settings {
        agents: agents(file, wish, root),
        args: args(file),
        setup: file.workspace.setup.clone(),
        copy: file.workspace.copy.clone(),
        protected,
        require_clean: file.preflight.require_clean,
        need: file.run.need(),
        prompts,
        plan: match &wish.plan {
            Some(Planned::Stored(stored)) => Some(stored.1.clone()),
            Some(Planned::File(_)) | None => None,
        },
        limits: Limits {
            idle_ms: ms(&file.limits.idle, defaults.idle_ms),
            tool_idle_ms: ms(&file.limits.idle, defaults.tool_idle_ms).max(defaults.tool_idle_ms),
            attempt_ms: ms(&file.limits.attempt, defaults.attempt_ms),
            check_ms: ms(&file.limits.check_timeout, defaults.check_ms),
            stop_grace_ms: ms(&file.limits.stop_grace, defaults.stop_grace_ms),
        },
    }
}

/// What is appended to command lines.
fn args(file: &File) -> BTreeMap<String, Vec<String>> {
    let given = file
        .agents
        .iter()
        .filter(|(_, table)| !table.args.is_empty());
    given
        .map(|(name, table)| (name.get_ref().clone(), table.args.clone()))
        .collect()
}

/// A script that the configuration names is looked for from the repository's root, one of the command line from where it
/// was given.
fn agents(file: &File, wish: &Wish, root: &Path) -> BTreeMap<String, BTreeMap<String, String>> {
    let mut agents: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for (name, table) in &file.agents {
        let script = table
            .script
            .as_ref()
            .map(|script| root.join(script).display().to_string());
        let options = [
            (EXEC_COMMAND, table.command.clone()),
            (SCRIPT, script),
            (PROGRAM, table.program.clone()),
            (
                accounts::ACCOUNT,
                table.account.as_ref().map(|name| name.get_ref().clone()),
            ),
        ];
        let set = options
            .into_iter()
            .filter_map(|(key, value)| Some((key.into(), value?)));
        agents.insert(name.get_ref().clone(), set.collect());
    }
    if let Some(command) = &wish.exec_command {
        agents
            .entry("exec".into())
            .or_default()
            .insert(EXEC_COMMAND.into(), command.clone());
    }
    if let Some(script) = &wish.script {
        let whole = std::path::absolute(script).unwrap_or_else(|_| script.clone());
        let whole = whole.display().to_string();
        agents
            .entry("scripted".into())
            .or_default()
            .insert(SCRIPT.into(), whole);
    }
    agents
}
