//! What an operator does to a board: approve, override, reject, have judged again, waive.
//! Each takes the operator's capability, so no machine result comes by this way.

use alloc::format;

use backstop_vocab::{Note, Operator, RoleName};

use crate::artifact::Judged;
use crate::board::{Board, Entry, Run};
use crate::evidence::{Approval, Evidence, Rejection};
use crate::judge::same_attempt;
use crate::names::{GateKind, Trigger};
use crate::refusal::Refusal;
use crate::spec::GateSpec;
use crate::state::{By, State, StateKind};

impl Board {
    /// An operator passes a pending approve gate.
    ///
    /// # Errors
    /// When the gate is of another kind or not pending; when the answer is for another attempt or digest.
    pub fn approve(
        &self,
        operator: &Operator,
        approval: &Approval,
        judged: &Judged,
    ) -> Result<Self, Refusal> {
        let (spec, state) = self.answered(approval, judged)?;
        let gate = spec.id().clone();
        match (spec.kind(), state) {
            (GateKind::Verify | GateKind::Review, _) => Err(Refusal::WrongEvidence {
                gate,
                kind: spec.kind(),
                evidence: Evidence::Approval,
            }),
            (GateKind::Approve, StateKind::Pending) => {
                let by = By::Operator(operator.signature().clone());
                Ok(self.with(spec, |entry| entry.state = passed(by, approval)))
            }
            (GateKind::Approve, state) => Err(Refusal::NotPending { gate, state }),
        }
    }

    /// An operator opens a gate of any kind against its failure or its silence.
    ///
    /// # Errors
    /// Without a note; when the gate is a pending approve gate (that is an approval); when the answer is for
    /// another attempt or digest.
    pub fn overrule(
        &self,
        operator: &Operator,
        approval: &Approval,
        judged: &Judged,
    ) -> Result<Self, Refusal> {
        let (spec, state) = self.answered(approval, judged)?;
        let gate = spec.id().clone();
        if spec.kind() == GateKind::Approve && state == StateKind::Pending {
            return Err(Refusal::NothingToOverride { gate });
        }
        if approval.note.is_blank() {
            return Err(Refusal::NoteNeeded { gate });
        }
        let state = State::Overridden {
            by: operator.signature().clone(),
            note: approval.note.clone(),
            digest: approval.digest,
            attempt: approval.target.attempt,
        };
        Ok(self.with(spec, |entry| entry.state = state))
    }

    /// An operator fails a gate that holds, of any kind, by its `on_fail`.
    ///
    /// # Errors
    /// Without a note; when the gate is open, or failed for good already.
    pub fn reject(
        &self,
        operator: &Operator,
        rejection: &Rejection,
        judged: &Judged,
    ) -> Result<Self, Refusal> {
        let (spec, entry) = self.at(&rejection.gate)?;
        let gate = spec.id().clone();
        let state = entry.effective(spec, judged);
        if rejection.note.is_blank() {
            return Err(Refusal::NoteNeeded { gate });
        }
        match state {
            StateKind::Pending | StateKind::Retrying => {
                let words = format!("rejected by {}: {}", operator.signature(), rejection.note);
                Ok(self.fail(spec, &words))
            }
            StateKind::Blocked | StateKind::Escalated => Err(Refusal::Fixed { gate, state }),
            StateKind::Passed | StateKind::Overridden | StateKind::Waived => {
                Err(Refusal::AlreadyOpen { gate, state })
            }
        }
    }

    /// An operator has `roles` judged again: their blocked and escalated gates become pending.
    ///
    /// # Errors
    /// When the board was made for other specs.
    pub fn retry(&self, _operator: &Operator, roles: &[RoleName]) -> Result<Self, Refusal> {
        self.own()?;
        let mut next = self.clone();
        for spec in self.specs.gates_of(|role| roles.contains(role)) {
            let state = next.state(spec.id()).kind();
            if matches!(state, StateKind::Blocked | StateKind::Escalated) {
                next = next.with(spec, |entry| {
                    entry.state = State::Pending;
                    entry.retries = 0;
                });
            }
        }
        Ok(next)
    }

    /// An operator started the mission at a later stage: the gates of the skipped `roles` are waived.
    ///
    /// # Errors
    /// When such a gate is not as new: nothing that has begun can be skipped.
    pub fn waive(
        &self,
        operator: &Operator,
        roles: &[RoleName],
        note: &Note,
    ) -> Result<Self, Refusal> {
        self.own()?;
        let mut next = self.clone();
        for spec in self.specs.gates_of(|role| roles.contains(role)) {
            if self.generation() > 1 || self.entry(spec) != Entry::default() {
                let gate = spec.id().clone();
                return Err(Refusal::Begun { gate });
            }
            let (by, note) = (operator.signature().clone(), note.clone());
            next = next.with(spec, |entry| entry.state = State::Waived { by, note });
        }
        Ok(next)
    }

    /// The gate that an operator opens, and its state; refused when it is open, or when they were shown another
    /// attempt or digest.
    fn answered(
        &self,
        approval: &Approval,
        judged: &Judged,
    ) -> Result<(&GateSpec, StateKind), Refusal> {
        let (spec, entry) = self.at(&approval.target.gate)?;
        let gate = spec.id().clone();
        let state = entry.effective(spec, judged);
        if !state.holds() {
            return Err(Refusal::AlreadyOpen { gate, state });
        }
        if let (Trigger::RoleComplete, Run::Completed(due)) = (spec.on(), entry.run) {
            same_attempt(&approval.target, due)?;
        }
        let given = approval.digest;
        match spec.subject(judged) {
            None => Err(Refusal::Unmeasured { gate }),
            Some(now) if now != given => Err(Refusal::OtherDigest { gate, given, now }),
            Some(_) => Ok((spec, state)),
        }
    }
}

fn passed(by: By, approval: &Approval) -> State {
    State::Passed {
        by,
        digest: approval.digest,
        attempt: approval.target.attempt,
    }
}
