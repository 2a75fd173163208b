//! From a proposal to a mission: proposed, approved by a person for its digest, applied once. Each state is consumed by
//! the next.
//!
//! Deliberately absent: reading a state back from a file. A journal keeps who approved which digest, and its reader goes
//! through the same doors with the operator it attests.

use alloc::boxed::Box;
use alloc::sync::Arc;

use backstop_vocab::{Digest, MissionId, Operator, Phase, Signature, Text};
use serde::{Deserialize, Serialize};

use crate::plan::{PhaseText, Plan};

/// The most proposals of one mission.
pub const MOST_PROPOSALS: u8 = 3;

/// The way to the model that wrote a plan, as the edge names it: `provider/model`, a router, a fleet member.
pub type Route = Text<256>;

/// Who wrote a plan.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Author {
    /// A model, by this route.
    Model(Route),
    /// A person. A record proves nothing: whoever wrote a plan, it is approved before it is applied.
    Operator(Signature),
}

/// How many proposals of a mission are spent. A proposal counts when it is asked for, so that refused drafts count too.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct Proposals {
    // INVARIANT: at most MOST_PROPOSALS.
    spent: u8,
}

/// A mission asks for a fourth proposal, and parks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "all {MOST_PROPOSALS} proposals of the mission are spent: write the plan yourself, or open another mission"
)]
pub struct Spent;

/// A count of proposals that no mission can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("`{spent}` proposals are more than a mission has: use at most {MOST_PROPOSALS}")]
pub struct ProposalsError {
    spent: u8,
}

impl Proposals {
    /// How many are spent.
    #[must_use]
    pub const fn spent(&self) -> u8 {
        self.spent
    }

    /// Takes the next proposal, before anything is spent on writing it.
    ///
    /// # Errors
    /// When none is left; the mission then parks.
    pub fn take(&self) -> Result<(Self, Turn), Spent> {
        let spent = self.spent.saturating_add(1);
        let next = Self::try_from(spent).map_err(|_| Spent)?;
        Ok((next, Turn { number: spent }))
    }
}

impl TryFrom<u8> for Proposals {
    type Error = ProposalsError;
    fn try_from(spent: u8) -> Result<Self, ProposalsError> {
        if spent > MOST_PROPOSALS {
            return Err(ProposalsError { spent });
        }
        Ok(Self { spent })
    }
}

impl From<Proposals> for u8 {
    fn from(proposals: Proposals) -> Self {
        proposals.spent
    }
}

/// One proposal that was counted. Minted by [`Proposals::take`] only.
#[derive(Debug, PartialEq, Eq)]
pub struct Turn {
    number: u8,
}

impl Turn {
    /// Which of the mission's proposals it is, from 1.
    #[must_use]
    pub const fn number(&self) -> u8 {
        self.number
    }

    /// The plan stands to be approved. An edited plan is another proposal.
    #[must_use]
    pub fn propose(self, plan: Plan, by: Author) -> Proposed {
        let Self { number } = self;
        let digest = plan.digest();
        Proposed {
            plan,
            by,
            digest,
            number,
        }
    }
}

/// A plan that waits for a person. None of its checks may be run.
#[derive(Debug, PartialEq, Eq)]
pub struct Proposed {
    plan: Plan,
    by: Author,
    // INVARIANT: the digest of `plan`.
    digest: Digest,
    number: u8,
}

/// An approval of another digest than the proposed one. Nothing was approved.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("the approval is for `{given}`, and the proposed plan is `{}`: look at that plan and approve its digest", .proposed.digest)]
pub struct WrongDigest {
    given: Digest,
    proposed: Box<Proposed>,
}

impl WrongDigest {
    /// The digest that the approval named.
    #[must_use]
    pub const fn given(&self) -> Digest {
        self.given
    }

    /// The proposal, as it was.
    #[must_use]
    pub fn into_proposed(self) -> Proposed {
        *self.proposed
    }
}

impl Proposed {
    /// The plan.
    #[must_use]
    pub const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Who wrote it.
    #[must_use]
    pub const fn by(&self) -> &Author {
        &self.by
    }

    /// What an approval has to name.
    #[must_use]
    pub const fn digest(&self) -> Digest {
        self.digest
    }

    /// Which of the mission's proposals it is, from 1.
    #[must_use]
    pub const fn number(&self) -> u8 {
        self.number
    }

    /// A person approves exactly this plan.
    ///
    /// # Errors
    /// When `digest` is another plan's; the proposal is handed back.
    pub fn approve(self, operator: &Operator, digest: Digest) -> Result<Approved, WrongDigest> {
        if digest != self.digest {
            return Err(WrongDigest {
                given: digest,
                proposed: Box::new(self),
            });
        }
        let Self {
            plan,
            by,
            digest,
            number: _,
        } = self;
        Ok(Approved {
            plan,
            author: by,
            by: operator.signature().clone(),
            digest,
        })
    }
}

/// A plan that a person approved. It is applied to one mission, once.
#[derive(Debug, PartialEq, Eq)]
pub struct Approved {
    plan: Plan,
    author: Author,
    by: Signature,
    // INVARIANT: the digest of `plan`.
    digest: Digest,
}

impl Approved {
    /// A person's own plan, approved by writing it; no proposal is spent.
    #[must_use]
    pub fn written_by(operator: &Operator, plan: Plan) -> Self {
        let digest = plan.digest();
        Self {
            plan,
            author: Author::Operator(operator.signature().clone()),
            by: operator.signature().clone(),
            digest,
        }
    }

    /// The plan.
    #[must_use]
    pub const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Who wrote it.
    #[must_use]
    pub const fn author(&self) -> &Author {
        &self.author
    }

    /// Who approved it.
    #[must_use]
    pub const fn by(&self) -> &Signature {
        &self.by
    }

    /// What was approved.
    #[must_use]
    pub const fn digest(&self) -> Digest {
        self.digest
    }

    /// The mission runs this plan.
    #[must_use]
    pub fn apply(self, mission: MissionId) -> Applied {
        Applied {
            approved: Arc::new(self),
            mission,
        }
    }
}

/// A plan that a mission runs. A copy of it is the same application; only here are its checks cleared to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    approved: Arc<Approved>,
    mission: MissionId,
}

impl Applied {
    /// The approval.
    #[must_use]
    pub fn approved(&self) -> &Approved {
        &self.approved
    }

    /// The plan.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        self.approved.plan()
    }

    /// The one mission that runs it.
    #[must_use]
    pub const fn mission(&self) -> &MissionId {
        &self.mission
    }

    /// The check of this phase, which the host may run; none when it has none.
    #[must_use]
    pub fn check(&self, phase: Phase) -> Option<ClearedCheck> {
        let command = self.plan().phase(phase)?.done_when_check()?;
        Some(ClearedCheck {
            command: command.clone(),
            phase,
            plan: self.approved.digest,
        })
    }
}

/// A plan's check that a person let the host run, by approving the plan. Minted by [`Applied::check`] only, so that a
/// model's command which nobody approved is not a value of this type.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ClearedCheck {
    command: PhaseText,
    phase: Phase,
    plan: Digest,
}

impl ClearedCheck {
    /// The command.
    #[must_use]
    pub const fn command(&self) -> &PhaseText {
        &self.command
    }

    /// The phase that it checks.
    #[must_use]
    pub const fn phase(&self) -> Phase {
        self.phase
    }

    /// The approved plan that it is from.
    #[must_use]
    pub const fn plan(&self) -> Digest {
        self.plan
    }
}
