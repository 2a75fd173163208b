//! The table, cell by cell.

use backstop_outcome::{Action, Decision, Rule, StatusKind, decide};
use backstop_vocab::Stage;

use Action::{Advance, AutoResume, GateInfra, GateReview, Park};

const TABLE: [(StatusKind, Action, Rule); 12] = [
    (StatusKind::Success, Advance, Rule::SuccessAdvances),
    (StatusKind::RateLimited, AutoResume, Rule::LimitIsWaitedOut),
    (
        StatusKind::Ambiguous,
        AutoResume,
        Rule::UnconfirmedSuccessResumes,
    ),
    (
        StatusKind::Interrupted,
        AutoResume,
        Rule::InterruptionResumes,
    ),
    (
        StatusKind::ResourceKilled,
        GateInfra,
        Rule::ResourceKillNeedsRoom,
    ),
    (
        StatusKind::AgentUnavailable,
        GateInfra,
        Rule::UnavailableAgentNeedsRepair,
    ),
    (StatusKind::Failed, GateReview, Rule::FailureNeedsReview),
    (StatusKind::Unknown, GateReview, Rule::UnknownEndNeedsReview),
    (
        StatusKind::IdleTimeout,
        GateReview,
        Rule::SilenceNeedsReview,
    ),
    (
        StatusKind::OverBudget,
        GateReview,
        Rule::SpentBudgetNeedsReview,
    ),
    (StatusKind::Asked, GateReview, Rule::QuestionNeedsAnswer),
    (StatusKind::Cancelled, Park, Rule::StopParks),
];

#[test]
fn every_status_at_every_stage_is_decided_as_the_table_says() {
    assert_eq!(TABLE.map(|row| row.0).as_slice(), StatusKind::ALL);
    for stage in Stage::ALL {
        for (kind, action, rule) in TABLE {
            let at_validate = stage == Stage::Validate && kind == StatusKind::Success;
            let rule = if at_validate {
                Rule::VerdictDecides
            } else {
                rule
            };
            assert_eq!(
                decide(stage, kind),
                Decision { action, rule },
                "{stage} {kind}"
            );
        }
    }
}

#[test]
fn an_idle_agent_is_never_resumed() {
    for stage in Stage::ALL {
        assert_eq!(
            decide(stage, StatusKind::IdleTimeout).action,
            GateReview,
            "{stage}"
        );
    }
}

#[test]
fn a_spent_budget_is_never_resumed() {
    for stage in Stage::ALL {
        assert_eq!(
            decide(stage, StatusKind::OverBudget).action,
            GateReview,
            "{stage}"
        );
    }
}

#[test]
fn nothing_but_success_advances() {
    for stage in Stage::ALL {
        for kind in StatusKind::ALL {
            let advances = decide(stage, *kind).action == Advance;
            assert_eq!(advances, *kind == StatusKind::Success, "{stage} {kind}");
        }
    }
}

#[test]
fn failed_and_unknown_share_an_action_and_not_a_rule() {
    for stage in Stage::ALL {
        let (failed, unknown) = (
            decide(stage, StatusKind::Failed),
            decide(stage, StatusKind::Unknown),
        );
        assert_eq!(failed.action, unknown.action);
        assert_ne!(failed.rule, unknown.rule);
    }
}

#[test]
fn every_rule_is_used_and_says_why() {
    for rule in Rule::ALL {
        let used = Stage::ALL.into_iter().any(|stage| {
            StatusKind::ALL
                .iter()
                .any(|kind| decide(stage, *kind).rule == *rule)
        });
        assert!(used, "{rule}");
        assert!(
            rule.why().len() > 20 && !rule.why().ends_with('.'),
            "{rule}"
        );
        let same = Rule::ALL.iter().filter(|other| other.why() == rule.why());
        assert_eq!(same.count(), 1, "{rule}");
    }
}

#[test]
fn a_decision_is_written_by_its_names() {
    let json = serde_json::to_string(&decide(Stage::Code, StatusKind::Asked)).unwrap();
    assert_eq!(
        json,
        r#"{"action":"gate_review","rule":"question_needs_answer"}"#
    );
}
