//! What the engine says in enums, said to a person. No decision is taken here, and none is read back from these words.

use backstop_engine::gates::Verdict;
use backstop_engine::mode::{self, Account};
use backstop_engine::outcome::{
    Artifact, FailCause, Interruption, Status, StatusKind, UnavailableCause,
};
use backstop_engine::{
    Ended, Fact, Mission, ParkCause, ParkedAt, Position, Reason, ReviewStop, Rule, Ruling,
    WaitCause,
};

use crate::clock::utc;
use crate::state::Line;

/// The name of a rule as `explain` and `--json` print it: stable, in `snake_case`.
#[must_use]
pub fn rule_name(rule: Rule) -> String {
    let plain = |name: &str| name.to_owned();
    match rule {
        Rule::Entered(stage) => format!("entered.{stage}"),
        Rule::TurnOf(who) => format!("turn_of.{who}"),
        Rule::SentBack(who) => format!("sent_back.{who}"),
        Rule::VerdictPass(who) => format!("verdict_pass.{who}"),
        Rule::VerdictFail(who) => format!("verdict_fail.{who}"),
        Rule::ReviewStopped(stop) => format!("review_stopped.{}", stop_name(stop)),
        Rule::PassedThrough(stage) => format!("passed_through.{stage}"),
        Rule::Outcome(rule) => format!("outcome.{rule}"),
        Rule::Waits(cause) => format!("waits.{}", wait_name(cause)),
        Rule::Exhausted(account) => format!("exhausted.{account}"),
        Rule::Gated(reason) => format!("gated.{}", reason_name(reason)),
        Rule::Answered(verb) => format!("answered.{verb}"),
        Rule::Opened => plain("opened"),
        Rule::PreflightHeld => plain("preflight_held"),
        Rule::EvidenceOutranksClaim => plain("evidence_outranks_claim"),
        Rule::DecidesByItself => plain("decides_by_itself"),
        Rule::WaitEnded => plain("wait_ended"),
        Rule::NothingToCheck => plain("nothing_to_check"),
        Rule::ChecksGreen => plain("checks_green"),
        Rule::ChecksRedWithoutProgress => plain("checks_red_without_progress"),
        Rule::ChecksRedWithProgress => plain("checks_red_with_progress"),
        Rule::CheckNotRun => plain("check_not_run"),
        Rule::ReviewFailedWithoutProgress => plain("review_failed_without_progress"),
        Rule::ReviewFailedWithProgress => plain("review_failed_with_progress"),
        Rule::GateChecksRed => plain("gate_checks_red"),
        Rule::AskedAgain => plain("asked_again"),
        Rule::NewGeneration => plain("new_generation"),
        Rule::NoReleaseNotes => plain("no_release_notes"),
        Rule::LoopedBack => plain("looped_back"),
        Rule::TakenOver => plain("taken_over"),
        Rule::Expired => plain("expired"),
        Rule::Landed => plain("landed"),
        Rule::LaneOpened => plain("lane_opened"),
        Rule::Shipped => plain("shipped"),
        Rule::ShipFailed => plain("ship_failed"),
        Rule::ApprovalVoid => plain("approval_void"),
        Rule::BaseMerged => plain("base_merged"),
        Rule::MergeConflict => plain("merge_conflict"),
        Rule::StopRequested => plain("stop_requested"),
        Rule::Parked => plain("parked"),
        Rule::Resumed => plain("resumed"),
        Rule::Tightened => plain("tightened"),
        Rule::Supervised => plain("supervised"),
        Rule::Noted => plain("noted"),
    }
}

