//! The names of refs and branches. A mission or lane is named by its id alone, never by a title.

use std::fmt;

use super::{MissionId, Phase, PhaseKind};

/// A lane as git names it: `<n>-<kind>`, such as `1-coding`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LaneRef {
    /// The place of the lane's phase in the plan.
    pub phase: Phase,
    /// The kind of that phase.
    pub kind: PhaseKind,
}

impl fmt::Display for LaneRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.phase, self.kind)
    }
}

/// The refs of one mission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names {
    // INVARIANT: a legal component of a ref, and another one for every other id.
    mission: String,
}

impl Names {
    /// The names of this mission. Dots that git does not take in a ref are written `+`, which no id contains.
    #[must_use]
    pub fn of(mission: &MissionId) -> Self {
        let id = mission.as_str();
        let lock = id.rsplit('.').next() == Some("lock") && id.contains('.');
        let illegal = id.starts_with('.') || id.ends_with('.') || id.contains("..") || lock;
        let mission = if illegal {
            id.replace('.', "+")
        } else {
            id.to_owned()
        };
        Self { mission }
    }

    /// What all refs of the mission start with in the operator's repository.
    #[must_use]
    pub fn root(&self) -> String {
        format!("refs/backstop/{}/", self.mission)
    }

    /// The ref that keeps the base, so that garbage collection leaves borrowed objects alone.
    #[must_use]
    pub fn base(&self) -> String {
        format!("{}base", self.root())
    }

    /// The ref that verified lanes land on. Its last part is not that of the ship branch: of `refs/backstop/m/x` and
    /// `refs/heads/backstop/m/x`, git takes `backstop/m/x` for the first.
    #[must_use]
    pub fn mission(&self) -> String {
        format!("{}landed", self.root())
    }

    /// The ref that keeps a lane's work.
    #[must_use]
    pub fn lane(&self, lane: LaneRef) -> String {
        format!("{}{lane}", self.root())
    }

    /// What refs of commits that a lane left behind start with.
    #[must_use]
    pub fn kept(&self) -> String {
        format!("{}kept/", self.root())
    }

    /// The branch that a lane's agents work on, in the workspace.
    #[must_use]
    pub fn branch(&self, lane: LaneRef) -> String {
        format!("backstop/{}/{lane}", self.mission)
    }

    /// The branch that `branch` shipping creates in the operator's repository.
    #[must_use]
    pub fn ship_branch(&self) -> String {
        format!("backstop/{}/mission", self.mission)
    }

    /// The full name of that branch.
    #[must_use]
    pub fn ship_ref(&self) -> String {
        format!("refs/heads/{}", self.ship_branch())
    }

    /// The mission's id as a ref component.
    #[must_use]
    pub fn component(&self) -> &str {
        &self.mission
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root(id: &str) -> String {
        Names::of(&id.parse().unwrap()).root()
    }

    #[test]
    fn every_mission_id_is_a_legal_and_distinct_ref() {
        assert_eq!(root("m-1.2"), "refs/backstop/m-1.2/");
        assert_eq!(root(".."), "refs/backstop/++/");
        assert_eq!(root("a..b"), "refs/backstop/a++b/");
        assert_eq!(root("x.lock"), "refs/backstop/x+lock/");
        assert_eq!(root("lock"), "refs/backstop/lock/");
        assert_eq!(root(".a"), "refs/backstop/+a/");
        assert_eq!(root("a."), "refs/backstop/a+/");
    }

    #[test]
    fn the_ship_branch_has_the_short_name_to_itself() {
        let names = Names::of(&"m".parse().unwrap());
        let (phase, kind) = (Phase::FIRST, PhaseKind::Coding);
        let lane = names.lane(LaneRef { phase, kind });
        let own = [names.mission(), names.base(), names.kept(), lane];
        assert!(!own.contains(&format!("refs/{}", names.ship_branch())));
    }

    #[test]
    fn a_lane_is_named_by_its_number_and_kind() {
        let (phase, kind) = (Phase::FIRST.next(), PhaseKind::SecurityScan);
        let names = Names::of(&"m".parse().unwrap());
        let lane = LaneRef { phase, kind };
        assert_eq!(names.branch(lane), "backstop/m/2-security_scan");
        assert_eq!(names.lane(lane), "refs/backstop/m/2-security_scan");
    }
}
