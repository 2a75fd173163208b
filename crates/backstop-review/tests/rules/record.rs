//! Recording a review: the seven rules, and which one speaks where several do.

use backstop_review::*;

use crate::samples::*;

fn record(review: Review) -> Loop {
    reviewing(Bounds::default()).record(review).unwrap()
}

fn inconclusive(why: Inconclusive) -> StopReason {
    StopReason::Inconclusive(why)
}

/// `review` without a model on the reviewer's receipt.
fn incomplete(mut review: Review) -> Review {
    review.reviewer.model = None;
    review
}

fn stale(review: Review) -> Review {
    let digest = tree(9);
    Review { digest, ..review }
}

fn unverified(review: Review) -> Review {
    let verifier = None;
    Review { verifier, ..review }
}

fn self_reviewed(review: Review) -> Review {
    let reviewer = receipt("reviewer", "i");
    Review { reviewer, ..review }
}

fn costly(review: Review) -> Review {
    let spend = Spend { tool_calls: 121 };
    Review { spend, ..review }
}

fn silent(review: Review) -> Review {
    let verdict = None;
    Review { verdict, ..review }
}

#[test]
fn the_first_rule_that_fails_speaks() {
    let no_two = costly(self_reviewed(unverified(stale(silent(clean())))));
    let all = || incomplete(no_two.clone());
    let late = Review {
        iteration: 2,
        ..all()
    };
    let refused = reviewing(Bounds::default()).record(late).unwrap_err();
    assert_eq!(refused.why.code(), "iteration");
    assert_eq!(refused.state.receipt().tool_calls(), 0);
    assert_eq!(record(all()).kind(), StateKind::Reviewing);

    let no_four = stale(unverified(self_reviewed(costly(silent(clean())))));
    let found = tree(9);
    let pin = tree(0);
    assert_eq!(
        stop_reason(&record(no_four)),
        &StopReason::StaleInput { pin, found }
    );

    let no_five = unverified(self_reviewed(costly(silent(clean()))));
    assert_eq!(
        stop_reason(&record(no_five)),
        &inconclusive(Inconclusive::NoVerifier)
    );

    let not_apart = self_reviewed(costly(silent(clean())));
    let (one, other) = (Party::Implementer, Party::Reviewer);
    let shared = inconclusive(Inconclusive::SharedSession { one, other });
    assert_eq!(stop_reason(&record(not_apart)), &shared);

    let (passed, verdict) = (vec![Ceiling::ToolCalls], None);
    let over = StopReason::Ceilings { passed, verdict };
    assert_eq!(stop_reason(&record(costly(silent(clean())))), &over);

    let last = record(silent(clean()));
    assert_eq!(stop_reason(&last), &inconclusive(Inconclusive::NoVerdict));
}

#[test]
fn the_spend_is_charged_whatever_becomes_of_the_review() {
    let line = "iterations 1/3, tools 10/120, elapsed 60s/900s";
    let reviews = [
        incomplete(clean()),
        stale(clean()),
        unverified(clean()),
        self_reviewed(clean()),
        silent(clean()),
        failing(),
        clean(),
    ];
    for review in reviews {
        assert_eq!(
            record(review.clone()).receipt().budget_line(),
            line,
            "{review:?}"
        );
    }
}

#[test]
fn incomplete_receipts_leave_the_slot_open_three_times() {
    let mut open = reviewing(Bounds::default());
    for n in 1_u64..=3 {
        let review = Review {
            at: at(n * 10),
            ..incomplete(clean())
        };
        match open.record(review).unwrap() {
            Loop::Reviewing(state) => open = state,
            other => wrong_end(&other),
        }
        assert_eq!(open.receipt().tool_calls(), n * 10);
        assert_eq!(open.receipt().elapsed().as_secs(), n * 10);
    }
    let completed = open.clone().record(clean()).unwrap();
    assert_eq!(completed.kind(), StateKind::Parked);
    let fourth = open.record(incomplete(clean())).unwrap();
    let (party, field) = (Party::Reviewer, Field::Model);
    let missing = vec![Missing { party, field }];
    assert_eq!(
        stop_reason(&fourth),
        &inconclusive(Inconclusive::Incomplete { missing })
    );
}

#[test]
fn a_new_slot_may_be_incomplete_three_times_again() {
    let mut open = reviewing(Bounds::default());
    for slot in 1..=2 {
        for _ in 0..3 {
            let review = Review {
                iteration: slot,
                ..incomplete(clean())
            };
            match open.record(review).unwrap() {
                Loop::Reviewing(state) => open = state,
                other => wrong_end(&other),
            }
        }
        open = open.abandon(Spend::default(), at(0)).begin(at(0)).unwrap();
    }
}

