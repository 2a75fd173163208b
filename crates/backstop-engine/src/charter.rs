//! What a mission is opened with. It never changes; tightening and grants are kept in the mission.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use backstop_mode::{Ceilings, Mode};
use backstop_plan::{PhaseSpec, PhaseText, Plan};
use backstop_vocab::{
    CommitId, Digest, MissionId, PhaseKind, Signature, Span, Stage, Text, Timestamp,
};
use serde::{Deserialize, Serialize};

/// Who an agent is in a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Finds out what is there (Define).
    Scout,
    /// Says how it will be done (Plan).
    Planner,
    /// Does the work (Code).
    Implementer,
}

impl Role {
    /// All roles, in the order in which they work.
    pub const ALL: [Self; 3] = [Self::Scout, Self::Planner, Self::Implementer];

    /// The name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Scout => "scout",
            Self::Planner => "planner",
            Self::Implementer => "implementer",
        }
    }

    /// The stage in which the role works.
    #[must_use]
    pub const fn stage(self) -> Stage {
        match self {
            Self::Scout => Stage::Define,
            Self::Planner => Stage::Plan,
            Self::Implementer => Stage::Code,
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Which agent plays a role, and how.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentSpec {
    /// The adapter's name, such as `exec` or `codex`.
    pub agent: Text<64>,
    /// The model asked for; none leaves it to the agent.
    pub model: Option<Text<128>>,
    /// The reasoning effort asked for; none leaves it to the agent.
    pub effort: Option<Text<32>>,
    /// What an attempt that reports no cost is charged, in millionths of a US dollar.
    pub assumed_cost: u64,
}

/// The roles that are on. A stage whose role is off is passed through.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Roles {
    /// Define.
    pub scout: Option<AgentSpec>,
    /// Plan.
    pub planner: Option<AgentSpec>,
    /// Code; never off.
    pub implementer: AgentSpec,
}

impl Roles {
    /// The role that works at `stage`, where one does and it is on.
    #[must_use]
    pub fn at(&self, stage: Stage) -> Option<(Role, &AgentSpec)> {
        match stage {
            Stage::Define => self.scout.as_ref().map(|spec| (Role::Scout, spec)),
            Stage::Plan => self.planner.as_ref().map(|spec| (Role::Planner, spec)),
            Stage::Code => Some((Role::Implementer, &self.implementer)),
            Stage::Validate | Stage::Ship => None,
        }
    }
}

/// A command of the operator that the host runs, such as the test suite.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// A short name, unique in the mission.
    pub name: Text<64>,
    /// The command, for a POSIX shell. As long as a plan may give one: it is never cut.
    pub command: PhaseText,
}

/// Whether coding phases are checked by the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Checked {
    /// Each coding phase has at least one host check.
    ByHost,
    /// The operator opened the mission without any check; the ship gate shows it.
    Waived,
}

/// What happens when an agent stops to ask.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnQuestion {
    /// A person answers.
    #[default]
    Gate,
    /// The session is resumed with "decide and record the assumption".
    Decide,
}

/// How verified work is handed over, after an approval of exactly its digest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShipBy {
    /// A branch in the operator's repository.
    #[default]
    Branch,
    /// A fast-forward of the base branch.
    Merge,
}

/// The commit that a mission starts from.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Base {
    /// The commit.
    pub commit: CommitId,
    /// Its tree.
    pub tree: Digest,
    /// The full name of the branch it was read from; none for a detached head.
    pub branch: Option<Text<512>>,
}

/// Choices that change no ceiling.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// How the work is handed over.
    pub ship: ShipBy,
    /// What a question does.
    pub on_question: OnQuestion,
    /// Whether a base on which the checks are red fails the preflight.
    pub green_base: GreenBase,
    /// How long a gate waits for its answer before the mission parks.
    pub gate_expiry: Span,
    /// The shortest wait for a provider's limit.
    pub quota_floor: Span,
    /// Seeds the jitter of every backoff of this mission.
    pub seed: u64,
}

/// Whether the checks must pass on the base before work starts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GreenBase {
    /// A red base is recorded and shown to the agent.
    #[default]
    Shown,
    /// A red base fails the preflight.
    Required,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            ship: ShipBy::default(),
            on_question: OnQuestion::default(),
            green_base: GreenBase::default(),
            gate_expiry: Span::from_hours(72),
            quota_floor: backstop_outcome::QUOTA_FLOOR,
            seed: 0,
        }
    }
}

