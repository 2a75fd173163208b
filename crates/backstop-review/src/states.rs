//! The states of a loop, each consumed by the step that leaves it. Which steps fit is tabled in `steps`.

use alloc::boxed::Box;
use alloc::vec::Vec;

use backstop_vocab::{Digest, Operator, Span, Timestamp};
use serde::Serialize;

use crate::bounds::{Bounds, Policy, Require};
use crate::finding::Findings;
use crate::judge::{Judgement, judge};
use crate::receipt::Receipt;
use crate::refused::{Refused, Rejected};
use crate::review::{Answer, Decision, Repair, Review, Spend};
use crate::route::Missing;
use crate::steps::StateKind;
use crate::stop::{Ceiling, Inconclusive, StopReason};

/// One review's turn, and what it may spend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub struct Slot {
    number: u32,
    tool_calls: u64,
    deadline: Timestamp,
    // Up to when its time is charged.
    charged_to: Timestamp,
    // INVARIANT: at most MOST_INCOMPLETE.
    incomplete: u8,
}

impl Slot {
    /// Its number, from 1: what a review of it must name.
    #[must_use]
    pub const fn number(&self) -> u32 {
        self.number
    }

    /// Tool calls that it may spend without passing the bound.
    #[must_use]
    pub const fn tool_calls(&self) -> u64 {
        self.tool_calls
    }

    /// Until when it may run without passing the bound.
    #[must_use]
    pub const fn deadline(&self) -> Timestamp {
        self.deadline
    }

    fn take_time(&mut self, now: Timestamp) -> Span {
        let time = now.since(self.charged_to);
        self.charged_to = now;
        time
    }
}

macro_rules! state {
    ($(#[$doc:meta])* $name:ident { $($field:ident: $kind:ty),* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
        pub struct $name {
            receipt: Box<Receipt>,
            $($field: $kind,)*
        }

        impl $name {
            /// What the loop ran so far.
            #[must_use]
            pub fn receipt(&self) -> &Receipt {
                &self.receipt
            }
        }

        impl From<$name> for Loop {
            fn from(state: $name) -> Self {
                Self::$name(state)
            }
        }
    };
}

state!(
    /// A slot may be opened.
    Ready {}
);
state!(
    /// A slot is open.
    Reviewing { slot: Slot }
);
state!(
    /// The findings of [`Receipt::findings`] are being repaired.
    Repairing {}
);
state!(
    /// The pin was judged clean and awaits a person.
    Parked {}
);
state!(
    /// Over, without success. Nothing leads out of it; a new loop may be opened.
    Stopped { reason: StopReason }
);
state!(
    /// Over, with success: the pin was judged clean, and ratified where that is required.
    // INVARIANT: made by a clean judgement or by ratifying one, nowhere else.
    Verified {}
);

/// A loop in any of its states, for storage. Rebuilt by [`crate::replay`], never deserialised.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Loop {
    /// A slot may be opened.
    Ready(Ready),
    /// A slot is open.
    Reviewing(Reviewing),
    /// Findings are being repaired.
    Repairing(Repairing),
    /// Clean, awaiting a person.
    Parked(Parked),
    /// Over, without success.
    Stopped(Stopped),
    /// Over, with success.
    Verified(Verified),
}

impl Loop {
    /// Where the loop is.
    #[must_use]
    pub const fn kind(&self) -> StateKind {
        match self {
            Self::Ready(_) => StateKind::Ready,
            Self::Reviewing(_) => StateKind::Reviewing,
            Self::Repairing(_) => StateKind::Repairing,
            Self::Parked(_) => StateKind::Parked,
            Self::Stopped(_) => StateKind::Stopped,
            Self::Verified(_) => StateKind::Verified,
        }
    }

    /// What the loop ran so far.
    #[must_use]
    pub fn receipt(&self) -> &Receipt {
        match self {
            Self::Ready(state) => state.receipt(),
            Self::Reviewing(state) => state.receipt(),
            Self::Repairing(state) => state.receipt(),
            Self::Parked(state) => state.receipt(),
            Self::Stopped(state) => state.receipt(),
            Self::Verified(state) => state.receipt(),
        }
    }
}

fn stop(receipt: Box<Receipt>, reason: StopReason) -> Stopped {
    Stopped { receipt, reason }
}

fn stale(receipt: Box<Receipt>, found: Digest) -> Stopped {
    let pin = receipt.pin();
    stop(receipt, StopReason::StaleInput { pin, found })
}