/// The name of a fact as the journal and `--json` print it.
#[must_use]
pub const fn fact_name(fact: &Fact) -> &'static str {
    match fact {
        Fact::Opened(_) => "opened",
        Fact::PreflightRan(_) => "preflight_ran",
        Fact::AttemptStarted(_) => "attempt_started",
        Fact::SessionOpened(_) => "session_opened",
        Fact::AttemptEnded(_) => "attempt_ended",
        Fact::ChecksRan(_) => "checks_ran",
        Fact::WaitEnded { .. } => "wait_ended",
        Fact::Landed { .. } => "landed",
        Fact::LandFailed { .. } => "land_failed",
        Fact::Shipped(_) => "shipped",
        Fact::BaseMerged(_) => "base_merged",
        Fact::Answered(_) => "answered",
        Fact::GateExpired { .. } => "gate_expired",
        Fact::StopRequested { .. } => "stop_requested",
        Fact::Resumed { .. } => "resumed",
        Fact::Tightened { .. } => "tightened",
        Fact::Supervised { .. } => "supervised",
    }
}

/// What a mission waits for that stands in line.
#[must_use]
pub fn line(line: Line) -> String {
    let before = match line.ahead {
        0 => "it is next".to_owned(),
        1 => "1 mission is before it".to_owned(),
        more => format!("{more} missions are before it"),
    };
    format!("for a slot: as many missions work as `[run] parallel` lets; {before}")
}

/// The first line of a text.
#[must_use]
pub fn first_line(text: &str) -> &str {
    text.trim_start().lines().next().unwrap_or_default()
}

/// Text as a terminal may show it: what would move the cursor, change colours or reorder the line is replaced. Agents write some of it.
#[must_use]
pub fn shown(text: &str) -> String {
    let harmless = |c: char| if is_harmless(c) { c } else { '\u{fffd}' };
    text.chars().map(harmless).collect()
}

/// Whether a terminal does nothing with it but show it.
#[must_use]
pub fn is_harmless(c: char) -> bool {
    match c {
        '\n' | '\t' => true,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            false
        }
        c => !c.is_control(),
    }
}

/// Text of which every further line begins with `indent`, so that none of them passes for a line of its own.
#[must_use]
pub fn hanging(text: &str, indent: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines.join(&format!("\n{indent}"))
}

const fn wait_name(cause: WaitCause) -> &'static str {
    match cause {
        WaitCause::LimitReset => "limit_reset",
        WaitCause::LimitBackoff => "limit_backoff",
        WaitCause::FaultBackoff => "fault_backoff",
        WaitCause::CheckBackoff => "check_backoff",
    }
}

/// The name of a reason, as `--json` prints it: stable, in `snake_case`.
#[must_use]
pub fn reason_name(reason: Reason) -> String {
    match reason {
        Reason::PreflightFailed => "preflight_failed".into(),
        Reason::Exhausted(account) => format!("exhausted.{account}"),
        Reason::Ended(status) => format!("ended.{status}"),
        Reason::Reviewed(stop) => format!("reviewed.{}", stop_name(stop)),
        Reason::Held => "held".into(),
        Reason::LimitTooFar => "limit_too_far".into(),
        Reason::CheckNotRun => "check_not_run".into(),
        Reason::LandFailed => "land_failed".into(),
        Reason::Policy(reason) => reason.name().into(),
        Reason::ShipFailed => "ship_failed".into(),
        Reason::MergeConflict => "merge_conflict".into(),
    }
}

const fn stop_name(stop: ReviewStop) -> &'static str {
    match stop {
        ReviewStop::Ceilings => "ceilings",
        ReviewStop::StaleInput => "stale_input",
        ReviewStop::Inconclusive => "inconclusive",
        ReviewStop::Stalled => "stalled",
        ReviewStop::Declined => "declined",
    }
}

const fn stop(stop: ReviewStop) -> &'static str {
    match stop {
        ReviewStop::Ceilings => "its bounds are used up",
        ReviewStop::StaleInput => "the tree changed, and no repair explains it",
        ReviewStop::Inconclusive => "a review establishes nothing",
        ReviewStop::Stalled => "the repairs go nowhere",
        ReviewStop::Declined => "a person declined the verdict",
    }
}

