//! The facts that move a mission, in the past tense. What the journal keeps.

use alloc::boxed::Box;
use alloc::vec::Vec;

use backstop_gates::{NoVerdict, Verdict};
use backstop_mode::Account;
use backstop_outcome::{Artifact, Measurement, Status, TouchedPath};
use backstop_review::{Findings, RouteReceipt};
use backstop_vocab::{CommitId, Digest, EffectId, GateId, Note, Signature, Text, Timestamp};
use serde::{Deserialize, Serialize};

use crate::{Charter, Verb};

/// A fact and when it was learned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Event {
    /// When the host learned it. The engine never lets time run backwards.
    pub at: Timestamp,
    /// What happened.
    pub fact: Fact,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fact {
    /// The mission was opened; the first record of a journal and no other.
    Opened(Box<Charter>),
    /// The preflight gave its points.
    PreflightRan(PreflightRan),
    /// An agent's process runs.
    AttemptStarted(AttemptStarted),
    /// An agent named its session, by which it can be resumed.
    SessionOpened(SessionOpened),
    /// An attempt is over, however it ended.
    AttemptEnded(Box<AttemptEnded>),
    /// The host checks are over.
    ChecksRan(ChecksRan),
    /// A wait reached its end.
    WaitEnded {
        /// The wait.
        effect: EffectId,
    },
    /// A verified lane is on the mission branch.
    Landed {
        /// The landing.
        effect: EffectId,
        /// The tree that is on the mission branch now.
        tree: Digest,
    },
    /// A verified lane could not be put on the mission branch.
    LandFailed {
        /// The landing.
        effect: EffectId,
        /// Why, and what to do.
        cause: Text<2048>,
    },
    /// The ship step is over.
    Shipped(Shipped),
    /// A moved base was merged into the mission branch, or could not be.
    BaseMerged(BaseMerged),
    /// A person answered a gate.
    Answered(Answer),
    /// A gate waited longer than it may.
    GateExpired {
        /// The gate.
        gate: GateId,
    },
    /// An operator, or an interrupt of the runner on their behalf, stops the mission.
    StopRequested {
        /// Who.
        by: Signature,
    },
    /// An operator goes on with a parked mission.
    Resumed {
        /// Who.
        by: Signature,
    },
    /// An operator lowered a ceiling.
    Tightened {
        /// Which account.
        account: Account,
        /// The new ceiling, in the account's unit.
        ceiling: u64,
        /// Who.
        by: Signature,
    },
    /// An operator asked to see every Validate: auto becomes supervise.
    Supervised {
        /// Who.
        by: Signature,
    },
}

/// What the preflight found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PreflightRan {
    /// The effect this answers.
    pub effect: EffectId,
    /// Every point that was looked at.
    pub points: Vec<Point>,
    /// The host checks on the base.
    pub base_checks: Vec<CheckResult>,
}

/// One point of the preflight.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// What was looked at, in a word or two.
    pub name: Text<64>,
    /// What was found.
    pub verdict: PointVerdict,
}

/// What a preflight point says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PointVerdict {
    /// It holds; what was seen.
    Held(Text<512>),
    /// It holds, but the operator should know this.
    Warned(Text<2048>),
    /// It does not hold: why, and what to do.
    Failed(Text<2048>),
}

/// A process, told apart from a later one with the same pid by its start time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProcessRef {
    /// The process id.
    pub pid: u32,
    /// Its start time in clock ticks after boot (Linux, `/proc/<pid>/stat` field 22).
    pub started: u64,
}

/// An agent's process runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AttemptStarted {
    /// The launch this belongs to.
    pub effect: EffectId,
    /// The leader of its process group.
    pub process: ProcessRef,
}

/// The name an agent gives to a conversation that it can take up again.
pub type SessionId = Text<256>;

/// An agent named its session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionOpened {
    /// The launch this belongs to.
    pub effect: EffectId,
    /// The session.
    pub session: SessionId,
}

/// What an attempt cost in money.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cost {
    /// What the agent reported, in millionths of a US dollar.
    Reported(u64),
    /// A model worked and the agent does not say for how much: the assumed cost is charged.
    Unreported,
    /// No model worked.
    NoModelWork,
}

/// What an attempt used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    /// Tool calls.
    pub tool_calls: u64,
    /// Uncached input tokens plus output tokens.
    pub tokens: u64,
    /// Money.
    pub cost: Cost,
    /// Run time in milliseconds.
    pub active_ms: u64,
}

/// The head of a lane's branch.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// The commit.
    pub commit: CommitId,
    /// Its tree.
    pub tree: Digest,
    /// How many commits it has above the mission's base; none when that could not be counted.
    pub commits: Option<u64>,
}

