//! What holds, what opens, what a failure does, who may answer.

use backstop_gates::{
    Asked, Board, By, Evidence, GateDraft, GateKind, Hold, Judged, NoVerdict, OnFail, Refusal,
    Specs, State, StateKind, Target, Trigger, Verdict, default_board, standard_roles, stopship,
};
use backstop_vocab::Digest;

use crate::common::{
    approval, attempt, board, fails, gate, give_failure, give_pass, green, id, in_state, kind_of,
    note, now, operator, ran, reason_of, red, rejection, role, signature, target, tree,
};

fn code(result: Result<Board, Refusal>) -> &'static str {
    result.map_or_else(|refusal| refusal.code(), |_| "ok")
}

#[test]
fn every_state_but_an_opening_holds_the_blocked_role() {
    for kind in GateKind::ALL {
        for state in StateKind::ALL {
            let board = in_state(*state, *kind);
            let open = matches!(
                state,
                StateKind::Passed | StateKind::Overridden | StateKind::Waived
            );
            assert_eq!(
                board.admit(&role("verifier"), &now(1)).is_ok(),
                open,
                "{kind} {state}"
            );
            assert_eq!(board.settle(&now(1)).is_ok(), open, "{kind} {state}");
            assert_eq!(state.holds(), !open);
            assert!(board.admit(&role("planner"), &now(1)).is_ok());
        }
    }
}

#[test]
fn a_new_board_holds_and_a_board_without_gates_holds_nothing() {
    let new = board(&stopship());
    for held in ["implementer", "verifier", "release_lead"] {
        assert!(new.admit(&role(held), &now(1)).is_err(), "{held}");
    }
    for free in ["scout", "planner", "reviewer", "stranger"] {
        assert!(new.admit(&role(free), &now(1)).is_ok(), "{free}");
    }
    let none = Board::new(Specs::none());
    assert_eq!(
        none.admit(&role("release_lead"), &Judged::default())
            .unwrap()
            .role(),
        &role("release_lead")
    );
    assert_eq!(none.settle(&now(1)).unwrap().judged(), &now(1));
}

#[test]
fn an_opening_is_bound_to_what_was_judged() {
    for kind in GateKind::ALL {
        for state in [StateKind::Passed, StateKind::Overridden] {
            let board = in_state(state, *kind);
            let held = board.admit(&role("verifier"), &now(2)).unwrap_err();
            assert_eq!(held.role(), Some(&role("verifier")));
            assert_eq!(held.holders()[0].state, StateKind::Pending);
            assert_eq!(
                held.holders()[0].reason,
                Hold::OtherDigest {
                    judged: tree(1),
                    now: Some(tree(2))
                }
            );
            assert!(
                board.admit(&role("verifier"), &Judged::default()).is_err(),
                "unmeasured holds"
            );
            assert_eq!(board.settle(&now(2)).unwrap_err().role(), None);
            assert!(
                board.admit(&role("verifier"), &now(1)).is_ok(),
                "the same tree again"
            );
        }
        let waived = in_state(StateKind::Waived, *kind);
        assert!(waived.admit(&role("verifier"), &now(2)).is_ok());
    }
}

#[test]
fn an_approval_of_an_artifact_is_bound_to_the_artifact() {
    let board = ran(&board(&stopship()), "scout", &now(1));
    let board = give_pass(&board, "scout-findings", &now(1)).unwrap();
    let other_tree = Judged {
        tree: Some(tree(9)),
        ..now(1)
    };
    assert!(board.admit(&role("implementer"), &other_tree).is_ok());
    let other_findings = Judged {
        tree: Some(tree(1)),
        ..now(9)
    };
    assert!(board.admit(&role("implementer"), &other_findings).is_err());
    assert!(
        board
            .admit(&role("implementer"), &Judged::of_tree(tree(1)))
            .is_err()
    );
}

