//! All counters of a mission, and the one way to spend: charged before the act, settled after the fact.
//!
//! A meter is a value: every operation answers a new one. It is rebuilt by replay, so it is written but never read.

use serde::Serialize;

use crate::table::Table;
use crate::{Account, CeilingFault, Ceilings};

/// What one account has spent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize)]
pub(crate) struct Row {
    // INVARIANT: never above `total`.
    used: u64,
    // INVARIANT: never goes down.
    total: u64,
    // INVARIANT: at most MAX_GRANTS.
    grants: u8,
}

impl Row {
    /// The one place where anything is added.
    pub(crate) const fn add(&mut self, n: u64) {
        self.used = self.used.saturating_add(n);
        self.total = self.total.saturating_add(n);
    }

    /// Back to zero by the account's own rule; what a grant refilled stays counted.
    pub(crate) const fn clear(&mut self) {
        self.used = 0;
    }

    /// A new scope: back to zero, with its grants.
    pub(crate) const fn start_anew(&mut self) {
        self.used = 0;
        self.grants = 0;
    }

    pub(crate) const fn refill(&mut self, ceiling: u64) {
        self.used = self.used.saturating_sub(ceiling);
        self.grants = self.grants.saturating_add(1);
    }
}

/// All counters of a mission with their ceilings.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[must_use]
pub struct Meter {
    ceilings: Ceilings,
    spent: Table<Row>,
}

/// Proof that something was charged. What may only happen when paid for takes it by value.
///
/// Minted only by [`Meter::charge`] and [`Meter::resume`]: it cannot be written down, cloned, defaulted or read from a file.
#[derive(Debug, PartialEq, Eq, Hash)]
#[must_use]
pub struct Paid {
    // INVARIANT: private, and built only in this file.
    account: Account,
}

impl Paid {
    /// What it was charged to.
    #[must_use]
    pub const fn account(&self) -> Account {
        self.account
    }
}

/// An account with nothing left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[error(
    "`{account}` is exhausted: {} of {} used; an operator can grant `{account}`",
    .account.amount(*.used), .account.amount(*.ceiling)
)]
pub struct Exhausted {
    /// Which.
    pub account: Account,
    /// What is spent, in the account's own unit.
    pub used: u64,
    /// Its ceiling, in the account's own unit.
    pub ceiling: u64,
}

impl Meter {
    /// Nothing spent yet.
    pub fn new(ceilings: Ceilings) -> Self {
        Self {
            ceilings,
            spent: Table::default(),
        }
    }

    /// A meter that stands where a host's own counters stand; for hosts that keep them elsewhere and ask for one
    /// decision at a time. An account that is not named stands at zero, one named twice at the sum.
    pub fn with_used(ceilings: Ceilings, used: &[(Account, u64)]) -> Self {
        let mut meter = Self::new(ceilings);
        for &(account, n) in used {
            meter.row(account).add(n);
        }
        meter
    }

    /// The ceilings as they are now.
    #[must_use]
    pub const fn ceilings(&self) -> &Ceilings {
        &self.ceilings
    }

    /// The account's ceiling as it is now.
    #[must_use]
    pub const fn ceiling(&self, account: Account) -> u64 {
        self.ceilings.of(account)
    }

    /// What is spent of the ceiling: since the start of the scope, the last reset, and less what was granted.
    #[must_use]
    pub const fn used(&self, account: Account) -> u64 {
        self.spent.of(account).used
    }

    /// What was ever spent in the mission. Never goes down: not by a grant, a reset or a new lane.
    #[must_use]
    pub const fn total(&self, account: Account) -> u64 {
        self.spent.of(account).total
    }

    /// How often an operator has refilled the account in its scope.
    #[must_use]
    pub const fn grants(&self, account: Account) -> u8 {
        self.spent.of(account).grants
    }

    /// What is left of the ceiling.
    #[must_use]
    pub const fn remaining(&self, account: Account) -> u64 {
        self.ceiling(account).saturating_sub(self.used(account))
    }

    /// Whether the ceiling is reached. Launches and faults are held to this one predicate.
    #[must_use]
    pub const fn exhausted(&self, account: Account) -> bool {
        self.used(account) >= self.ceiling(account)
    }

    /// The accounts whose ceiling is reached, in the order of [`Account::ALL`].
    pub fn exhausted_accounts(&self) -> impl Iterator<Item = Account> + '_ {
        Account::ALL.into_iter().filter(|a| self.exhausted(*a))
    }

    /// Charges `n` units before the act; the proof is what the act requires.
    ///
    /// Zero counts as one: there is no free proof. What the act turns out to cost beyond that is settled afterwards.
    ///
    /// # Errors
    /// When the account is exhausted already; nothing is charged then.
    pub fn charge(&self, account: Account, n: u64) -> Result<(Self, Paid), Exhausted> {
        if self.exhausted(account) {
            return Err(Exhausted {
                account,
                used: self.used(account),
                ceiling: self.ceiling(account),
            });
        }
        let mut charged = self.clone();
        charged.row(account).add(n.max(1));
        Ok((charged, Paid { account }))
    }

    /// The proof for a launch that resumes after a fault or a wait, which was settled when it happened: nothing more is
    /// charged. `account` is the one it was settled on.
    ///
    /// # Errors
    /// When the account is exhausted, or not one on which faults and waits are settled.
    pub fn resume(&self, account: Account) -> Result<Paid, Exhausted> {
        let settled = matches!(
            account,
            Account::Infra | Account::InfraTotal | Account::QuotaWaits
        );
        if settled && !self.exhausted(account) {
            return Ok(Paid { account });
        }
        Err(Exhausted {
            account,
            used: self.used(account),
            ceiling: self.ceiling(account),
        })
    }

    /// The same with a lower ceiling for one account. Below what is spent, the account is exhausted.
    ///
    /// # Errors
    /// When `n` is zero, or not below the ceiling as it is.
    pub fn tighten(&self, account: Account, n: u64) -> Result<Self, CeilingFault> {
        Ok(Self {
            ceilings: self.ceilings.tighten(account, n)?,
            spent: self.spent,
        })
    }

    pub(crate) const fn row(&mut self, account: Account) -> &mut Row {
        self.spent.of_mut(account)
    }
}
