//! Every rule that a mission can fire, written out: a rule that nothing reaches is a rule that nothing tests.

use backstop_engine::mode::{self, Account};
use backstop_engine::outcome::{Rule as Outcome, StatusKind};
use backstop_engine::vocab::Stage;
use backstop_engine::{Reason, ReviewStop, Role, Rule, Verb, WaitCause};

/// Every rule that a mission can fire.
#[must_use]
pub fn all_rules() -> Vec<Rule> {
    let mut rules = vec![
        Rule::Opened,
        Rule::PreflightHeld,
        Rule::EvidenceOutranksClaim,
        Rule::DecidesByItself,
        Rule::WaitEnded,
        Rule::NothingToCheck,
        Rule::ChecksGreen,
        Rule::ChecksRedWithoutProgress,
        Rule::ChecksRedWithProgress,
        Rule::CheckNotRun,
        Rule::LoopedBack,
        Rule::Expired,
        Rule::Landed,
        Rule::LaneOpened,
        Rule::Shipped,
        Rule::ShipFailed,
        Rule::ApprovalVoid,
        Rule::BaseMerged,
        Rule::MergeConflict,
        Rule::StopRequested,
        Rule::Parked,
        Rule::Resumed,
        Rule::Tightened,
        Rule::Supervised,
        Rule::Noted,
        Rule::TakenOver,
        Rule::AskedAgain,
        Rule::GateChecksRed,
        Rule::NewGeneration,
        Rule::NoReleaseNotes,
        Rule::ReviewFailedWithProgress,
        Rule::ReviewFailedWithoutProgress,
        Rule::PassedThrough(Stage::Define),
        Rule::PassedThrough(Stage::Plan),
    ];
    rules.extend(Role::ALL.map(Rule::TurnOf));
    rules.extend(Role::ALL.map(Rule::SentBack));
    for judge in [Role::Reviewer, Role::Verifier] {
        rules.extend([Rule::VerdictPass(judge), Rule::VerdictFail(judge)]);
    }
    rules.extend(ReviewStop::ALL.map(Rule::ReviewStopped));
    rules.extend(Stage::ALL.map(Rule::Entered));
    rules.extend(Verb::ALL.map(Rule::Answered));
    rules.extend(Outcome::ALL.iter().copied().map(Rule::Outcome));
    rules.extend(
        [
            WaitCause::LimitReset,
            WaitCause::LimitBackoff,
            WaitCause::FaultBackoff,
            WaitCause::CheckBackoff,
        ]
        .map(Rule::Waits),
    );
    rules.extend(refused().map(Rule::Exhausted));
    rules.extend(reasons().into_iter().map(Rule::Gated));
    rules
}

/// The accounts on which a launch can be refused.
fn refused() -> impl Iterator<Item = Account> {
    [
        Account::Infra,
        Account::QuotaWaits,
        Account::CheckpointResumes,
        Account::Attempts,
        Account::ToolCalls,
        Account::Tokens,
        Account::Cost,
        Account::ActiveTime,
    ]
    .into_iter()
}

fn reasons() -> Vec<Reason> {
    let mut reasons = vec![
        Reason::PreflightFailed,
        Reason::LimitTooFar,
        Reason::CheckNotRun,
        Reason::LandFailed,
        Reason::ShipFailed,
        Reason::MergeConflict,
        Reason::Held,
    ];
    // Who declines a clean verdict has said already what comes next.
    let stops = ReviewStop::ALL.into_iter();
    let stops = stops.filter(|stop| *stop != ReviewStop::Declined);
    reasons.extend(stops.map(Reason::Reviewed));
    reasons.extend(mode::Reason::ALL.map(Reason::Policy));
    // A streak or phase total that is exhausted gates by the mode's reason.
    let work = [Account::Streak, Account::PhaseFailures];
    let accounts = Account::ALL
        .into_iter()
        .filter(|account| !work.contains(account));
    reasons.extend(accounts.map(Reason::Exhausted));
    let ends = [
        StatusKind::RateLimited,
        StatusKind::ResourceKilled,
        StatusKind::AgentUnavailable,
        StatusKind::Failed,
        StatusKind::Unknown,
        StatusKind::IdleTimeout,
        StatusKind::OverBudget,
        StatusKind::Asked,
    ];
    reasons.extend(ends.map(Reason::Ended));
    reasons
}
