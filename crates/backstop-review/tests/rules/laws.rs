//! What holds under any sequence of steps.

use backstop_review::*;
use backstop_vocab::{Digest, Operator};
use proptest::prelude::*;

use crate::samples::*;

/// One throw of the dice, read differently by each state.
#[derive(Debug, Clone, Copy)]
struct Roll {
    pick: u8,
    flaw: u8,
    digest: u8,
    calls: u64,
    secs: u64,
}

fn rolls() -> impl Strategy<Value = Vec<Roll>> {
    let roll = (any::<u8>(), any::<u8>(), 0_u8..6, 0_u64..50, 0_u64..300);
    let roll = roll.prop_map(|(pick, flaw, digest, calls, secs)| Roll {
        pick,
        flaw,
        digest,
        calls,
        secs,
    });
    proptest::collection::vec(roll, 0..60)
}

fn settings() -> impl Strategy<Value = (Bounds, Policy)> {
    let one = || prop_oneof![Just(Require::Required), Just(Require::NotRequired)];
    let crash = prop_oneof![Just(AbandonedSlot::Spent), Just(AbandonedSlot::Kept)];
    let draft = (0_u32..5, 1_u64..1_000, 1_u64..200, 1_u32..4);
    (draft, one(), one(), crash).prop_map(|(draft, human, verifier, crash)| {
        let all = bounds(|b| {
            (
                b.iterations,
                b.wall_clock_secs,
                b.tool_calls,
                b.stalled_repairs,
            ) = draft;
        });
        let policy = Policy {
            human_ratification: human,
            verifier_receipt: verifier,
            abandoned_slot: crash,
        };
        (all, policy)
    })
}

fn review(state: &Loop, roll: Roll) -> Review {
    let mut review = if roll.pick.is_multiple_of(4) {
        clean()
    } else {
        failing()
    };
    review.iteration = state.receipt().iterations();
    review.digest = state.receipt().pin();
    review.spend.tool_calls = roll.calls;
    review.at = at(roll.secs);
    match roll.flaw % 24 {
        0..=2 => review.reviewer.model = None,
        3 => review.digest = tree(roll.digest),
        4 => review.verifier = None,
        5 => review.reviewer = receipt("reviewer", "i"),
        6 => review.verdict = None,
        7 => review.iteration = roll.pick.into(),
        8 => review.implementer = Author::Recorded,
        9 => review.verifier = Some(host(1)),
        10 => review.findings = findings(&["more"]),
        _ => {}
    }
    review
}

fn pin_or(state: &Loop, roll: Roll) -> Digest {
    match roll.flaw % 8 {
        0 => tree(roll.digest),
        _ => state.receipt().pin(),
    }
}

fn mend(state: &Loop, roll: Roll) -> Repair {
    let mut repair = repair(0, roll.digest);
    repair.from = pin_or(state, roll);
    if roll.pick.is_multiple_of(3) {
        repair.to = tree(roll.pick);
    }
    if roll.flaw % 16 == 1 {
        repair.implementer.session = None;
    }
    repair
}

fn sign(state: &Loop, roll: Roll) -> Signed {
    let decision = match roll.pick % 3 {
        0 => Decision::Decline,
        _ => Decision::Approve,
    };
    Signed {
        decision,
        digest: pin_or(state, roll),
        by: signature(),
        note: if roll.flaw.is_multiple_of(2) {
            "no"
        } else {
            ""
        }
        .parse()
        .unwrap(),
        at: at(roll.secs),
    }
}

/// A step that mostly fits the state.
fn step(state: &Loop, roll: Roll) -> Step {
    let at = at(roll.secs);
    let kinds = StepKind::ALL.iter().copied();
    let fitting: Vec<_> = kinds.filter(|step| accepts(state.kind(), *step)).collect();
    let all = if fitting.is_empty() || roll.flaw.is_multiple_of(11) {
        StepKind::ALL
    } else {
        &fitting
    };
    match all[usize::from(roll.pick) % all.len()] {
        StepKind::Begin => Step::Begin { at },
        StepKind::Record => Step::Record(Box::new(review(state, roll))),
        StepKind::Abandon => {
            let tool_calls = roll.calls;
            let spend = Spend { tool_calls };
            Step::Abandon { spend, at }
        }
        StepKind::RecordRepair => Step::RecordRepair(mend(state, roll)),
        StepKind::RecordRed => {
            let texts: &[&str] = if roll.flaw.is_multiple_of(9) {
                &[]
            } else {
                &["red"]
            };
            let findings = findings(texts);
            Step::RecordRed { findings }
        }
        StepKind::Observe => {
            let digest = pin_or(state, roll);
            Step::Observe { digest, at }
        }
        StepKind::Ratify => Step::Ratify(sign(state, roll)),
    }
}

/// The most steps that can change a loop: for each slot its opening, three incomplete submissions and its end, for
/// each review and red check a repair, then one last step.
fn most_changes(bounds: Bounds, policy: Policy) -> u64 {
    let crashes = match policy.abandoned_slot {
        AbandonedSlot::Spent => 0,
        AbandonedSlot::Kept => bounds.wall_clock().as_secs(),
    };
    let iterations = u64::from(bounds.iterations());
    let reds = u64::from(Bounds::MOST_RED_CHECKS);
    (iterations + crashes) * 5 + iterations + reds * 2 + 2
}

