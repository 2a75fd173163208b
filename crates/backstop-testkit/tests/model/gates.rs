//! The gates between roles, told in a few words: which there are, what opens them, whom they hold.

use std::collections::BTreeMap;

use backstop_testkit::engine::Role;
use backstop_testkit::engine::gates::{
    GateDraft, GateKind as Kind, OnFail, StateKind, Trigger, stopship,
};

/// Which gates a lane of the model has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Set {
    /// None are configured.
    #[default]
    Default,
    /// The preset.
    StopShip,
    /// Around those who come before and after the work.
    Before,
    /// After those who work and judge.
    After,
}

/// One gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Spec {
    pub(crate) id: &'static str,
    pub(crate) role: Role,
    pub(crate) on: Trigger,
    pub(crate) kind: Kind,
    on_fail: OnFail,
    retries: u32,
    blocks: Option<Role>,
    /// Whether its pass hands on what the role wrote.
    pub(crate) hands_on: bool,
}

const fn after(id: &'static str, role: Role, kind: Kind, on_fail: OnFail) -> Spec {
    let retries = if matches!(on_fail, OnFail::Retry) {
        1
    } else {
        0
    };
    Spec {
        id,
        role,
        on: Trigger::RoleComplete,
        kind,
        on_fail,
        retries,
        blocks: None,
        hands_on: false,
    }
}

const fn at_start(id: &'static str, role: Role, kind: Kind, on_fail: OnFail) -> Spec {
    Spec {
        on: Trigger::RoleStart,
        blocks: Some(role),
        ..after(id, role, kind, on_fail)
    }
}

impl Set {
    pub(crate) const ALL: [Self; 4] = [Self::Default, Self::StopShip, Self::Before, Self::After];

    /// The roles without which nobody would open its gates.
    pub(crate) const fn needs(self) -> &'static [Role] {
        match self {
            Self::Default => &[],
            Self::StopShip => &[
                Role::Scout,
                Role::Reviewer,
                Role::Verifier,
                Role::ReleaseLead,
            ],
            Self::Before => &[Role::Planner, Role::ReleaseLead],
            Self::After => &[Role::Reviewer, Role::Verifier],
        }
    }

    /// Sorted by id, as a person is asked about them.
    fn specs(self, reviewed: bool) -> Vec<Spec> {
        use Kind::{Approve, Review, Verify};
        use OnFail::{Block, Escalate, Retry};
        use Role::{Implementer, Planner, ReleaseLead, Reviewer, Scout, Verifier};
        let blocking = |spec, role| Spec {
            blocks: Some(role),
            ..spec
        };
        match self {
            Self::Default => {
                let checks = blocking(after("checks", Implementer, Verify, Block), Reviewer);
                let review = after("review", Reviewer, Review, Block);
                let both = [checks, review];
                both.into_iter().take(1 + usize::from(reviewed)).collect()
            }
            Self::StopShip => {
                let handing = |spec, role| Spec {
                    hands_on: true,
                    ..blocking(spec, role)
                };
                let suite = Spec {
                    retries: 2,
                    ..after("verifier-suite", Verifier, Verify, Retry)
                };
                vec![
                    handing(after("reviewer-diff", Reviewer, Review, Block), Verifier),
                    handing(after("scout-findings", Scout, Approve, Block), Implementer),
                    handing(suite, ReleaseLead),
                ]
            }
            Self::Before => vec![
                at_start("base", Implementer, Verify, Retry),
                at_start("go", Implementer, Approve, Escalate),
                at_start("notes", ReleaseLead, Approve, Retry),
                blocking(after("outline", Planner, Approve, Retry), Implementer),
            ],
            Self::After => vec![
                after("again", Verifier, Verify, Retry),
                blocking(after("opinion", Reviewer, Review, Retry), Verifier),
                after("suite", Implementer, Verify, Escalate),
                after("trial", Verifier, Review, Escalate),
            ],
        }
    }

    /// As an operator configures it; none for the default board.
    pub(crate) fn drafts(self) -> Option<Vec<GateDraft>> {
        match self {
            Self::Default => None,
            Self::StopShip => Some(stopship()),
            Self::Before | Self::After => Some(self.specs(true).iter().map(draft).collect()),
        }
    }
}

fn draft(spec: &Spec) -> GateDraft {
    GateDraft {
        id: spec.id.into(),
        role: spec.role.name().into(),
        on: spec.on,
        gate: spec.kind,
        on_fail: spec.on_fail,
        blocks_role: spec.blocks.map(|role| role.name().into()),
        max_retries: None,
        artifact_kind: None,
        require_explicit_verdict: spec.insists(),
    }
}

impl Spec {
    /// Whether an answer without a verdict is asked again.
    const fn insists(&self) -> bool {
        !matches!((self.kind, self.role), (Kind::Review, Role::Verifier))
    }

