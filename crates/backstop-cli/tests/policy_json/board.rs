//! Boards: what each step does, and that nothing opens a gate by accident.

use serde_json::{Value, json};

use crate::{ONE, TWO, ask, ask_one, code, codes};

fn gate(id: &str, role: &str, kind: &str, on_fail: &str, blocks: &str) -> Value {
    json!({"id": id, "role": role, "on": "role_complete", "gate": kind, "on_fail": on_fail, "blocks_role": blocks})
}

fn board(specs: &Value, steps: &Value, role: &str) -> Value {
    json!({"op": "board", "specs": specs, "steps": steps, "admit": {"role": role, "digests": {"tree": ONE}}})
}

/// A review gate of the reviewer that holds the verifier.
fn review_board(on_fail: &str, steps: &Value) -> Value {
    let specs = json!([gate("g1", "reviewer", "review", on_fail, "verifier")]);
    ask_one(&board(&specs, steps, "verifier"))
}

fn by() -> Value {
    json!({"name": "ada", "channel": "cli"})
}

fn pass(verdict: &str) -> Value {
    json!({"pass": {"gate": "g1", "verdict": verdict}})
}

fn is_admitted(answer: &Value) -> bool {
    if answer["ok"]["admitted"] == true {
        assert_eq!(answer["ok"]["holders"], json!([]));
        return true;
    }
    assert_eq!(answer["ok"]["admitted"], false, "{answer}");
    false
}

/// The only holder's state.
fn state(answer: &Value) -> &str {
    assert!(!is_admitted(answer));
    let holders = answer["ok"]["holders"].as_array().unwrap();
    assert_eq!(holders.len(), 1);
    holders[0]["state"].as_str().unwrap()
}

#[test]
fn no_specs_hold_nothing_and_a_pending_gate_holds() {
    assert!(is_admitted(&ask_one(&board(
        &json!([]),
        &json!([]),
        "verifier"
    ))));
    assert_eq!(state(&review_board("block", &json!([]))), "pending");
    let specs = json!([gate("g1", "reviewer", "review", "block", "verifier")]);
    assert!(is_admitted(&ask_one(&board(
        &specs,
        &json!([]),
        "reviewer"
    ))));
}

#[test]
fn a_strict_verdict_decides_and_nothing_else_does() {
    assert!(is_admitted(&review_board("block", &json!([pass("PASS")]))));
    assert_eq!(
        state(&review_board("block", &json!([pass("FAIL: no")]))),
        "blocked"
    );
    for text in ["", "looks fine", "PASS\nFAIL", "I PASS this"] {
        assert_eq!(
            code(&review_board("block", &json!([pass(text)]))),
            "no_verdict"
        );
    }
}

#[test]
fn a_failure_retries_blocks_or_escalates() {
    let fail = || pass("FAIL: no");
    assert_eq!(state(&review_board("retry", &json!([fail()]))), "retrying");
    assert_eq!(
        state(&review_board("retry", &json!([fail(), fail()]))),
        "escalated"
    );
    assert!(is_admitted(&review_board(
        "retry",
        &json!([fail(), pass("PASS")])
    )));
    assert_eq!(
        state(&review_board("escalate", &json!([fail()]))),
        "escalated"
    );
    for on_fail in ["block", "escalate"] {
        let again = review_board(on_fail, &json!([fail(), pass("PASS")]));
        assert_eq!(code(&again), "fixed");
    }
}

#[test]
fn a_new_generation_clears_blocked_and_an_operator_alone_clears_escalated() {
    let anew = json!({"new_generation": {"from": "implementer"}});
    let fail = || pass("FAIL: no");
    let again = json!({"retry": {"roles": ["reviewer"], "by": by()}});
    assert_eq!(
        state(&review_board("block", &json!([fail(), anew]))),
        "pending"
    );
    assert_eq!(
        state(&review_board("escalate", &json!([fail(), anew]))),
        "escalated"
    );
    assert_eq!(
        state(&review_board("escalate", &json!([fail(), again]))),
        "pending"
    );
    assert!(is_admitted(&review_board(
        "escalate",
        &json!([fail(), again, pass("PASS")])
    )));
}

