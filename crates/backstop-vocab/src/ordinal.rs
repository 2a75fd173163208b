//! Counters that start at 1, and effect ids.

use core::fmt;
use core::num::NonZeroU32;

use serde::{Deserialize, Serialize};

/// Zero, where counting starts at 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{what} 0 does not exist: counting starts at 1")]
pub struct OrdinalError {
    what: &'static str,
}

macro_rules! ordinal {
    ($(#[$doc:meta])* $name:ident, $what:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(NonZeroU32);

        impl $name {
            /// The first.
            pub const FIRST: Self = Self(NonZeroU32::MIN);

            /// The number, from 1.
            #[must_use]
            pub const fn number(self) -> u32 {
                self.0.get()
            }

            /// The one after this; the last number that can be told stays.
            #[must_use]
            pub const fn next(self) -> Self {
                Self(self.0.saturating_add(1))
            }
        }

        impl TryFrom<u32> for $name {
            type Error = OrdinalError;
            fn try_from(number: u32) -> Result<Self, OrdinalError> {
                NonZeroU32::new(number).map(Self).ok_or(OrdinalError { what: $what })
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}", self.0)
            }
        }
    };
}

ordinal!(
    /// The place of a phase in its plan, from 1.
    Phase,
    "phase"
);
ordinal!(
    /// One entry of a lane into a stage, from 1 for each stage.
    Visit,
    "visit"
);
ordinal!(
    /// One launch of one agent within a visit, from 1 for each visit.
    Attempt,
    "attempt"
);

/// The name of an effect: dense numbers from 0, given by the engine, each answered exactly once.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct EffectId(u64);

impl EffectId {
    /// The effect with this number.
    #[must_use]
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The number.
    #[must_use]
    pub const fn number(self) -> u64 {
        self.0
    }

    /// The id after this.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl fmt::Display for EffectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "e{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counting_starts_at_one() {
        assert_eq!(Visit::FIRST.number(), 1);
        assert_eq!(Visit::FIRST.next(), Visit::try_from(2).unwrap());
        assert!(Attempt::try_from(0).is_err());
        assert!(serde_json::from_str::<Phase>("0").is_err());
    }

    #[test]
    fn an_effect_is_printed_with_its_number() {
        let id = EffectId::new(6).next();
        assert_eq!(id.number(), 7);
        assert_eq!(alloc::format!("{id}"), "e7");
    }
}
