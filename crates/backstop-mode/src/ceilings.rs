//! The ceilings of a mission: checked when it opens, then only tightened. What was spent is in `meter`.

use alloc::vec::Vec;
use core::fmt;

use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::table::Table;
use crate::{Account, CeilingFault, CeilingFaults, Relation};

/// One finite ceiling for each account.
///
/// On the wire `{"opened":{"streak":3,…},"tightened":{"streak":2}}`: what the mission was opened with, held to every
/// check of [`Ceilings::new`], and what was tightened since, held only to be lower and not zero, because tightening
/// may break the relations. `tightened` is left out when empty; an account left out of `opened` has its default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Frozen", into = "Frozen")]
pub struct Ceilings {
    // INVARIANT: each from 1 to its hard maximum, all relations hold.
    opened: Table<u64>,
    // INVARIANT: each from 1 to the opened one.
    now: Table<u64>,
}

const _: () = {
    let mut rest = Account::ALL.as_slice();
    while let [account, others @ ..] = rest {
        let value = Ceilings::DEFAULT.of(*account);
        assert!(1 <= value && value <= account.hard_max());
        rest = others;
    }
    let mut rest = Relation::ALL.as_slice();
    while let [relation, others @ ..] = rest {
        assert!(relation.holds(&Ceilings::DEFAULT));
        rest = others;
    }
};

impl Ceilings {
    /// The ceilings where nobody sets others.
    pub const DEFAULT: Self = Self {
        opened: Table::DEFAULT,
        now: Table::DEFAULT,
    };

    /// The defaults with these in their place.
    ///
    /// # Errors
    /// All faults at once: zero, above the hard maximum, named twice, and each [`Relation`] that does not hold.
    pub fn new(asked: &[(Account, u64)]) -> Result<Self, CeilingFaults> {
        let mut values = Table::DEFAULT;
        let mut faults = Vec::new();
        let mut seen = Vec::new();
        for &(account, n) in asked {
            faults.extend(fault_of(account, n));
            if seen.contains(&account) {
                faults.push(CeilingFault::Repeated { account });
            }
            seen.push(account);
            *values.of_mut(account) = n;
        }
        let ceilings = Self {
            opened: values,
            now: values,
        };
        faults.extend(Relation::ALL.iter().filter_map(|r| broken(*r, &ceilings)));
        CeilingFaults::of(faults).map(|()| ceilings)
    }

    /// The account's ceiling now, in the account's own unit.
    #[must_use]
    pub const fn of(&self, account: Account) -> u64 {
        *self.now.of(account)
    }

    /// The ceiling that the mission was opened with.
    #[must_use]
    pub const fn opened(&self, account: Account) -> u64 {
        *self.opened.of(account)
    }

    /// What an attempt that did model work is charged where its agent reports no cost and configures none: the cost
    /// ceiling over the attempts ceiling, both as opened. In millionths of a US dollar; at least one, so that it binds.
    #[must_use]
    pub const fn assumed_cost(&self) -> u64 {
        let attempts = self.opened(Account::Attempts);
        match self.opened(Account::Cost).checked_div(attempts) {
            None | Some(0) => 1,
            Some(share) => share,
        }
    }

    /// The same with a lower ceiling for one account. Relations between accounts are not checked again.
    ///
    /// # Errors
    /// When `n` is zero, or not below the ceiling as it is.
    pub fn tighten(&self, account: Account, n: u64) -> Result<Self, CeilingFault> {
        let ceiling = self.of(account);
        if n == 0 {
            return Err(CeilingFault::Zero { account });
        }
        if n >= ceiling {
            return Err(CeilingFault::NotTighter {
                account,
                asked: n,
                ceiling,
            });
        }
        let mut tighter = *self;
        *tighter.now.of_mut(account) = n;
        Ok(tighter)
    }
}

fn fault_of(account: Account, n: u64) -> Option<CeilingFault> {
    if n == 0 {
        return Some(CeilingFault::Zero { account });
    }
    (n > account.hard_max()).then_some(CeilingFault::OverHardMax { account, asked: n })
}

fn broken(relation: Relation, ceilings: &Ceilings) -> Option<CeilingFault> {
    (!relation.holds(ceilings)).then(|| CeilingFault::Mismatch {
        relation,
        value: ceilings.of(relation.account()),
        bound: relation.bound(ceilings),
    })
}

impl Default for Ceilings {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Ceilings as a file or a caller asks for them: a map from an account's name to a number, in any order, each at most
/// once. Unknown names and `null` are refused; the numbers are checked by [`Ceilings::try_from`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct CeilingDraft(Table<Option<u64>>);

impl CeilingDraft {
    /// What is asked for, in the order of [`Account::ALL`].
    pub fn iter(&self) -> impl Iterator<Item = (Account, u64)> + '_ {
        let row = |account| self.0.of(account).map(|n| (account, n));
        Account::ALL.into_iter().filter_map(row)
    }

    fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }
}

impl Serialize for CeilingDraft {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for CeilingDraft {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(DraftVisitor)
    }
}

/// Reads a map and nothing else: a derived struct would take a list by position too.
struct DraftVisitor;

impl<'de> Visitor<'de> for DraftVisitor {
    type Value = CeilingDraft;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map from account to ceiling")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<CeilingDraft, A::Error> {
        let mut draft = CeilingDraft::default();
        while let Some((account, n)) = map.next_entry::<Account, u64>()? {
            if draft.0.of_mut(account).replace(n).is_some() {
                return Err(A::Error::custom(CeilingFault::Repeated { account }));
            }
        }
        Ok(draft)
    }
}

impl TryFrom<CeilingDraft> for Ceilings {
    type Error = CeilingFaults;
    fn try_from(draft: CeilingDraft) -> Result<Self, CeilingFaults> {
        Self::new(&draft.iter().collect::<Vec<_>>())
    }
}

/// [`Ceilings`] on the wire.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Frozen {
    opened: CeilingDraft,
    #[serde(default, skip_serializing_if = "CeilingDraft::is_empty")]
    tightened: CeilingDraft,
}

impl TryFrom<Frozen> for Ceilings {
    type Error = CeilingFaults;
    fn try_from(frozen: Frozen) -> Result<Self, CeilingFaults> {
        let mut ceilings = Self::try_from(frozen.opened)?;
        let mut faults = Vec::new();
        for (account, n) in frozen.tightened.iter() {
            match ceilings.tighten(account, n) {
                Ok(tighter) => ceilings = tighter,
                Err(fault) => faults.push(fault),
            }
        }
        CeilingFaults::of(faults).map(|()| ceilings)
    }
}

impl From<Ceilings> for Frozen {
    fn from(ceilings: Ceilings) -> Self {
        let lowered = |account| {
            let (now, opened) = (ceilings.of(account), ceilings.opened(account));
            (now != opened).then_some(now)
        };
        Self {
            opened: CeilingDraft(Table::fill(|account| Some(ceilings.opened(account)))),
            tightened: CeilingDraft(Table::fill(lowered)),
        }
    }
}
