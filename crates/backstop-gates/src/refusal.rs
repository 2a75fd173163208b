//! Why an operation on a board is refused. A refused operation has changed nothing.

use backstop_vocab::{Attempt, Digest, GateId, RoleName};

use crate::evidence::Evidence;
use crate::names::GateKind;
use crate::state::StateKind;
use crate::verdict::NoVerdict;

/// An operation that does not fit the board.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The board was made for other specs.
    #[error("this board was made for other gate specs: start a new board for these")]
    OtherSpecs,
    /// No gate has this name.
    #[error("there is no gate `{gate}`: use one that the status shows")]
    UnknownGate {
        /// The name.
        gate: GateId,
    },
    /// Evidence of another kind than the gate's.
    #[error("gate `{gate}` opens by {kind} and does not take {evidence}")]
    WrongEvidence {
        /// The gate.
        gate: GateId,
        /// What opens it.
        kind: GateKind,
        /// What was given.
        evidence: Evidence,
    },
    /// Host evidence without a single command.
    #[error("gate `{gate}` was given no command that ran: give at least one")]
    NoEvidence {
        /// The gate.
        gate: GateId,
    },
    /// The review has no verdict, and the gate requires one.
    #[error("gate `{gate}` has no verdict: {why}")]
    NoVerdict {
        /// The gate.
        gate: GateId,
        /// Why there is none.
        why: NoVerdict,
    },
    /// Blocked or escalated: no machine result changes it.
    #[error("gate `{gate}` is {state}: only an operator changes it")]
    Fixed {
        /// The gate.
        gate: GateId,
        /// Its state.
        state: StateKind,
    },
    /// The gate's role has not completed.
    #[error("gate `{gate}` is not due: `{role}` has not completed")]
    NotDue {
        /// The gate.
        gate: GateId,
        /// Its role.
        role: RoleName,
    },
    /// The answer is about another attempt.
    #[error("gate `{gate}` is due for attempt {due}, not for attempt {given}")]
    OtherAttempt {
        /// The gate.
        gate: GateId,
        /// The attempt that completed.
        due: Attempt,
        /// The attempt of the answer.
        given: Attempt,
    },
    /// What the gate judges was not measured.
    #[error("what gate `{gate}` judges was not measured: give its digest")]
    Unmeasured {
        /// The gate.
        gate: GateId,
    },
    /// The operator was shown something else.
    #[error("gate `{gate}` judges `{now}` now, not `{given}`: look again and answer for that")]
    OtherDigest {
        /// The gate.
        gate: GateId,
        /// What the operator was shown.
        given: Digest,
        /// What is there.
        now: Digest,
    },
    /// The gate is not pending, so its approval would be an override.
    #[error("gate `{gate}` is {state}: override it with a note, or send its role back")]
    NotPending {
        /// The gate.
        gate: GateId,
        /// Its state.
        state: StateKind,
    },
    /// A pending approval is no failure to override.
    #[error("gate `{gate}` waits for an operator's approval: approve it")]
    NothingToOverride {
        /// The gate.
        gate: GateId,
    },
    /// An override or a rejection without a note.
    #[error("gate `{gate}` needs a note that says why")]
    NoteNeeded {
        /// The gate.
        gate: GateId,
    },
    /// The gate is open for this digest already.
    #[error("gate `{gate}` is {state} already")]
    AlreadyOpen {
        /// The gate.
        gate: GateId,
        /// Its state.
        state: StateKind,
    },
    /// A role ended that did not start as this attempt.
    #[error("attempt {attempt} of `{role}` is not running")]
    NotRunning {
        /// The role.
        role: RoleName,
        /// The attempt.
        attempt: Attempt,
    },
    /// The proof of admission is from another board or an earlier generation.
    #[error("this admission of `{role}` is no longer good: ask again")]
    StaleAdmission {
        /// The role.
        role: RoleName,
    },
    /// Only gates of roles that never started, on a new board, are waived.
    #[error("gate `{gate}` cannot be waived: its lane has begun, override it with a note")]
    Begun {
        /// The gate.
        gate: GateId,
    },
}

impl Refusal {
    /// A stable name for programs.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::OtherSpecs => "other_specs",
            Self::UnknownGate { .. } => "unknown_gate",
            Self::WrongEvidence { .. } => "wrong_evidence",
            Self::NoEvidence { .. } => "no_evidence",
            Self::NoVerdict { .. } => "no_verdict",
            Self::Fixed { .. } => "fixed",
            Self::NotDue { .. } => "not_due",
            Self::OtherAttempt { .. } => "other_attempt",
            Self::Unmeasured { .. } => "unmeasured",
            Self::OtherDigest { .. } => "other_digest",
            Self::NotPending { .. } => "not_pending",
            Self::NothingToOverride { .. } => "nothing_to_override",
            Self::NoteNeeded { .. } => "note_needed",
            Self::AlreadyOpen { .. } => "already_open",
            Self::NotRunning { .. } => "not_running",
            Self::StaleAdmission { .. } => "stale_admission",
            Self::Begun { .. } => "begun",
        }
    }
}