#[test]
fn a_board_for_other_specs_holds_everything_and_takes_nothing() {
    let passed = in_state(StateKind::Passed, GateKind::Verify);
    let other = Specs::load(&stopship(), &standard_roles()).unwrap();
    let foreign = passed.clone().under(other);
    let held = foreign.admit(&role("scout"), &now(1)).unwrap_err();
    assert!(held.is_for_other_specs());
    let own = passed.admit(&role("verifier"), &now(2)).unwrap_err();
    assert!(!own.is_for_other_specs());
    assert_eq!(held.holders().len(), 3);
    assert!(
        held.holders()
            .iter()
            .all(|h| h.reason == Hold::OtherSpecs && h.state == StateKind::Pending)
    );
    assert!(foreign.settle(&now(1)).is_err());
    assert!(foreign.open_gates(&now(1)).is_empty());
    let emptied = passed.clone().under(Specs::none());
    assert!(
        emptied
            .admit(&role("scout"), &now(1))
            .unwrap_err()
            .holders()
            .is_empty()
    );
    assert_eq!(
        code(foreign.verify(&target("verifier-suite"), &[green()], &now(1))),
        "other_specs"
    );
    assert_eq!(
        code(foreign.completed(&role("scout"), attempt(1))),
        "other_specs"
    );
    assert_eq!(
        code(foreign.retry(&operator(), &[role("scout")])),
        "other_specs"
    );
    assert_eq!(
        code(foreign.waive(&operator(), &[role("scout")], &note(""))),
        "other_specs"
    );
    assert_eq!(code(foreign.new_generation(&role("scout"))), "other_specs");
    let own = passed.specs().clone();
    assert!(emptied.under(own).admit(&role("verifier"), &now(1)).is_ok());
}

#[test]
fn all_holders_are_named_with_kind_state_and_reason() {
    let gates = [
        gate("c", GateKind::Verify, OnFail::Block),
        gate("a", GateKind::Review, OnFail::Retry),
        gate("b", GateKind::Approve, OnFail::Block),
        GateDraft {
            blocks_role: None,
            ..gate("d", GateKind::Verify, OnFail::Block)
        },
    ];
    let board = ran(&board(&gates), "reviewer", &now(1));
    let board = give_failure(&board, "a", &now(1)).unwrap();
    let board = give_failure(&board, "c", &now(1)).unwrap();
    let held = board.admit(&role("verifier"), &now(1)).unwrap_err();
    assert_eq!(
        held.to_string(),
        "`verifier` is held; review gate `a` is retrying: it leaks; approve gate `b` is pending: nothing has been \
         judged; verify gate `c` is blocked: `cargo clippy` exited with 101"
    );
    let asked: Vec<_> = held
        .holders()
        .iter()
        .map(|holder| holder.asked.clone())
        .collect();
    assert_eq!(
        asked,
        [
            Asked::Role(role("reviewer")),
            Asked::Operator,
            Asked::Operator
        ]
    );
    assert_eq!(board.settle(&now(1)).unwrap_err().holders().len(), 4);
}

#[test]
fn each_kind_takes_its_own_evidence_and_refuses_the_others() {
    for kind in GateKind::ALL {
        for passes in [true, false] {
            let ripe = ran(
                &board(&[gate("g", *kind, OnFail::Block)]),
                "reviewer",
                &now(1),
            );
            for evidence in Evidence::ALL {
                let given = match (evidence, passes) {
                    (Evidence::Host, true) => ripe.verify(&target("g"), &[green()], &now(1)),
                    (Evidence::Host, false) => ripe.verify(&target("g"), &[red()], &now(1)),
                    (Evidence::Verdict, true) => {
                        ripe.review(&target("g"), &Ok(Verdict::Pass), &now(1))
                    }
                    (Evidence::Verdict, false) => {
                        ripe.review(&target("g"), &Ok(fails("x")), &now(1))
                    }
                    (Evidence::Approval, _) => {
                        ripe.approve(&operator(), &approval(&ripe, "g", &now(1), ""), &now(1))
                    }
                };
                let wanted = if evidence.opens() == *kind {
                    "ok"
                } else {
                    "wrong_evidence"
                };
                assert_eq!(code(given), wanted, "{kind} {evidence}");
            }
        }
    }
}