/// Why a rule made the mission move, in a clause.
#[must_use]
pub fn rule(rule: Rule) -> String {
    let plain = |words: &str| words.to_owned();
    match rule {
        Rule::Opened => plain("the mission was opened"),
        Rule::PreflightHeld => plain("every preflight point holds"),
        Rule::Entered(stage) => format!("{stage} is entered"),
        Rule::TurnOf(who) => format!("it is the turn of the {who}"),
        Rule::SentBack(who) => format!("a gate sends the {who} back"),
        Rule::VerdictPass(who) => format!("the {who} passed the work"),
        Rule::VerdictFail(who) => format!("the {who} did not pass the work"),
        Rule::ReviewStopped(stop_) => format!("the review loop stopped: {}", stop(stop_)),
        Rule::ReviewFailedWithoutProgress => {
            plain("the work was not passed, and there is no new work since the last failure")
        }
        Rule::ReviewFailedWithProgress => {
            plain("the work was not passed, after new work: a streak of one begins")
        }
        Rule::GateChecksRed => plain("a host check that a gate between roles asked for is red"),
        Rule::AskedAgain => plain("its answer has no verdict, so it is asked again"),
        Rule::NewGeneration => {
            plain("Code is entered again: what was judged of it before no longer counts")
        }
        Rule::NoReleaseNotes => plain("the ship gate opens without release notes"),
        Rule::PassedThrough(stage) => format!("no role works at {stage}, so it is passed through"),
        Rule::Outcome(rule) => rule.why().to_owned(),
        Rule::EvidenceOutranksClaim => plain("what the host saw outranks what the agent said"),
        Rule::DecidesByItself => {
            plain("the standing answer to a question is: decide, and record it")
        }
        Rule::Waits(cause) => wait(cause).to_owned(),
        Rule::WaitEnded => plain("the wait is over"),
        Rule::NothingToCheck => plain("nothing is configured to check this phase"),
        Rule::ChecksGreen => plain("every host check passed"),
        Rule::ChecksRedWithoutProgress => {
            plain("a host check is red, and there is no new work since the last red one")
        }
        Rule::ChecksRedWithProgress => {
            plain("a host check is red, after new work: a streak of one begins")
        }
        Rule::CheckNotRun => plain("a host check could not be run, which says nothing of the work"),
        Rule::LoopedBack => plain("in auto, Validate sends the work back to Code"),
        Rule::Exhausted(account) => format!("`{account}` is exhausted"),
        Rule::Gated(reason_) => format!("a person is needed: {}", reason(reason_)),
        Rule::Answered(verb) => format!("an operator chose {verb}"),
        Rule::TakenOver => {
            plain("an operator takes what the branch of the lane was moved to for its work")
        }
        Rule::Expired => plain("nobody answered in time, and silence is no consent"),
        Rule::Landed => plain("the lane is on the mission branch"),
        Rule::LaneOpened => plain("a lane begins"),
        Rule::Shipped => plain("the host handed the work over and saw it done"),
        Rule::ShipFailed => plain("handing over did not work"),
        Rule::ApprovalVoid => plain("the base moved after the approval, which is void"),
        Rule::BaseMerged => plain("the moved base was merged into the work"),
        Rule::MergeConflict => plain("the moved base contradicts the work"),
        Rule::StopRequested => plain("an operator stops the mission"),
        Rule::Parked => plain("nothing runs until a person goes on"),
        Rule::Resumed => plain("an operator goes on"),
        Rule::Tightened => plain("an operator lowered a ceiling"),
        Rule::Supervised => plain("an operator wants to see every Validate"),
        Rule::Noted => plain("it is kept on record, and decides nothing"),
    }
}

const fn wait(cause: WaitCause) -> &'static str {
    match cause {
        WaitCause::LimitReset => "the provider named the moment at which its limit lifts",
        WaitCause::LimitBackoff => "the provider's limit lifts at an unknown moment",
        WaitCause::FaultBackoff => "a fault from outside passes by itself",
        WaitCause::CheckBackoff => "a check that could not run is tried again",
    }
}