fn reviews(state: &Loop) -> usize {
    let entries = state.receipt().entries().iter();
    entries
        .filter(|entry| matches!(entry, Entry::Reviewed(_)))
        .count()
}

fn is_over(state: &Loop) -> bool {
    matches!(state, Loop::Stopped(_) | Loop::Verified(_))
}

/// What must hold of the end, whatever led there.
fn check_success(state: &Loop) -> Result<(), TestCaseError> {
    let Loop::Verified(verified) = state else {
        return Ok(());
    };
    let receipt = verified.receipt();
    let mut judged = receipt
        .entries()
        .iter()
        .rev()
        .filter_map(|entry| match entry {
            Entry::Reviewed(judged) => Some(judged),
            _ => None,
        });
    let last = judged.next().unwrap();
    prop_assert_eq!(last.verdict, Some(Verdict::Clean));
    prop_assert!(last.findings.is_empty());
    prop_assert_eq!(last.digest, receipt.pin());
    if receipt.policy().human_ratification == Require::Required {
        let approved = matches!(
            receipt.entries().last(),
            Some(Entry::Answered { answer, .. })
                if answer.decision == Decision::Approve && answer.digest == receipt.pin()
        );
        prop_assert!(approved);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn no_sequence_breaks_a_law((bounds, policy) in settings(), rolls in rolls()) {
        let mut state = Loop::from(Ready::open(bounds, policy, tree(0)));
        let (mut steps, mut changes) = (Vec::new(), 0);
        for roll in rolls {
            let step = step(&state, roll);
            let pin = state.receipt().pin();
            let next = state.take(step.clone(), Operator::attest);
            prop_assert!(next.is_err() || accepts(state.kind(), step.kind()));
            let next = next.unwrap_or_else(|_| state.clone());
            if next.receipt().pin() != pin {
                let Step::RecordRepair(repair) = &step else {
                    panic!("the pin moved by {step:?}");
                };
                prop_assert!(repair.implementer.complete().is_ok());
                prop_assert_eq!((repair.from, repair.to), (pin, next.receipt().pin()));
            }
            prop_assert!(!is_over(&state) || next == state);
            changes += u64::from(next != state);
            state = next;
            steps.push(step);
            prop_assert!(state.receipt().iterations() <= bounds.iterations());
            prop_assert!(reviews(&state) <= usize::try_from(bounds.iterations()).unwrap());
            check_success(&state)?;
        }
        prop_assert!(changes <= most_changes(bounds, policy));
        let (replayed, _) = replay(bounds, policy, tree(0), steps, Operator::attest);
        prop_assert_eq!(replayed, state);
    }

    #[test]
    fn steps_read_back_as_they_were_written((bounds, policy) in settings(), rolls in rolls()) {
        let mut state = Loop::from(Ready::open(bounds, policy, tree(0)));
        for roll in rolls {
            let step = step(&state, roll);
            let text = serde_json::to_string(&step).unwrap();
            prop_assert_eq!(&serde_json::from_str::<Step>(&text).unwrap(), &step);
            state = state.take(step, Operator::attest).unwrap_or(state);
        }
    }
}

/// A step that keeps the loop going as long as it can: crashes, incomplete receipts, red checks, repairs to ever new trees.
fn prolong(state: &Loop, n: u32, crash: bool) -> Step {
    let fresh = Digest::of(&n.to_be_bytes());
    let red = |f: &[&str]| Step::RecordRed {
        findings: findings(f),
    };
    let entries = state.receipt().entries();
    let reds = entries
        .iter()
        .filter(|entry| matches!(entry, Entry::Red { .. }))
        .count();
    match state {
        Loop::Ready(_) if reds < 50 => red(&["red"]),
        Loop::Reviewing(_) => {
            let mut next = failing();
            (next.iteration, next.digest) = (state.receipt().iterations(), state.receipt().pin());
            (next.spend.tool_calls, next.at) = (0, at(0));
            let slot = entries.iter().rev().map_while(|entry| match entry {
                Entry::Incomplete { .. } => Some(()),
                _ => None,
            });
            let stretch = slot.count() % 4 < 3;
            if stretch {
                next.reviewer.model = None;
            } else if crash {
                let spend = Spend::default();
                return Step::Abandon { spend, at: at(0) };
            }
            Step::Record(Box::new(next))
        }
        Loop::Repairing(_) => {
            let mut next = repair(0, 0);
            (next.from, next.to) = (state.receipt().pin(), fresh);
            Step::RecordRepair(next)
        }
        Loop::Ready(_) | Loop::Parked(_) | Loop::Stopped(_) | Loop::Verified(_) => {
            Step::Begin { at: at(0) }
        }
    }
}

#[test]
fn the_most_stubborn_sequence_ends_within_the_bound() {
    for crash in [false, true] {
        for abandoned_slot in [AbandonedSlot::Spent, AbandonedSlot::Kept] {
            let policy = Policy {
                abandoned_slot,
                ..Policy::default()
            };
            let all = bounds(|b| b.wall_clock_secs = 60);
            let mut state = Loop::from(Ready::open(all, policy, tree(0)));
            let mut n = 0;
            while !is_over(&state) {
                n += 1;
                assert!(
                    u64::from(n) <= most_changes(all, policy),
                    "{crash} {policy:?}"
                );
                state = state
                    .take(prolong(&state, n, crash), Operator::attest)
                    .unwrap();
            }
            assert_eq!(stop_reason(&state).code(), "ceilings");
        }
    }
}