#[test]
fn each_kind_of_gate_refuses_the_evidence_of_the_others() {
    let check = json!({"command": "make test", "exit_status": 0, "log": ONE});
    let verify = json!({"verify": {"gate": "g1", "checks": [check]}});
    let review = json!({"review": {"gate": "g1", "verdict": "PASS"}});
    let approve = json!({"approve": {"gate": "g1", "digest": ONE, "by": by()}});
    let kinds = ["verify", "review", "approve"];
    for (kind, own) in kinds.iter().enumerate() {
        for (given, step) in [&verify, &review, &approve].into_iter().enumerate() {
            let specs = json!([gate("g1", "reviewer", own, "block", "verifier")]);
            let run = json!({"role": "reviewer"});
            let steps = json!([{"start": run}, {"complete": run}, step]);
            let answer = ask_one(&board(&specs, &steps, "verifier"));
            if kind == given {
                assert!(is_admitted(&answer), "{own} {step}");
            } else {
                assert_eq!(code(&answer), "wrong_evidence", "{own} {step}");
            }
        }
    }
}

#[test]
fn a_red_check_fails_a_verify_gate_and_no_check_is_refused() {
    let with = |checks: Value| {
        let specs = json!([gate("g1", "implementer", "verify", "block", "reviewer")]);
        let run = json!({"role": "implementer"});
        let steps = json!([{"start": run}, {"complete": run}, {"verify": {"gate": "g1", "checks": checks}}]);
        ask_one(&board(&specs, &steps, "reviewer"))
    };
    let check = |status: i32| json!({"command": "make test", "exit_status": status, "log": ONE});
    assert!(is_admitted(&with(json!([check(0), check(0)]))));
    assert_eq!(state(&with(json!([check(0), check(-9)]))), "blocked");
    assert_eq!(code(&with(json!([]))), "no_evidence");
}

#[test]
fn a_pass_counts_for_what_was_judged_alone() {
    let measured = json!([{"measure": {"tree": TWO}}, pass("PASS")]);
    assert_eq!(state(&review_board("block", &measured)), "pending");
    let back = json!([{"measure": {"tree": TWO}}, {"measure": {"tree": ONE}}, pass("PASS")]);
    assert!(is_admitted(&review_board("block", &back)));
    let unmeasured = json!([{"measure": {}}, pass("PASS")]);
    assert_eq!(code(&review_board("block", &unmeasured)), "unmeasured");
}

#[test]
fn an_approve_gate_with_an_artifact_judges_the_artifact() {
    let mut spec = gate("g1", "scout", "approve", "block", "implementer");
    spec["artifact_kind"] = json!("findings");
    let asked = |digest: &str| {
        json!({"op": "board", "specs": [spec], "steps": [{"approve": {"gate": "g1", "digest": digest, "by": by()}}],
            "admit": {"role": "implementer", "digests": {"tree": ONE, "artifacts": {"findings": TWO}}}})
    };
    assert!(is_admitted(&ask_one(&asked(TWO))));
    assert_eq!(code(&ask_one(&asked(ONE))), "other_digest");
}

#[test]
fn an_operator_answers_by_name_and_overrides_with_a_note() {
    let answers = |answer: Value| review_board("block", &json!([pass("FAIL"), answer]));
    let yes =
        |note: &str| json!({"override": {"gate": "g1", "digest": ONE, "note": note, "by": by()}});
    assert!(is_admitted(&answers(yes("seen it"))));
    assert_eq!(code(&answers(yes(" "))), "note_needed");
    let nobody = json!({"override": {"gate": "g1", "digest": ONE, "note": "seen it"}});
    assert_eq!(code(&answers(nobody)), "bad_field");
    let no = json!({"reject": {"gate": "g1", "note": "no", "by": by()}});
    assert_eq!(state(&review_board("escalate", &json!([no]))), "escalated");
}

#[test]
fn a_role_starts_only_when_it_is_let_in() {
    let answer = review_board("block", &json!([{"start": {"role": "verifier"}}]));
    assert_eq!(code(&answer), "held");
    assert_eq!(codes(&answer), ["pending"]);
    assert_eq!(answer["refused"]["all"][0]["id"], "g1");
    let late =
        json!([{"start": {"role": "reviewer"}}, {"review": {"gate": "g1", "verdict": "PASS"}}]);
    let answer = review_board("block", &late);
    assert_eq!(code(&answer), "not_due");
    let words = answer["refused"]["message"].as_str().unwrap();
    assert!(
        words.starts_with("`steps[1].review`: gate `g1` is not due"),
        "{words}"
    );
    let other = json!([{"start": {"role": "reviewer", "attempt": 4}}, {"complete": {"role": "reviewer", "attempt": 3}}]);
    assert_eq!(code(&review_board("block", &other)), "not_running");
}