/// Why a gate opened, in a clause.
#[must_use]
pub fn reason(reason: Reason) -> String {
    match reason {
        Reason::PreflightFailed => "the preflight found something missing".into(),
        Reason::Exhausted(account) => format!("`{account}` is exhausted"),
        Reason::Ended(status) => format!("the attempt ended as {}", ended(status)),
        Reason::Reviewed(stop_) => format!("the review loop stopped: {}", stop(stop_)),
        Reason::Held => "a gate between two roles holds".into(),
        Reason::LimitTooFar => "the provider's limit lifts more than 8 days from now".into(),
        Reason::CheckNotRun => "a host check could not be run".into(),
        Reason::LandFailed => "the lane could not be put on the mission branch".into(),
        Reason::Policy(mode::Reason::ShipAlways) => "nothing ships without a person".into(),
        Reason::Policy(mode::Reason::PhaseCeiling) => {
            format!("`{}` is exhausted", Account::PhaseFailures)
        }
        Reason::Policy(mode::Reason::Supervised) => {
            "the mission is supervised: a person sees every Validate".into()
        }
        Reason::Policy(mode::Reason::StreakCeiling) => {
            format!(
                "`{}` is exhausted: failures in a row without progress",
                Account::Streak
            )
        }
        Reason::ShipFailed => "handing over did not work".into(),
        Reason::MergeConflict => "the base moved and contradicts the work".into(),
    }
}

const fn ended(status: StatusKind) -> &'static str {
    match status {
        StatusKind::Success => "a success",
        StatusKind::Failed => "a failure",
        StatusKind::Unknown => "unknown: nothing shows how",
        StatusKind::RateLimited => "limited by the provider",
        StatusKind::Ambiguous => "a success that broke off",
        StatusKind::Interrupted => "interrupted from outside",
        StatusKind::ResourceKilled => "killed for want of memory",
        StatusKind::AgentUnavailable => "an agent that cannot run",
        StatusKind::IdleTimeout => "silence for too long",
        StatusKind::OverBudget => "over its budget",
        StatusKind::Asked => "a question",
        StatusKind::Cancelled => "stopped by an operator",
    }
}

/// What took longer than it may.
pub(crate) const OVER_TIME: &str = "ran over its limit of time";

/// How an attempt ended, with its cause.
#[must_use]
pub fn status(status: &Status) -> String {
    match status {
        Status::Failed { cause } => format!("failed: {}", fail_cause(*cause)),
        Status::RateLimited { until: Some(until) } => {
            format!("limited by the provider until {}", utc(*until))
        }
        Status::RateLimited { until: None } => {
            "limited by the provider, until an unknown moment".into()
        }
        Status::Interrupted { by } => format!("interrupted: {}", interruption(*by)),
        Status::AgentUnavailable { cause } => format!("unavailable: {}", unavailable(*cause)),
        Status::OverBudget {
            account: Account::ActiveTime,
        } => OVER_TIME.into(),
        Status::OverBudget { account } => format!("over its budget of `{account}`"),
        Status::Asked { question } => format!("asked: {question}"),
        Status::Success
        | Status::Unknown
        | Status::Ambiguous
        | Status::ResourceKilled
        | Status::IdleTimeout
        | Status::Cancelled => ended(status.kind()).into(),
    }
}

const fn fail_cause(cause: FailCause) -> &'static str {
    match cause {
        FailCause::Reported => "the agent reported a failure",
        FailCause::NoWork => "it claimed success and left the tree as it was",
        FailCause::NoArtifact => "what the stage needs is missing or blank",
        FailCause::NoVerdict => "no strict verdict was given",
        FailCause::ContextOverflow => "the conversation outgrew the model",
        FailCause::Refused => "the model refused",
        FailCause::DeniedTools => "it was denied the tools that it needed",
        FailCause::TurnCap => "it reached its own limit of turns",
        FailCause::ProtectedPath => "it changed a protected path",
        FailCause::ChangedTree => "it changed the tree where only a report was wanted",
    }
}

