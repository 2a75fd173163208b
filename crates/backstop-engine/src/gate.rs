//! Gates of a mission: why one opened, and which answers it offers.

use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use alloc::string::String;
use backstop_mode::{Account, Verdict};
use backstop_outcome::StatusKind;
use backstop_review::StopReason;
use backstop_vocab::{Digest, GateId, NameError, Timestamp};
use serde::{Deserialize, Serialize};

use crate::mission::{Next, Pending};

/// Which gate it is; the first of several that are due at once is the one that opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateKind {
    /// The mission cannot be worked on as things stand.
    Preflight,
    /// An account is exhausted.
    Ceiling,
    /// The agent could not be run.
    Infra,
    /// An attempt or a review ended in a way that only a person can judge.
    Review,
    /// A gate between two roles holds the lane.
    Held,
    /// Validate wants a person.
    Validate,
    /// The work is ready to be handed over.
    Ship,
    /// Handing over did not work.
    ShipFailed,
}

impl GateKind {
    /// All gates.
    pub const ALL: [Self; 8] = [
        Self::Preflight,
        Self::Ceiling,
        Self::Infra,
        Self::Review,
        Self::Held,
        Self::Validate,
        Self::Ship,
        Self::ShipFailed,
    ];

    /// The name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Preflight => "preflight",
            Self::Ceiling => "ceiling",
            Self::Infra => "infra",
            Self::Review => "review",
            Self::Held => "held",
            Self::Validate => "validate",
            Self::Ship => "ship",
            Self::ShipFailed => "ship_failed",
        }
    }

    /// The answers it offers, in the order in which they are shown.
    #[must_use]
    pub const fn offers(self, funds: Funds) -> &'static [Verb] {
        use Verb::{Abort, Approve, Grant, Reject, Retry};
        match (self, funds) {
            (Self::Preflight, Funds::Left) => &[Retry, Approve, Abort],
            (Self::Preflight, Funds::Exhausted) => &[Grant, Approve, Abort],
            (Self::Infra | Self::Review, Funds::Left) => &[Retry, Abort],
            (Self::Ceiling, Funds::Left | Funds::Exhausted)
            | (Self::Infra | Self::Review, Funds::Exhausted) => &[Grant, Abort],
            // An exhausted account is a reason of its own, whose gate comes first.
            (Self::Held, Funds::Left | Funds::Exhausted) | (Self::Validate, Funds::Left) => {
                &[Approve, Reject, Retry, Abort]
            }
            (Self::Validate, Funds::Exhausted) => &[Approve, Reject, Retry, Grant, Abort],
            (Self::Ship | Self::ShipFailed, Funds::Left | Funds::Exhausted) => {
                &[Approve, Reject, Abort]
            }
        }
    }
}

impl fmt::Display for GateKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Whether an account behind a gate is exhausted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Funds {
    /// None is.
    Left,
    /// At least one is: only a grant goes on.
    Exhausted,
}

impl Funds {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Left, Self::Exhausted];
}

/// What an operator may answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verb {
    /// Let it pass: a waiver at preflight, the holding gate at held, a ratification or an override at Validate, the
    /// shipment at Ship.
    Approve,
    /// Send it back to Code with a note; at held, fail the holding gate.
    Reject,
    /// Try the same again.
    Retry,
    /// Refill exhausted accounts and go on.
    Grant,
    /// End the mission and keep everything.
    Abort,
}

impl Verb {
    /// All answers.
    pub const ALL: [Self; 5] = [
        Self::Approve,
        Self::Reject,
        Self::Retry,
        Self::Grant,
        Self::Abort,
    ];

    /// The name on the wire and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Reject => "reject",
            Self::Retry => "retry",
            Self::Grant => "grant",
            Self::Abort => "abort",
        }
    }
}

impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Verb {
    type Err = NameError;
    fn from_str(text: &str) -> Result<Self, NameError> {
        let named = Self::ALL.into_iter().find(|verb| verb.name() == text);
        named.ok_or_else(|| NameError::new("answer", text, "approve, reject, retry, grant, abort"))
    }
}

/// Several answers, for a message.
pub(crate) fn list(verbs: &[Verb]) -> String {
    verbs
        .iter()
        .map(|verb| verb.name())
        .collect::<Vec<_>>()
        .join(", ")
}

/// Why a review loop stopped, without what it carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReviewStop {
    /// Its bounds are used up.
    Ceilings,
    /// The tree is another one than the pinned one, and no repair explains it.
    StaleInput,
    /// A review establishes nothing.
    Inconclusive,
    /// Repairs go nowhere.
    Stalled,
    /// A person declined a clean verdict.
    Declined,
}

impl ReviewStop {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Ceilings,
        Self::StaleInput,
        Self::Inconclusive,
        Self::Stalled,
        Self::Declined,
    ];
}

