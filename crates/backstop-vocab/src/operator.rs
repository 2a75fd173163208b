//! Who answered: the record of it, and the capability to answer.

use core::fmt;

use serde::{Deserialize, Serialize};

use crate::Text;

/// An operator's name, as they gave it: at most 128 bytes.
pub type OperatorName = Text<128>;

/// The way an answer came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Channel {
    /// A command on the operator's own machine.
    Cli,
    /// The terminal that shows the run.
    Terminal,
    /// The page that `backstop serve` shows.
    Web,
    /// The HTTP interface.
    Http,
}

/// The record of who answered and how. A record proves nothing and opens nothing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signature {
    /// Who.
    pub name: OperatorName,
    /// By which way.
    pub channel: Channel,
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name.as_str())
    }
}

/// The capability to answer a gate: a person stands behind it.
///
/// It cannot be built from a literal, deserialised, defaulted or cloned, so no agent's output turns into one by itself.
/// Its one constructor is called only at the edge's answer door and where the engine reads an
/// answer back from the journal; `cargo xtask tidy` refuses any other caller.
#[derive(Debug, PartialEq, Eq)]
pub struct Operator {
    // INVARIANT: private, without Deserialize, Clone or Default.
    signature: Signature,
}

impl Operator {
    /// The caller attests that this person answered at the door.
    #[must_use]
    pub const fn attest(signature: Signature) -> Self {
        Self { signature }
    }

    /// The record to keep.
    #[must_use]
    pub const fn signature(&self) -> &Signature {
        &self.signature
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn a_signature_is_printed_as_the_name() {
        let name: OperatorName = "Ada L.".parse().unwrap();
        let channel = Channel::Cli;
        assert_eq!(Signature { name, channel }.to_string(), "Ada L.");
    }
}
