//! How a status is written and read.

use backstop_mode::Account;
use backstop_outcome::{FailCause, Interruption, Status, StatusKind, UnavailableCause};
use backstop_vocab::{Text, Timestamp};

/// One of each, with its JSON.
fn each() -> [(Status, &'static str); 12] {
    let until = Some(Timestamp::from_millis(5));
    let question = Text::clip("tabs?");
    [
        (Status::Success, r#""success""#),
        (
            Status::RateLimited { until },
            r#"{"rate_limited":{"until":5}}"#,
        ),
        (Status::Ambiguous, r#""ambiguous""#),
        (
            Status::Interrupted {
                by: Interruption::StreamCut,
            },
            r#"{"interrupted":{"by":"stream_cut"}}"#,
        ),
        (Status::ResourceKilled, r#""resource_killed""#),
        (
            Status::AgentUnavailable {
                cause: UnavailableCause::NotExecutable,
            },
            r#"{"agent_unavailable":{"cause":"not_executable"}}"#,
        ),
        (
            Status::Failed {
                cause: FailCause::TurnCap,
            },
            r#"{"failed":{"cause":"turn_cap"}}"#,
        ),
        (Status::Unknown, r#""unknown""#),
        (Status::IdleTimeout, r#""idle_timeout""#),
        (
            Status::OverBudget {
                account: Account::ActiveTime,
            },
            r#"{"over_budget":{"account":"active_time"}}"#,
        ),
        (
            Status::Asked { question },
            r#"{"asked":{"question":"tabs?"}}"#,
        ),
        (Status::Cancelled, r#""cancelled""#),
    ]
}

#[test]
fn every_status_is_of_its_kind() {
    let kinds = each().map(|(status, _)| status.kind());
    assert_eq!(kinds.as_slice(), StatusKind::ALL);
}

#[test]
fn every_status_is_written_under_the_name_of_its_kind_and_read_back() {
    for (status, json) in each() {
        assert_eq!(serde_json::to_string(&status).unwrap(), json);
        assert_eq!(serde_json::from_str::<Status>(json).unwrap(), status);
        assert!(json.contains(status.kind().name()), "{json}");
    }
}

#[test]
fn a_limit_without_a_known_end_is_null_or_left_out() {
    let unknown = Status::RateLimited { until: None };
    for json in [
        r#"{"rate_limited":{"until":null}}"#,
        r#"{"rate_limited":{}}"#,
    ] {
        assert_eq!(serde_json::from_str::<Status>(json).unwrap(), unknown);
    }
}

#[test]
fn what_is_no_status_is_refused() {
    let long = format!(r#"{{"asked":{{"question":"{}"}}}}"#, "a".repeat(2049));
    let refused = [
        r#""passed""#,
        r#""failed""#,
        r#"{"failed":{}}"#,
        r#"{"failed":{"cause":"bored"}}"#,
        r#"{"failed":{"cause":"no_work","why":1}}"#,
        r#"{"over_budget":{"account":"patience"}}"#,
        r#"{"success":{"really":true}}"#,
        &long,
    ];
    for json in refused {
        assert!(serde_json::from_str::<Status>(json).is_err(), "{json}");
    }
}