/// A charter as it is read from outside: checked by `Charter::try_from`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CharterDraft {
    /// The mission's id.
    pub mission: MissionId,
    /// What the operator asked for, in their words.
    pub goal: Text<8192>,
    /// The mode it starts in.
    pub mode: Mode,
    /// The ceilings it starts with.
    pub ceilings: Ceilings,
    /// The phases.
    pub plan: Plan,
    /// What it starts from.
    pub base: Base,
    /// The first stage of each lane; the roles of earlier stages are waived by the opener.
    pub from: Stage,
    /// Who opened it.
    pub opened_by: Signature,
    /// When.
    pub opened_at: Timestamp,
    /// Who works.
    pub roles: Roles,
    /// What the host checks in every coding phase.
    pub checks: Vec<Check>,
    /// Whether coding is checked at all.
    pub checked: Checked,
    /// Choices.
    pub settings: Settings,
    /// What the edge needs to do its effects, in its own words; frozen with the rest and never read here.
    pub edge: Text<65536>,
}

/// A charter that no mission can be opened with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CharterFault {
    /// A lane must do its work before it is judged.
    #[error("a mission cannot start at `{0}`: use define, plan or code")]
    From(Stage),
    /// Two checks of one name could not be told apart.
    #[error("two checks are named `{0}`: give each its own name")]
    DuplicateCheck(String),
    /// A check without a name or a command.
    #[error("a check has a blank {0}: fill it in or remove the check")]
    BlankCheck(&'static str),
    /// A coding phase that nobody would check.
    #[error(
        "phase {0} is a coding phase that nothing checks: configure a check, give it `done_when_check`, or open the mission without checks on purpose"
    )]
    Unchecked(usize),
    /// An agent without a name.
    #[error("the agent of role `{0}` has no name: name one")]
    NamelessAgent(Role),
    /// The goal says nothing.
    #[error("the goal is blank: say what is wanted")]
    BlankGoal,
}

/// What a mission is opened with.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "CharterDraft", into = "CharterDraft")]
// INVARIANT: passed `fault`.
pub struct Charter(CharterDraft);

/// The name of the check that a phase brings itself.
const DONE_WHEN: &str = "done_when_check";

impl Charter {
    /// Every field.
    #[must_use]
    pub const fn fields(&self) -> &CharterDraft {
        &self.0
    }

    /// The checks that the host runs for `phase`: the mission's, then the phase's own.
    #[must_use]
    pub fn checks(&self, phase: &PhaseSpec) -> Vec<Check> {
        let own = phase.done_when_check().map(|command| Check {
            name: Text::clip(DONE_WHEN),
            command: command.clone(),
        });
        let shared = match phase.kind() {
            PhaseKind::Coding | PhaseKind::Benchmark => self.0.checks.as_slice(),
            PhaseKind::Research | PhaseKind::SecurityScan => &[],
        };
        shared.iter().cloned().chain(own).collect()
    }
}

fn fault(draft: &CharterDraft) -> Option<CharterFault> {
    if draft.goal.is_blank() {
        return Some(CharterFault::BlankGoal);
    }
    if draft.from > Stage::Code {
        return Some(CharterFault::From(draft.from));
    }
    let nameless = Role::ALL.into_iter().find(|role| {
        draft
            .roles
            .at(role.stage())
            .is_some_and(|(_, spec)| spec.agent.is_blank())
    });
    nameless
        .map(CharterFault::NamelessAgent)
        .or_else(|| check_fault(&draft.checks))
        .or_else(|| unchecked(draft).map(CharterFault::Unchecked))
}

fn check_fault(checks: &[Check]) -> Option<CharterFault> {
    let mut seen = Vec::from([DONE_WHEN]);
    for Check { name, command } in checks {
        if name.is_blank() {
            return Some(CharterFault::BlankCheck("name"));
        }
        if command.is_blank() {
            return Some(CharterFault::BlankCheck("command"));
        }
        if seen.contains(&name.as_str()) {
            return Some(CharterFault::DuplicateCheck(name.as_str().into()));
        }
        seen.push(name.as_str());
    }
    None
}

/// The number of the first coding phase without any check, unless that was waived.
fn unchecked(draft: &CharterDraft) -> Option<usize> {
    if draft.checked == Checked::Waived || !draft.checks.is_empty() {
        return None;
    }
    let bare =
        |phase: &PhaseSpec| phase.kind() == PhaseKind::Coding && phase.done_when_check().is_none();
    draft
        .plan
        .phases()
        .iter()
        .position(bare)
        .map(|index| index.saturating_add(1))
}

impl TryFrom<CharterDraft> for Charter {
    type Error = CharterFault;
    fn try_from(draft: CharterDraft) -> Result<Self, CharterFault> {
        fault(&draft).map_or(Ok(Self(draft)), Err)
    }
}

impl From<Charter> for CharterDraft {
    fn from(charter: Charter) -> Self {
        charter.0
    }
}
