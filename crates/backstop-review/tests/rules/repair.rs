//! Repairs, red checks, and digests that change.

use backstop_review::*;
use backstop_vocab::Operator;

use crate::samples::*;

fn go_on(state: Loop) -> Ready {
    match state {
        Loop::Ready(ready) => ready,
        other => wrong_end(&other),
    }
}

/// A loop that takes `stalls` stalled repairs in a row and waits for its first repair.
fn patient(stalls: u32) -> Repairing {
    repairing(bounds(|b| (b.stalled_repairs, b.iterations) = (stalls, 50)))
}

/// Repairs from `from` to `to`, and has a host check ask for another repair.
fn repair_again(state: Repairing, from: u8, to: u8) -> Repairing {
    let ready = go_on(state.record_repair(repair(from, to)).unwrap());
    match ready.record_red(findings(&["red"])).unwrap() {
        Loop::Repairing(state) => state,
        other => wrong_end(&other),
    }
}

#[test]
fn a_real_repair_moves_the_pin_and_can_succeed() {
    let ready = go_on(
        repairing(Bounds::default())
            .record_repair(repair(0, 1))
            .unwrap(),
    );
    assert_eq!(ready.receipt().pin(), tree(1));
    let open = ready.begin(at(100)).unwrap();
    let review = Review {
        iteration: 2,
        digest: tree(1),
        implementer: Author::Recorded,
        at: at(160),
        ..clean()
    };
    match open.record(review).unwrap() {
        Loop::Parked(parked) => {
            let approve = Answer {
                digest: tree(1),
                ..answer(Decision::Approve, "")
            };
            let verified = parked.ratify(&operator(), approve).unwrap();
            assert_eq!(verified.kind(), StateKind::Verified);
            assert_eq!(verified.receipt().pin(), tree(1));
        }
        other => wrong_end(&other),
    }
}

#[test]
fn after_a_repair_the_old_digest_is_stale() {
    let ready = go_on(
        repairing(Bounds::default())
            .record_repair(repair(0, 1))
            .unwrap(),
    );
    let review = Review {
        iteration: 2,
        ..clean()
    };
    let state = ready.begin(at(100)).unwrap().record(review).unwrap();
    let (pin, found) = (tree(1), tree(0));
    assert_eq!(stop_reason(&state), &StopReason::StaleInput { pin, found });
}

#[test]
fn one_stalled_repair_stops_by_default() {
    let (last, in_a_row) = (Stall::NoProgress, 1);
    let same = repairing(Bounds::default())
        .record_repair(repair(0, 0))
        .unwrap();
    assert_eq!(stop_reason(&same), &StopReason::Stalled { last, in_a_row });
    assert_eq!(same.receipt().pin(), tree(0));
    let moved = repair_again(repairing(Bounds::default()), 0, 1);
    let back = moved.record_repair(repair(1, 0)).unwrap();
    let last = Stall::Oscillation;
    assert_eq!(stop_reason(&back), &StopReason::Stalled { last, in_a_row });
    assert_eq!(back.receipt().pin(), tree(0));
}

#[test]
fn stalled_repairs_are_counted_in_a_row() {
    let stalled_twice = repair_again(repair_again(patient(3), 0, 0), 0, 0);
    let (last, in_a_row) = (Stall::NoProgress, 3);
    let third = stalled_twice.clone().record_repair(repair(0, 0)).unwrap();
    assert_eq!(stop_reason(&third), &StopReason::Stalled { last, in_a_row });
    let moved = repair_again(stalled_twice, 0, 1);
    let stalled_again = repair_again(repair_again(moved, 1, 1), 1, 0);
    let third = stalled_again.record_repair(repair(0, 1)).unwrap();
    let last = Stall::Oscillation;
    assert_eq!(stop_reason(&third), &StopReason::Stalled { last, in_a_row });
}

#[test]
fn a_repair_of_something_else_stops_as_stale() {
    let state = repairing(Bounds::default())
        .record_repair(repair(5, 6))
        .unwrap();
    let (pin, found) = (tree(0), tree(5));
    assert_eq!(stop_reason(&state), &StopReason::StaleInput { pin, found });
    assert_eq!(state.receipt().pin(), tree(0));
}

#[test]
fn a_repair_without_a_complete_receipt_is_refused_and_moves_nothing() {
    let mut bare = repair(0, 1);
    (bare.implementer.session, bare.implementer.model) = (None, Some(label("")));
    let before = repairing(Bounds::default());
    let refused = before.clone().record_repair(bare).unwrap_err();
    assert_eq!(refused.state, before);
    let words = "the repair's receipt lacks `model, session`: complete it";
    assert_eq!(refused.why.to_string(), words);
    assert_eq!(refused.why.code(), "incomplete_receipt");
}