fn ceilings(receipt: Box<Receipt>, passed: Vec<Ceiling>) -> Stopped {
    let verdict = None;
    stop(receipt, StopReason::Ceilings { passed, verdict })
}

impl Ready {
    /// A new loop over what has the digest `pin`.
    #[must_use]
    pub fn open(bounds: Bounds, policy: Policy, pin: Digest) -> Self {
        Self {
            receipt: Receipt::open(bounds, policy, pin),
        }
    }

    /// Opens the next slot with all that is left of the bounds.
    ///
    /// # Errors
    /// The loop stops, before anything is spent, when iterations, time or tool calls are used up.
    pub fn begin(self, at: Timestamp) -> Result<Reviewing, Stopped> {
        let mut receipt = self.receipt;
        let reached = receipt.reached();
        if !reached.is_empty() {
            return Err(ceilings(receipt, reached));
        }
        let now = receipt.tick(at);
        let (bounds, elapsed) = (*receipt.bounds(), receipt.elapsed());
        let left = bounds
            .wall_clock()
            .as_millis()
            .saturating_sub(elapsed.as_millis());
        let slot = Slot {
            number: receipt.spend_iteration(),
            tool_calls: bounds.tool_calls().saturating_sub(receipt.tool_calls()),
            deadline: now.after(Span::from_millis(left)),
            charged_to: now,
            incomplete: 0,
        };
        Ok(Reviewing { receipt, slot })
    }

    /// A host check is red before any review of the pin: to be repaired, without spending an iteration.
    ///
    /// Stops where no slot could review the repair, or at [`Bounds::MOST_RED_CHECKS`].
    ///
    /// # Errors
    /// Refused without findings.
    pub fn record_red(self, findings: Findings) -> Result<Loop, Rejected<Self>> {
        if findings.is_empty() {
            let (state, why) = (self, Refused::NoFindings);
            return Err(Rejected { state, why });
        }
        let mut receipt = self.receipt;
        let mut reached = receipt.reached();
        if receipt.is_last_red_check() {
            reached.push(Ceiling::RedChecks);
        }
        receipt.red(findings);
        if !reached.is_empty() {
            return Ok(ceilings(receipt, reached).into());
        }
        Ok(Repairing { receipt }.into())
    }

    /// The host looked: `found` is there now.
    ///
    /// # Errors
    /// The loop stops when that is not the pin.
    pub fn observe(self, found: Digest) -> Result<Self, Stopped> {
        if found == self.receipt.pin() {
            return Ok(self);
        }
        Err(stale(self.receipt, found))
    }
}

impl Reviewing {
    /// The open slot.
    #[must_use]
    pub const fn slot(&self) -> &Slot {
        &self.slot
    }

    /// A review came in.
    ///
    /// Its spend is charged whatever becomes of it. Then, in this order: incomplete receipts leave the slot open, at
    /// most [`Bounds::MOST_INCOMPLETE`] times; a digest other than the pin, a missing verifier, a shared session, a
    /// bound that was passed and a verdict that contradicts its findings stop the loop; repairs that are needed at the
    /// last iteration stop it too, and otherwise lead to [`Repairing`]; a clean verdict leads to [`Parked`] or [`Verified`].
    ///
    /// # Errors
    /// Refused when it answers another slot.
    pub fn record(mut self, review: Review) -> Result<Loop, Rejected<Self>> {
        let (submitted, open) = (review.iteration, self.slot.number);
        if submitted != open {
            let (state, why) = (self, Refused::Iteration { submitted, open });
            return Err(Rejected { state, why });
        }
        let now = self.receipt.tick(review.at);
        self.receipt.charge(review.spend, self.slot.take_time(now));
        let routes = match review.routes(self.receipt.last_implementer()) {
            Ok(routes) => routes,
            Err(missing) => return Ok(self.incomplete(missing)),
        };
        if review.digest != self.receipt.pin() {
            return Ok(stale(self.receipt, review.digest).into());
        }
        let judged = review.judged(routes);
        let mut receipt = self.receipt;
        receipt.reviewed(&judged);
        Ok(match judge(&receipt, &judged) {
            Judgement::Stop(reason) => stop(receipt, reason).into(),
            Judgement::Repair => Repairing { receipt }.into(),
            Judgement::Clean => clean(receipt),
        })
    }

