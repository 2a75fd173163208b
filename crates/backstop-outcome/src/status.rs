//! How an attempt ended. What follows from it is in `table`.

use backstop_mode::Account;
use backstop_vocab::{Text, Timestamp};
use serde::{Deserialize, Serialize};

use crate::named::named;

/// How an attempt ended.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Status {
    /// The agent ended successfully, and the stage's evidence is there.
    Success,
    /// The work was not done.
    Failed {
        /// Why.
        cause: FailCause,
    },
    /// No terminal evidence, or conflicting evidence.
    Unknown,
    /// The provider limits or is overloaded.
    RateLimited {
        /// When the limit ends, where the provider said so.
        until: Option<Timestamp>,
    },
    /// The agent's final message reports success, but the envelope broke off before it was final.
    Ambiguous,
    /// Broken off from outside.
    Interrupted {
        /// By what.
        by: Interruption,
    },
    /// Out of memory.
    ResourceKilled,
    /// The agent cannot run.
    AgentUnavailable {
        /// Why.
        cause: UnavailableCause,
    },
    /// The agent went quiet and was stopped.
    IdleTimeout,
    /// A budget ran out while the agent ran, and it was stopped.
    OverBudget {
        /// Which.
        account: Account,
    },
    /// The agent stopped to ask.
    Asked {
        /// What it asked.
        question: Text<2048>,
    },
    /// An operator stopped it.
    Cancelled,
}

impl Status {
    /// Which status it is, without what comes with it.
    #[must_use]
    pub const fn kind(&self) -> StatusKind {
        match self {
            Self::Success => StatusKind::Success,
            Self::Failed { .. } => StatusKind::Failed,
            Self::Unknown => StatusKind::Unknown,
            Self::RateLimited { .. } => StatusKind::RateLimited,
            Self::Ambiguous => StatusKind::Ambiguous,
            Self::Interrupted { .. } => StatusKind::Interrupted,
            Self::ResourceKilled => StatusKind::ResourceKilled,
            Self::AgentUnavailable { .. } => StatusKind::AgentUnavailable,
            Self::IdleTimeout => StatusKind::IdleTimeout,
            Self::OverBudget { .. } => StatusKind::OverBudget,
            Self::Asked { .. } => StatusKind::Asked,
            Self::Cancelled => StatusKind::Cancelled,
        }
    }
}

named!(
    /// A status without what comes with it.
    StatusKind, "known status",
    /// See [`Status::Success`].
    Success = "success",
    /// See [`Status::RateLimited`].
    RateLimited = "rate_limited",
    /// See [`Status::Ambiguous`].
    Ambiguous = "ambiguous",
    /// See [`Status::Interrupted`].
    Interrupted = "interrupted",
    /// See [`Status::ResourceKilled`].
    ResourceKilled = "resource_killed",
    /// See [`Status::AgentUnavailable`].
    AgentUnavailable = "agent_unavailable",
    /// See [`Status::Failed`].
    Failed = "failed",
    /// See [`Status::Unknown`].
    Unknown = "unknown",
    /// See [`Status::IdleTimeout`].
    IdleTimeout = "idle_timeout",
    /// See [`Status::OverBudget`].
    OverBudget = "over_budget",
    /// See [`Status::Asked`].
    Asked = "asked",
    /// See [`Status::Cancelled`].
    Cancelled = "cancelled",
);

named!(
    /// Why an attempt failed.
    FailCause, "known cause of failure",
    /// The agent itself reported a failure.
    Reported = "reported",
    /// The first visit to Code left the tree as it was.
    NoWork = "no_work",
    /// The artifact that the stage needs is missing or blank.
    NoArtifact = "no_artifact",
    /// A reviewer gave no strict verdict, asked again or not.
    NoVerdict = "no_verdict",
    /// The conversation outgrew the model.
    ContextOverflow = "context_overflow",
    /// The model refused.
    Refused = "refused",
    /// The agent was denied the tools that it needed.
    DeniedTools = "denied_tools",
    /// The agent reached its own limit of turns.
    TurnCap = "turn_cap",
    /// A protected path was changed.
    ProtectedPath = "protected_path",
    /// The tree was changed where only a report was wanted.
    ChangedTree = "changed_tree",
);

named!(
    /// What broke an attempt off.
    Interruption, "known interruption",
    /// The runner itself died; nothing outside has to recover.
    RunnerDied = "runner_died",
    /// The network was lost.
    Network = "network",
    /// The stream of the answer was cut.
    StreamCut = "stream_cut",
    /// The provider answered with a server error.
    Provider = "provider",
);

named!(
    /// Why an agent cannot run.
    UnavailableCause, "known cause of unavailability",
    /// Its executable is not there.
    Missing = "missing",
    /// Its executable cannot be executed.
    NotExecutable = "not_executable",
    /// Not logged in, or the login has lapsed.
    Auth = "auth",
    /// The provider wants to be paid.
    Billing = "billing",
    /// A version that does not do.
    Version = "version",
    /// Configured in a way that it refuses.
    Configuration = "configuration",
);
