//! Opening slots: ceilings before any spend, allowances, time, crashes.

use backstop_review::*;
use backstop_vocab::{Span, Timestamp};

use crate::samples::*;

fn ceilings(passed: &[Ceiling], verdict: Option<Verdict>) -> StopReason {
    let passed = passed.to_vec();
    StopReason::Ceilings { passed, verdict }
}

/// A loop with `bounds` whose first slot spent 10 calls and a minute and asked for a repair, which is done.
fn repaired(bounds: Bounds) -> Ready {
    match repairing(bounds).record_repair(repair(0, 1)).unwrap() {
        Loop::Ready(state) => state,
        other => wrong_end(&other),
    }
}

#[test]
fn with_no_iterations_the_loop_never_starts() {
    let stopped = ready(bounds(|draft| draft.iterations = 0))
        .begin(at(0))
        .unwrap_err();
    assert_eq!(stopped.reason(), &ceilings(&[Ceiling::Iterations], None));
    assert_eq!(stopped.receipt().iterations(), 0);
}

#[test]
fn a_slot_is_opened_with_all_that_is_left() {
    let first = reviewing(Bounds::default());
    assert_eq!(first.slot().number(), 1);
    assert_eq!(first.slot().tool_calls(), 120);
    assert_eq!(first.slot().deadline(), at(900));
    let second = repaired(Bounds::default()).begin(at(5_000)).unwrap();
    assert_eq!(second.slot().number(), 2);
    assert_eq!(second.slot().tool_calls(), 110);
    assert_eq!(second.slot().deadline(), at(5_000 + 840));
}

#[test]
fn each_ceiling_refuses_a_slot_when_it_is_used_up_and_not_before() {
    type Edit = fn(&mut BoundsDraft);
    let cases: [(Edit, Edit, Ceiling); 2] = [
        (
            |b| b.tool_calls = 10,
            |b| b.tool_calls = 11,
            Ceiling::ToolCalls,
        ),
        (
            |b| b.wall_clock_secs = 60,
            |b| b.wall_clock_secs = 61,
            Ceiling::WallClockSecs,
        ),
    ];
    for (used_up, one_left, ceiling) in cases {
        let before = repaired(bounds(used_up));
        let spent = before.receipt().budget_line();
        let stopped = before.begin(at(70)).unwrap_err();
        assert_eq!(stopped.reason(), &ceilings(&[ceiling], None));
        assert_eq!(stopped.receipt().budget_line(), spent);
        assert!(repaired(bounds(one_left)).begin(at(70)).is_ok());
    }
}

#[test]
fn every_used_up_ceiling_is_named() {
    let all = bounds(|b| (b.iterations, b.tool_calls, b.wall_clock_secs) = (1, 10, 60));
    let calls = Spend { tool_calls: 10 };
    let ready = reviewing(all).abandon(calls, at(60));
    let named = [
        Ceiling::Iterations,
        Ceiling::WallClockSecs,
        Ceiling::ToolCalls,
    ];
    assert_eq!(
        ready.begin(at(60)).unwrap_err().reason(),
        &ceilings(&named, None)
    );
}

#[test]
fn a_repair_costs_the_bounds_nothing() {
    let ready = repaired(Bounds::default());
    assert_eq!(
        ready.receipt().budget_line(),
        "iterations 1/3, tools 10/120, elapsed 60s/900s"
    );
    let later = ready.begin(at(1_000_000)).unwrap();
    assert_eq!(later.receipt().elapsed(), Span::from_secs(60));
}

#[test]
fn an_abandoned_slot_is_charged_its_time_and_closed() {
    let calls = Spend { tool_calls: 7 };
    let ready = reviewing(Bounds::default()).abandon(calls, at(40));
    let receipt = ready.receipt();
    assert_eq!(
        receipt.budget_line(),
        "iterations 1/3, tools 7/120, elapsed 40s/900s"
    );
    assert_eq!(receipt.abandoned(), 1);
    let second = ready.begin(at(50)).unwrap();
    assert_eq!(second.slot().number(), 2);
    let twice = second.abandon(Spend::default(), at(55));
    assert_eq!(twice.receipt().abandoned(), 2);
    assert_eq!(twice.receipt().elapsed(), Span::from_secs(45));
}

#[test]
fn an_abandoned_slot_keeps_its_iteration_where_the_policy_says_so() {
    let policy = Policy {
        abandoned_slot: AbandonedSlot::Kept,
        ..Policy::default()
    };
    let open = Ready::open(Bounds::default(), policy, tree(0))
        .begin(at(0))
        .unwrap();
    let ready = open.abandon(Spend::default(), at(40));
    let line = ready.receipt().budget_line();
    assert_eq!(line, "iterations 0/3, tools 0/120, elapsed 40s/900s");
    assert_eq!(ready.begin(at(50)).unwrap().slot().number(), 1);
}

#[test]
fn slots_that_crash_at_once_use_up_the_time_all_the_same() {
    let policy = Policy {
        abandoned_slot: AbandonedSlot::Kept,
        ..Policy::default()
    };
    let mut ready = Ready::open(bounds(|b| b.wall_clock_secs = 5), policy, tree(0));
    for _ in 0..5 {
        ready = ready.begin(at(0)).unwrap().abandon(Spend::default(), at(0));
    }
    let stopped = ready.begin(at(0)).unwrap_err();
    assert_eq!(stopped.reason(), &ceilings(&[Ceiling::WallClockSecs], None));
}

#[test]
fn time_never_runs_backwards() {
    let open = ready(Bounds::default()).begin(at(100)).unwrap();
    let early = open
        .abandon(Spend::default(), at(50))
        .begin(at(20))
        .unwrap();
    assert_eq!(early.receipt().elapsed(), Span::from_secs(1));
    assert_eq!(early.slot().deadline(), at(100 + 899));
    let ready = early.abandon(Spend::default(), at(110));
    assert_eq!(ready.receipt().elapsed(), Span::from_secs(11));
}

#[test]
fn counts_saturate_at_the_ends_of_their_types() {
    let open = ready(Bounds::default())
        .begin(Timestamp::from_millis(0))
        .unwrap();
    let all = Spend {
        tool_calls: u64::MAX,
    };
    let ready = open.abandon(all, Timestamp::from_millis(u64::MAX));
    let stopped = ready.begin(Timestamp::from_millis(u64::MAX)).unwrap_err();
    let named = [Ceiling::WallClockSecs, Ceiling::ToolCalls];
    assert_eq!(stopped.reason(), &ceilings(&named, None));
}
