//! Auto or supervise, and how the name is read. What a mode changes is in `gating`.

use alloc::borrow::ToOwned;
use alloc::string::String;
use core::fmt;
use core::str::FromStr;

use backstop_vocab::NameError;
use serde::{Deserialize, Serialize};

/// How much a run does before it asks.
///
/// Parsing ignores ASCII case and surrounding blanks and takes `supervised` for `supervise`; serde accepts exactly
/// what parsing accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Mode {
    /// Loops back from a failed Validate by itself, within its ceilings; gates at Ship.
    Auto,
    /// Gates at every Validate, and at Ship.
    Supervise,
}

impl Mode {
    /// Both modes.
    pub const ALL: [Self; 2] = [Self::Auto, Self::Supervise];

    /// The name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Supervise => "supervise",
        }
    }

    /// Whether an operator may change a running mission from this mode to `next`: from auto to supervise only.
    #[must_use]
    pub const fn may_become(self, next: Self) -> bool {
        matches!((self, next), (Self::Auto, Self::Supervise))
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Mode {
    type Err = NameError;
    fn from_str(text: &str) -> Result<Self, NameError> {
        let wanted = text.trim();
        if wanted.eq_ignore_ascii_case("supervised") {
            return Ok(Self::Supervise);
        }
        let named = Self::ALL
            .into_iter()
            .find(|mode| mode.name().eq_ignore_ascii_case(wanted));
        named.ok_or_else(|| NameError::new("mode", text, "auto, supervise"))
    }
}

impl TryFrom<String> for Mode {
    type Error = NameError;
    fn try_from(text: String) -> Result<Self, NameError> {
        text.parse()
    }
}

impl From<Mode> for String {
    fn from(mode: Mode) -> String {
        mode.name().to_owned()
    }
}
