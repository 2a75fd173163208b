//! Names on the wire, of every enum that is a name.

use backstop_outcome::{Action, FailCause, Interruption, Rule, StatusKind, UnavailableCause};

macro_rules! names_are {
    ($test:ident, $name:ident, $names:expr) => {
        #[test]
        fn $test() {
            let names: &[&str] = &$names;
            let found: Vec<&str> = $name::ALL.iter().map(|one| one.name()).collect();
            assert_eq!(found, names);
            for one in $name::ALL {
                let quoted = format!("\"{}\"", one.name());
                assert_eq!(serde_json::to_string(one).unwrap(), quoted);
                assert_eq!(serde_json::from_str::<$name>(&quoted).unwrap(), *one);
                assert_eq!(one.to_string(), one.name());
                assert_eq!(
                    format!(" {}\n", one.name().to_uppercase()).parse(),
                    Ok(*one)
                );
            }
            let words = "zzz".parse::<$name>().unwrap_err().to_string();
            assert!(words.starts_with("`zzz` is not a known "), "{words}");
            assert!(words.ends_with(&names.join(", ")), "{words}");
        }
    };
}

names_are!(
    statuses_are_named_in_the_order_of_the_table,
    StatusKind,
    [
        "success",
        "rate_limited",
        "ambiguous",
        "interrupted",
        "resource_killed",
        "agent_unavailable",
        "failed",
        "unknown",
        "idle_timeout",
        "over_budget",
        "asked",
        "cancelled"
    ]
);

names_are!(
    actions_are_named,
    Action,
    [
        "advance",
        "auto_resume",
        "gate_infra",
        "gate_review",
        "park"
    ]
);

names_are!(
    causes_of_failure_are_named,
    FailCause,
    [
        "reported",
        "no_work",
        "no_artifact",
        "no_verdict",
        "context_overflow",
        "refused",
        "denied_tools",
        "turn_cap",
        "protected_path",
        "changed_tree"
    ]
);

names_are!(
    interruptions_are_named,
    Interruption,
    ["runner_died", "network", "stream_cut", "provider"]
);

names_are!(
    causes_of_unavailability_are_named,
    UnavailableCause,
    [
        "missing",
        "not_executable",
        "auth",
        "billing",
        "version",
        "configuration"
    ]
);

names_are!(
    rules_are_named,
    Rule,
    [
        "success_advances",
        "verdict_decides",
        "limit_is_waited_out",
        "unconfirmed_success_resumes",
        "interruption_resumes",
        "resource_kill_needs_room",
        "unavailable_agent_needs_repair",
        "failure_needs_review",
        "unknown_end_needs_review",
        "silence_needs_review",
        "spent_budget_needs_review",
        "question_needs_answer",
        "stop_parks"
    ]
);
