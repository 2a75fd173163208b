//! What is wrong with gate specs: every fault, with its gate, a stable code and words. No checks here.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use crate::spec::MAX_RETRIES;

/// One reason why a gate cannot be used. Refused values are shown with at most 80 characters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The id is blank.
    #[error("the id is blank: give each gate a name of its own")]
    BlankId,
    /// The id has a form that ids do not have.
    #[error("`{0}` is not a gate id: use 1 to 64 of a-z, 0-9, `.`, `_` and `-`")]
    BadId(String),
    /// An earlier gate has this id.
    #[error("the id `{id}` is taken by gate {first}: give each gate a name of its own")]
    DuplicateId {
        /// The id.
        id: String,
        /// The place of the earlier gate, from 0.
        first: usize,
    },
    /// `role` or `blocks_role` names nobody.
    #[error("`{key}` names the unknown role `{role}`: use one of {known}")]
    UnknownRole {
        /// `role` or `blocks_role`.
        key: &'static str,
        /// The refused name.
        role: String,
        /// The known names, with commas.
        known: String,
    },
    /// A `role_complete` gate holds the role whose completion it waits for.
    #[error(
        "the gate waits for `{0}` to complete and blocks `{0}`: name a later role, or use `on = \"role_start\"`"
    )]
    BlocksItself(String),
    /// Roles wait for each other.
    #[error("the roles wait for each other ({0}): take one of these gates out")]
    Cycle(String),
    /// A `role_start` gate names another role to block.
    #[error(
        "a `role_start` gate blocks its own role and cannot block `{0}`: leave `blocks_role` out"
    )]
    StartBlocksOther(String),
    /// `max_retries` where nobody reads it.
    #[error("`max_retries` is read only with `on_fail = \"retry\"`: leave it out")]
    RetriesUnread,
    /// `max_retries` outside its range.
    #[error("`max_retries` is `{0}`: use 1 to {MAX_RETRIES}, or `on_fail = \"escalate\"` for none")]
    RetriesOutOfRange(u32),
    /// `require_explicit_verdict = false` where nobody reads it.
    #[error("`require_explicit_verdict` is read only with `gate = \"review\"`: leave it out")]
    VerdictUnread,
    /// The artifact kind has a form that kinds do not have.
    #[error("`{0}` is not an artifact kind: use 1 to 64 of a-z, 0-9, `.`, `_` and `-`")]
    BadArtifactKind(String),
    /// No role consumes the artifact.
    #[error("no role consumes the artifact kind `{kind}`: use one of {consumed}, or leave it out")]
    UnreadArtifact {
        /// The refused kind.
        kind: String,
        /// The kinds that some role consumes, with commas.
        consumed: String,
    },
}

impl Fault {
    /// A stable name for programs.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::BlankId => "blank_id",
            Self::BadId(_) => "bad_id",
            Self::DuplicateId { .. } => "duplicate_id",
            Self::UnknownRole { .. } => "unknown_role",
            Self::BlocksItself(_) => "blocks_itself",
            Self::Cycle(_) => "cycle",
            Self::StartBlocksOther(_) => "start_blocks_other",
            Self::RetriesUnread => "retries_unread",
            Self::RetriesOutOfRange(_) => "retries_out_of_range",
            Self::VerdictUnread => "verdict_unread",
            Self::BadArtifactKind(_) => "bad_artifact_kind",
            Self::UnreadArtifact { .. } => "unread_artifact",
        }
    }
}

/// A fault and the gate it was found in. Serialises as `{index, id, code, message}`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("gate {index} (`{id}`): {fault}")]
pub struct SpecFault {
    /// The place of the gate in the list, from 0.
    pub index: usize,
    /// Its id as it was written, at most 80 characters.
    pub id: String,
    /// What is wrong.
    pub fault: Fault,
}

impl Serialize for SpecFault {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("SpecFault", 4)?;
        fields.serialize_field("index", &self.index)?;
        fields.serialize_field("id", &self.id)?;
        fields.serialize_field("code", self.fault.code())?;
        fields.serialize_field("message", &self.fault.to_string())?;
        fields.end()
    }
}

/// Everything that is wrong with a list of gates, in the order of the list; never empty.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
// INVARIANT: at least one fault.
pub struct SpecFaults(Vec<SpecFault>);

impl SpecFaults {
    /// The faults as an error; `Ok` when there are none.
    pub(crate) fn none_in(faults: Vec<SpecFault>) -> Result<(), Self> {
        if faults.is_empty() {
            return Ok(());
        }
        Err(Self(faults))
    }

    /// All of them.
    #[must_use]
    pub fn all(&self) -> &[SpecFault] {
        &self.0
    }
}

impl fmt::Display for SpecFaults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, fault) in self.0.iter().enumerate() {
            if n > 0 {
                f.write_str("; ")?;
            }
            write!(f, "{fault}")?;
        }
        Ok(())
    }
}

impl core::error::Error for SpecFaults {}
