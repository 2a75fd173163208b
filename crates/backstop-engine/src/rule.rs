//! The rules that can fire. Every transition names those that did.

use backstop_mode::Account;
use serde::Serialize;

use crate::{Reason, ReviewStop, Role, Verb};

/// Why a mission moved as it did. No prose: the edge puts it into words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// The mission was opened.
    Opened,
    /// Every preflight point holds.
    PreflightHeld,
    /// A stage was entered.
    Entered(backstop_vocab::Stage),
    /// A stage has no role that is on.
    PassedThrough(backstop_vocab::Stage),
    /// What the outcome table says of how the attempt ended.
    Outcome(backstop_outcome::Rule),
    /// It is this role's turn.
    TurnOf(Role),
    /// The answer has no verdict: the role is asked again.
    AskedAgain,
    /// A gate that retries sends its role back.
    SentBack(Role),
    /// The reviewer or the verifier passed the work.
    VerdictPass(Role),
    /// The reviewer or the verifier failed the work.
    VerdictFail(Role),
    /// The review loop stopped.
    ReviewStopped(ReviewStop),
    /// The lane enters Code again: what was judged of it before no longer counts.
    NewGeneration,
    /// The release lead left no notes; the ship gate opens all the same.
    NoReleaseNotes,
    /// The host's evidence outranks the agent's claim.
    EvidenceOutranksClaim,
    /// The standing answer to a question.
    DecidesByItself,
    /// A wait began.
    Waits(crate::WaitCause),
    /// A wait ended.
    WaitEnded,
    /// Nothing was configured to check this phase.
    NothingToCheck,
    /// Every check passed.
    ChecksGreen,
    /// A check failed, without progress since the last failure.
    ChecksRedWithoutProgress,
    /// A check failed, with progress since the last failure.
    ChecksRedWithProgress,
    /// A reviewer or verifier failed the work, without progress since the last failure.
    ReviewFailedWithoutProgress,
    /// A reviewer or verifier failed the work, with progress since the last failure.
    ReviewFailedWithProgress,
    /// A check that a gate between roles asked for failed.
    GateChecksRed,
    /// A check could not run.
    CheckNotRun,
    /// Validate sends the lane back to Code.
    LoopedBack,
    /// An account cannot be charged.
    Exhausted(Account),
    /// A gate opened for this reason.
    Gated(Reason),
    /// A gate was answered.
    Answered(Verb),
    /// An operator takes what the lane's branch was moved to for its work.
    TakenOver,
    /// A gate waited longer than it may.
    Expired,
    /// A verified lane landed.
    Landed,
    /// The next lane began.
    LaneOpened,
    /// The work was handed over.
    Shipped,
    /// The ship step failed.
    ShipFailed,
    /// The base moved after the approval, which is void.
    ApprovalVoid,
    /// The moved base is in the mission branch.
    BaseMerged,
    /// The moved base contradicts the work.
    MergeConflict,
    /// An operator stops the mission.
    StopRequested,
    /// The mission parked.
    Parked,
    /// An operator goes on with a parked mission.
    Resumed,
    /// A ceiling was lowered.
    Tightened,
    /// Auto became supervise.
    Supervised,
    /// A record without a decision.
    Noted,
}