    /// What it is about, of a lane with this tree. What a role wrote is always the same here.
    fn subject(&self, tree: u32) -> Option<u32> {
        (self.kind != Kind::Approve || !self.hands_on).then_some(tree)
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Ran {
    #[default]
    NotYet,
    Started,
    Completed,
}

/// The state of a gate; an opening is for one subject.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    Pending,
    Passed(Option<u32>),
    Overridden(Option<u32>),
    Waived,
    Retrying,
    Blocked,
    Escalated,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Gate {
    state: State,
    ran: Ran,
    sent_back: u32,
}

/// The gates of one lane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Board {
    specs: Vec<Spec>,
    gates: BTreeMap<&'static str, Gate>,
    pub(crate) generation: u32,
}

/// What a failure led to.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Fallout {
    pub(crate) sent_back: bool,
    pub(crate) escalated: bool,
}

impl Board {
    pub(crate) fn new(set: Set, reviewed: bool, skipped: impl Fn(Role) -> bool) -> Self {
        let specs = set.specs(reviewed);
        let gate = |spec: &Spec| {
            let mut gate = Gate::default();
            if skipped(spec.role) {
                gate.state = State::Waived;
            }
            (spec.id, gate)
        };
        Self {
            gates: specs.iter().map(gate).collect(),
            specs,
            generation: 1,
        }
    }

    pub(crate) fn spec(&self, id: &str) -> Spec {
        self.specs[self.specs.partition_point(|spec| spec.id < id)]
    }

    fn of(&self, role: Role) -> impl Iterator<Item = Spec> + use<> {
        let own = self.specs.clone().into_iter();
        own.filter(move |spec| spec.role == role)
    }

    fn at(&mut self, id: &'static str) -> &mut Gate {
        self.gates.entry(id).or_default()
    }

    /// The state as it counts for this tree.
    pub(crate) fn state(&self, spec: &Spec, tree: u32) -> StateKind {
        match self.gates[spec.id].state {
            State::Passed(about) | State::Overridden(about) if about != spec.subject(tree) => {
                StateKind::Pending
            }
            State::Pending => StateKind::Pending,
            State::Passed(_) => StateKind::Passed,
            State::Overridden(_) => StateKind::Overridden,
            State::Waived => StateKind::Waived,
            State::Retrying => StateKind::Retrying,
            State::Blocked => StateKind::Blocked,
            State::Escalated => StateKind::Escalated,
        }
    }

    pub(crate) fn states(&self, tree: u32) -> Vec<StateKind> {
        let specs = self.specs.iter();
        specs.map(|spec| self.state(spec, tree)).collect()
    }

