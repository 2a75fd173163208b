//! An operator's refill: each named account by its own ceiling, a finite number of times. Who granted and why is the
//! engine's to record.

use alloc::string::String;
use alloc::vec::Vec;

use crate::{Account, Meter};

/// How often one account may be refilled in its scope.
pub const MAX_GRANTS: u8 = 3;

const _: () = assert!(MAX_GRANTS == 3);

/// A grant that does not fit; nothing was refilled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GrantRefused {
    /// It names no account.
    #[error("a grant that names no account refills nothing: name the exhausted ones")]
    Empty,
    /// It names accounts more than once.
    #[error(
        "{} named more than once: a grant refills an account once",
        listed(accounts)
    )]
    Repeated {
        /// Those accounts.
        accounts: Vec<Account>,
    },
    /// It names accounts that were refilled as often as may be.
    #[error(
        "{} granted {MAX_GRANTS} times already, which is the most: abort, or start a new mission with a higher ceiling",
        listed(accounts)
    )]
    Spent {
        /// All those accounts.
        accounts: Vec<Account>,
    },
}

fn listed(accounts: &[Account]) -> String {
    let names: Vec<String> = accounts.iter().map(|a| alloc::format!("`{a}`")).collect();
    names.join(", ")
}

impl Meter {
    /// Refills each named account by its own ceiling: all of them or none. What is spent beyond the ceiling stays.
    ///
    /// # Errors
    /// When no account is named, one is named twice, or one has had [`MAX_GRANTS`] in its scope.
    pub fn grant(&self, accounts: &[Account]) -> Result<Self, GrantRefused> {
        if accounts.is_empty() {
            return Err(GrantRefused::Empty);
        }
        let times = |account| accounts.iter().filter(|a| **a == account).count();
        let named = |wanted: &dyn Fn(Account) -> bool| -> Vec<Account> {
            Account::ALL.into_iter().filter(|a| wanted(*a)).collect()
        };
        let repeated = named(&|a| times(a) > 1);
        if !repeated.is_empty() {
            return Err(GrantRefused::Repeated { accounts: repeated });
        }
        let spent = named(&|a| times(a) > 0 && self.grants(a) >= MAX_GRANTS);
        if !spent.is_empty() {
            return Err(GrantRefused::Spent { accounts: spent });
        }
        let mut granted = self.clone();
        for &account in accounts {
            let ceiling = granted.ceiling(account);
            granted.row(account).refill(ceiling);
        }
        Ok(granted)
    }
}
