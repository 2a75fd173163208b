//! What the searches must reach, written out: a rule that nothing reaches is a rule that nothing tests.

use std::collections::BTreeSet;
use std::fmt::Debug;

use backstop_testkit::engine::mode::{self, Account};
use backstop_testkit::engine::outcome::{Rule as Outcome, StatusKind};
use backstop_testkit::engine::vocab::Stage;
use backstop_testkit::engine::{Funds, GateKind, Reason, ReviewStop, Role, Rule, Verb, WaitCause};

use crate::scenes::Found;
use crate::table;

pub(crate) fn missed(found: &[Found]) -> Vec<String> {
    let rules: BTreeSet<Rule> = found.iter().flat_map(|f| f.rules.iter().copied()).collect();
    let offered: BTreeSet<_> = found
        .iter()
        .flat_map(|f| f.offered.iter().copied())
        .collect();
    let answered: BTreeSet<_> = found
        .iter()
        .flat_map(|f| f.answered.iter().copied())
        .collect();
    let gates: Vec<(GateKind, Verb)> = GateKind::ALL
        .into_iter()
        .flat_map(|kind| {
            let verbs = Funds::ALL
                .into_iter()
                .flat_map(move |funds| table::offers(kind, funds == Funds::Exhausted));
            verbs.map(move |verb| (kind, verb))
        })
        .collect();
    let mut missed = absent("rule", &all_rules(), &rules);
    missed.extend(absent("offer", &gates, &offered));
    missed.extend(absent("answer", &gates, &answered));
    missed.extend(beyond(&all_rules(), &rules));
    missed
}

fn absent<T: Ord + Debug>(what: &str, wanted: &[T], found: &BTreeSet<T>) -> Vec<String> {
    let absent = wanted.iter().filter(|one| !found.contains(one));
    absent.map(|one| format!("{what} {one:?}")).collect()
}

/// What was reached and is not on the list: the list is then no longer whole.
fn beyond(wanted: &[Rule], found: &BTreeSet<Rule>) -> Vec<String> {
    let beyond = found.iter().filter(|rule| !wanted.contains(rule));
    beyond
        .map(|rule| format!("reached and not listed: {rule:?}"))
        .collect()
}

/// Every rule that a mission can fire.
fn all_rules() -> Vec<Rule> {
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
