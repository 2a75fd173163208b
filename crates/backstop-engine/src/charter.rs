//! What a mission is opened with. It never changes; tightening and grants are kept in the mission.

use alloc::string::String;
use alloc::vec::Vec;

use backstop_gates::{
    GateDraft, GateKind, GateSpec, SpecFaults, Specs, Trigger, default_board, standard_roles,
};
use backstop_mode::{Ceilings, Mode};
use backstop_plan::{PhaseSpec, PhaseText, Plan};
use backstop_vocab::{
    CommitId, Digest, GateId, LaneId, MissionId, Phase, PhaseKind, Signature, Span, Stage, Text,
    Timestamp,
};
use serde::{Deserialize, Serialize};

use crate::{Role, Roles};

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
    /// The gates between the roles of each lane; none for the default board, which asks for the checks that there are
    /// and for the reviewer where one is on.
    pub gates: Option<Specs>,
    /// Choices.
    pub settings: Settings,
    /// What the edge needs to do its effects, in its own words; frozen with the rest and never read here.
    pub edge: Text<262_144>,
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
    /// A gate that nobody would make due.
    #[error(
        "gate `{gate}` waits for role `{role}`, which is off: turn the role on, or remove the gate"
    )]
    RoleOff {
        /// The gate.
        gate: GateId,
        /// Its role.
        role: Role,
    },
    /// A verdict is asked of a role that gives none.
    #[error(
        "review gate `{0}` asks for a verdict that its role does not give then: use it at the completion of the reviewer or the verifier"
    )]
    NoVerdict(GateId),
    /// A gate behind the last role that anything waits for.
    #[error(
        "gate `{0}` judges the release lead's work, which nothing waits for: remove it, the ship gate asks a person anyway"
    )]
    NothingWaits(GateId),
    /// A verify gate in a lane without checks.
    #[error(
        "verify gate `{gate}` has nothing to run in phase {phase}: give the phase a `done_when_check`, or remove the gate"
    )]
    NothingToVerify {
        /// The gate.
        gate: GateId,
        /// The phase.
        phase: Phase,
    },
    /// A second opinion without a first.
    #[error(
        "the verifier works on what the reviewer let pass: turn the reviewer on, or the verifier off"
    )]
    VerifierAlone,
    /// Gates that do not fit together.
    #[error("the gates do not fit together: {0}")]
    Gates(SpecFaults),
    /// The goal says nothing.
    #[error("the goal is blank: say what is wanted")]
    BlankGoal,
}

/// What a mission is opened with.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "CharterDraft", into = "CharterDraft")]
pub struct Charter {
    // INVARIANT: passed `fault`.
    draft: CharterDraft,
    // INVARIANT: the gates of each phase's lane, in the order of the phases.
    boards: Vec<Specs>,
}

/// The name of the check that a phase brings itself.
const DONE_WHEN: &str = "done_when_check";

impl Charter {
    /// Every field.
    #[must_use]
    pub const fn fields(&self) -> &CharterDraft {
        &self.draft
    }

    /// The checks that the host runs for `phase`: the mission's, then the phase's own.
    #[must_use]
    pub fn checks(&self, phase: &PhaseSpec) -> Vec<Check> {
        checks(&self.draft, phase)
    }

    /// The gates of a phase's lane.
    #[must_use]
    pub fn gates(&self, phase: Phase) -> Specs {
        let place = usize::try_from(phase.number()).ok();
        let own = place.and_then(|place| self.boards.get(place.checked_sub(1)?));
        own.cloned().unwrap_or_else(Specs::none)
    }

    /// The name of a phase's lane.
    #[must_use]
    pub fn lane(&self, phase: Phase) -> LaneId {
        let kind = self.draft.plan.phase(phase).map(PhaseSpec::kind);
        let kind = kind.map_or("lane", PhaseKind::name);
        LaneId::clip(&alloc::format!("{phase}-{kind}"))
    }
}

fn checks(draft: &CharterDraft, phase: &PhaseSpec) -> Vec<Check> {
    let own = phase.done_when_check().map(|command| Check {
        name: Text::clip(DONE_WHEN),
        command: command.clone(),
    });
    let shared = match phase.kind() {
        PhaseKind::Coding | PhaseKind::Benchmark => draft.checks.as_slice(),
        PhaseKind::Research | PhaseKind::SecurityScan => &[],
    };
    shared.iter().cloned().chain(own).collect()
}

