//! Steps as data, and a loop rebuilt from them. No rule of the loop is here; each step is one call into `states`.

use alloc::boxed::Box;
use alloc::vec::Vec;

use backstop_vocab::{Digest, Note, Operator, Signature, Timestamp};
use serde::{Deserialize, Serialize};

use crate::bounds::{Bounds, Policy};
use crate::finding::Findings;
use crate::refused::{Refused, Rejected};
use crate::review::{Answer, Decision, Repair, Review, Spend};
use crate::states::{Loop, Ready};
use crate::steps::StepKind;

/// What may happen to a loop, as data: `{"begin":{"at":0}}`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Step {
    /// [`Ready::begin`].
    Begin {
        /// When.
        at: Timestamp,
    },
    /// [`crate::Reviewing::record`].
    Record(Box<Review>),
    /// [`crate::Reviewing::abandon`].
    Abandon {
        /// What is known of its spend.
        #[serde(default)]
        spend: Spend,
        /// When.
        at: Timestamp,
    },
    /// [`crate::Repairing::record_repair`].
    RecordRepair(Repair),
    /// [`Ready::record_red`].
    RecordRed {
        /// What is red.
        findings: Findings,
    },
    /// [`Ready::observe`], [`crate::Reviewing::observe`], [`crate::Parked::observe`].
    Observe {
        /// What is there.
        digest: Digest,
        /// When.
        at: Timestamp,
    },
    /// [`crate::Parked::ratify`].
    Ratify(Signed),
}

/// A person's answer as it was recorded: [`Answer`] with its signature.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signed {
    /// What they decided.
    pub decision: Decision,
    /// What they saw.
    pub digest: Digest,
    /// Who.
    pub by: Signature,
    /// What they wrote.
    #[serde(default)]
    pub note: Note,
    /// When.
    pub at: Timestamp,
}

impl Signed {
    fn split(self) -> (Signature, Answer) {
        let Self {
            decision,
            digest,
            by,
            note,
            at,
        } = self;
        let answer = Answer {
            decision,
            digest,
            note,
            at,
        };
        (by, answer)
    }
}

impl Step {
    /// Which step it is.
    #[must_use]
    pub const fn kind(&self) -> StepKind {
        match self {
            Self::Begin { .. } => StepKind::Begin,
            Self::Record(_) => StepKind::Record,
            Self::Abandon { .. } => StepKind::Abandon,
            Self::RecordRepair(_) => StepKind::RecordRepair,
            Self::RecordRed { .. } => StepKind::RecordRed,
            Self::Observe { .. } => StepKind::Observe,
            Self::Ratify(_) => StepKind::Ratify,
        }
    }
}

fn either<A: Into<Loop>, B: Into<Loop>>(next: Result<A, B>) -> Loop {
    next.map_or_else(Into::into, Into::into)
}

fn inert<S>(next: Result<Loop, Rejected<S>>) -> Result<Loop, Refused> {
    next.map_err(|rejected| rejected.why)
}

impl Loop {
    /// The loop after `step`. `attest` is the caller's word that the person who signed a `ratify` step answered:
    /// [`Operator::attest`] where the step was read from a record of answers.
    ///
    /// # Errors
    /// Refused when the step does not fit; the loop is as it was.
    pub fn take(&self, step: Step, attest: fn(Signature) -> Operator) -> Result<Self, Refused> {
        let (state, kind) = (self.kind(), step.kind());
        match (self.clone(), step) {
            (Self::Ready(ready), Step::Begin { at }) => Ok(either(ready.begin(at))),
            (Self::Ready(ready), Step::RecordRed { findings }) => inert(ready.record_red(findings)),
            (Self::Ready(ready), Step::Observe { digest, .. }) => Ok(either(ready.observe(digest))),
            (Self::Reviewing(open), Step::Record(review)) => inert(open.record(*review)),
            (Self::Reviewing(open), Step::Abandon { spend, at }) => {
                Ok(open.abandon(spend, at).into())
            }
            (Self::Reviewing(open), Step::Observe { digest, at }) => {
                Ok(either(open.observe(digest, at)))
            }
            (Self::Repairing(open), Step::RecordRepair(repair)) => {
                inert(open.record_repair(repair))
            }
            (Self::Parked(parked), Step::Observe { digest, .. }) => {
                Ok(either(parked.observe(digest)))
            }
            (Self::Parked(parked), Step::Ratify(signed)) => {
                let (by, answer) = signed.split();
                inert(parked.ratify(&attest(by), answer))
            }
            (
                _,
                Step::Begin { .. }
                | Step::Record(_)
                | Step::Abandon { .. }
                | Step::RecordRepair(_)
                | Step::RecordRed { .. }
                | Step::Observe { .. }
                | Step::Ratify(_),
            ) => Err(Refused::Misfit { state, step: kind }),
        }
    }
}

/// A step that a replay refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedStep {
    /// Its place among the steps, from 0.
    pub index: usize,
    /// Why.
    pub why: Refused,
}

/// Opens a loop and takes the steps in order: where it ends, and the steps that were refused, which changed nothing.
///
/// `attest` is as for [`Loop::take`].
pub fn replay(
    bounds: Bounds,
    policy: Policy,
    pin: Digest,
    steps: impl IntoIterator<Item = Step>,
    attest: fn(Signature) -> Operator,
) -> (Loop, Vec<RefusedStep>) {
    let mut state = Loop::from(Ready::open(bounds, policy, pin));
    let mut refused = Vec::new();
    for (index, step) in steps.into_iter().enumerate() {
        match state.take(step, attest) {
            Ok(next) => state = next,
            Err(why) => refused.push(RefusedStep { index, why }),
        }
    }
    (state, refused)
}
