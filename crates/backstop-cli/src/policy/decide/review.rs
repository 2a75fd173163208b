//! `review`: a bounded review loop, replayed from its steps. The rules are in the review crate.

use backstop_engine::review::{
    Bounds, BoundsDraft, Loop, Policy, Ready, Receipt, Slot, StateKind, Step, StopReason,
};
use backstop_engine::vocab::{Digest, Operator};
use serde::{Deserialize, Serialize};

use super::Ask;
use super::answer::Refused;

/// `review`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Replay {
    bounds: Option<BoundsDraft>,
    policy: Option<Policy>,
    pin: Digest,
    steps: Vec<Step>,
}

#[derive(Serialize)]
pub(super) struct Reviewed {
    state: StateKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    slot: Option<Slot>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<StopReason>,
    receipt: Receipt,
    budget_line: String,
    route_lines: Vec<String>,
}

impl Ask for Replay {
    type Ok = Reviewed;
    fn judge(self) -> Result<Reviewed, Refused> {
        let bounds = Bounds::try_from(self.bounds.unwrap_or_default())?;
        let ready = Ready::open(bounds, self.policy.unwrap_or_default(), self.pin);
        let mut state = Loop::from(ready);
        for (index, step) in self.steps.into_iter().enumerate() {
            let name = step.kind().name();
            // Who asks says that the person who signed a `ratify` answered. The capability lives for this step and
            // reaches this loop alone: no mission is open here, so no gate of one can be answered this way.
            state = state
                .take(step, Operator::attest)
                .map_err(|why| Refused::new(why.code(), &why).at_step(index, name))?;
        }
        Ok(reviewed(&state))
    }
}

fn reviewed(state: &Loop) -> Reviewed {
    let receipt = state.receipt();
    Reviewed {
        state: state.kind(),
        slot: slot(state),
        reason: reason(state),
        budget_line: receipt.budget_line(),
        route_lines: receipt.route_lines(),
        receipt: receipt.clone(),
    }
}

const fn slot(state: &Loop) -> Option<Slot> {
    match state {
        Loop::Reviewing(reviewing) => Some(*reviewing.slot()),
        Loop::Ready(_)
        | Loop::Repairing(_)
        | Loop::Parked(_)
        | Loop::Stopped(_)
        | Loop::Verified(_) => None,
    }
}

fn reason(state: &Loop) -> Option<StopReason> {
    match state {
        Loop::Stopped(stopped) => Some(stopped.reason().clone()),
        Loop::Ready(_)
        | Loop::Reviewing(_)
        | Loop::Repairing(_)
        | Loop::Parked(_)
        | Loop::Verified(_) => None,
    }
}