#[test]
fn each_part_of_each_receipt_is_needed() {
    type Spoil = fn(&mut RouteReceipt);
    let spoils: [(Field, Spoil); 14] = [
        (Field::Role, |r| r.role = None),
        (Field::Provider, |r| r.provider = None),
        (Field::Provider, |r| r.provider = Some(label(" "))),
        (Field::Model, |r| r.model = None),
        (Field::Model, |r| r.model = Some(label("\u{200b}"))),
        (Field::RequestedReasoning, |r| r.requested_reasoning = None),
        (Field::RequestedReasoning, |r| {
            r.requested_reasoning = Some(label(""));
        }),
        (Field::EffectiveReasoning, |r| r.effective_reasoning = None),
        (Field::EffectiveReasoning, |r| {
            r.effective_reasoning = Some(EffectiveReasoning::Known(label("")));
        }),
        (Field::RoutedBy, |r| r.routed_by = None),
        (Field::Router, |r| {
            let (provider, model) = (label(""), label("m"));
            r.routed_by = Some(RoutedBy::Router { provider, model });
        }),
        (Field::Router, |r| {
            let (provider, model) = (label("p"), label(""));
            r.routed_by = Some(RoutedBy::Router { provider, model });
        }),
        (Field::Session, |r| r.session = None),
        (Field::Session, |r| r.session = Some(label(" \t"))),
    ];
    for (field, spoil) in spoils {
        for party in [Party::Implementer, Party::Reviewer, Party::Verifier] {
            let mut review = clean();
            let mut flawed = receipt(party.name(), party.name());
            spoil(&mut flawed);
            match party {
                Party::Implementer => review.implementer = Author::Agent(flawed),
                Party::Reviewer => review.reviewer = flawed,
                Party::Verifier => review.verifier = Some(Verifier::Agent(flawed)),
            }
            let state = record(review);
            let (iteration, missing) = (1, vec![Missing { party, field }]);
            assert_eq!(state.kind(), StateKind::Reviewing);
            let entry = Entry::Incomplete { iteration, missing };
            assert_eq!(state.receipt().entries(), [entry]);
        }
    }
}

#[test]
fn reasoning_that_is_reported_as_unreported_is_complete() {
    let mut review = clean();
    review.reviewer.effective_reasoning = Some(EffectiveReasoning::Unreported);
    assert_eq!(record(review).kind(), StateKind::Parked);
}

#[test]
fn an_unknown_implementer_is_incomplete_and_a_person_is_not() {
    let recorded = Review {
        implementer: Author::Recorded,
        ..clean()
    };
    let (party, field) = (Party::Implementer, Field::Receipt);
    let (iteration, missing) = (1, vec![Missing { party, field }]);
    let entry = Entry::Incomplete { iteration, missing };
    assert_eq!(record(recorded).receipt().entries(), [entry]);
    let person = Review {
        implementer: Author::Person,
        ..clean()
    };
    assert_eq!(record(person).kind(), StateKind::Parked);
}

#[test]
fn a_stale_review_is_not_kept() {
    let state = record(stale(failing()));
    assert!(state.receipt().entries().is_empty());
    assert!(state.receipt().findings().is_empty());
}

#[test]
fn an_inconclusive_review_is_kept() {
    let state = record(silent(clean()));
    assert!(matches!(state.receipt().entries(), [Entry::Reviewed(_)]));
}

#[test]
fn no_two_parties_are_one_session() {
    let agent = |session| Some(Verifier::Agent(receipt("verifier", session)));
    let apart = Review {
        verifier: agent("v"),
        ..clean()
    };
    assert_eq!(record(apart).kind(), StateKind::Parked);
    let cases = [
        ("i", "v", Party::Implementer, Party::Reviewer),
        (" i ", "v", Party::Implementer, Party::Reviewer),
        ("r", "i", Party::Implementer, Party::Verifier),
        ("r", "r", Party::Reviewer, Party::Verifier),
    ];
    for (reviewer, verifier, one, other) in cases {
        let review = Review {
            reviewer: receipt("reviewer", reviewer),
            verifier: agent(verifier),
            ..clean()
        };
        let shared = inconclusive(Inconclusive::SharedSession { one, other });
        assert_eq!(stop_reason(&record(review)), &shared);
    }
}

#[test]
fn without_a_required_verifier_the_loop_goes_on_where_none_is_required() {
    let policy = Policy {
        verifier_receipt: Require::NotRequired,
        ..Policy::default()
    };
    let open = || {
        Ready::open(Bounds::default(), policy, tree(0))
            .begin(at(0))
            .unwrap()
    };
    assert_eq!(
        open().record(unverified(clean())).unwrap().kind(),
        StateKind::Parked
    );
    let verifier = Some(Verifier::Agent(receipt("verifier", "r")));
    let shared = Review {
        verifier,
        ..clean()
    };
    assert_eq!(open().record(shared).unwrap().kind(), StateKind::Stopped);
}

