//! What a mission asks of the world, in the imperative. Never journalled: effects follow from facts.

use backstop_vocab::{CommitId, Digest, EffectId, Phase, Timestamp};
use serde::Serialize;

use crate::{Gate, Launch, Order, Role, ShipBy};

/// A request, to be answered by exactly one fact.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Look whether the mission can be worked on.
    Preflight,
    /// Run an agent once.
    Launch(Launch),
    /// Run the host checks of a lane.
    RunChecks(CheckRun),
    /// Wake the mission at a moment.
    Wait(Wait),
    /// Put a verified lane on the mission branch.
    Land(Landing),
    /// Ask a person.
    Ask(Gate),
    /// Hand the work over.
    Ship(Shipment),
    /// Merge a moved base into the mission branch.
    MergeBase(Merge),
    /// Stop what runs for this effect; answered together with it.
    Halt(EffectId),
}

impl Effect {
    /// What is launched, where this is a launch.
    #[must_use]
    pub const fn launched(&self) -> Option<&Order> {
        if let Self::Launch(launch) = self {
            return Some(launch.order());
        }
        None
    }
}

/// What checks are run for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckFor {
    /// A Validate visit.
    Visit,
    /// A verify gate before this role.
    Start(Role),
    /// A verify gate after this role.
    Completion(Role),
}

/// Checks to run on one commit of one lane.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct CheckRun {
    /// The lane's phase.
    pub phase: Phase,
    /// The commit to check out.
    pub commit: CommitId,
    /// Its tree: what the result speaks of.
    pub tree: Digest,
    /// What for.
    pub purpose: CheckFor,
}

/// Why a mission waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitCause {
    /// A provider's limit, until the reset that it named.
    LimitReset,
    /// A provider's limit without a known reset.
    LimitBackoff,
    /// A fault from outside that passes by itself.
    FaultBackoff,
    /// A host check that could not run.
    CheckBackoff,
}

/// A moment to wake at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub struct Wait {
    /// The moment.
    pub until: Timestamp,
    /// Why.
    pub cause: WaitCause,
}

/// A verified lane to be put on the mission branch.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Landing {
    /// The lane's phase.
    pub phase: Phase,
    /// Its head.
    pub commit: CommitId,
    /// The tree that was judged.
    pub tree: Digest,
}

/// An approved digest to be handed over.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Shipment {
    /// The head of the mission branch.
    pub commit: CommitId,
    /// The approved tree.
    pub tree: Digest,
    /// The base that the approval saw.
    pub base: CommitId,
    /// By which way.
    pub by: ShipBy,
}

/// A base that moved, to be merged into the mission branch.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Merge {
    /// Where the base is now.
    pub base: CommitId,
    /// The head of the mission branch.
    pub head: CommitId,
}