#[test]
fn a_pass_records_who_passed_what() {
    let by = [
        By::Host,
        By::Role(role("reviewer")),
        By::Operator(signature()),
    ];
    for (kind, by) in GateKind::ALL.iter().zip(by) {
        let passed = in_state(StateKind::Passed, *kind);
        let wanted = State::Passed {
            by,
            digest: tree(1),
            attempt: attempt(1),
        };
        assert_eq!(passed.state(&id("g")), &wanted);
    }
}

#[test]
fn a_failure_does_what_on_fail_says() {
    for kind in GateKind::ALL {
        for on_fail in OnFail::ALL {
            let ripe = ran(&board(&[gate("g", *kind, *on_fail)]), "reviewer", &now(1));
            let failed = give_failure(&ripe, "g", &now(1)).unwrap();
            let wanted = match on_fail {
                OnFail::Retry => StateKind::Retrying,
                OnFail::Block => StateKind::Blocked,
                OnFail::Escalate => StateKind::Escalated,
            };
            assert_eq!(kind_of(&failed, "g"), wanted, "{kind} {on_fail}");
            let reason = match kind {
                GateKind::Verify => "`cargo clippy` exited with 101",
                GateKind::Review => "it leaks",
                GateKind::Approve => "rejected by ada: not this",
            };
            assert_eq!(reason_of(failed.state(&id("g"))), reason);
        }
    }
}

#[test]
fn a_gate_retries_as_often_as_it_says_and_then_escalates() {
    for most in [1, 2, 10] {
        let retrying = GateDraft {
            max_retries: Some(most),
            ..gate("g", GateKind::Verify, OnFail::Retry)
        };
        let mut board = board(&[retrying]);
        for n in 1..=most {
            board = give_failure(&ran(&board, "reviewer", &now(1)), "g", &now(1)).unwrap();
            assert!(matches!(board.state(&id("g")), State::Retrying { n: told, .. } if *told == n));
            assert_eq!(board.retries(&id("g")), n);
            assert_eq!(
                code(give_pass(&board, "g", &now(1))),
                "not_due",
                "the role has not run again"
            );
        }
        let again = ran(&board, "reviewer", &now(1));
        assert_eq!(kind_of(&again, "g"), StateKind::Pending);
        assert_eq!(
            kind_of(&give_pass(&again, "g", &now(1)).unwrap(), "g"),
            StateKind::Passed
        );
        board = give_failure(&again, "g", &now(1)).unwrap();
        assert_eq!(kind_of(&board, "g"), StateKind::Escalated);
    }
}

#[test]
fn a_pass_in_between_refills_no_retries() {
    let board = ran(
        &board(&[gate("g", GateKind::Verify, OnFail::Retry)]),
        "reviewer",
        &now(1),
    );
    let board = ran(
        &give_failure(&board, "g", &now(1)).unwrap(),
        "reviewer",
        &now(1),
    );
    let board = give_pass(&board, "g", &now(1)).unwrap();
    let board = give_failure(&board, "g", &now(1)).unwrap();
    assert_eq!(kind_of(&board, "g"), StateKind::Escalated);
}

#[test]
fn a_result_counts_only_for_the_attempt_that_completed() {
    for kind in [GateKind::Verify, GateKind::Review] {
        let new = board(&[gate("g", kind, OnFail::Block)]);
        assert_eq!(code(give_pass(&new, "g", &now(1))), "not_due");
        assert_eq!(code(give_failure(&new, "g", &now(1))), "not_due");
        let admitted = new.admit(&role("reviewer"), &now(1)).unwrap();
        let running = new.started(&admitted, attempt(2)).unwrap();
        assert_eq!(code(give_pass(&running, "g", &now(1))), "not_due");
        assert_eq!(
            code(running.completed(&role("reviewer"), attempt(1))),
            "not_running"
        );
        let done = running.completed(&role("reviewer"), attempt(2)).unwrap();
        assert_eq!(
            code(done.completed(&role("reviewer"), attempt(2))),
            "not_running"
        );
        assert_eq!(code(give_pass(&done, "g", &now(1))), "other_attempt");
    }
    let done = ran(
        &board(&[gate("g", GateKind::Approve, OnFail::Block)]),
        "reviewer",
        &now(1),
    );
    let mut stale = approval(&done, "g", &now(1), "");
    stale.target.attempt = attempt(2);
    assert_eq!(
        code(done.approve(&operator(), &stale, &now(1))),
        "other_attempt"
    );
}

