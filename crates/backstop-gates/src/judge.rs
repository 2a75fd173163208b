//! Machine results: host evidence and verdicts, each accepted only by its own kind of gate, when that is due.
//! No operator here, and nothing that opens a gate that only an operator may open.

use alloc::format;

use backstop_vocab::{Attempt, Digest};

use crate::artifact::Judged;
use crate::board::{Board, Run};
use crate::evidence::{Evidence, HostEvidence, Target};
use crate::names::{OnFail, Trigger};
use crate::refusal::Refusal;
use crate::spec::GateSpec;
use crate::state::{By, Reason, State, StateKind};
use crate::verdict::{NoVerdict, Verdict};

/// A machine result that fits: the gate is due for it.
struct Due<'a> {
    spec: &'a GateSpec,
    attempt: Attempt,
    digest: Digest,
}

impl Board {
    /// Judges a verify gate on every host check that ran: all green passes it, a red one fails it.
    ///
    /// # Errors
    /// When the gate is not a verify gate, is not due for that attempt, or only an operator may change it; when
    /// no check ran; when the tree was not measured.
    pub fn verify(
        &self,
        target: &Target,
        checks: &[HostEvidence],
        judged: &Judged,
    ) -> Result<Self, Refusal> {
        let due = self.due(target, Evidence::Host, judged)?;
        if checks.is_empty() {
            let gate = target.gate.clone();
            return Err(Refusal::NoEvidence { gate });
        }
        match checks.iter().find(|check| !check.is_green()) {
            None => Ok(self.pass(&due, By::Host)),
            Some(red) => {
                let words = format!("`{}` exited with {}", red.command(), red.exit_status());
                Ok(self.fail(due.spec, &words))
            }
        }
    }

    /// Judges a review gate on what the role's final message was read as.
    ///
    /// # Errors
    /// As for [`Board::verify`]; and without a verdict where the gate requires one: ask the role again.
    pub fn review(
        &self,
        target: &Target,
        reading: &Result<Verdict, NoVerdict>,
        judged: &Judged,
    ) -> Result<Self, Refusal> {
        let due = self.due(target, Evidence::Verdict, judged)?;
        match reading {
            Ok(Verdict::Pass) => Ok(self.pass(&due, By::Role(due.spec.role().clone()))),
            Ok(Verdict::Fail { reason }) => Ok(self.fail(due.spec, reason.as_str())),
            Err(why) if due.spec.requires_explicit_verdict() => Err(Refusal::NoVerdict {
                gate: target.gate.clone(),
                why: why.clone(),
            }),
            Err(why) => Ok(self.fail(due.spec, &format!("no verdict: {why}"))),
        }
    }

    fn due(
        &self,
        target: &Target,
        evidence: Evidence,
        judged: &Judged,
    ) -> Result<Due<'_>, Refusal> {
        let (spec, entry) = self.at(&target.gate)?;
        let gate = target.gate.clone();
        if spec.kind() != evidence.opens() {
            let kind = spec.kind();
            return Err(Refusal::WrongEvidence {
                gate,
                kind,
                evidence,
            });
        }
        let state = entry.effective(spec, judged);
        match state {
            StateKind::Blocked | StateKind::Escalated => {
                return Err(Refusal::Fixed { gate, state });
            }
            // The operator has seen this digest fail; another failure of it is no news.
            StateKind::Overridden => return Err(Refusal::AlreadyOpen { gate, state }),
            StateKind::Pending | StateKind::Passed | StateKind::Waived | StateKind::Retrying => {}
        }
        if spec.on() == Trigger::RoleComplete {
            let Run::Completed(due) = entry.run else {
                let role = spec.role().clone();
                return Err(Refusal::NotDue { gate, role });
            };
            same_attempt(target, due)?;
        }
        let digest = spec.subject(judged).ok_or(Refusal::Unmeasured { gate })?;
        let attempt = target.attempt;
        Ok(Due {
            spec,
            attempt,
            digest,
        })
    }

    fn pass(&self, due: &Due<'_>, by: By) -> Self {
        self.with(due.spec, |entry| {
            entry.state = State::Passed {
                by,
                digest: due.digest,
                attempt: due.attempt,
            };
        })
    }

    pub(crate) fn fail(&self, spec: &GateSpec, words: &str) -> Self {
        let reason = Reason::clip(words);
        self.with(spec, |entry| match spec.on_fail() {
            OnFail::Retry if entry.retries < spec.max_retries() => {
                entry.retries = entry.retries.saturating_add(1);
                // What has completed is to run again; what is still running is not ended by this.
                if let (Trigger::RoleComplete, Run::Completed(_)) = (spec.on(), entry.run) {
                    entry.run = Run::NotYet;
                }
                entry.state = State::Retrying {
                    n: entry.retries,
                    reason,
                };
            }
            OnFail::Block => entry.state = State::Blocked { reason },
            OnFail::Retry | OnFail::Escalate => entry.state = State::Escalated { reason },
        })
    }
}

pub(crate) fn same_attempt(target: &Target, due: Attempt) -> Result<(), Refusal> {
    if target.attempt == due {
        return Ok(());
    }
    Err(Refusal::OtherAttempt {
        gate: target.gate.clone(),
        due,
        given: target.attempt,
    })
}
