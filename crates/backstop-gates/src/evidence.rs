//! What gates are judged on: the host's evidence and an operator's decisions. Verdicts have a file of their own.

use core::fmt;

use backstop_vocab::{Attempt, Digest, GateId, Note, Text};
use serde::{Deserialize, Serialize};

use crate::names::GateKind;

/// The gate that is answered, and the attempt that the answer is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// The gate.
    pub gate: GateId,
    /// The attempt of the gate's role.
    pub attempt: Attempt,
}

/// A kind of evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Evidence {
    /// Commands that the host ran.
    Host,
    /// A role's strict verdict.
    Verdict,
    /// An operator's approval.
    Approval,
}

impl Evidence {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Host, Self::Verdict, Self::Approval];

    /// The kind of gate that this opens.
    #[must_use]
    pub const fn opens(self) -> GateKind {
        match self {
            Self::Host => GateKind::Verify,
            Self::Verdict => GateKind::Review,
            Self::Approval => GateKind::Approve,
        }
    }
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Host => "host evidence",
            Self::Verdict => "a verdict",
            Self::Approval => "an operator's approval",
        })
    }
}

/// Host evidence without a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the command of the host evidence is blank: give the command that was run")]
pub struct HostEvidenceError;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawHostEvidence {
    command: Text<4096>,
    exit_status: i32,
    log: Digest,
}

/// One command that the host ran to its end.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "RawHostEvidence")]
pub struct HostEvidence {
    // INVARIANT: not blank.
    command: Text<4096>,
    exit_status: i32,
    log: Digest,
}

impl HostEvidence {
    /// `command` ended with `exit_status` (0 is green) and wrote the log with this digest.
    ///
    /// # Errors
    /// When the command is blank.
    pub fn new(
        command: Text<4096>,
        exit_status: i32,
        log: Digest,
    ) -> Result<Self, HostEvidenceError> {
        if command.is_blank() {
            return Err(HostEvidenceError);
        }
        Ok(Self {
            command,
            exit_status,
            log,
        })
    }

    /// The command.
    #[must_use]
    pub const fn command(&self) -> &Text<4096> {
        &self.command
    }

    /// How it ended.
    #[must_use]
    pub const fn exit_status(&self) -> i32 {
        self.exit_status
    }

    /// The digest of what it wrote.
    #[must_use]
    pub const fn log(&self) -> &Digest {
        &self.log
    }

    /// Whether it ended with 0.
    #[must_use]
    pub const fn is_green(&self) -> bool {
        self.exit_status == 0
    }
}

impl TryFrom<RawHostEvidence> for HostEvidence {
    type Error = HostEvidenceError;
    fn try_from(raw: RawHostEvidence) -> Result<Self, HostEvidenceError> {
        Self::new(raw.command, raw.exit_status, raw.log)
    }
}

/// An operator's yes, for one gate, one attempt and one digest.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Approval {
    /// What is answered.
    pub target: Target,
    /// The digest that the operator was shown.
    pub digest: Digest,
    /// What they wrote; must not be blank where it overrides.
    #[serde(default)]
    pub note: Note,
}

/// An operator's no.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rejection {
    /// The gate.
    pub gate: GateId,
    /// Why; must not be blank.
    pub note: Note,
}