#[test]
fn a_role_that_starts_again_is_judged_again() {
    for kind in GateKind::ALL {
        for state in [StateKind::Passed, StateKind::Overridden, StateKind::Waived] {
            let board = in_state(state, *kind);
            let admitted = board.admit(&role("reviewer"), &now(1)).unwrap();
            assert_eq!(
                kind_of(&board.started(&admitted, attempt(2)).unwrap(), "g"),
                StateKind::Pending
            );
        }
        for state in [
            StateKind::Retrying,
            StateKind::Blocked,
            StateKind::Escalated,
        ] {
            let board = in_state(state, *kind);
            let admitted = board.admit(&role("reviewer"), &now(1)).unwrap();
            assert_eq!(
                kind_of(&board.started(&admitted, attempt(2)).unwrap(), "g"),
                state
            );
        }
    }
}

#[test]
fn an_admission_is_good_only_for_the_board_that_gave_it() {
    let board = in_state(StateKind::Passed, GateKind::Verify);
    let admitted = board.admit(&role("verifier"), &now(1)).unwrap();
    assert!(board.started(&admitted, attempt(1)).is_ok());
    let failed = give_failure(&board, "g", &now(1)).unwrap();
    assert_eq!(
        code(failed.started(&admitted, attempt(1))),
        "stale_admission"
    );
    let open = Board::new(Specs::none());
    let later = open.new_generation(&role("scout")).unwrap();
    let early = open.admit(&role("scout"), &now(1)).unwrap();
    assert_eq!(code(later.started(&early, attempt(1))), "stale_admission");
}

#[test]
fn a_start_gate_is_due_before_its_role_starts() {
    for kind in GateKind::ALL {
        let start = GateDraft {
            on: Trigger::RoleStart,
            blocks_role: None,
            ..gate("g", *kind, OnFail::Retry)
        };
        let new = board(&[start]);
        assert!(new.admit(&role("reviewer"), &now(1)).is_err());
        let failed = give_failure(&new, "g", &now(1)).unwrap();
        assert_eq!(kind_of(&failed, "g"), StateKind::Retrying);
        let passed = give_pass(&new, "g", &now(1)).unwrap();
        let done = ran(&passed, "reviewer", &now(1));
        assert_eq!(
            kind_of(&done, "g"),
            StateKind::Passed,
            "starting is what it was for"
        );
        assert!(
            done.admit(&role("reviewer"), &now(2)).is_err(),
            "another tree is judged again"
        );
        let settled = done.settle(&now(2)).is_ok();
        assert_eq!(
            settled,
            *kind == GateKind::Approve,
            "only an approval of the start is done with"
        );
        assert!(passed.settle(&now(2)).is_err(), "it has let nobody in");
    }
}

#[test]
fn a_verify_gate_passes_only_when_every_check_ran_green() {
    let ripe = ran(
        &board(&[gate("g", GateKind::Verify, OnFail::Block)]),
        "reviewer",
        &now(1),
    );
    assert_eq!(code(ripe.verify(&target("g"), &[], &now(1))), "no_evidence");
    assert_eq!(
        code(ripe.verify(&target("g"), &[green()], &Judged::default())),
        "unmeasured"
    );
    for checks in [vec![red()], vec![green(), red()], vec![red(), green()]] {
        let judged = ripe.verify(&target("g"), &checks, &now(1)).unwrap();
        assert_eq!(kind_of(&judged, "g"), StateKind::Blocked);
    }
    let judged = ripe
        .verify(&target("g"), &[green(), green()], &now(1))
        .unwrap();
    assert_eq!(kind_of(&judged, "g"), StateKind::Passed);
    assert_eq!(
        code(ripe.verify(&target("nope"), &[green()], &now(1))),
        "unknown_gate"
    );
}

