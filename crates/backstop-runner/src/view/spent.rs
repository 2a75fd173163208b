//! What was spent, account by account.

use backstop_engine::mode::{Account, Meter};
use serde::Serialize;

/// One account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Spent {
    /// The account.
    pub account: Account,
    /// What counts against the ceiling now.
    pub used: u64,
    /// The ceiling.
    pub ceiling: u64,
    /// What was ever spent; it never goes down.
    pub total: u64,
    /// How often a person refilled it.
    pub grants: u8,
    /// What one unit is.
    pub unit: &'static str,
}

/// Every account, in the order of the accounts.
#[must_use]
pub fn spent(meter: &Meter) -> Vec<Spent> {
    let one = |account: Account| Spent {
        account,
        used: meter.used(account),
        ceiling: meter.ceiling(account),
        total: meter.total(account),
        grants: meter.grants(account),
        unit: account.unit(),
    };
    Account::ALL.into_iter().map(one).collect()
}