/// The artifact that an attempt left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArtifactSeen {
    /// It could not be read.
    Unmeasured,
    /// There is none, or it is blank.
    Blank,
    /// There is one.
    Kept {
        /// Its content, kept by the host.
        digest: Digest,
        /// What it is.
        form: Artifact,
        /// Its beginning.
        head: Text<4096>,
    },
}

impl ArtifactSeen {
    /// As the outcome policy weighs it.
    pub(crate) const fn measured(&self) -> Measurement<Artifact> {
        match self {
            Self::Unmeasured => Measurement::Unmeasured,
            Self::Blank => Measurement::Found(Artifact::Missing),
            Self::Kept { form, .. } => Measurement::Found(*form),
        }
    }
}

/// What a role that judges said, read strictly.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ruling {
    /// Its verdict, and what it finds open.
    Verdict {
        /// The verdict.
        verdict: Verdict,
        /// What is open.
        findings: Findings,
    },
    /// There is no verdict in it.
    None(NoVerdict),
}

/// An attempt is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AttemptEnded {
    /// The launch this answers.
    pub effect: EffectId,
    /// How it ended as far as the agent and its process say; the host's evidence below outranks it.
    pub status: Status,
    /// What it used.
    pub usage: Usage,
    /// Its session, where it named one.
    pub session: Option<SessionId>,
    /// The head of the lane's branch after it, an implementer's uncommitted work included; none when it could not be read.
    pub head: Option<Head>,
    /// What it left to read.
    pub artifact: ArtifactSeen,
    /// What it ruled, of a role that judges; none when that could not be read.
    pub ruling: Option<Ruling>,
    /// Who it was, as far as the agent reports it.
    pub route: RouteReceipt,
    /// Protected paths that it changed; where they are very many, the last entry says how many more.
    pub protected: Vec<TouchedPath>,
    /// Its transcript, kept by the host under this digest.
    pub transcript: Option<Digest>,
    /// The end of what it said, for a reader; decides nothing.
    pub words: Text<2048>,
}

/// The host checks are over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChecksRan {
    /// The check run this answers.
    pub effect: EffectId,
    /// The tree they ran on.
    pub tree: Digest,
    /// One result for each check that was asked for.
    pub results: Vec<CheckResult>,
}

/// What one check said.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckResult {
    /// The check.
    pub name: Text<64>,
    /// What it said.
    pub verdict: CheckVerdict,
    /// Its output, kept by the host under this digest.
    pub log: Option<Digest>,
    /// Run time in milliseconds.
    pub active_ms: u64,
}

/// What a check's process did.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckVerdict {
    /// Exit status 0.
    Passed,
    /// Any other exit status.
    Failed {
        /// The exit status, or 128 plus the signal.
        exit: i32,
    },
    /// It ran longer than it may; as red as a failure.
    TimedOut,
    /// It could not be run; says nothing about the work.
    NotRun {
        /// Why.
        cause: Text<512>,
    },
}

/// The ship step is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shipped {
    /// The shipment this answers.
    pub effect: EffectId,
    /// What became of it.
    pub outcome: ShipOutcome,
}

/// What became of a ship step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShipOutcome {
    /// The host did it and saw it done; where the work is now.
    Done {
        /// Such as the name of the branch.
        place: Text<512>,
    },
    /// It did not work.
    Failed {
        /// Why, and what to do.
        cause: Text<2048>,
    },
    /// The base is no longer where the approval saw it.
    BaseMoved {
        /// Where it is now.
        now: CommitId,
    },
}

/// A moved base met the mission branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BaseMerged {
    /// The merge this answers.
    pub effect: EffectId,
    /// What became of it.
    pub outcome: MergeOutcome,
}

/// What became of a merge of the base.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MergeOutcome {
    /// The new head of the mission branch.
    Merged {
        /// The base it contains now.
        base: CommitId,
        /// The merge.
        head: Head,
    },
    /// The two sides contradict each other, or the merge failed.
    Conflict {
        /// The paths, or the reason.
        cause: Text<2048>,
    },
}

/// A person's answer to a gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The gate that was shown to them.
    pub gate: GateId,
    /// The digest that was shown to them, where the gate has one.
    pub digest: Option<Digest>,
    /// What they chose.
    pub verb: Verb,
    /// The accounts to refill, for a grant.
    pub accounts: Vec<Account>,
    /// What they wrote. It decides nothing.
    pub note: Option<Note>,
    /// Who.
    pub by: Signature,
}