#[test]
fn silence_never_passes_a_review() {
    let silent: Result<Verdict, NoVerdict> = Err(NoVerdict::Blank);
    let strict = ran(
        &board(&[gate("g", GateKind::Review, OnFail::Block)]),
        "reviewer",
        &now(1),
    );
    assert_eq!(
        code(strict.review(&target("g"), &silent, &now(1))),
        "no_verdict"
    );
    let lax = GateDraft {
        require_explicit_verdict: false,
        ..gate("g", GateKind::Review, OnFail::Block)
    };
    let lax = ran(&board(&[lax]), "reviewer", &now(1));
    let judged = lax.review(&target("g"), &silent, &now(1)).unwrap();
    assert_eq!(kind_of(&judged, "g"), StateKind::Blocked);
}

#[test]
fn no_machine_result_changes_what_only_an_operator_may_change() {
    for kind in [GateKind::Verify, GateKind::Review] {
        for (state, wanted) in [
            (StateKind::Blocked, "fixed"),
            (StateKind::Escalated, "fixed"),
            (StateKind::Overridden, "already_open"),
        ] {
            let board = in_state(state, kind);
            assert_eq!(code(give_pass(&board, "g", &now(1))), wanted);
            assert_eq!(code(give_failure(&board, "g", &now(1))), wanted);
        }
        let overridden = in_state(StateKind::Overridden, kind);
        assert!(
            give_failure(&overridden, "g", &now(2)).is_ok(),
            "another tree is judged"
        );
        let passed = in_state(StateKind::Passed, kind);
        assert_eq!(
            kind_of(&give_failure(&passed, "g", &now(1)).unwrap(), "g"),
            StateKind::Blocked
        );
    }
}

#[test]
fn an_operators_answers_fit_the_state_of_the_gate() {
    for kind in GateKind::ALL {
        for state in StateKind::ALL {
            let board = in_state(*state, *kind);
            let yes = approval(&board, "g", &now(1), "known flake");
            let (approve, overrule, reject) = match (state, kind) {
                (StateKind::Pending, GateKind::Approve) => ("ok", "nothing_to_override", "ok"),
                (StateKind::Retrying, GateKind::Approve) => ("not_pending", "ok", "ok"),
                (StateKind::Pending | StateKind::Retrying, _) => ("wrong_evidence", "ok", "ok"),
                (StateKind::Blocked | StateKind::Escalated, GateKind::Approve) => {
                    ("not_pending", "ok", "fixed")
                }
                (StateKind::Blocked | StateKind::Escalated, _) => ("wrong_evidence", "ok", "fixed"),
                (StateKind::Passed | StateKind::Overridden | StateKind::Waived, _) => {
                    ("already_open", "already_open", "already_open")
                }
            };
            assert_eq!(
                code(board.approve(&operator(), &yes, &now(1))),
                approve,
                "approve {kind} {state}"
            );
            assert_eq!(
                code(board.overrule(&operator(), &yes, &now(1))),
                overrule,
                "overrule {kind} {state}"
            );
            let no = rejection("g", "no");
            assert_eq!(
                code(board.reject(&operator(), &no, &now(1))),
                reject,
                "reject {kind} {state}"
            );
        }
    }
}

#[test]
fn an_override_needs_a_note_and_is_never_shown_as_passed() {
    for kind in GateKind::ALL {
        let blocked = in_state(StateKind::Blocked, *kind);
        for blank in ["", "  ", "\u{200b}"] {
            let yes = approval(&blocked, "g", &now(1), blank);
            assert_eq!(
                code(blocked.overrule(&operator(), &yes, &now(1))),
                "note_needed"
            );
            assert_eq!(
                code(blocked.reject(&operator(), &rejection("g", blank), &now(1))),
                "note_needed"
            );
        }
        let line = &in_state(StateKind::Overridden, *kind).status(&now(1))[0];
        assert_eq!(line.state, StateKind::Overridden);
        assert_eq!(
            line.to_string(),
            format!("g ({kind}, reviewer): overridden, by ada: known flake")
        );
    }
}