#[test]
fn over_a_ceiling_the_stop_names_every_ceiling_and_the_verdict() {
    let over = Review {
        spend: Spend { tool_calls: 121 },
        at: at(901),
        ..clean()
    };
    for (review, verdict) in [
        (over.clone(), Verdict::Clean),
        (over, Verdict::RepairsNeeded),
    ] {
        let findings = match verdict {
            Verdict::Clean => Findings::default(),
            Verdict::RepairsNeeded => findings(&["x"]),
        };
        let verdict = Some(verdict);
        let review = Review {
            verdict,
            findings,
            ..review
        };
        let passed = vec![Ceiling::WallClockSecs, Ceiling::ToolCalls];
        assert_eq!(
            stop_reason(&record(review)),
            &StopReason::Ceilings { passed, verdict }
        );
    }
}

#[test]
fn a_review_that_uses_a_ceiling_up_exactly_still_counts() {
    let exact = Review {
        spend: Spend { tool_calls: 120 },
        at: at(900),
        ..clean()
    };
    assert_eq!(record(exact).kind(), StateKind::Parked);
    let one_millisecond = Review {
        at: backstop_vocab::Timestamp::from_millis(900_001),
        ..clean()
    };
    let (passed, verdict) = (vec![Ceiling::WallClockSecs], Some(Verdict::Clean));
    let over = StopReason::Ceilings { passed, verdict };
    assert_eq!(stop_reason(&record(one_millisecond)), &over);
}

#[test]
fn a_verdict_that_contradicts_its_findings_is_inconclusive() {
    let open = Review {
        findings: findings(&["still open"]),
        ..clean()
    };
    let with = inconclusive(Inconclusive::CleanWithFindings);
    assert_eq!(stop_reason(&record(open)), &with);
    let vague = Review {
        findings: Findings::default(),
        ..failing()
    };
    let without = inconclusive(Inconclusive::RepairsWithoutFindings);
    assert_eq!(stop_reason(&record(vague)), &without);
}

#[test]
fn what_the_host_saw_outranks_a_clean_verdict() {
    let red = Review {
        verifier: Some(host(1)),
        ..clean()
    };
    let against = inconclusive(Inconclusive::CleanAgainstRed);
    assert_eq!(stop_reason(&record(red)), &against);
    let red_and_failing = Review {
        verifier: Some(host(101)),
        ..failing()
    };
    assert_eq!(record(red_and_failing).kind(), StateKind::Repairing);
}

#[test]
fn repairs_needed_at_the_last_iteration_stop_at_once_with_the_findings() {
    let open = reviewing(bounds(|b| b.iterations = 1));
    let state = open.record(failing()).unwrap();
    let (passed, verdict) = (vec![Ceiling::Iterations], Some(Verdict::RepairsNeeded));
    assert_eq!(
        stop_reason(&state),
        &StopReason::Ceilings { passed, verdict }
    );
    assert_eq!(state.receipt().findings()[0].as_str(), "off by one");
}

#[test]
fn a_clean_verdict_at_the_last_iteration_is_clean() {
    let open = reviewing(bounds(|b| b.iterations = 1));
    assert_eq!(open.record(clean()).unwrap().kind(), StateKind::Parked);
}

#[test]
fn a_clean_verdict_verifies_where_no_ratification_is_required() {
    let policy = Policy {
        human_ratification: Require::NotRequired,
        ..Policy::default()
    };
    let open = Ready::open(Bounds::default(), policy, tree(0))
        .begin(at(0))
        .unwrap();
    assert_eq!(open.record(clean()).unwrap().kind(), StateKind::Verified);
}

#[test]
fn only_the_pin_is_ratified_and_a_decline_says_why() {
    let other = Answer {
        digest: tree(1),
        ..answer(Decision::Approve, "")
    };
    let refused = parked().ratify(&operator(), other).unwrap_err();
    let (given, pin) = (tree(1), tree(0));
    assert_eq!(refused.why, Refused::NotThePin { given, pin });
    assert_eq!(refused.state, parked());
    for blank in ["", " \n", "\u{200b}"] {
        let refused = parked()
            .ratify(&operator(), answer(Decision::Decline, blank))
            .unwrap_err();
        assert_eq!(refused.why, Refused::NoNote);
    }
    let declined = parked()
        .ratify(&operator(), answer(Decision::Decline, "abort?"))
        .unwrap();
    let (by, note) = (signature(), "abort?".parse().unwrap());
    assert_eq!(stop_reason(&declined), &StopReason::Declined { by, note });
    let approved = parked()
        .ratify(&operator(), answer(Decision::Approve, ""))
        .unwrap();
    assert_eq!(approved.kind(), StateKind::Verified);
    assert_eq!(approved.receipt().pin(), tree(0));
    let (by, answer) = (signature(), answer(Decision::Approve, ""));
    assert_eq!(
        approved.receipt().entries().last(),
        Some(&Entry::Answered { by, answer })
    );
}
