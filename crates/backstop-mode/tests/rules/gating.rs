//! When a stage gates, and where a judged Validate goes.

use backstop_mode::{
    Account, Ceilings, Meter, Mode, Next, Reason, Reasons, Verdict, after_validate, gate_reasons,
    should_auto_loop,
};
use backstop_vocab::Stage;

use Mode::{Auto, Supervise};
use Reason::{PhaseCeiling, ShipAlways, StreakCeiling, Supervised};

fn meter(streak: u64, phase_failures: u64) -> Meter {
    let used = [
        (Account::Streak, streak),
        (Account::PhaseFailures, phase_failures),
    ];
    Meter::with_used(Ceilings::DEFAULT, &used)
}

/// Around both ceilings: below, at, above.
const STREAKS: [u64; 5] = [0, 1, 2, 3, 4];
const PHASES: [u64; 4] = [0, 9, 10, 11];

fn reasons(list: &[Reason]) -> Reasons {
    list.iter().copied().collect()
}

#[test]
fn ship_always_gates_and_for_nothing_else() {
    for mode in Mode::ALL {
        for (streak, phase) in [(0, 0), (3, 0), (0, 10), (9, 99)] {
            let found = gate_reasons(mode, Stage::Ship, &meter(streak, phase));
            assert_eq!(found, reasons(&[ShipAlways]), "{mode}");
        }
    }
}

#[test]
fn define_plan_and_code_never_gate_by_mode() {
    for mode in Mode::ALL {
        for stage in [Stage::Define, Stage::Plan, Stage::Code] {
            assert!(
                gate_reasons(mode, stage, &meter(9, 99)).is_empty(),
                "{mode} {stage}"
            );
        }
    }
}

#[test]
fn validate_gates_for_the_phase_total_in_both_modes_and_the_rest_by_mode() {
    for streak in STREAKS {
        for phase in PHASES {
            let meter = meter(streak, phase);
            let total = (phase >= 10).then_some(PhaseCeiling);
            let row = (streak >= 3).then_some(StreakCeiling);
            let in_auto: Reasons = total.into_iter().chain(row).collect();
            let in_supervise: Reasons = total.into_iter().chain([Supervised]).collect();
            assert_eq!(gate_reasons(Auto, Stage::Validate, &meter), in_auto);
            assert_eq!(
                gate_reasons(Supervise, Stage::Validate, &meter),
                in_supervise
            );
        }
    }
}

#[test]
fn no_other_account_gates_a_stage() {
    let others: Vec<(Account, u64)> = Account::ALL
        .into_iter()
        .filter(|a| !matches!(a, Account::Streak | Account::PhaseFailures))
        .map(|a| (a, a.default_ceiling()))
        .collect();
    let meter = Meter::with_used(Ceilings::DEFAULT, &others);
    assert!(gate_reasons(Auto, Stage::Validate, &meter).is_empty());
}

#[test]
fn tightened_ceilings_gate_earlier() {
    let meter = meter(1, 1).tighten(Account::Streak, 1).unwrap();
    assert_eq!(
        gate_reasons(Auto, Stage::Validate, &meter),
        reasons(&[StreakCeiling])
    );
    let meter = meter.tighten(Account::PhaseFailures, 1).unwrap();
    let both = reasons(&[PhaseCeiling, StreakCeiling]);
    assert_eq!(gate_reasons(Auto, Stage::Validate, &meter), both);
}

#[test]
fn only_auto_at_validate_loops_by_itself() {
    for mode in Mode::ALL {
        for stage in Stage::ALL {
            let wanted = mode == Auto && stage == Stage::Validate;
            assert_eq!(should_auto_loop(mode, stage), wanted, "{mode} {stage}");
        }
    }
}

#[test]
fn a_failed_validate_loops_back_unless_there_is_a_reason_to_gate() {
    for streak in STREAKS {
        for phase in PHASES {
            let meter = meter(streak, phase);
            for mode in Mode::ALL {
                let found = gate_reasons(mode, Stage::Validate, &meter);
                let wanted = if found.is_empty() {
                    Next::LoopBack
                } else {
                    Next::Gate(found)
                };
                let next = after_validate(mode, Verdict::RepairsNeeded, &meter);
                assert_eq!(next, wanted, "{mode} {streak} {phase}");
                assert!(
                    mode == Auto || next != Next::LoopBack,
                    "supervise never loops by itself"
                );
            }
        }
    }
}

#[test]
fn a_clean_validate_advances_in_auto_whatever_the_streak() {
    for streak in STREAKS {
        for phase in [0, 9] {
            let next = after_validate(Auto, Verdict::Clean, &meter(streak, phase));
            assert_eq!(next, Next::Advance);
        }
        let next = after_validate(Auto, Verdict::Clean, &meter(streak, 10));
        assert_eq!(next, Next::Gate(reasons(&[PhaseCeiling])));
        let next = after_validate(Supervise, Verdict::Clean, &meter(streak, 9));
        assert_eq!(next, Next::Gate(reasons(&[Supervised])));
        let next = after_validate(Supervise, Verdict::Clean, &meter(streak, 10));
        assert_eq!(next, Next::Gate(reasons(&[PhaseCeiling, Supervised])));
    }
}

#[test]
fn reasons_are_an_ordered_list_without_repetition() {
    let set = reasons(&[
        StreakCeiling,
        ShipAlways,
        PhaseCeiling,
        ShipAlways,
        Supervised,
    ]);
    assert!(set.iter().eq(Reason::ALL));
    assert!(set.contains(Supervised) && !set.is_empty());
    assert!(!reasons(&[ShipAlways]).contains(Supervised));
    let json = serde_json::to_string(&set).unwrap();
    assert_eq!(
        json,
        r#"["ship_always","phase_ceiling","supervised","streak_ceiling"]"#
    );
    assert_eq!(serde_json::from_str::<Reasons>(&json).unwrap(), set);
    let names: Vec<String> = set.iter().map(|reason| reason.to_string()).collect();
    assert_eq!(
        names,
        [
            "ship_always",
            "phase_ceiling",
            "supervised",
            "streak_ceiling"
        ]
    );
}

#[test]
fn what_comes_next_is_written_snake_case() {
    let json = |next: &Next| serde_json::to_string(next).unwrap();
    assert_eq!(json(&Next::Advance), r#""advance""#);
    assert_eq!(json(&Next::LoopBack), r#""loop_back""#);
    assert_eq!(
        json(&Next::Gate(reasons(&[Supervised]))),
        r#"{"gate":["supervised"]}"#
    );
    assert_eq!(
        serde_json::to_string(&Verdict::RepairsNeeded).unwrap(),
        r#""repairs_needed""#
    );
}
