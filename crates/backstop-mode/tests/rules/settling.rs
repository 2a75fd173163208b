//! What each fact counts, and what it takes back to zero.

use backstop_mode::{
    Account, Ceilings, Meter, Progress, Scope, Settlement, Spend, transition_resets_streak,
};
use backstop_vocab::Stage;

use Account::{
    ActiveTime, CheckpointResumes, Cost, Infra, InfraTotal, PhaseFailures, Preflight, QuotaWaits,
    Streak, Tokens, ToolCalls,
};

/// Two spent of every account.
fn two_of_each() -> Meter {
    Meter::with_used(Ceilings::DEFAULT, &Account::ALL.map(|account| (account, 2)))
}

fn spend() -> Settlement {
    Settlement::Spent(Spend {
        tool_calls: 5,
        tokens: 70,
        cost_micro_usd: 900,
        active_ms: 11_000,
    })
}

/// An account with its `used` and `total`.
type Standing = (Account, u64, u64);

/// From two of each: the fact, and every account that then stands elsewhere.
fn table() -> Vec<(Settlement, Vec<Standing>)> {
    vec![
        (Settlement::Faulted, vec![(Infra, 3, 3), (InfraTotal, 3, 3)]),
        (Settlement::AttemptEndedWithoutFault, vec![(Infra, 0, 2)]),
        (Settlement::QuotaWaited, vec![(QuotaWaits, 3, 3)]),
        (
            Settlement::RepairsNeeded(Progress::None),
            vec![(Streak, 3, 3), (PhaseFailures, 3, 3)],
        ),
        (
            Settlement::RepairsNeeded(Progress::Made),
            vec![(Streak, 1, 3), (PhaseFailures, 3, 3)],
        ),
        (Settlement::ShipRejected, vec![(PhaseFailures, 3, 3)]),
        (Settlement::PreflightFailed, vec![(Preflight, 3, 3)]),
        (Settlement::PreflightCleared, vec![(Preflight, 0, 2)]),
        (
            spend(),
            vec![
                (ToolCalls, 7, 7),
                (Tokens, 72, 72),
                (Cost, 902, 902),
                (ActiveTime, 11_002, 11_002),
            ],
        ),
        (Settlement::VisitOpened, vec![(CheckpointResumes, 0, 2)]),
    ]
}

#[test]
fn each_fact_moves_its_own_accounts_and_no_other() {
    for (fact, moved) in table() {
        let meter = two_of_each().settle(&fact);
        for account in Account::ALL {
            let found = moved.iter().find(|(a, _, _)| *a == account);
            let (used, total) = found.map_or((2, 2), |(_, used, total)| (*used, *total));
            assert_eq!(
                (meter.used(account), meter.total(account)),
                (used, total),
                "{account} after {fact:?}"
            );
        }
    }
}

#[test]
fn a_first_failure_with_progress_begins_a_streak_of_one() {
    let meter = Meter::new(Ceilings::DEFAULT).settle(&Settlement::RepairsNeeded(Progress::Made));
    assert_eq!((meter.used(Streak), meter.used(PhaseFailures)), (1, 1));
}

#[test]
fn progress_cannot_take_back_the_phase_total() {
    let mut meter = Meter::new(Ceilings::DEFAULT);
    for _ in 0..10 {
        meter = meter.settle(&Settlement::RepairsNeeded(Progress::Made));
    }
    assert_eq!(meter.used(Streak), 1);
    assert!(meter.exhausted(PhaseFailures));
}

#[test]
fn a_streak_ends_going_forward_but_not_into_validate_and_never_going_back() {
    use Stage::{Code, Define, Plan, Ship, Validate};
    let resets = [
        (Define, Plan),
        (Define, Code),
        (Define, Validate),
        (Define, Ship),
        (Plan, Code),
        (Plan, Validate),
        (Plan, Ship),
        (Code, Ship),
        (Validate, Ship),
    ];
    for from in Stage::ALL {
        for to in Stage::ALL {
            let wanted = resets.contains(&(from, to));
            assert_eq!(transition_resets_streak(from, to), wanted, "{from} to {to}");
        }
    }
}

#[test]
fn every_move_takes_back_what_its_direction_says() {
    for from in Stage::ALL {
        for to in Stage::ALL {
            let meter = two_of_each().settle(&Settlement::Moved { from, to });
            for account in Account::ALL {
                let cleared = match account.name() {
                    "checkpoint_resumes" => true,
                    "infra" => from != to,
                    "quota_waits" => from < to,
                    "streak" => from < to && (from, to) != (Stage::Code, Stage::Validate),
                    _ => false,
                };
                let used = if cleared { 0 } else { 2 };
                assert_eq!(meter.used(account), used, "{account}, {from} to {to}");
                assert_eq!(meter.total(account), 2, "{account}, {from} to {to}");
            }
        }
    }
}

#[test]
fn a_new_lane_starts_with_its_own_counters_and_the_missions() {
    let meter = two_of_each().settle(&Settlement::LaneOpened);
    for account in Account::ALL {
        let used = match account.scope() {
            Scope::Lane | Scope::Visit => 0,
            Scope::Mission => 2,
        };
        assert_eq!(meter.used(account), used, "{account}");
        assert_eq!(meter.total(account), 2, "{account}");
    }
}

#[test]
fn a_fault_that_reaches_the_ceiling_exhausts_it() {
    let mut meter = Meter::new(Ceilings::DEFAULT);
    for _ in 0..4 {
        meter = meter.settle(&Settlement::Faulted);
    }
    assert!(!meter.exhausted(Infra));
    assert!(meter.settle(&Settlement::Faulted).exhausted(Infra));
}

#[test]
fn facts_are_counted_past_the_ceiling_and_to_the_end_of_the_numbers() {
    let full = Meter::with_used(Ceilings::DEFAULT, &[(Infra, u64::MAX), (Tokens, u64::MAX)]);
    let meter = full.settle(&Settlement::Faulted).settle(&spend());
    assert_eq!(meter.used(Infra), u64::MAX);
    assert_eq!(meter.used(Tokens), u64::MAX);
}

#[test]
fn a_spend_is_read_with_what_is_left_out_as_zero() {
    let read: Spend = serde_json::from_str(r#"{"tokens":7}"#).unwrap();
    let wanted = Spend {
        tokens: 7,
        ..Spend::default()
    };
    assert_eq!(read, wanted);
    assert!(serde_json::from_str::<Spend>(r#"{"token":7}"#).is_err());
}
