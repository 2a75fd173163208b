//! What the host saw outranks what the agent said: a claimed success is taken back where the stage's evidence is
//! missing, and nothing is ever made a success. How the host measures is not decided here.

use alloc::vec::Vec;

use backstop_vocab::{PhaseKind, Stage, Text, Visit};
use serde::{Deserialize, Serialize};

use crate::{Artifact, FailCause, Status};

/// A path as shown to people: at most 1 KiB.
pub type TouchedPath = Text<1024>;

/// What the host measured, or that it could not. Not measured is not zero.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measurement<T> {
    /// Not looked at, or not readable.
    #[default]
    Unmeasured,
    /// Seen.
    Found(T),
}

/// The tree at the end of the attempt against the tree at the visit's entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TreeChange {
    /// The same digest.
    Unchanged,
    /// Another digest.
    Changed,
}

/// Whether a reviewer or verifier gave a strict verdict, whichever it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ruling {
    /// A strict verdict.
    Strict,
    /// None, or several that contradict each other.
    Missing,
}

/// What the host itself has to do: at Validate run every check it was given, at Ship take the ship step and see it done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HostWork {
    /// All of it, whatever came out. Where there is nothing to do, it is done.
    Done,
    /// Not all of it.
    NotDone,
}

/// What the host measured of an attempt. Only what the stage needs has to be measured.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Evidence {
    /// Whether the tree changed.
    pub tree: Measurement<TreeChange>,
    /// What was handed over.
    pub artifact: Measurement<Artifact>,
    /// The protected paths that were changed; empty where none was.
    pub protected: Measurement<Vec<TouchedPath>>,
    /// What a reviewer or verifier ruled.
    pub ruling: Measurement<Ruling>,
    /// What the host had to do.
    pub host_work: Measurement<HostWork>,
}

/// Whether it is the lane's first visit to the stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VisitKind {
    /// The first.
    First,
    /// A later one.
    Later,
}

impl VisitKind {
    /// The kind of this visit.
    #[must_use]
    pub const fn of(visit: Visit) -> Self {
        if visit.number() == Visit::FIRST.number() {
            return Self::First;
        }
        Self::Later
    }
}

/// Whether a coding phase may end its first visit to Code with the tree as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EmptyWork {
    /// It is no work.
    Refused,
    /// The plan's `allow_empty`.
    Allowed,
}

/// Where an attempt ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Post {
    /// The stage.
    pub stage: Stage,
    /// The kind of the phase.
    pub kind: PhaseKind,
    /// Which visit to the stage.
    pub visit: VisitKind,
    /// Whether no change may do.
    pub empty: EmptyWork,
}

/// The status of an attempt, given what its agent's end was read as and what the host saw.
///
/// Only a claimed success is looked at; any other status passes. What was seen to be wrong outranks what could not be
/// read, a protected path outranks every other fault, and what could not be read makes the end unknown.
#[must_use]
pub fn with_evidence(post: &Post, claimed: Status, evidence: &Evidence) -> Status {
    match claimed {
        Status::Success => judge(*post, evidence),
        Status::Failed { .. }
        | Status::Unknown
        | Status::RateLimited { .. }
        | Status::Ambiguous
        | Status::Interrupted { .. }
        | Status::ResourceKilled
        | Status::AgentUnavailable { .. }
        | Status::IdleTimeout
        | Status::OverBudget { .. }
        | Status::Asked { .. }
        | Status::Cancelled => claimed,
    }
}

/// How one thing that a stage needs stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Need {
    Met,
    Unread,
    Failed(FailCause),
}

fn judge(post: Post, evidence: &Evidence) -> Status {
    match post.stage {
        Stage::Define | Stage::Plan => sum(&[artifact(evidence)]),
        Stage::Code => sum(&code(post, evidence)),
        Stage::Validate => sum(&[ruling(evidence), host_work(evidence)]),
        Stage::Ship => sum(&[host_work(evidence)]),
    }
}

/// The first failure, else unknown where something is unread, else success.
fn sum(needs: &[Need]) -> Status {
    let failed = needs.iter().find_map(|need| match need {
        Need::Failed(cause) => Some(*cause),
        Need::Met | Need::Unread => None,
    });
    match failed {
        Some(cause) => Status::Failed { cause },
        None if needs.contains(&Need::Unread) => Status::Unknown,
        None => Status::Success,
    }
}

fn code(post: Post, evidence: &Evidence) -> [Need; 3] {
    let protected = protected(evidence);
    match post.kind {
        PhaseKind::Coding => [protected, work(post, evidence), Need::Met],
        PhaseKind::Research | PhaseKind::SecurityScan => {
            [protected, untouched(evidence), artifact(evidence)]
        }
        PhaseKind::Benchmark => [protected, numbers(evidence), Need::Met],
    }
}

fn protected(evidence: &Evidence) -> Need {
    match &evidence.protected {
        Measurement::Unmeasured => Need::Unread,
        Measurement::Found(paths) if paths.is_empty() => Need::Met,
        Measurement::Found(_) => Need::Failed(FailCause::ProtectedPath),
    }
}

fn work(post: Post, evidence: &Evidence) -> Need {
    match (post.visit, post.empty, evidence.tree) {
        (VisitKind::Later, _, _)
        | (VisitKind::First, EmptyWork::Allowed, _)
        | (VisitKind::First, EmptyWork::Refused, Measurement::Found(TreeChange::Changed)) => {
            Need::Met
        }
        (VisitKind::First, EmptyWork::Refused, Measurement::Found(TreeChange::Unchanged)) => {
            Need::Failed(FailCause::NoWork)
        }
        (VisitKind::First, EmptyWork::Refused, Measurement::Unmeasured) => Need::Unread,
    }
}

const fn untouched(evidence: &Evidence) -> Need {
    match evidence.tree {
        Measurement::Unmeasured => Need::Unread,
        Measurement::Found(TreeChange::Unchanged) => Need::Met,
        Measurement::Found(TreeChange::Changed) => Need::Failed(FailCause::ChangedTree),
    }
}

const fn artifact(evidence: &Evidence) -> Need {
    match evidence.artifact {
        Measurement::Unmeasured => Need::Unread,
        Measurement::Found(Artifact::Missing) => Need::Failed(FailCause::NoArtifact),
        Measurement::Found(Artifact::Text | Artifact::Numbers | Artifact::Sarif { .. }) => {
            Need::Met
        }
    }
}

const fn numbers(evidence: &Evidence) -> Need {
    match evidence.artifact {
        Measurement::Unmeasured => Need::Unread,
        Measurement::Found(Artifact::Missing | Artifact::Text | Artifact::Sarif { .. }) => {
            Need::Failed(FailCause::NoArtifact)
        }
        Measurement::Found(Artifact::Numbers) => Need::Met,
    }
}

const fn ruling(evidence: &Evidence) -> Need {
    match evidence.ruling {
        Measurement::Unmeasured => Need::Unread,
        Measurement::Found(Ruling::Missing) => Need::Failed(FailCause::NoVerdict),
        Measurement::Found(Ruling::Strict) => Need::Met,
    }
}

/// No cause of failure names work that the host left undone: it is not the agent's fault.
const fn host_work(evidence: &Evidence) -> Need {
    match evidence.host_work {
        Measurement::Unmeasured | Measurement::Found(HostWork::NotDone) => Need::Unread,
        Measurement::Found(HostWork::Done) => Need::Met,
    }
}
