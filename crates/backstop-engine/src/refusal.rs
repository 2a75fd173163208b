//! A fact that does not fit. Refusing is inert: the mission is as it was.

use alloc::string::String;
use alloc::vec::Vec;

use backstop_mode::{Account, CeilingFault, GrantRefused};
use backstop_vocab::{Digest, EffectId, GateId, Signature, Timestamp};

use crate::gate::list;
use crate::{GateKind, Verb};

/// Why a fact was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// A mission opens once.
    #[error("the mission is open already")]
    AlreadyOpen,
    /// Shipped and aborted missions do not move.
    #[error("the mission has ended: start a new one")]
    Ended,
    /// Answered twice, late, or for another attempt.
    #[error("`{0}` is not waited for: it was answered already, or it belongs to another attempt")]
    NotOutstanding(EffectId),
    /// The right effect, but another kind of answer.
    #[error("`{0}` cannot be answered by this fact")]
    WrongAnswer(EffectId),
    /// The answer speaks of another tree.
    #[error("this speaks of `{found}`, and `{asked}` was asked for")]
    OtherTree {
        /// What was asked for.
        asked: Digest,
        /// What the answer speaks of.
        found: Digest,
    },
    /// Silence of a check is no consent.
    #[error("the results are not those of the checks that were asked for: {0}")]
    OtherChecks(String),
    /// A moment that has not come.
    #[error("it is not due before {} ms", .0.as_millis())]
    NotDue(Timestamp),
    /// No gate is open.
    #[error("no gate is open, so there is nothing to answer")]
    NoGate,
    /// Another gate is open.
    #[error(
        "gate `{asked}` is not open; the open gate is `{open}`: look at it with `backstop gate show {open}`"
    )]
    OtherGate {
        /// The gate in the answer.
        asked: GateId,
        /// The open one.
        open: GateId,
    },
    /// Someone was first.
    #[error("gate `{gate}` was answered already: {by} chose {verb}")]
    AlreadyAnswered {
        /// The gate.
        gate: GateId,
        /// Who.
        by: Signature,
        /// What they chose.
        verb: Verb,
    },
    /// The answer covers another digest than the gate.
    #[error(
        "the answer covers `{shown}`, but gate `{gate}` is about `{asked}`: look at it again with `backstop gate show {gate}`"
    )]
    StaleDigest {
        /// The gate.
        gate: GateId,
        /// What the gate is about.
        asked: Digest,
        /// What the answer covers.
        shown: Digest,
    },
    /// An approval must name what it covers.
    #[error("an approval of gate `{gate}` must name the digest it covers: `{asked}`")]
    DigestNeeded {
        /// The gate.
        gate: GateId,
        /// What the gate is about.
        asked: Digest,
    },
    /// The gate does not offer this.
    #[error("a {kind} gate does not offer {verb}: choose one of {}", list(.offered))]
    NotOffered {
        /// Which gate.
        kind: GateKind,
        /// What was chosen.
        verb: Verb,
        /// What may be chosen.
        offered: Vec<Verb>,
    },
    /// This needs words.
    #[error("{verb} needs a note here: say why")]
    NoteNeeded {
        /// What was chosen.
        verb: Verb,
    },
    /// The grant leaves out what the gate is about.
    #[error("the grant leaves {} exhausted: name every exhausted account, or none to refill all of them", accounts(.lacking))]
    GrantFallsShort {
        /// What it leaves out.
        lacking: Vec<Account>,
    },
    /// The gate between roles does not take this.
    #[error(transparent)]
    Board(#[from] backstop_gates::Refusal),
    /// The grant cannot be made.
    #[error(transparent)]
    Grant(#[from] GrantRefused),
    /// The ceiling cannot be set.
    #[error(transparent)]
    Ceiling(#[from] CeilingFault),
    /// Only a parked mission is resumed.
    #[error("the mission is not parked")]
    NotParked,
    /// One stop is enough.
    #[error("the mission is stopping or parked already")]
    AlreadyStopping,
    /// Auto never comes back.
    #[error("the mission is supervised already")]
    AlreadySupervised,
}

fn accounts(accounts: &[Account]) -> String {
    let named = accounts.iter().map(|account| alloc::format!("`{account}`"));
    named.collect::<Vec<_>>().join(", ")
}
