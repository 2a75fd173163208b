//! Charters with small ceilings, said in a line. What is not said is the least that opens.

use backstop_engine::gates::{GateDraft, Specs, standard_roles};
use backstop_engine::mode::{Account, Ceilings, Mode};
use backstop_engine::plan::{Checks, Draft, Plan};
use backstop_engine::vocab::{PhaseKind, Stage, Timestamp};
use backstop_engine::{
    AgentSpec, Base, Charter, CharterDraft, CharterFault, Check, Checked, GreenBase, Mission,
    OnQuestion, Roles, Settings, ShipBy, Transition,
};

use crate::world::{commit, operator, short, tree};

/// A mission that is about to be opened.
#[derive(Debug, Clone)]
pub struct Opening(CharterDraft);

/// The smallest ceilings under which every loop turns at least once.
const SMALL: [(Account, u64); 8] = [
    (Account::Streak, 2),
    (Account::PhaseFailures, 3),
    (Account::Infra, 2),
    (Account::InfraTotal, 3),
    (Account::QuotaWaits, 2),
    (Account::Preflight, 2),
    (Account::CheckpointResumes, 1),
    (Account::Attempts, 15),
];

fn agent() -> AgentSpec {
    AgentSpec {
        agent: short("scripted"),
        model: None,
        effort: None,
        assumed_cost: 1,
    }
}

fn check(name: &str) -> Check {
    Check {
        name: short(name),
        command: short("true"),
    }
}

fn plan(phases: &[(PhaseKind, bool)]) -> Plan {
    let spec = |(n, (kind, empty)): (usize, &(PhaseKind, bool))| {
        let empty = if *empty { r#","allow_empty":true"# } else { "" };
        format!(r#"{{"kind":"{}","task":"part {n}"{empty}}}"#, kind.name())
    };
    let phases: Vec<String> = phases.iter().enumerate().map(spec).collect();
    let text = format!(r#"{{"phases":[{}]}}"#, phases.join(","));
    Plan::read(&text, Checks::Configured).expect("a plan of known kinds")
}

impl Default for Opening {
    /// One coding phase from Code on, two host checks, auto, small ceilings, no scout and no planner.
    fn default() -> Self {
        let task = Draft::single(PhaseKind::Coding, "the work").with_checks(Checks::Configured);
        Self(CharterDraft {
            mission: "m-1".parse().expect("an id"),
            goal: short("a goal"),
            mode: Mode::Auto,
            ceilings: Ceilings::new(&SMALL).expect("ceilings that fit together"),
            plan: task.try_into().expect("a plan of one task"),
            base: Base {
                commit: commit(0),
                tree: tree(0),
                branch: Some(short("refs/heads/main")),
            },
            from: Stage::Code,
            opened_by: operator(),
            opened_at: Timestamp::from_millis(1_000),
            roles: Roles::only(agent()),
            checks: vec![check("build"), check("test")],
            checked: Checked::ByHost,
            gates: None,
            settings: Settings::default(),
            edge: short(""),
        })
    }
}

impl Opening {
    /// With these phases.
    ///
    /// # Panics
    /// With none, or more than four.
    #[must_use]
    pub fn phases(mut self, kinds: &[PhaseKind]) -> Self {
        let phases: Vec<_> = kinds.iter().map(|kind| (*kind, false)).collect();
        self.0.plan = plan(&phases);
        self
    }

    /// With one coding phase that may leave the tree as it is.
    #[must_use]
    pub fn empty_allowed(mut self) -> Self {
        self.0.plan = plan(&[(PhaseKind::Coding, true)]);
        self
    }

    /// In this mode.
    #[must_use]
    pub const fn mode(mut self, mode: Mode) -> Self {
        self.0.mode = mode;
        self
    }

    /// From this stage on.
    #[must_use]
    pub const fn from(mut self, stage: Stage) -> Self {
        self.0.from = stage;
        self
    }

    /// From Define on, with a scout.
    #[must_use]
    pub fn scout(mut self) -> Self {
        self.0.roles.scout = Some(agent());
        self.from(Stage::Define)
    }

    /// From Define on, with a planner.
    #[must_use]
    pub fn planner(mut self) -> Self {
        self.0.roles.planner = Some(agent());
        self.from(Stage::Define)
    }

    /// With a reviewer.
    #[must_use]
    pub fn reviewer(mut self) -> Self {
        self.0.roles.reviewer = Some(agent());
        self
    }

    /// With a reviewer and a verifier.
    #[must_use]
    pub fn verifier(mut self) -> Self {
        self.0.roles.verifier = Some(agent());
        self.reviewer()
    }

    /// With a release lead.
    #[must_use]
    pub fn release_lead(mut self) -> Self {
        self.0.roles.release_lead = Some(agent());
        self
    }

    /// With these gates between the roles instead of the default board.
    ///
    /// # Panics
    /// When they do not fit together.
    #[must_use]
    pub fn gates(mut self, gates: &[GateDraft]) -> Self {
        let specs = Specs::load(gates, &standard_roles());
        self.0.gates = Some(specs.expect("gates that fit together"));
        self
    }

    /// Without any host check, on purpose.
    #[must_use]
    pub fn unchecked(mut self) -> Self {
        self.0.checks.clear();
        self.0.checked = Checked::Waived;
        self
    }

    /// With these ceilings instead of the small ones.
    ///
    /// # Panics
    /// When they do not fit together.
    #[must_use]
    pub fn ceilings(mut self, asked: &[(Account, u64)]) -> Self {
        let named = |account: &Account| asked.iter().any(|(a, _)| a == account);
        let rest = SMALL.into_iter().filter(|(account, _)| !named(account));
        let all: Vec<_> = rest.chain(asked.iter().copied()).collect();
        self.0.ceilings = Ceilings::new(&all).expect("ceilings that fit together");
        self
    }

    /// With the ceilings that a mission has where nobody sets others.
    #[must_use]
    pub fn default_ceilings(mut self) -> Self {
        self.0.ceilings = Ceilings::DEFAULT;
        self
    }

    /// With this answer to questions.
    #[must_use]
    pub const fn on_question(mut self, answer: OnQuestion) -> Self {
        self.0.settings.on_question = answer;
        self
    }

    /// Handed over by this way.
    #[must_use]
    pub const fn ship(mut self, by: ShipBy) -> Self {
        self.0.settings.ship = by;
        self
    }

    /// Whether the base must be green.
    #[must_use]
    pub const fn green_base(mut self, green: GreenBase) -> Self {
        self.0.settings.green_base = green;
        self
    }

    /// The charter, or why there is none.
    ///
    /// # Errors
    /// When no mission can be opened with it.
    pub fn chartered(self) -> Result<Charter, CharterFault> {
        self.0.try_into()
    }

    /// The charter.
    ///
    /// # Panics
    /// When no mission can be opened with it.
    #[must_use]
    pub fn charter(self) -> Charter {
        self.0.try_into().expect("a charter without a fault")
    }

    /// The first transition.
    ///
    /// # Panics
    /// When no mission can be opened with it.
    pub fn open(self) -> Transition {
        Mission::open(self.charter())
    }
}