#[test]
fn an_answer_for_another_digest_is_refused() {
    let pending = in_state(StateKind::Pending, GateKind::Approve);
    let yes = approval(&pending, "g", &now(1), "fine");
    let refusal = pending.approve(&operator(), &yes, &now(2)).unwrap_err();
    assert_eq!(
        refusal,
        Refusal::OtherDigest {
            gate: id("g"),
            given: tree(1),
            now: tree(2)
        }
    );
    assert_eq!(
        code(pending.approve(&operator(), &yes, &Judged::default())),
        "unmeasured"
    );
    let blocked = in_state(StateKind::Blocked, GateKind::Verify);
    let yes = approval(&blocked, "g", &now(1), "fine");
    assert_eq!(
        code(blocked.overrule(&operator(), &yes, &now(2))),
        "other_digest"
    );
    let passed = in_state(StateKind::Passed, GateKind::Approve);
    let yes = approval(&passed, "g", &now(2), "fine");
    assert_eq!(
        code(passed.approve(&operator(), &yes, &now(2))),
        "ok",
        "approved anew for the new tree"
    );
}

#[test]
fn a_new_generation_resets_gates_from_the_implementer_on_and_keeps_escalated() {
    for from in ["implementer", "Reviewer"] {
        for state in StateKind::ALL {
            let board = in_state(*state, GateKind::Verify);
            let next = board.new_generation(&role(from)).unwrap();
            let wanted = if *state == StateKind::Escalated {
                *state
            } else {
                StateKind::Pending
            };
            assert_eq!(kind_of(&next, "g"), wanted);
            assert_eq!((board.generation(), next.generation()), (1, 2));
            assert_eq!(
                code(give_pass(&next, "g", &now(1))),
                if wanted.holds() && wanted != StateKind::Escalated {
                    "not_due"
                } else {
                    "fixed"
                }
            );
            let earlier = board.new_generation(&role("verifier")).unwrap();
            assert_eq!(
                kind_of(&earlier, "g"),
                *state,
                "the reviewer comes before the verifier"
            );
        }
    }
    let stranger = in_state(StateKind::Passed, GateKind::Verify).new_generation(&role("stranger"));
    assert_eq!(
        kind_of(&stranger.unwrap(), "g"),
        StateKind::Pending,
        "an unknown place resets all"
    );
}

#[test]
fn a_new_generation_refills_retries() {
    let retrying = in_state(StateKind::Retrying, GateKind::Verify);
    let next = ran(
        &retrying.new_generation(&role("implementer")).unwrap(),
        "reviewer",
        &now(1),
    );
    assert_eq!(
        kind_of(&give_failure(&next, "g", &now(1)).unwrap(), "g"),
        StateKind::Retrying
    );
}

#[test]
fn an_operators_retry_refills_retries() {
    let mut board = in_state(StateKind::Retrying, GateKind::Verify);
    board = give_failure(&ran(&board, "reviewer", &now(1)), "g", &now(1)).unwrap();
    assert_eq!(kind_of(&board, "g"), StateKind::Escalated);
    board = board.retry(&operator(), &[role("reviewer")]).unwrap();
    board = give_failure(&ran(&board, "reviewer", &now(1)), "g", &now(1)).unwrap();
    assert_eq!(kind_of(&board, "g"), StateKind::Retrying);
}

#[test]
fn an_operators_retry_makes_failed_gates_of_its_roles_pending() {
    for state in StateKind::ALL {
        let board = in_state(*state, GateKind::Verify);
        let retried = board
            .retry(&operator(), &[role("scout"), role("reviewer")])
            .unwrap();
        let failed = matches!(state, StateKind::Blocked | StateKind::Escalated);
        assert_eq!(
            kind_of(&retried, "g"),
            if failed { StateKind::Pending } else { *state }
        );
        assert_eq!(
            board.retry(&operator(), &[role("scout")]).unwrap(),
            board,
            "other roles' gates stay"
        );
        if failed {
            assert!(
                give_pass(&retried, "g", &now(1)).is_ok(),
                "what completed may be judged again"
            );
        }
    }
}

