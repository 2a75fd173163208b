//! When a stage stops for a person, and what follows a judged Validate. Faults, held roles and exhausted accounts
//! other than these gate elsewhere.

use alloc::collections::BTreeSet;
use core::fmt;

use backstop_vocab::Stage;
use serde::{Deserialize, Serialize};

use crate::{Account, Meter, Mode};

/// Why a stage gates by mode or ceiling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Nothing ships without a person, in either mode.
    ShipAlways,
    /// `phase_failures` is exhausted, in either mode.
    PhaseCeiling,
    /// In supervise a person looks at every Validate.
    Supervised,
    /// In auto, `streak` is exhausted.
    StreakCeiling,
}

impl Reason {
    /// All reasons, in the order in which they are listed.
    pub const ALL: [Self; 4] = [
        Self::ShipAlways,
        Self::PhaseCeiling,
        Self::Supervised,
        Self::StreakCeiling,
    ];

    /// The name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ShipAlways => "ship_always",
            Self::PhaseCeiling => "phase_ceiling",
            Self::Supervised => "supervised",
            Self::StreakCeiling => "streak_ceiling",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A set of reasons, in the order of [`Reason::ALL`]; on the wire a list. It gates when it is not empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Reasons(BTreeSet<Reason>);

impl Reasons {
    /// Whether nothing gates.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether this is one of the reasons.
    #[must_use]
    pub fn contains(&self, reason: Reason) -> bool {
        self.0.contains(&reason)
    }

    /// The reasons in order.
    pub fn iter(&self) -> impl Iterator<Item = Reason> + '_ {
        self.0.iter().copied()
    }
}

impl FromIterator<Reason> for Reasons {
    fn from_iter<I: IntoIterator<Item = Reason>>(reasons: I) -> Self {
        Self(reasons.into_iter().collect())
    }
}

/// Why this stage gates; empty where it does not. Define, Plan and Code never gate by mode.
#[must_use]
pub fn gate_reasons(mode: Mode, stage: Stage, meter: &Meter) -> Reasons {
    Reason::ALL
        .into_iter()
        .filter(|reason| applies(*reason, mode, stage, meter))
        .collect()
}

fn applies(reason: Reason, mode: Mode, stage: Stage, meter: &Meter) -> bool {
    match (stage, reason) {
        (Stage::Ship, Reason::ShipAlways) => true,
        (Stage::Validate, Reason::PhaseCeiling) => meter.exhausted(Account::PhaseFailures),
        (Stage::Validate, Reason::Supervised) => mode == Mode::Supervise,
        (Stage::Validate, Reason::StreakCeiling) => {
            mode == Mode::Auto && meter.exhausted(Account::Streak)
        }
        (Stage::Define | Stage::Plan | Stage::Code, _)
        | (Stage::Validate, Reason::ShipAlways)
        | (Stage::Ship, Reason::PhaseCeiling | Reason::Supervised | Reason::StreakCeiling) => false,
    }
}

/// Whether a failed stage goes back to Code by itself: in auto, at Validate. A gate outranks it.
#[must_use]
pub const fn should_auto_loop(mode: Mode, stage: Stage) -> bool {
    match stage {
        Stage::Validate => matches!(mode, Mode::Auto),
        Stage::Define | Stage::Plan | Stage::Code | Stage::Ship => false,
    }
}

/// What a Validate visit found, checks and reviewers together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Nothing to repair.
    Clean,
    /// Something to repair; the visit failed.
    RepairsNeeded,
}

/// Where a lane goes after a Validate visit.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Next {
    /// On to Ship.
    Advance,
    /// Back to Code with the findings.
    LoopBack,
    /// To a person, for these reasons.
    Gate(Reasons),
}

/// What follows a Validate visit whose verdict is charged already.
///
/// Repairs needed: a gate where there is a reason, else back to Code. Clean: a gate only for `supervised` and
/// `phase_ceiling`; a streak that has just ended well wakes nobody.
#[must_use]
pub fn after_validate(mode: Mode, verdict: Verdict, meter: &Meter) -> Next {
    let reasons = gate_reasons(mode, Stage::Validate, meter);
    match verdict {
        Verdict::Clean => gate_or(Next::Advance, reasons.iter().filter(|r| holds_clean(*r))),
        Verdict::RepairsNeeded => gate_or(Next::LoopBack, reasons.iter()),
    }
}

const fn holds_clean(reason: Reason) -> bool {
    match reason {
        Reason::PhaseCeiling | Reason::Supervised => true,
        Reason::ShipAlways | Reason::StreakCeiling => false,
    }
}

fn gate_or(otherwise: Next, reasons: impl Iterator<Item = Reason>) -> Next {
    let reasons: Reasons = reasons.collect();
    if reasons.is_empty() {
        return otherwise;
    }
    Next::Gate(reasons)
}
