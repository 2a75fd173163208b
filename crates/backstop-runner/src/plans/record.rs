//! What the state directory keeps of a plan: who wrote it, for which goal, what was refused, who approved which digest, and
//! the one mission that runs it.

use backstop_engine::plan::{Author, Plan, Proposals, Refusal};
use backstop_engine::vocab::{Digest, MissionId, Signature, Text, Timestamp};
use serde::{Deserialize, Serialize};

use crate::edge::Effort;

/// The version of what is written.
pub(super) const VERSION: u8 = 1;

/// A plan in the state directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stored {
    /// The version of the format.
    pub v: u8,
    /// Its id, of the same kind as a mission's.
    pub id: MissionId,
    /// What is wanted; of a plan that a person wrote, its first task.
    pub goal: Text<8192>,
    /// When it was asked for, or taken in.
    pub at: Timestamp,
    /// Who wrote it.
    pub author: Author,
    /// How many proposals were asked for.
    pub proposals: Proposals,
    /// What they took together; none where nobody was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asking: Option<Effort>,
    /// The proposals that were refused.
    pub refused: Vec<RefusedProposal>,
    /// The plan; none before there is a valid one.
    pub plan: Option<Plan>,
    /// The transcript of the agent that wrote it; of the last one where there is no plan.
    pub transcript: Option<Digest>,
    /// Where it stands.
    pub state: State,
}

/// A proposal that was no plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RefusedProposal {
    /// Which one, from 1.
    pub number: u8,
    /// Why.
    pub refusals: Vec<Refusal>,
    /// How many reasons are not listed.
    pub omitted: usize,
    /// What the agent printed.
    pub transcript: Option<Digest>,
}

/// Where a plan stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum State {
    /// An agent is asked for it.
    Asking,
    /// There will be none, and why.
    Parked(Text<2048>),
    /// It waits for a person.
    Proposed,
    /// A person approved it.
    Approved(Approval),
    /// A mission is being opened with it. Whether it was tells the mission's journal alone.
    Applying(Application),
    /// A mission runs it.
    Applied(Application),
}

/// A person's approval of one digest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Approval {
    /// What was approved.
    pub digest: Digest,
    /// By whom.
    pub by: Signature,
    /// When.
    pub at: Timestamp,
}

/// The one use of an approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Application {
    /// What let it.
    pub approval: Approval,
    /// The mission.
    pub mission: MissionId,
    /// When.
    pub at: Timestamp,
}

impl State {
    /// The name for people and scripts.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Asking => "asking",
            Self::Parked(_) => "parked",
            Self::Proposed => "proposed",
            Self::Approved(_) => "approved",
            Self::Applying(_) => "applying",
            Self::Applied(_) => "applied",
        }
    }

    /// The approval, where a person gave one.
    #[must_use]
    pub const fn approval(&self) -> Option<&Approval> {
        match self {
            Self::Asking | Self::Parked(_) | Self::Proposed => None,
            Self::Approved(approval) => Some(approval),
            Self::Applying(application) | Self::Applied(application) => Some(&application.approval),
        }
    }

    /// Why there will be no plan.
    #[must_use]
    pub const fn why(&self) -> Option<&Text<2048>> {
        match self {
            Self::Parked(why) => Some(why),
            Self::Asking
            | Self::Proposed
            | Self::Approved(_)
            | Self::Applying(_)
            | Self::Applied(_) => None,
        }
    }

    /// The mission that runs it.
    #[must_use]
    pub const fn mission(&self) -> Option<&MissionId> {
        match self {
            Self::Applied(application) => Some(&application.mission),
            Self::Asking
            | Self::Parked(_)
            | Self::Proposed
            | Self::Approved(_)
            | Self::Applying(_) => None,
        }
    }

    /// Whether there is no plan yet, or never.
    const fn is_without_plan(&self) -> bool {
        matches!(self, Self::Asking | Self::Parked(_))
    }
}

impl Stored {
    /// The digest that an approval has to name; none where there is no plan.
    #[must_use]
    pub fn digest(&self) -> Option<Digest> {
        self.plan.as_ref().map(Plan::digest)
    }

    /// Whether the approval covers another plan than the one that stands here: the file was edited since.
    #[must_use]
    pub fn is_edited(&self) -> bool {
        let approved = self.state.approval().map(|approval| approval.digest);
        approved.is_some() && approved != self.digest()
    }

    /// What is wrong with a record that was read.
    pub(super) fn fault(&self, id: &MissionId) -> Option<String> {
        if self.v != VERSION {
            return Some(format!(
                "it is of version {}: use the Backstop that wrote it",
                self.v
            ));
        }
        if self.id != *id {
            return Some(format!("it names itself `{}`", self.id));
        }
        let unfit = self.plan.is_none() != self.state.is_without_plan();
        unfit.then(|| {
            format!(
                "it is {} and its plan does not go with that",
                self.state.name()
            )
        })
    }
}
