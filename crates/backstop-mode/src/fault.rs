//! Why a ceiling, or a set of them, is refused. The checks themselves are in `ceilings`.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::{Account, Ceilings};

/// What must hold between two ceilings when a mission opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Relation {
    /// `phase_failures` above `streak`: else the phase total stops a run before its streak can.
    PhaseFailuresAboveStreak,
    /// `checkpoint_resumes` at most `infra`.
    ResumesWithinInfra,
    /// `infra_total` at least `infra`: else faults in a row could never be reached.
    InfraTotalCoversInfra,
    /// `attempts` at least 3 + 3 × `phase_failures` + `infra_total`: else a run that keeps every other ceiling
    /// could still run out of launches.
    AttemptsCoverTheLoop,
}

impl Relation {
    /// All relations.
    pub const ALL: [Self; 4] = [
        Self::PhaseFailuresAboveStreak,
        Self::ResumesWithinInfra,
        Self::InfraTotalCoversInfra,
        Self::AttemptsCoverTheLoop,
    ];

    /// The account that is held to a bound.
    #[must_use]
    pub const fn account(self) -> Account {
        match self {
            Self::PhaseFailuresAboveStreak => Account::PhaseFailures,
            Self::ResumesWithinInfra => Account::CheckpointResumes,
            Self::InfraTotalCoversInfra => Account::InfraTotal,
            Self::AttemptsCoverTheLoop => Account::Attempts,
        }
    }

    /// The relation in words, without numbers.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::PhaseFailuresAboveStreak => "`phase_failures` must be above `streak`",
            Self::ResumesWithinInfra => "`checkpoint_resumes` must be at most `infra`",
            Self::InfraTotalCoversInfra => "`infra_total` must be at least `infra`",
            Self::AttemptsCoverTheLoop => {
                "`attempts` must be at least 3 + 3 × `phase_failures` + `infra_total`"
            }
        }
    }

    const fn side(self) -> &'static str {
        match self {
            Self::ResumesWithinInfra => "at most",
            Self::PhaseFailuresAboveStreak
            | Self::InfraTotalCoversInfra
            | Self::AttemptsCoverTheLoop => "at least",
        }
    }

    /// The lowest value of [`account`](Self::account) that keeps the relation, or the highest where it bounds from above.
    #[must_use]
    pub const fn bound(self, ceilings: &Ceilings) -> u64 {
        match self {
            Self::PhaseFailuresAboveStreak => ceilings.of(Account::Streak).saturating_add(1),
            Self::ResumesWithinInfra | Self::InfraTotalCoversInfra => ceilings.of(Account::Infra),
            Self::AttemptsCoverTheLoop => ceilings
                .of(Account::PhaseFailures)
                .saturating_mul(3)
                .saturating_add(3)
                .saturating_add(ceilings.of(Account::InfraTotal)),
        }
    }

    /// Whether it holds for these ceilings.
    #[must_use]
    pub const fn holds(self, ceilings: &Ceilings) -> bool {
        let (value, bound) = (ceilings.of(self.account()), self.bound(ceilings));
        match self {
            Self::ResumesWithinInfra => value <= bound,
            Self::PhaseFailuresAboveStreak
            | Self::InfraTotalCoversInfra
            | Self::AttemptsCoverTheLoop => value >= bound,
        }
    }
}

/// One reason to refuse a ceiling.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CeilingFault {
    /// Zero would gate before the first step.
    #[error(
        "`0` is no ceiling for `{account}`: it would be exhausted before anything ran; use 1 to {}",
        .account.hard_max()
    )]
    Zero {
        /// Whose ceiling.
        account: Account,
    },
    /// Above the hard maximum.
    #[error(
        "`{asked}` is too high a ceiling for `{account}`: nothing is unlimited; use at most {}",
        .account.hard_max()
    )]
    OverHardMax {
        /// Whose ceiling.
        account: Account,
        /// The refused value.
        asked: u64,
    },
    /// Named more than once.
    #[error("`{account}` is given more than one ceiling: name it once")]
    Repeated {
        /// Whose ceiling.
        account: Account,
    },
    /// Two ceilings that do not fit together.
    #[error(
        "`{value}` does not fit as the ceiling of `{}`: {}; use {} {bound}",
        .relation.account(), .relation.words(), .relation.side()
    )]
    Mismatch {
        /// What does not hold.
        relation: Relation,
        /// The value of the account that is held to the bound.
        value: u64,
        /// The nearest value that would do.
        bound: u64,
    },
    /// A running mission's ceiling only goes down.
    #[error(
        "`{asked}` does not tighten `{account}`, whose ceiling is {ceiling}: a running mission's ceilings only go down; \
         use a lower number, or grant the account once it is exhausted"
    )]
    NotTighter {
        /// Whose ceiling.
        account: Account,
        /// The refused value.
        asked: u64,
        /// The ceiling as it is.
        ceiling: u64,
    },
}

impl CeilingFault {
    /// A stable code for programs.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Zero { .. } => "zero_ceiling",
            Self::OverHardMax { .. } => "over_hard_max",
            Self::Repeated { .. } => "repeated_account",
            Self::Mismatch { .. } => "mismatched_ceilings",
            Self::NotTighter { .. } => "not_tighter",
        }
    }
}

/// Every reason to refuse a set of ceilings; at least one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", joined(.0))]
// INVARIANT: not empty.
pub struct CeilingFaults(Vec<CeilingFault>);

impl CeilingFaults {
    pub(crate) fn of(faults: Vec<CeilingFault>) -> Result<(), Self> {
        if faults.is_empty() {
            return Ok(());
        }
        Err(Self(faults))
    }

    /// The faults: each account's own first, then those between accounts.
    #[must_use]
    pub fn as_slice(&self) -> &[CeilingFault] {
        &self.0
    }
}

fn joined(faults: &[CeilingFault]) -> String {
    let words: Vec<String> = faults.iter().map(ToString::to_string).collect();
    words.join("\n")
}
