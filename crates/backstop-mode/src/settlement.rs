//! What is counted after the fact, and what takes a counter back to zero. Never refused: what happened has happened.

use backstop_vocab::Stage;
use serde::{Deserialize, Serialize};

use crate::{Account, Meter, Progress, Scope};

/// What an adapter reports as spent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Spend {
    /// Tool calls.
    pub tool_calls: u64,
    /// Uncached input plus output.
    pub tokens: u64,
    /// Millionths of a US dollar.
    pub cost_micro_usd: u64,
    /// Run time in milliseconds; waits are not counted.
    pub active_ms: u64,
}

/// A fact that moves counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Settlement {
    /// An infrastructure fault, of an agent or of a host check that could not run.
    Faulted,
    /// An attempt ended without an infrastructure fault.
    AttemptEndedWithoutFault,
    /// A provider's limit has to be waited out.
    QuotaWaited,
    /// A Validate visit failed.
    RepairsNeeded(Progress),
    /// An operator rejected at Ship.
    ShipRejected,
    /// A preflight failed.
    PreflightFailed,
    /// A preflight passed, or an operator waived it.
    PreflightCleared,
    /// Effort was spent.
    Spent(Spend),
    /// The lane went from one stage to another, which opens a visit. The same stage twice is only a new visit.
    Moved {
        /// The stage it left.
        from: Stage,
        /// The stage it entered.
        to: Stage,
    },
    /// A new visit of the same stage opened.
    VisitOpened,
    /// A new lane opened.
    LaneOpened,
}

const fn place(stage: Stage) -> u8 {
    match stage {
        Stage::Define => 0,
        Stage::Plan => 1,
        Stage::Code => 2,
        Stage::Validate => 3,
        Stage::Ship => 4,
    }
}

const fn is_forward(from: Stage, to: Stage) -> bool {
    place(from) < place(to)
}

/// Whether going from one stage to the other ends a streak: forward, but not from Code to Validate, which is where the
/// streak is judged; never back.
#[must_use]
pub const fn transition_resets_streak(from: Stage, to: Stage) -> bool {
    is_forward(from, to) && !matches!((from, to), (Stage::Code, Stage::Validate))
}

impl Meter {
    /// The meter after this fact.
    pub fn settle(&self, fact: &Settlement) -> Self {
        let mut meter = self.clone();
        match *fact {
            Settlement::Faulted => meter.add_one(&[Account::Infra, Account::InfraTotal]),
            Settlement::AttemptEndedWithoutFault => meter.row(Account::Infra).clear(),
            Settlement::QuotaWaited => meter.add_one(&[Account::QuotaWaits]),
            Settlement::RepairsNeeded(progress) => meter.fail_validate(progress),
            Settlement::ShipRejected => meter.add_one(&[Account::PhaseFailures]),
            Settlement::PreflightFailed => meter.add_one(&[Account::Preflight]),
            Settlement::PreflightCleared => meter.row(Account::Preflight).clear(),
            Settlement::Spent(spend) => meter.spend(spend),
            Settlement::Moved { from, to } => meter.move_on(from, to),
            Settlement::VisitOpened => meter.start_anew(&[Scope::Visit]),
            Settlement::LaneOpened => meter.start_anew(&[Scope::Lane, Scope::Visit]),
        }
        meter
    }

    fn add_one(&mut self, accounts: &[Account]) {
        for account in accounts {
            self.row(*account).add(1);
        }
    }

    fn fail_validate(&mut self, progress: Progress) {
        match progress {
            Progress::Made => self.row(Account::Streak).clear(),
            Progress::None => {}
        }
        self.add_one(&[Account::Streak, Account::PhaseFailures]);
    }

    const fn spend(&mut self, spend: Spend) {
        self.row(Account::ToolCalls).add(spend.tool_calls);
        self.row(Account::Tokens).add(spend.tokens);
        self.row(Account::Cost).add(spend.cost_micro_usd);
        self.row(Account::ActiveTime).add(spend.active_ms);
    }

    fn move_on(&mut self, from: Stage, to: Stage) {
        if from != to {
            self.row(Account::Infra).clear();
        }
        if transition_resets_streak(from, to) {
            self.row(Account::Streak).clear();
        }
        if is_forward(from, to) {
            self.row(Account::QuotaWaits).clear();
        }
        self.start_anew(&[Scope::Visit]);
    }

    fn start_anew(&mut self, scopes: &[Scope]) {
        let over = |account: &Account| scopes.contains(&account.scope());
        for account in Account::ALL.into_iter().filter(over) {
            self.row(account).start_anew();
        }
    }
}
