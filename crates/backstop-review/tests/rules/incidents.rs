//! Public incidents of unattended runs that concern a review loop, as cases: input and right end.

use backstop_review::*;
use backstop_vocab::Operator;

use crate::samples::*;

fn run(policy: Policy, steps: Vec<Step>) -> (Loop, Vec<RefusedStep>) {
    replay(Bounds::default(), policy, tree(0), steps, Operator::attest)
}

fn round(n: u8, review: Review) -> [Step; 2] {
    let start = u64::from(n) * 100;
    let review = Review {
        iteration: n.into(),
        digest: tree(n - 1),
        at: at(start + 10),
        ..review
    };
    [
        Step::Begin { at: at(start) },
        Step::Record(Box::new(review)),
    ]
}

/// `RR-01`: each fix brings new findings, round after round.
#[test]
fn new_findings_without_end_stop_at_the_iterations() {
    let per_round = [3, 4, 4, 3, 2, 2, 2, 2, 5, 2];
    let mut steps = Vec::new();
    for (n, count) in (1_u8..).zip(per_round) {
        let open = Findings::clip((0..count).map(|i| format!("{n}.{i}").parse().unwrap()));
        let review = Review {
            findings: open,
            ..failing()
        };
        steps.extend(round(n, review));
        steps.push(Step::RecordRepair(repair(n - 1, n)));
    }
    let (end, refused) = run(Policy::default(), steps);
    let (passed, verdict) = (vec![Ceiling::Iterations], Some(Verdict::RepairsNeeded));
    assert_eq!(stop_reason(&end), &StopReason::Ceilings { passed, verdict });
    assert_eq!(end.receipt().findings().len(), 4);
    assert_eq!(end.receipt().iterations(), 3);
    assert_eq!(refused.len(), 30 - 8);
}

/// `RR-02`: fail, repair, fail, repair, no verdict.
#[test]
fn a_missing_verdict_is_not_another_repair() {
    let mut steps = Vec::new();
    for n in 1..=2 {
        steps.extend(round(n, failing()));
        steps.push(Step::RecordRepair(repair(n - 1, n)));
    }
    let silent = Review {
        verdict: None,
        ..clean()
    };
    steps.extend(round(3, silent));
    let (end, refused) = run(Policy::default(), steps);
    assert!(refused.is_empty());
    let why = StopReason::Inconclusive(Inconclusive::NoVerdict);
    assert_eq!(stop_reason(&end), &why);
    assert_eq!(end.receipt().iterations(), 3);
}

/// `RR-03`: the digest moved during the review.
#[test]
fn findings_of_another_tree_are_never_repaired() {
    let moved = Review {
        digest: tree(2),
        ..failing()
    };
    let steps = vec![
        Step::Begin { at: at(0) },
        Step::Record(Box::new(moved)),
        Step::RecordRepair(repair(2, 3)),
    ];
    let (end, refused) = run(Policy::default(), steps);
    let (pin, found) = (tree(0), tree(2));
    assert_eq!(stop_reason(&end), &StopReason::StaleInput { pin, found });
    assert_eq!(refused.len(), 1);
}

/// `GB-02`: the implementing agent approves its own chain.
#[test]
fn the_implementer_never_approves_its_own_work() {
    let own = Review {
        implementer: Author::Agent(receipt("implementer", "agentA")),
        reviewer: receipt("reviewer", "agentA"),
        ..clean()
    };
    let policy = Policy {
        human_ratification: Require::NotRequired,
        ..Policy::default()
    };
    let (end, _) = run(policy, round(1, own).to_vec());
    let (one, other) = (Party::Implementer, Party::Reviewer);
    let shared = StopReason::Inconclusive(Inconclusive::SharedSession { one, other });
    assert_eq!(stop_reason(&end), &shared);
}

/// `GB-03`: hooks were skipped; the host's own check decides.
#[test]
fn a_skipped_hook_does_not_skip_the_hosts_check() {
    let red = Review {
        verifier: Some(host(1)),
        ..clean()
    };
    let (end, _) = run(Policy::default(), round(1, red).to_vec());
    let why = StopReason::Inconclusive(Inconclusive::CleanAgainstRed);
    assert_eq!(stop_reason(&end), &why);
}

/// `CO-03`: nested loops each took the whole allowance.
#[test]
fn slots_share_one_allowance() {
    let costly = Review {
        spend: Spend { tool_calls: 50 },
        ..failing()
    };
    let mut steps = Vec::new();
    for n in 1..=3 {
        steps.extend(round(n, costly.clone()));
        steps.push(Step::RecordRepair(repair(n - 1, n)));
    }
    let (end, _) = run(Policy::default(), steps);
    let (passed, verdict) = (vec![Ceiling::ToolCalls], Some(Verdict::RepairsNeeded));
    assert_eq!(stop_reason(&end), &StopReason::Ceilings { passed, verdict });
    assert_eq!(end.receipt().tool_calls(), 150);
}