    /// The gate behind which a role's artifact waits for its readers.
    pub(crate) fn hands_on(&self, role: Role) -> Option<&'static str> {
        let spec = self.of(role).find(|spec| spec.hands_on);
        spec.map(|spec| spec.id)
    }

    /// Whether machines have failed it for good.
    pub(crate) fn is_escalated(&self, id: &str, tree: u32) -> bool {
        let spec = self.spec(id);
        spec.kind != Kind::Approve && self.state(&spec, tree) == StateKind::Escalated
    }

    pub(crate) fn is_open(&self, id: &str, tree: u32) -> bool {
        let state = self.state(&self.spec(id), tree);
        matches!(state, StateKind::Passed | StateKind::Overridden)
    }

    fn holds(&self, spec: &Spec, tree: u32) -> bool {
        !matches!(
            self.state(spec, tree),
            StateKind::Passed | StateKind::Overridden | StateKind::Waived
        )
    }

    /// The first gate that holds this role; that holds the landing where nobody is named.
    pub(crate) fn holder(&self, role: Option<Role>, tree: u32) -> Option<&'static str> {
        let held = |spec: &&Spec| match role {
            Some(role) => spec.blocks == Some(role) && self.holds(spec, tree),
            None => self.holds(spec, tree) && !self.let_in(spec),
        };
        self.specs.iter().find(held).map(|spec| spec.id)
    }

    /// An approval at a start is done with once the role was let in.
    fn let_in(&self, spec: &Spec) -> bool {
        let gate = self.gates[spec.id];
        (spec.on, spec.kind) == (Trigger::RoleStart, Kind::Approve)
            && gate.ran != Ran::NotYet
            && matches!(
                gate.state,
                State::Passed(_) | State::Overridden(_) | State::Waived
            )
    }

    pub(crate) fn waits_for_checks(&self, role: Role, tree: u32) -> bool {
        let due = |spec: Spec| {
            let state = self.state(&spec, tree);
            (spec.on, spec.kind) == (Trigger::RoleStart, Kind::Verify)
                && matches!(state, StateKind::Pending | StateKind::Retrying)
        };
        self.of(role).any(due)
    }

    pub(crate) fn wants_checks_after(&self, role: Role) -> bool {
        let wants = |spec: Spec| (spec.on, spec.kind) == (Trigger::RoleComplete, Kind::Verify);
        self.of(role).any(wants)
    }

    /// A review gate that takes silence for a failure is content; without one a role that judges must speak.
    pub(crate) fn insists(&self, role: Role) -> bool {
        let mut reviews = self
            .of(role)
            .filter(|spec| spec.kind == Kind::Review)
            .peekable();
        reviews.peek().is_none() || reviews.any(|spec| spec.insists())
    }

    pub(crate) fn started(&mut self, role: Role) {
        for spec in self.of(role) {
            let gate = self.at(spec.id);
            gate.ran = Ran::Started;
            let opened = matches!(
                gate.state,
                State::Passed(_) | State::Overridden(_) | State::Waived
            );
            if spec.on == Trigger::RoleComplete && opened {
                gate.state = State::Pending;
            }
        }
    }

    pub(crate) fn completed(&mut self, role: Role) {
        for spec in self.of(role) {
            let gate = self.at(spec.id);
            gate.ran = Ran::Completed;
            if spec.on == Trigger::RoleComplete && gate.state == State::Retrying {
                gate.state = State::Pending;
            }
        }
    }

    /// Code is entered again: all from the implementer on is pending, but what only a person clears.
    pub(crate) fn renew(&mut self) {
        self.generation += 1;
        for spec in self.specs.clone() {
            let gate = self.at(spec.id);
            if spec.role < Role::Implementer {
                continue;
            }
            let kept = gate.state == State::Escalated;
            *gate = Gate {
                state: if kept {
                    State::Escalated
                } else {
                    State::Pending
                },
                ..Gate::default()
            };
        }
    }

    /// Evidence of this kind came in for the gates of a role.
    pub(crate) fn judge(
        &mut self,
        (kind, role, on): (Kind, Role, Trigger),
        passes: bool,
        tree: u32,
    ) -> Fallout {
        let mut fallout = Fallout::default();
        for spec in self.of(role) {
            let state = self.state(&spec, tree);
            let fixed = matches!(
                state,
                StateKind::Blocked | StateKind::Escalated | StateKind::Overridden
            );
            let early = on == Trigger::RoleComplete && self.at(spec.id).ran != Ran::Completed;
            if (spec.kind, spec.on) != (kind, on) || fixed || early {
                continue;
            }
            if passes {
                self.at(spec.id).state = State::Passed(spec.subject(tree));
            } else {
                let became = self.fail(&spec);
                fallout.sent_back |= became == State::Retrying;
                fallout.escalated |= became == State::Escalated;
            }
        }
        fallout
    }

    fn fail(&mut self, spec: &Spec) -> State {
        let gate = self.at(spec.id);
        gate.state = match spec.on_fail {
            OnFail::Block => State::Blocked,
            OnFail::Retry if gate.sent_back < spec.retries => {
                gate.sent_back += 1;
                if spec.on == Trigger::RoleComplete && gate.ran == Ran::Completed {
                    gate.ran = Ran::NotYet;
                }
                State::Retrying
            }
            OnFail::Retry | OnFail::Escalate => State::Escalated,
        };
        gate.state
    }

    /// A person opens it: an approval that it waits for, or an override.
    pub(crate) fn open(&mut self, id: &'static str, tree: u32) {
        let spec = self.spec(id);
        let waits = (spec.kind, self.state(&spec, tree)) == (Kind::Approve, StateKind::Pending);
        self.at(id).state = if waits {
            State::Passed(spec.subject(tree))
        } else {
            State::Overridden(spec.subject(tree))
        };
    }

    /// A person overrides all that stands against this tree; what waits for an approval goes on waiting.
    pub(crate) fn overrule_all(&mut self, tree: u32) {
        for spec in self.specs.clone() {
            let waits = (spec.kind, self.state(&spec, tree)) == (Kind::Approve, StateKind::Pending);
            let about_tree = spec.subject(tree).is_some();
            if self.holds(&spec, tree) && !self.let_in(&spec) && !waits && about_tree {
                self.at(spec.id).state = State::Overridden(Some(tree));
            }
        }
    }

    /// A person fails it; whether that sends its role back. None where it has failed for good.
    pub(crate) fn reject(&mut self, id: &'static str, tree: u32) -> Option<bool> {
        let spec = self.spec(id);
        let state = self.state(&spec, tree);
        if !matches!(state, StateKind::Pending | StateKind::Retrying) {
            return None;
        }
        Some(self.fail(&spec) == State::Retrying)
    }

    /// A person has these roles judged again.
    pub(crate) fn retry(&mut self, roles: &[Role]) {
        for spec in self.specs.clone() {
            let gate = self.at(spec.id);
            let failed = matches!(gate.state, State::Blocked | State::Escalated);
            if failed && roles.contains(&spec.role) {
                gate.state = State::Pending;
                gate.sent_back = 0;
            }
        }
    }
}