    /// The slot crashed: its time and what is known of its spend are charged, and it is closed.
    ///
    /// A crash costs one second at least. Whether its iteration is spent is [`Policy::abandoned_slot`].
    #[must_use]
    pub fn abandon(mut self, spend: Spend, at: Timestamp) -> Ready {
        let now = self.receipt.tick(at);
        self.receipt.abandon(spend, self.slot.take_time(now));
        Ready {
            receipt: self.receipt,
        }
    }

    /// The host looked while the slot was open: `found` is there now.
    ///
    /// # Errors
    /// The loop stops when that is not the pin; the slot's time up to `at` is charged.
    pub fn observe(mut self, found: Digest, at: Timestamp) -> Result<Self, Stopped> {
        if found == self.receipt.pin() {
            return Ok(self);
        }
        let now = self.receipt.tick(at);
        self.receipt
            .charge(Spend::default(), self.slot.take_time(now));
        Err(stale(self.receipt, found))
    }

    fn incomplete(mut self, missing: Vec<Missing>) -> Loop {
        self.receipt.incomplete(self.slot.number, missing.clone());
        if self.slot.incomplete >= Bounds::MOST_INCOMPLETE {
            let why = Inconclusive::Incomplete { missing };
            return stop(self.receipt, StopReason::Inconclusive(why)).into();
        }
        self.slot.incomplete = self.slot.incomplete.saturating_add(1);
        self.into()
    }
}

fn clean(receipt: Box<Receipt>) -> Loop {
    match receipt.policy().human_ratification {
        Require::Required => Parked { receipt }.into(),
        Require::NotRequired => Verified { receipt }.into(),
    }
}

impl Repairing {
    /// A repair came in. The pin moves to what it left; stalled repairs in a row stop the loop at their bound.
    ///
    /// A repair that started from something else than the pin stops the loop: nothing explains how that came to be.
    ///
    /// # Errors
    /// Refused when its receipt is incomplete.
    pub fn record_repair(self, repair: Repair) -> Result<Loop, Rejected<Self>> {
        let implementer = match repair.implementer.complete() {
            Ok(route) => route,
            Err(missing) => {
                let (state, why) = (self, Refused::IncompleteReceipt { missing });
                return Err(Rejected { state, why });
            }
        };
        let mut receipt = self.receipt;
        if repair.from != receipt.pin() {
            return Ok(stale(receipt, repair.from).into());
        }
        let bound = receipt.bounds().stalled_repairs();
        Ok(
            match receipt.repaired(repair.to, implementer, repair.paths) {
                Some((last, in_a_row)) if in_a_row >= bound => {
                    stop(receipt, StopReason::Stalled { last, in_a_row }).into()
                }
                Some(_) | None => Ready { receipt }.into(),
            },
        )
    }
}

impl Parked {
    /// A person answered: an approval verifies, a decline stops.
    ///
    /// # Errors
    /// Refused when the answer is for another digest than the pin, or is a decline without a note.
    pub fn ratify(self, by: &Operator, answer: Answer) -> Result<Loop, Rejected<Self>> {
        if let Some(why) = self.unfit(&answer) {
            return Err(Rejected { state: self, why });
        }
        let mut receipt = self.receipt;
        let (by, decision, note) = (by.signature().clone(), answer.decision, answer.note.clone());
        receipt.answered(by.clone(), answer);
        Ok(match decision {
            Decision::Approve => Verified { receipt }.into(),
            Decision::Decline => stop(receipt, StopReason::Declined { by, note }).into(),
        })
    }

    /// The host looked: `found` is there now.
    ///
    /// # Errors
    /// The loop stops when that is not the pin.
    pub fn observe(self, found: Digest) -> Result<Self, Stopped> {
        if found == self.receipt.pin() {
            return Ok(self);
        }
        Err(stale(self.receipt, found))
    }

    fn unfit(&self, answer: &Answer) -> Option<Refused> {
        let (given, pin) = (answer.digest, self.receipt.pin());
        if given != pin {
            return Some(Refused::NotThePin { given, pin });
        }
        match answer.decision {
            Decision::Decline if answer.note.is_blank() => Some(Refused::NoNote),
            Decision::Decline | Decision::Approve => None,
        }
    }
}

impl Stopped {
    /// Why.
    #[must_use]
    pub const fn reason(&self) -> &StopReason {
        &self.reason
    }
}