#[test]
fn only_what_has_not_begun_is_waived() {
    let both = [
        gate("g", GateKind::Verify, OnFail::Block),
        GateDraft {
            role: "scout".into(),
            ..gate("s", GateKind::Approve, OnFail::Block)
        },
    ];
    let new = board(&both);
    let waived = new
        .waive(
            &operator(),
            &[role("scout")],
            &note("findings are in the issue"),
        )
        .unwrap();
    assert_eq!(kind_of(&waived, "s"), StateKind::Waived);
    assert_eq!(kind_of(&waived, "g"), StateKind::Pending);
    assert_eq!(
        waived.status(&now(1))[1].to_string(),
        "s (approve, scout): waived, by ada: findings are in the issue"
    );
    let silent = new.waive(&operator(), &[role("scout")], &note(" "));
    assert_eq!(
        silent.unwrap().status(&now(1))[1].to_string(),
        "s (approve, scout): waived, by ada"
    );
    for state in StateKind::ALL {
        let begun = in_state(*state, GateKind::Verify);
        assert_eq!(
            code(begun.waive(&operator(), &[role("reviewer")], &note(""))),
            "begun",
            "{state}"
        );
    }
    let later = new.new_generation(&role("scout")).unwrap();
    assert_eq!(
        code(later.waive(&operator(), &[role("scout")], &note(""))),
        "begun"
    );
}

#[test]
fn handoffs_are_delivered_while_their_gate_is_passed_or_overridden() {
    for state in StateKind::ALL {
        let board = in_state(*state, GateKind::Verify);
        let open = matches!(state, StateKind::Passed | StateKind::Overridden);
        assert_eq!(
            board.open_gates(&now(1)).contains(&id("g")),
            open,
            "{state}"
        );
        assert!(board.open_gates(&now(2)).is_empty());
    }
}

#[test]
fn the_status_names_every_gate_and_who_is_asked() {
    let board = ran(&board(&stopship()), "scout", &now(1));
    let board = give_pass(&board, "scout-findings", &now(1)).unwrap();
    let board = ran(&board, "reviewer", &now(1));
    let board = give_pass(&board, "reviewer-diff", &now(1)).unwrap();
    let board = ran(&board, "verifier", &now(1));
    let board = give_failure(&board, "verifier-suite", &now(1)).unwrap();
    let lines: Vec<String> = board
        .status(&now(1))
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        lines,
        [
            "reviewer-diff (review, reviewer): passed, by reviewer",
            "scout-findings (approve, scout): passed, by ada",
            "verifier-suite (verify, verifier): retrying 1, `cargo clippy` exited with 101; waits for verifier",
        ]
    );
    let stale = &board.status(&Judged {
        tree: Some(tree(2)),
        ..now(1)
    })[0];
    assert_eq!(stale.state, StateKind::Pending);
    assert_eq!(stale.asked, Some(Asked::Role(role("reviewer"))));
    let again = ran(&board, "verifier", &now(1));
    assert_eq!(again.status(&now(1))[2].asked, Some(Asked::Host));
    let wire = serde_json::to_value(&board.status(&now(1))[2]).unwrap();
    assert_eq!(wire["state"], "retrying");
    assert_eq!(wire["n"], 1);
    assert_eq!(wire["asked"]["role"], "verifier");
}

#[test]
fn the_default_board_holds_the_reviewer_until_the_checks_are_green() {
    let board = ran(&board(&default_board()), "implementer", &now(1));
    assert!(board.admit(&role("reviewer"), &now(1)).is_err());
    let red = give_failure(&board, "checks", &now(1)).unwrap();
    assert!(red.admit(&role("reviewer"), &now(1)).is_err());
    let green = ran(
        &give_pass(&board, "checks", &now(1)).unwrap(),
        "reviewer",
        &now(1),
    );
    assert!(green.settle(&now(1)).is_err());
    assert!(
        give_pass(&green, "review", &now(1))
            .unwrap()
            .settle(&now(1))
            .is_ok()
    );
    let looped = red.new_generation(&role("implementer")).unwrap();
    let repaired = ran(&looped, "implementer", &now(2));
    assert!(
        give_pass(&repaired, "checks", &now(2))
            .unwrap()
            .admit(&role("reviewer"), &now(2))
            .is_ok()
    );
}