const fn interruption(by: Interruption) -> &'static str {
    match by {
        Interruption::RunnerDied => "the runner died",
        Interruption::Network => "the network was lost",
        Interruption::StreamCut => "the answer's stream was cut",
        Interruption::Provider => "the provider answered with a server error",
    }
}

const fn unavailable(cause: UnavailableCause) -> &'static str {
    match cause {
        UnavailableCause::Missing => "its program is not there",
        UnavailableCause::NotExecutable => "its program cannot be executed",
        UnavailableCause::Auth => "it is not logged in",
        UnavailableCause::Billing => "the provider wants to be paid",
        UnavailableCause::Version => "its version does not do",
        UnavailableCause::Configuration => "it is not set up right",
    }
}

/// What a role that judges said, in a clause.
#[must_use]
pub fn ruling(ruling: &Ruling) -> String {
    match ruling {
        Ruling::Verdict {
            verdict: Verdict::Pass,
            findings,
        } if findings.is_empty() => "PASS".into(),
        Ruling::Verdict {
            verdict: Verdict::Pass,
            findings,
        } => {
            format!("PASS, with {} open", findings.as_slice().len())
        }
        Ruling::Verdict {
            verdict: Verdict::Fail { reason },
            ..
        } if reason.is_blank() => "FAIL".into(),
        Ruling::Verdict {
            verdict: Verdict::Fail { reason },
            ..
        } => format!("FAIL: {reason}"),
        Ruling::None(why) => format!("no verdict: {why}"),
    }
}

/// Whether something runs or is waited for, without a person.
#[must_use]
pub const fn is_running(mission: &Mission) -> bool {
    matches!(
        mission.position(),
        Position::Busy(_) | Position::Waiting(..)
    )
}

/// Where a mission is, in a few words.
#[must_use]
pub fn position(mission: &Mission) -> String {
    match mission.position() {
        Position::Busy(_) if mission.stopping().is_some() => "stopping".into(),
        Position::Busy(_) => format!("at work: {}", mission.stage()),
        Position::Waiting(_, wait, _) => format!("waiting until {}", utc(wait.until)),
        Position::AtGate(_, gate) => {
            format!("waiting for a person: {} gate {}", gate.kind, gate.id)
        }
        Position::Parked(cause, at) => format!("parked{}", parked(*cause, at)),
        Position::Ended(Ended::Shipped(place)) => format!("shipped: {place}"),
        Position::Ended(Ended::Aborted) => "aborted".into(),
    }
}

fn parked(cause: ParkCause, at: &ParkedAt) -> String {
    let why = match cause {
        ParkCause::Stopped => " by an operator's stop",
        ParkCause::Expired => ": nobody answered in time",
    };
    match at {
        ParkedAt::Gate(gate) => format!("{why}, at {} gate {}", gate.kind, gate.id),
        ParkedAt::Work(_) => why.into(),
    }
}

/// What an artifact is.
#[must_use]
pub fn artifact(form: Artifact) -> String {
    match form {
        Artifact::Missing => "nothing".to_owned(),
        Artifact::Text => "text".to_owned(),
        Artifact::Numbers => "numbers and the commands that made them".to_owned(),
        Artifact::Sarif { results: 1 } => "SARIF with 1 result".to_owned(),
        Artifact::Sarif { results } => format!("SARIF with {results} results"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agents_words_cannot_drive_the_terminal() {
        assert_eq!(
            shown("red\u{1b}[31m\r\u{202e}x\n\ty\u{9b}"),
            "red\u{fffd}[31m\u{fffd}\u{fffd}x\n\ty\u{fffd}"
        );
    }
}
