//! What is counted: the twelve accounts, with their scope, family, default and hard maximum. No counters here.

use core::fmt;
use core::str::FromStr;

use backstop_vocab::{NameError, Span};
use serde::{Deserialize, Serialize};

/// What a counter counts. Each has a ceiling; none is charged for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Account {
    /// Failed Validate visits in a row without progress.
    Streak,
    /// All failed Validate visits and all rejects at Ship. Progress cannot reset it.
    PhaseFailures,
    /// Infrastructure faults in a row.
    Infra,
    /// All infrastructure faults.
    InfraTotal,
    /// Waits for a provider's limit.
    QuotaWaits,
    /// Failing preflights in a row.
    Preflight,
    /// Sessions resumed that had stopped to ask.
    CheckpointResumes,
    /// Agent launches that are not an automatic resume.
    Attempts,
    /// Tool calls of agents.
    ToolCalls,
    /// Tokens: uncached input plus output.
    Tokens,
    /// Money, in millionths of a US dollar.
    Cost,
    /// Run time of agents and checks, in milliseconds.
    ActiveTime,
}

/// How long a counter lives, and for how long grants on it are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// One lane: the run of one phase.
    Lane,
    /// The whole mission.
    Mission,
    /// One entry of a lane into a stage.
    Visit,
}

/// Which kind of limit an account is. The families never pay for each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// A count that ends a loop.
    LoopGuard,
    /// Waiting for a provider's limit.
    QuotaWait,
    /// Calls, tokens, money or time.
    Effort,
}

/// The gate that opens when an account is exhausted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExhaustedGate {
    /// The gate of Validate: `phase_failures` in both modes, `streak` in auto.
    Validate,
    /// The ceiling gate.
    Ceiling,
    /// The preflight gate.
    Preflight,
    /// The review gate, naming the account.
    Review,
}

/// One US dollar in the unit of [`Account::Cost`].
const USD: u64 = 1_000_000;
/// One hour in the unit of [`Account::ActiveTime`].
const HOUR: u64 = Span::from_hours(1).as_millis();

const ACCEPTED: &str = "streak, phase_failures, infra, infra_total, quota_waits, preflight, \
     checkpoint_resumes, attempts, tool_calls, tokens, cost, active_time";

impl Account {
    /// All accounts.
    pub const ALL: [Self; 12] = [
        Self::Streak,
        Self::PhaseFailures,
        Self::Infra,
        Self::InfraTotal,
        Self::QuotaWaits,
        Self::Preflight,
        Self::CheckpointResumes,
        Self::Attempts,
        Self::ToolCalls,
        Self::Tokens,
        Self::Cost,
        Self::ActiveTime,
    ];