impl From<&StopReason> for ReviewStop {
    fn from(reason: &StopReason) -> Self {
        match reason {
            StopReason::Ceilings { .. } => Self::Ceilings,
            StopReason::StaleInput { .. } => Self::StaleInput,
            StopReason::Inconclusive(_) => Self::Inconclusive,
            StopReason::Stalled { .. } => Self::Stalled,
            StopReason::Declined { .. } => Self::Declined,
        }
    }
}

/// Why a gate opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// A preflight point failed.
    PreflightFailed,
    /// An account has nothing left.
    Exhausted(Account),
    /// How the attempt ended.
    Ended(StatusKind),
    /// The review loop stopped.
    Reviewed(ReviewStop),
    /// A gate between two roles holds the lane.
    Held,
    /// A provider's limit lifts later than a mission waits.
    LimitTooFar,
    /// A host check could not be run.
    CheckNotRun,
    /// A verified lane could not be put on the mission branch.
    LandFailed,
    /// What the mode asks for at Validate or Ship.
    Policy(backstop_mode::Reason),
    /// The ship step did not work.
    ShipFailed,
    /// The moved base and the work contradict each other.
    MergeConflict,
}

impl Reason {
    /// The gate that this reason calls for.
    #[must_use]
    pub const fn kind(self) -> GateKind {
        match self {
            Self::PreflightFailed => GateKind::Preflight,
            Self::Exhausted(account) => exhausted_kind(account),
            Self::Ended(status) => ended_kind(status),
            Self::Reviewed(_) => GateKind::Review,
            Self::Held => GateKind::Held,
            Self::LimitTooFar | Self::CheckNotRun | Self::LandFailed => GateKind::Infra,
            Self::Policy(backstop_mode::Reason::ShipAlways) => GateKind::Ship,
            Self::Policy(
                backstop_mode::Reason::PhaseCeiling
                | backstop_mode::Reason::Supervised
                | backstop_mode::Reason::StreakCeiling,
            ) => GateKind::Validate,
            Self::ShipFailed | Self::MergeConflict => GateKind::ShipFailed,
        }
    }
}

const fn exhausted_kind(account: Account) -> GateKind {
    match account {
        Account::Preflight => GateKind::Preflight,
        Account::Streak | Account::PhaseFailures => GateKind::Validate,
        Account::Infra | Account::InfraTotal | Account::QuotaWaits | Account::Attempts => {
            GateKind::Ceiling
        }
        Account::CheckpointResumes
        | Account::ToolCalls
        | Account::Tokens
        | Account::Cost
        | Account::ActiveTime => GateKind::Review,
    }
}

const fn ended_kind(status: StatusKind) -> GateKind {
    match status {
        StatusKind::RateLimited
        | StatusKind::Ambiguous
        | StatusKind::Interrupted
        | StatusKind::ResourceKilled
        | StatusKind::AgentUnavailable => GateKind::Infra,
        StatusKind::Success
        | StatusKind::Failed
        | StatusKind::Unknown
        | StatusKind::IdleTimeout
        | StatusKind::OverBudget
        | StatusKind::Asked
        | StatusKind::Cancelled => GateKind::Review,
    }
}

/// An open gate.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Gate {
    /// Its id; never used again in the mission.
    pub id: GateId,
    /// Which gate.
    pub kind: GateKind,
    /// Every reason, in order.
    pub reasons: Vec<Reason>,
    /// The digest that an approval covers, where there is one.
    pub digest: Option<Digest>,
    /// What Validate found, at its gate.
    pub verdict: Option<Verdict>,
    /// The gate between roles that an answer is about, at held.
    pub holder: Option<GateId>,
    /// The answers it offers.
    pub offers: Vec<Verb>,
    /// Since when.
    pub opened_at: Timestamp,
    /// When the mission parks if nobody answers.
    pub expires_at: Timestamp,
    pub(crate) then: Next,
}

impl Gate {
    /// What retry and grant go on with.
    #[must_use]
    pub fn pending(&self) -> Pending {
        Pending(self.then.clone())
    }

    /// The accounts that a grant must refill for the mission to go on.
    pub fn exhausted(&self) -> impl Iterator<Item = Account> {
        self.reasons.iter().filter_map(|reason| match reason {
            Reason::Exhausted(account) => Some(*account),
            Reason::Policy(backstop_mode::Reason::StreakCeiling) => Some(Account::Streak),
            Reason::Policy(backstop_mode::Reason::PhaseCeiling) => Some(Account::PhaseFailures),
            Reason::PreflightFailed
            | Reason::Ended(_)
            | Reason::Reviewed(_)
            | Reason::Held
            | Reason::LimitTooFar
            | Reason::CheckNotRun
            | Reason::LandFailed
            | Reason::Policy(
                backstop_mode::Reason::ShipAlways | backstop_mode::Reason::Supervised,
            )
            | Reason::ShipFailed
            | Reason::MergeConflict => None,
        })
    }
}