#[test]
fn attempts_that_are_left_out_go_on_from_the_last() {
    let run = json!({"role": "reviewer"});
    let second = json!({"role": "reviewer", "attempt": 2});
    let steps = json!([{"start": run}, {"start": run}, {"complete": second},
        {"review": {"gate": "g1", "verdict": "PASS"}}]);
    assert!(is_admitted(&review_board("block", &steps)));
    let first = json!([{"start": run}, {"start": run}, {"complete": run},
        {"review": {"gate": "g1", "attempt": 1, "verdict": "PASS"}}]);
    assert_eq!(code(&review_board("block", &first)), "other_attempt");
}

#[test]
fn a_structured_verdict_outranks_the_text() {
    let run = json!({"role": "reviewer"});
    let steps = |structured: Value| {
        json!([{"start": run}, {"complete": run},
            {"review": {"gate": "g1", "verdict": "PASS", "structured": structured}}])
    };
    assert!(is_admitted(&review_board("block", &steps(json!("pass")))));
    let fail = steps(json!({"fail": {"reason": "no"}}));
    assert_eq!(state(&review_board("block", &fail)), "blocked");
}

#[test]
fn a_gate_at_the_start_of_a_role_is_reviewed_without_a_run_of_it() {
    let spec = json!({"id": "g1", "role": "verifier", "on": "role_start", "gate": "review", "on_fail": "block"});
    let answer = ask_one(&board(&json!([spec]), &json!([pass("PASS")]), "verifier"));
    assert!(is_admitted(&answer));
}

#[test]
fn a_board_for_other_gates_holds_everything() {
    let other = json!([gate("g2", "scout", "review", "block", "planner")]);
    let answer = review_board("block", &json!([pass("PASS"), {"under": {"specs": other}}]));
    assert_eq!(state(&answer), "pending");
    let step = json!([{"under": {"specs": other}}, pass("PASS")]);
    let refused = code(&review_board("block", &step)).to_owned();
    assert!(
        ["held", "unknown_gate", "other_specs"].contains(&refused.as_str()),
        "{refused}"
    );
    let none = review_board("block", &json!([{"under": {"specs": []}}]));
    assert_eq!(none, json!({"ok": {"admitted": false, "holders": []}}));
}

#[test]
fn impossible_specs_are_refused_with_every_fault() {
    let specs = json!([
        {"id": " ", "role": "tester", "on": "role_complete", "gate": "review", "on_fail": "block", "max_retries": 1},
        gate("a", "reviewer", "review", "block", "reviewer"),
        gate("A", "verifier", "verify", "block", "release_lead"),
    ]);
    let answer = ask_one(&board(&specs, &json!([]), "verifier"));
    assert_eq!(code(&answer), "impossible_specs");
    let wanted = [
        "blank_id",
        "unknown_role",
        "retries_unread",
        "blocks_itself",
        "duplicate_id",
    ];
    assert_eq!(codes(&answer), wanted);
    let indexes: Vec<&Value> = answer["refused"]["all"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| &f["index"])
        .collect();
    assert_eq!(indexes, [0, 0, 0, 1, 2]);
}

#[test]
fn a_role_that_nobody_knows_is_never_let_in() {
    let steps = [
        json!([]),
        json!([{"start": {"role": "tester"}}]),
        json!([{"complete": {"role": "tester"}}]),
        json!([{"retry": {"roles": ["tester"], "by": by()}}]),
        json!([{"waive": {"roles": ["scout", "tester"], "by": by()}}]),
        json!([{"new_generation": {"from": "tester"}}]),
    ];
    for (place, steps) in steps.iter().enumerate() {
        let role = if place == 0 { "tester" } else { "verifier" };
        let mut question = board(&json!([]), steps, role);
        assert_eq!(code(&ask_one(&question)), "unknown_role", "{steps}");
        question["roles"] = json!([{"name": "tester"}, {"name": "verifier"}, {"name": "scout"}]);
        assert_ne!(code(&ask_one(&question)), "unknown_role", "{steps}");
    }
}

#[test]
fn a_board_has_at_most_256_gates() {
    let many = |n: usize| {
        let gates: Vec<Value> = (0..n)
            .map(|n| gate(&format!("g{n}"), "scout", "review", "block", "planner"))
            .collect();
        board(&json!(gates), &json!([]), "verifier")
    };
    let answers = ask(&[many(256), many(257)]);
    assert!(is_admitted(&answers[0]));
    assert_eq!(code(&answers[1]), "too_many_gates");
}
