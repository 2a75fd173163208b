//! Names of things: 1 to 64 of `a-z 0-9 . _ -`, lower-cased once when parsed.

use alloc::borrow::ToOwned;
use alloc::string::String;
use core::fmt;
use core::str::FromStr;

use serde::{Deserialize, Serialize};

/// The longest id, in characters.
const LONGEST: usize = 64;

/// An id that does not have the right form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IdError {
    /// Nothing but white space.
    #[error("a {what} id is blank: give it 1 to 64 of a-z, 0-9, `.`, `_` and `-`")]
    Blank {
        /// What the id would have named.
        what: &'static str,
    },
    /// More than 64 characters.
    #[error("{what} id `{value}` has {length} characters: use at most 64")]
    TooLong {
        /// What the id would have named.
        what: &'static str,
        /// The refused text.
        value: String,
        /// Its length in characters.
        length: usize,
    },
    /// A character outside `a-z 0-9 . _ -`.
    #[error("{what} id `{value}` contains {found:?}: use only a-z, 0-9, `.`, `_` and `-`")]
    Character {
        /// What the id would have named.
        what: &'static str,
        /// The refused text.
        value: String,
        /// The first character that is not allowed.
        found: char,
    },
}

fn parse(what: &'static str, text: &str) -> Result<String, IdError> {
    if crate::is_blank(text) {
        return Err(IdError::Blank { what });
    }
    let length = text.chars().count();
    if length > LONGEST {
        let value = text.chars().take(LONGEST).collect();
        return Err(IdError::TooLong {
            what,
            value,
            length,
        });
    }
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    match text.chars().find(|c| !allowed(*c)) {
        Some(found) => Err(IdError::Character {
            what,
            value: text.to_owned(),
            found,
        }),
        None => Ok(text.to_ascii_lowercase()),
    }
}

fn clip(what: &str, text: &str) -> String {
    let allowed = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let kept: String = text.chars().filter(allowed).take(LONGEST).collect();
    if kept.is_empty() {
        return what.to_owned();
    }
    kept.to_ascii_lowercase()
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $what:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        // INVARIANT: 1 to 64 of a-z 0-9 . _ -
        pub struct $name(String);

        impl $name {
            /// The id that comes nearest to `text`: what an id cannot hold is left out, and what is too long is cut.
            #[must_use]
            pub fn clip(text: &str) -> Self {
                Self(clip($what, text))
            }

            /// The id as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = IdError;
            fn from_str(text: &str) -> Result<Self, IdError> {
                parse($what, text).map(Self)
            }
        }

        impl TryFrom<String> for $name {
            type Error = IdError;
            fn try_from(text: String) -> Result<Self, IdError> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> String {
                id.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

id!(
    /// A mission: one goal, one journal, one ship gate.
    MissionId,
    "mission"
);
id!(
    /// A lane: the run of one phase through the stages.
    LaneId,
    "lane"
);
id!(
    /// A gate: a point that holds until it is opened.
    GateId,
    "gate"
);
id!(
    /// A role: who an agent is in a lane.
    RoleName,
    "role"
);
id!(
    /// A handoff: an artifact from one role to the next.
    HandoffId,
    "handoff"
);

impl GateId {
    /// The id of the `number`th gate of a mission: `g1`, `g2`, …
    #[must_use]
    pub fn numbered(number: u32) -> Self {
        Self(alloc::format!("g{number}"))
    }
}

impl HandoffId {
    /// The id of the `number`th handoff of a lane: `h1`, `h2`, …
    #[must_use]
    pub fn numbered(number: usize) -> Self {
        Self(alloc::format!("h{number}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use proptest::prelude::*;

    #[test]
    fn an_id_is_lower_cased_once() {
        assert_eq!(
            "Scout-1.A_b".parse::<RoleName>().unwrap().as_str(),
            "scout-1.a_b"
        );
    }

    #[test]
    fn blank_long_and_odd_ids_are_refused_with_the_value() {
        assert_eq!("  ".parse::<GateId>(), Err(IdError::Blank { what: "gate" }));
        let long = "a".repeat(65);
        assert!(
            long.parse::<GateId>()
                .unwrap_err()
                .to_string()
                .contains("65 characters")
        );
        assert!("a".repeat(64).parse::<GateId>().is_ok());
        for bad in ["a b", "a/b", "ä", "a\u{200b}", "../x", "a\n"] {
            assert!(
                matches!(bad.parse::<GateId>(), Err(IdError::Character { .. })),
                "{bad:?}"
            );
        }
    }

    #[test]
    fn a_clipped_mission_id_has_the_form_of_an_id() {
        for text in ["", "Fix it!", "\u{202e}", &"x".repeat(100)] {
            let id = MissionId::clip(text);
            assert_eq!(id.as_str().parse::<MissionId>(), Ok(id.clone()));
        }
        assert_eq!(MissionId::clip("Fix-it_1.0!").as_str(), "fix-it_1.0");
        assert_eq!(MissionId::clip(&"x".repeat(100)).as_str(), "x".repeat(64));
    }

    #[test]
    fn a_numbered_gate_id_has_the_form_of_an_id() {
        let id = GateId::numbered(u32::MAX);
        assert_eq!(id.as_str().parse::<GateId>(), Ok(id.clone()));
    }

    #[test]
    fn serde_meets_the_same_checks_as_a_caller() {
        assert!(serde_json::from_str::<LaneId>("\"A1\"").unwrap().as_str() == "a1");
        assert!(serde_json::from_str::<LaneId>("\"a b\"").is_err());
        assert!(serde_json::from_str::<LaneId>("\"\"").is_err());
    }

    proptest! {
        #[test]
        fn parsing_what_was_printed_gives_the_same_id(text in ".{0,80}") {
            if let Ok(id) = text.parse::<MissionId>() {
                prop_assert_eq!(id.to_string().parse::<MissionId>().unwrap(), id.clone());
                prop_assert!((1..=64).contains(&id.as_str().len()));
            }
        }
    }
}