#[test]
fn who_repaired_never_reviews_the_repair() {
    let by_reviewer = Repair {
        implementer: receipt("implementer", "r2"),
        ..repair(0, 1)
    };
    let ready = go_on(
        repairing(Bounds::default())
            .record_repair(by_reviewer)
            .unwrap(),
    );
    let claims_another = Review {
        iteration: 2,
        digest: tree(1),
        implementer: Author::Agent(receipt("implementer", "i")),
        reviewer: receipt("reviewer", "r2"),
        ..clean()
    };
    let state = ready
        .begin(at(100))
        .unwrap()
        .record(claims_another)
        .unwrap();
    let (one, other) = (Party::Implementer, Party::Reviewer);
    let shared = StopReason::Inconclusive(Inconclusive::SharedSession { one, other });
    assert_eq!(stop_reason(&state), &shared);
}

#[test]
fn a_red_check_asks_for_a_repair_and_spends_no_iteration() {
    let state = ready(Bounds::default())
        .record_red(findings(&["tests fail"]))
        .unwrap();
    assert_eq!(state.kind(), StateKind::Repairing);
    assert_eq!(state.receipt().iterations(), 0);
    assert_eq!(state.receipt().findings()[0].as_str(), "tests fail");
    let step = Step::RecordRepair(repair(0, 1));
    let next = go_on(state.take(step, Operator::attest).unwrap());
    assert_eq!(next.begin(at(0)).unwrap().slot().number(), 1);
}

#[test]
fn a_red_check_without_findings_is_refused() {
    let before = ready(Bounds::default());
    let refused = before.clone().record_red(Findings::default()).unwrap_err();
    assert_eq!(refused.state, before);
    assert_eq!(refused.why, Refused::NoFindings);
}

#[test]
fn a_repair_that_no_slot_could_review_is_not_asked_for() {
    let never = ready(bounds(|b| b.iterations = 0));
    let state = never.record_red(findings(&["red"])).unwrap();
    let (passed, verdict) = (vec![Ceiling::Iterations], None);
    assert_eq!(
        stop_reason(&state),
        &StopReason::Ceilings { passed, verdict }
    );
}

#[test]
fn red_checks_have_an_end_of_their_own() {
    let mut state = Loop::from(ready(Bounds::default()));
    for n in 0..50 {
        let red = Step::RecordRed {
            findings: findings(&["red"]),
        };
        state = state.take(red, Operator::attest).unwrap();
        let repair = Step::RecordRepair(repair(n, n + 1));
        state = state.take(repair, Operator::attest).unwrap();
    }
    let state = go_on(state).record_red(findings(&["red"])).unwrap();
    let (passed, verdict) = (vec![Ceiling::RedChecks], None);
    assert_eq!(
        stop_reason(&state),
        &StopReason::Ceilings { passed, verdict }
    );
}

#[test]
fn a_digest_that_no_repair_explains_stops_as_stale() {
    let stale = StopReason::StaleInput {
        pin: tree(0),
        found: tree(1),
    };
    let stopped = ready(Bounds::default()).observe(tree(1)).unwrap_err();
    assert_eq!(stopped.reason(), &stale);
    let stopped = reviewing(Bounds::default())
        .observe(tree(1), at(30))
        .unwrap_err();
    assert_eq!(stopped.reason(), &stale);
    assert_eq!(stopped.receipt().elapsed().as_secs(), 30);
    assert_eq!(parked().observe(tree(1)).unwrap_err().reason(), &stale);
    assert_eq!(parked().observe(tree(0)).unwrap(), parked());
    let open = reviewing(Bounds::default());
    assert_eq!(open.clone().observe(tree(0), at(30)).unwrap(), open);
}

#[test]
fn the_recorded_implementer_is_the_one_of_the_last_repair() {
    let second = Repair {
        implementer: receipt("implementer", "i2"),
        ..repair(1, 2)
    };
    let moved = repair_again(repairing(Bounds::default()), 0, 1);
    let open = go_on(moved.record_repair(second).unwrap())
        .begin(at(100))
        .unwrap();
    let review = Review {
        iteration: 2,
        digest: tree(2),
        implementer: Author::Recorded,
        ..clean()
    };
    let state = open.record(review).unwrap();
    match state.receipt().entries().last() {
        Some(Entry::Reviewed(judged)) => {
            let implementer = judged.routes.implementer.as_ref().unwrap();
            assert_eq!(implementer.session(), &label("i2"));
        }
        other => panic!("{other:?}"),
    }
}