fn fault(draft: &CharterDraft) -> Option<CharterFault> {
    if draft.goal.is_blank() {
        return Some(CharterFault::BlankGoal);
    }
    if draft.from > Stage::Code {
        return Some(CharterFault::From(draft.from));
    }
    if draft.roles.verifier.is_some() && draft.roles.reviewer.is_none() {
        return Some(CharterFault::VerifierAlone);
    }
    let nameless = |role: &Role| {
        let spec = draft.roles.of(*role);
        spec.is_some_and(|spec| spec.agent.is_blank())
    };
    Role::ALL
        .into_iter()
        .find(nameless)
        .map(CharterFault::NamelessAgent)
        .or_else(|| check_fault(&draft.checks))
        .or_else(|| unchecked(draft).map(CharterFault::Unchecked))
        .or_else(|| gate_fault(draft))
}

fn gate_fault(draft: &CharterDraft) -> Option<CharterFault> {
    draft.gate_faults().next().map(|(_, fault)| fault)
}

impl CharterDraft {
    /// Every configured gate that nothing could ever open, and why.
    pub fn gate_faults(&self) -> impl Iterator<Item = (GateId, CharterFault)> {
        let specs = self.gates.iter().flat_map(Specs::gates);
        specs.filter_map(|spec| Some((spec.id().clone(), unfit(self, spec)?)))
    }
}

/// Why nothing could ever open this gate.
fn unfit(draft: &CharterDraft, spec: &GateSpec) -> Option<CharterFault> {
    let gate = || spec.id().clone();
    let role = Role::named(spec.role())?;
    if draft.roles.of(role).is_none() && role.stage() >= draft.from {
        return Some(CharterFault::RoleOff { gate: gate(), role });
    }
    match (spec.on(), spec.kind()) {
        (Trigger::RoleComplete, _) if role == Role::ReleaseLead => {
            Some(CharterFault::NothingWaits(gate()))
        }
        (Trigger::RoleStart, GateKind::Review) => Some(CharterFault::NoVerdict(gate())),
        (Trigger::RoleComplete, GateKind::Review) if !role.judges() => {
            Some(CharterFault::NoVerdict(gate()))
        }
        (_, GateKind::Verify) => {
            let bare = |phase: &&PhaseSpec| checks(draft, phase).is_empty();
            let place = draft.plan.phases().iter().position(|phase| bare(&phase))?;
            let phase = Phase::try_from(u32::try_from(place.saturating_add(1)).ok()?).ok()?;
            Some(CharterFault::NothingToVerify {
                gate: gate(),
                phase,
            })
        }
        (_, GateKind::Review | GateKind::Approve) => None,
    }
}

/// The gates of a phase's lane where the operator configured none.
fn default_gates(draft: &CharterDraft, phase: &PhaseSpec) -> Result<Specs, CharterFault> {
    let wanted = |gate: &GateDraft| match gate.gate {
        GateKind::Verify => !checks(draft, phase).is_empty(),
        GateKind::Review => draft.roles.reviewer.is_some(),
        GateKind::Approve => true,
    };
    let gates: Vec<_> = default_board().into_iter().filter(wanted).collect();
    Specs::load(&gates, &standard_roles()).map_err(CharterFault::Gates)
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

/// The number of the first coding phase that nobody judges, unless that was waived.
fn unchecked(draft: &CharterDraft) -> Option<usize> {
    let judged = draft.roles.reviewer.is_some();
    if draft.checked == Checked::Waived || !draft.checks.is_empty() || judged {
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
        if let Some(fault) = fault(&draft) {
            return Err(fault);
        }
        let gates = |phase| match &draft.gates {
            Some(own) => Ok(own.clone()),
            None => default_gates(&draft, phase),
        };
        let boards = draft
            .plan
            .phases()
            .iter()
            .map(gates)
            .collect::<Result<_, _>>()?;
        Ok(Self { draft, boards })
    }
}

impl From<Charter> for CharterDraft {
    fn from(charter: Charter) -> Self {
        charter.draft
    }
}
