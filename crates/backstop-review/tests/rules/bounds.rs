//! The bounds and the policy: defaults, caps, and every fault at once.

use backstop_review::*;

use crate::samples::*;

#[test]
fn the_defaults_are_three_iterations_fifteen_minutes_120_calls_and_one_stall() {
    let defaults = BoundsDraft {
        iterations: 3,
        wall_clock_secs: 900,
        tool_calls: 120,
        stalled_repairs: 1,
    };
    assert_eq!(BoundsDraft::from(Bounds::default()), defaults);
    assert_eq!(
        serde_json::from_str::<Bounds>("{}").unwrap(),
        Bounds::default()
    );
    assert_eq!(Bounds::try_from(defaults).unwrap(), Bounds::default());
}

#[test]
fn every_fault_of_the_bounds_is_told_at_once() {
    let draft = BoundsDraft {
        iterations: 51,
        wall_clock_secs: 0,
        tool_calls: u64::MAX,
        stalled_repairs: 0,
    };
    let words = Bounds::try_from(draft).unwrap_err().to_string();
    assert_eq!(
        words,
        "`iterations` is 51: use 0 to 50; `wall_clock_secs` is 0: use 1 to 604800; \
         `tool_calls` is 18446744073709551615: use 1 to 100000; \
         `stalled_repairs` is 0: use 1 to 10"
    );
}

#[test]
fn a_bound_is_accepted_at_its_cap_and_refused_above() {
    let most = BoundsDraft {
        iterations: 50,
        wall_clock_secs: 604_800,
        tool_calls: 100_000,
        stalled_repairs: 10,
    };
    let bounds = Bounds::try_from(most).unwrap();
    assert_eq!(BoundsDraft::from(bounds), most);
    let above = [
        BoundsDraft {
            iterations: 51,
            ..most
        },
        BoundsDraft {
            wall_clock_secs: 604_801,
            ..most
        },
        BoundsDraft {
            tool_calls: 100_001,
            ..most
        },
        BoundsDraft {
            stalled_repairs: 11,
            ..most
        },
    ];
    for draft in above {
        assert_eq!(
            Bounds::try_from(draft).unwrap_err().faults.len(),
            1,
            "{draft:?}"
        );
    }
    let least = BoundsDraft {
        iterations: 0,
        wall_clock_secs: 1,
        tool_calls: 1,
        stalled_repairs: 1,
    };
    let bounds = Bounds::try_from(least).unwrap();
    assert_eq!(BoundsDraft::from(bounds), least);
}

#[test]
fn bounds_from_a_file_meet_the_same_checks_as_a_caller() {
    for bad in [
        r#"{"tool_calls":0}"#,
        r#"{"iterations":51}"#,
        r#"{"iterations":-1}"#,
        r#"{"tool_calls":"unlimited"}"#,
        r#"{"tool_calls":null}"#,
        r#"{"max_iterations":3}"#,
    ] {
        assert!(serde_json::from_str::<Bounds>(bad).is_err(), "{bad}");
    }
    let some: Bounds = serde_json::from_str(r#"{"iterations":0}"#).unwrap();
    assert_eq!(some, bounds(|draft| draft.iterations = 0));
}

#[test]
fn what_the_policy_leaves_out_is_required() {
    let policy: Policy = serde_json::from_str("{}").unwrap();
    assert_eq!(policy, Policy::default());
    assert_eq!(policy.human_ratification, Require::Required);
    assert_eq!(policy.verifier_receipt, Require::Required);
    assert_eq!(policy.abandoned_slot, AbandonedSlot::Spent);
    let part: Policy = serde_json::from_str(r#"{"verifier_receipt":"not_required"}"#).unwrap();
    assert_eq!(part.human_ratification, Require::Required);
    assert!(serde_json::from_str::<Policy>(r#"{"human":"not_required"}"#).is_err());
}
