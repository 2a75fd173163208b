//! The five stages, in their order, and the kinds of phase.

use alloc::string::String;
use core::fmt;
use core::str::FromStr;

use serde::{Deserialize, Serialize};

/// A name that is none of the accepted ones.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{found}` is not a {what}: use one of {accepted}")]
pub struct NameError {
    what: &'static str,
    found: String,
    accepted: &'static str,
}

impl NameError {
    /// An error for `found` where a `what` was wanted; `accepted` lists the names, with commas.
    #[must_use]
    pub fn new(what: &'static str, found: &str, accepted: &'static str) -> Self {
        Self {
            what,
            found: found.chars().take(64).collect(),
            accepted,
        }
    }
}

/// Where a lane is: Define → Plan → Code → Validate → Ship.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// What is wanted, and what is there already.
    Define,
    /// How it will be done.
    Plan,
    /// The work itself.
    Code,
    /// Whether the work holds.
    Validate,
    /// Handing the work over.
    Ship,
}

impl Stage {
    /// All stages, in order.
    pub const ALL: [Self; 5] = [
        Self::Define,
        Self::Plan,
        Self::Code,
        Self::Validate,
        Self::Ship,
    ];

    /// The stage after this one; none after Ship.
    #[must_use]
    pub const fn next(self) -> Option<Self> {
        match self {
            Self::Define => Some(Self::Plan),
            Self::Plan => Some(Self::Code),
            Self::Code => Some(Self::Validate),
            Self::Validate => Some(Self::Ship),
            Self::Ship => None,
        }
    }

    /// The name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Define => "define",
            Self::Plan => "plan",
            Self::Code => "code",
            Self::Validate => "validate",
            Self::Ship => "ship",
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Stage {
    type Err = NameError;
    fn from_str(text: &str) -> Result<Self, NameError> {
        let wanted = text.trim();
        let named = Self::ALL
            .into_iter()
            .find(|stage| stage.name().eq_ignore_ascii_case(wanted));
        named.ok_or_else(|| NameError::new("stage", text, "define, plan, code, validate, ship"))
    }
}

/// The known kinds of phase; shared by plans and the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PhaseKind {
    /// Finds something out; ends in a report and leaves the tree alone.
    Research,
    /// Changes the tree; must be checked.
    Coding,
    /// Measures; ends in numbers and the commands that made them.
    Benchmark,
    /// Looks for weaknesses; ends in a report and leaves the tree alone.
    SecurityScan,
}

impl PhaseKind {
    /// All kinds.
    pub const ALL: [Self; 4] = [
        Self::Research,
        Self::Coding,
        Self::Benchmark,
        Self::SecurityScan,
    ];

    /// The name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Research => "research",
            Self::Coding => "coding",
            Self::Benchmark => "benchmark",
            Self::SecurityScan => "security_scan",
        }
    }
}

impl fmt::Display for PhaseKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    const _: () = assert!(Stage::Ship.next().is_none());

    #[test]
    fn the_stages_follow_each_other_to_ship() {
        let walked = core::iter::successors(Some(Stage::Define), |stage| stage.next());
        assert!(walked.eq(Stage::ALL));
    }

    #[test]
    fn names_on_the_wire_are_the_printed_names() {
        for stage in Stage::ALL {
            assert_eq!(
                serde_json::to_string(&stage).unwrap(),
                format!("\"{stage}\"")
            );
            assert_eq!(
                format!(" {} ", stage.name().to_uppercase()).parse(),
                Ok(stage)
            );
        }
        for kind in PhaseKind::ALL {
            assert_eq!(serde_json::to_string(&kind).unwrap(), format!("\"{kind}\""));
        }
    }

    #[test]
    fn a_bad_stage_shows_the_input_and_the_accepted_names() {
        let words = format!("{}", "deploy".parse::<Stage>().unwrap_err());
        assert_eq!(
            words,
            "`deploy` is not a stage: use one of define, plan, code, validate, ship"
        );
    }
}