#[test]
fn a_stored_board_comes_back_equal_in_every_state() {
    for kind in GateKind::ALL {
        for state in StateKind::ALL {
            let board = in_state(*state, *kind);
            let json = serde_json::to_string(&board).unwrap();
            assert_eq!(
                serde_json::from_str::<Board>(&json).unwrap(),
                board,
                "{kind} {state}"
            );
        }
    }
}

#[test]
fn a_forged_board_is_refused() {
    let refused = |board: &Board, from: &str, to: &str| {
        let json = serde_json::to_string(board).unwrap();
        let forged = json.replace(from, to);
        assert_ne!(json, forged, "{from} is there");
        assert!(serde_json::from_str::<Board>(&forged).is_err(), "{to}");
    };
    let blocked = in_state(StateKind::Blocked, GateKind::Verify);
    refused(&blocked, "\"gates\":{\"g\"", "\"gates\":{\"h\"");
    refused(&blocked, "{\"blocked\":", "{\"escalated\":");
    refused(&blocked, "\"generation\":1", "\"generation\":0");
    refused(&blocked, "\"retries\":0", "\"retries\":1");
    refused(&blocked, "\"generation\":1", "\"generation\":1,\"extra\":1");
    refused(&blocked, "\"state\":{\"blocked\"", "\"sate\":{\"blocked\"");
    let retrying = in_state(StateKind::Retrying, GateKind::Verify);
    for other in ["\"n\":0", "\"n\":2"] {
        refused(&retrying, "\"n\":1", other);
    }
    let none = serde_json::to_string(&retrying).unwrap();
    let none = none.replace("\"n\":1", "\"n\":0");
    let none = none.replace("\"retries\":1", "\"retries\":0");
    assert!(serde_json::from_str::<Board>(&none).is_err(), "{none}");
    refused(&retrying, "{\"retrying\":{\"n\":1,", "{\"blocked\":{");
    let passed = in_state(StateKind::Passed, GateKind::Verify);
    refused(&passed, "\"by\":\"host\"", "\"by\":{\"role\":\"reviewer\"}");
    let reviewed = in_state(StateKind::Passed, GateKind::Review);
    refused(
        &reviewed,
        "{\"role\":\"reviewer\"}",
        "{\"role\":\"implementer\"}",
    );
    refused(&reviewed, "{\"role\":\"reviewer\"}", "\"host\"");
    let approved = in_state(StateKind::Passed, GateKind::Approve);
    refused(
        &approved,
        "{\"operator\":{\"name\":\"ada\",\"channel\":\"cli\"}}",
        "\"host\"",
    );
    let overridden = in_state(StateKind::Overridden, GateKind::Verify);
    refused(&overridden, "known flake", " ");
}

#[test]
fn host_evidence_without_a_command_is_refused() {
    let log = Digest::of(b"");
    let json =
        |command: &str| format!(r#"{{"command":"{command}","exit_status":0,"log":"{log}"}}"#);
    assert!(serde_json::from_str::<backstop_gates::HostEvidence>(&json("make")).is_ok());
    assert!(serde_json::from_str::<backstop_gates::HostEvidence>(&json(" ")).is_err());
}

#[test]
fn a_refusal_says_what_to_do() {
    let board = in_state(StateKind::Escalated, GateKind::Verify);
    let words = give_pass(&board, "g", &now(1)).unwrap_err().to_string();
    assert_eq!(words, "gate `g` is escalated: only an operator changes it");
    let other = Target {
        gate: id("g"),
        attempt: attempt(1),
    };
    let words = board
        .review(&other, &Ok(Verdict::Pass), &now(1))
        .unwrap_err()
        .to_string();
    assert_eq!(
        words,
        "gate `g` opens by verify and does not take a verdict"
    );
}
