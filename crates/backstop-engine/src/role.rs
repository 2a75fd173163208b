//! Who works in a lane, and which agent plays each role.

use alloc::vec::Vec;
use core::fmt;

use backstop_gates::{ArtifactKind, standard_roles};
use backstop_vocab::{RoleName, Stage, Text};
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
    /// Judges the work (Validate).
    Reviewer,
    /// Tries out what the reviewer let pass (Validate).
    Verifier,
    /// Writes down what is handed over (Ship).
    ReleaseLead,
}

impl Role {
    /// All roles, in the order in which they work.
    pub const ALL: [Self; 6] = [
        Self::Scout,
        Self::Planner,
        Self::Implementer,
        Self::Reviewer,
        Self::Verifier,
        Self::ReleaseLead,
    ];

    /// The name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Scout => "scout",
            Self::Planner => "planner",
            Self::Implementer => "implementer",
            Self::Reviewer => "reviewer",
            Self::Verifier => "verifier",
            Self::ReleaseLead => "release_lead",
        }
    }

    /// The name by which gates and handoffs know it.
    #[must_use]
    pub fn id(self) -> RoleName {
        RoleName::clip(self.name())
    }

    /// The role of this name.
    #[must_use]
    pub fn named(name: &RoleName) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|role| role.name() == name.as_str())
    }

    /// The stage in which the role works.
    #[must_use]
    pub const fn stage(self) -> Stage {
        match self {
            Self::Scout => Stage::Define,
            Self::Planner => Stage::Plan,
            Self::Implementer => Stage::Code,
            Self::Reviewer | Self::Verifier => Stage::Validate,
            Self::ReleaseLead => Stage::Ship,
        }
    }

    /// Whether its work ends in a strict verdict.
    #[must_use]
    pub const fn judges(self) -> bool {
        match self {
            Self::Reviewer | Self::Verifier => true,
            Self::Scout | Self::Planner | Self::Implementer | Self::ReleaseLead => false,
        }
    }

    /// What it leaves to read.
    #[must_use]
    pub fn artifact(self) -> ArtifactKind {
        ArtifactKind::clip(match self {
            Self::Scout => "findings",
            Self::Planner => "outline",
            Self::Implementer => "report",
            Self::Reviewer => "diff_review",
            Self::Verifier => "verify_report",
            Self::ReleaseLead => "release_notes",
        })
    }

    /// The roles after it that read what it leaves.
    pub(crate) fn readers(self) -> impl Iterator<Item = Self> {
        let kind = self.artifact();
        let roles: Vec<_> = standard_roles()
            .into_iter()
            .filter(|role| role.consumes.contains(&kind))
            .filter_map(|role| Self::named(&role.name))
            .filter(|role| *role > self)
            .collect();
        roles.into_iter()
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
    /// Validate.
    pub reviewer: Option<AgentSpec>,
    /// Validate, after the reviewer.
    pub verifier: Option<AgentSpec>,
    /// Ship, before the host hands the work over.
    pub release_lead: Option<AgentSpec>,
}

impl Roles {
    /// The implementer alone.
    #[must_use]
    pub const fn only(implementer: AgentSpec) -> Self {
        Self {
            scout: None,
            planner: None,
            implementer,
            reviewer: None,
            verifier: None,
            release_lead: None,
        }
    }

    /// The agent of a role that is on.
    #[must_use]
    pub const fn of(&self, role: Role) -> Option<&AgentSpec> {
        match role {
            Role::Scout => self.scout.as_ref(),
            Role::Planner => self.planner.as_ref(),
            Role::Implementer => Some(&self.implementer),
            Role::Reviewer => self.reviewer.as_ref(),
            Role::Verifier => self.verifier.as_ref(),
            Role::ReleaseLead => self.release_lead.as_ref(),
        }
    }

    /// The first role of `stage` that is on.
    #[must_use]
    pub fn first_at(&self, stage: Stage) -> Option<Role> {
        let on = |role: &Role| role.stage() == stage && self.of(*role).is_some();
        Role::ALL.into_iter().find(on)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_and_its_name_in_gates_are_one() {
        let standard = standard_roles();
        assert_eq!(standard.len(), Role::ALL.len());
        for (role, known) in Role::ALL.into_iter().zip(standard) {
            assert_eq!(role.id(), known.name);
            assert_eq!(Role::named(&known.name), Some(role));
        }
        assert_eq!(Role::named(&RoleName::clip("operator")), None);
    }

    #[test]
    fn a_role_is_read_by_those_after_it_that_consume_its_artifact() {
        let readers = |role: Role| role.readers().collect::<Vec<_>>();
        let (planner, coder) = (Role::Planner, Role::Implementer);
        assert_eq!(readers(Role::Scout), [planner, coder, Role::Reviewer]);
        assert_eq!(readers(Role::Planner), [coder, Role::Reviewer]);
        assert_eq!(readers(Role::Reviewer), [Role::Verifier]);
        assert_eq!(readers(Role::Verifier), [Role::ReleaseLead]);
        assert_eq!(readers(coder), []);
    }
}