    /// The name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Streak => "streak",
            Self::PhaseFailures => "phase_failures",
            Self::Infra => "infra",
            Self::InfraTotal => "infra_total",
            Self::QuotaWaits => "quota_waits",
            Self::Preflight => "preflight",
            Self::CheckpointResumes => "checkpoint_resumes",
            Self::Attempts => "attempts",
            Self::ToolCalls => "tool_calls",
            Self::Tokens => "tokens",
            Self::Cost => "cost",
            Self::ActiveTime => "active_time",
        }
    }

    /// How long its counter lives.
    #[must_use]
    pub const fn scope(self) -> Scope {
        match self {
            Self::Streak
            | Self::PhaseFailures
            | Self::Infra
            | Self::InfraTotal
            | Self::QuotaWaits
            | Self::Attempts => Scope::Lane,
            Self::Preflight | Self::ToolCalls | Self::Tokens | Self::Cost | Self::ActiveTime => {
                Scope::Mission
            }
            Self::CheckpointResumes => Scope::Visit,
        }
    }

    /// Which kind of limit it is.
    #[must_use]
    pub const fn family(self) -> Family {
        match self {
            Self::Streak
            | Self::PhaseFailures
            | Self::Infra
            | Self::InfraTotal
            | Self::Preflight
            | Self::CheckpointResumes
            | Self::Attempts => Family::LoopGuard,
            Self::QuotaWaits => Family::QuotaWait,
            Self::ToolCalls | Self::Tokens | Self::Cost | Self::ActiveTime => Family::Effort,
        }
    }

    /// Which gate its exhaustion opens.
    #[must_use]
    pub const fn gate(self) -> ExhaustedGate {
        match self {
            Self::Streak | Self::PhaseFailures => ExhaustedGate::Validate,
            Self::Infra | Self::InfraTotal | Self::QuotaWaits | Self::Attempts => {
                ExhaustedGate::Ceiling
            }
            Self::Preflight => ExhaustedGate::Preflight,
            Self::CheckpointResumes
            | Self::ToolCalls
            | Self::Tokens
            | Self::Cost
            | Self::ActiveTime => ExhaustedGate::Review,
        }
    }

    /// The ceiling where nobody sets another, in the account's own unit.
    #[must_use]
    pub const fn default_ceiling(self) -> u64 {
        match self {
            Self::Streak | Self::Preflight | Self::CheckpointResumes => 3,
            Self::PhaseFailures => 10,
            Self::Infra => 5,
            Self::InfraTotal => 15,
            Self::QuotaWaits => 24,
            Self::Attempts => 60,
            Self::ToolCalls => 2_000,
            Self::Tokens => 20_000_000,
            Self::Cost => 25 * USD,
            Self::ActiveTime => 8 * HOUR,
        }
    }

    /// The highest ceiling that may be set, in the account's own unit.
    ///
    /// For the effort accounts: 100 000 tool calls, 2 000 million tokens, 10 000 USD, 7 days of run time. They are
    /// far beyond any one mission; what they rule out is a ceiling that never binds.
    #[must_use]
    pub const fn hard_max(self) -> u64 {
        match self {
            Self::Streak | Self::Preflight => 10,
            Self::PhaseFailures => 50,
            Self::Infra => 20,
            Self::InfraTotal => 60,
            Self::QuotaWaits => 200,
            Self::CheckpointResumes => 5,
            Self::Attempts => 600,
            Self::ToolCalls => 100_000,
            Self::Tokens => 2_000_000_000,
            Self::Cost => 10_000 * USD,
            Self::ActiveTime => 7 * 24 * HOUR,
        }
    }

    /// What one unit of the account is.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Streak => "failed visits in a row",
            Self::PhaseFailures => "failed visits",
            Self::Infra => "faults in a row",
            Self::InfraTotal => "faults",
            Self::QuotaWaits => "waits",
            Self::Preflight => "failed preflights in a row",
            Self::CheckpointResumes => "resumed questions",
            Self::Attempts => "launches",
            Self::ToolCalls => "tool calls",
            Self::Tokens => "tokens",
            Self::Cost => "micro-USD",
            Self::ActiveTime => "ms",
        }
    }

    /// `n` units of the account as a person reads them: `25.00 USD`, `8h`, or the bare number.
    #[must_use]
    pub const fn amount(self, n: u64) -> Amount {
        Amount { account: self, n }
    }
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Account {
    type Err = NameError;
    fn from_str(text: &str) -> Result<Self, NameError> {
        let wanted = text.trim();
        let named = Self::ALL
            .into_iter()
            .find(|account| account.name().eq_ignore_ascii_case(wanted));
        named.ok_or_else(|| NameError::new("known account", text, ACCEPTED))
    }
}

/// A number of an account's units, to be printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Amount {
    account: Account,
    n: u64,
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.account {
            Account::Cost => write!(f, "{}.{:02} USD", self.n / USD, self.n % USD / (USD / 100)),
            Account::ActiveTime => Span::from_millis(self.n).fmt(f),
            Account::Streak
            | Account::PhaseFailures
            | Account::Infra
            | Account::InfraTotal
            | Account::QuotaWaits
            | Account::Preflight
            | Account::CheckpointResumes
            | Account::Attempts
            | Account::ToolCalls
            | Account::Tokens => self.n.fmt(f),
        }
    }
}
