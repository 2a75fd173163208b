//! Review loops: the states, the bounds, and that a step that does not fit refuses the question.

use backstop_engine::review::Bounds;
use serde_json::{Value, json};

use crate::{ONE, TWO, ask_one, code, codes};

fn review(steps: &Value) -> Value {
    ask_one(&json!({"op": "review", "pin": ONE, "steps": steps}))
}

fn route(role: &str, session: &str) -> Value {
    json!({"role": role, "provider": "p", "model": "m", "requested_reasoning": "max",
        "effective_reasoning": {"known": "high"}, "routed_by": {"router": {"provider": "p", "model": "m"}},
        "session": session})
}

fn record(iteration: u32, digest: &str, verdict: &str, findings: &[&str]) -> Value {
    let host = json!({"command": "make test", "exit_status": 0, "log": ONE});
    json!({"record": {"iteration": iteration, "digest": digest, "spend": {"tool_calls": 31},
        "implementer": {"agent": route("implementer", "s1")}, "reviewer": route("reviewer", "s2"),
        "verifier": {"host": host}, "verdict": verdict, "findings": findings, "at": 240_000}})
}

fn repair(from: &str, to: &str) -> Value {
    json!({"record_repair": {"from": from, "to": to, "implementer": route("implementer", "s3")}})
}

fn ratify(decision: &str, digest: &str, note: &str) -> Value {
    let by = json!({"name": "ada", "channel": "cli"});
    json!({"ratify": {"decision": decision, "digest": digest, "note": note, "by": by, "at": 1}})
}

fn begin() -> Value {
    json!({"begin": {"at": 0}})
}

#[test]
fn a_clean_loop_is_parked_until_a_person_ratifies_it() {
    let clean = record(1, ONE, "clean", &[]);
    let parked = review(&json!([begin(), clean]));
    assert_eq!(parked["ok"]["state"], "parked");
    assert_eq!(
        parked["ok"]["budget_line"],
        "iterations 1/3, tools 31/120, elapsed 240s/900s"
    );
    let lines = [
        "implementer: p/m reasoning max→high (routed by router p/m)",
        "reviewer: p/m reasoning max→high (routed by router p/m)",
    ];
    assert_eq!(parked["ok"]["route_lines"], json!(lines));
    let verified = review(&json!([begin(), clean, ratify("approve", ONE, "")]));
    assert_eq!(verified["ok"]["state"], "verified");
    let declined = review(&json!([begin(), clean, ratify("decline", ONE, "not yet")]));
    assert_eq!(declined["ok"]["state"], "stopped");
    assert_eq!(declined["ok"]["reason"]["declined"]["note"], "not yet");
    let other = review(&json!([begin(), clean, ratify("approve", TWO, "")]));
    assert_eq!(code(&other), "not_the_pin");
    assert_eq!(
        code(&review(&json!([
            begin(),
            clean,
            ratify("decline", ONE, " ")
        ]))),
        "no_note"
    );
}

#[test]
fn a_repair_moves_the_pin_and_a_standing_one_stalls() {
    let needed = record(1, ONE, "repairs_needed", &["no test"]);
    let repairing = review(&json!([begin(), needed]));
    assert_eq!(repairing["ok"]["state"], "repairing");
    let ready = review(&json!([begin(), needed, repair(ONE, TWO)]));
    assert_eq!(ready["ok"]["state"], "ready");
    assert_eq!(ready["ok"]["receipt"]["pin"], TWO);
    let stalled = review(&json!([begin(), needed, repair(ONE, ONE)]));
    assert_eq!(
        stalled["ok"]["reason"],
        json!({"stalled": {"last": "no_progress", "in_a_row": 1}})
    );
    let stale = review(&json!([begin(), needed, repair(TWO, ONE)]));
    assert_eq!(stale["ok"]["reason"]["stale_input"]["found"], TWO);
}

#[test]
fn an_open_slot_says_what_it_may_spend() {
    let open = review(&json!([begin()]));
    assert_eq!(open["ok"]["state"], "reviewing");
    assert_eq!(open["ok"]["slot"]["number"], 1);
    assert_eq!(open["ok"]["slot"]["tool_calls"], 120);
    assert_eq!(open["ok"]["slot"]["deadline"], 900_000);
    assert_eq!(review(&json!([]))["ok"].get("slot"), None);
}

#[test]
fn a_step_that_does_not_fit_refuses_the_question_and_names_itself() {
    let answer = review(&json!([begin(), begin()]));
    assert_eq!(code(&answer), "misfit");
    assert!(
        answer["refused"]["message"]
            .as_str()
            .unwrap()
            .starts_with("`steps[1].begin`: ")
    );
    let slot = review(&json!([begin(), record(2, ONE, "clean", &[])]));
    assert_eq!(code(&slot), "iteration");
    assert_eq!(
        code(&review(&json!([{"record_red": {"findings": []}}]))),
        "no_findings"
    );
    let mut bare = repair(ONE, TWO);
    bare["record_repair"]["implementer"] = json!({});
    let red = json!({"record_red": {"findings": ["red"]}});
    assert_eq!(code(&review(&json!([red, bare]))), "incomplete_receipt");
}

#[test]
fn bounds_outside_their_range_are_refused_at_once() {
    let with = |bounds: Value| {
        ask_one(&json!({"op": "review", "bounds": bounds, "pin": ONE, "steps": []}))
    };
    let all = json!({"iterations": Bounds::MOST_ITERATIONS + 1, "wall_clock_secs": 0,
        "tool_calls": Bounds::MOST_TOOL_CALLS + 1, "stalled_repairs": 0});
    let answer = with(all);
    assert_eq!(code(&answer), "impossible_bounds");
    assert_eq!(codes(&answer), ["out_of_range"; 4]);
    assert_eq!(answer["refused"]["all"][3]["bound"], "stalled_repairs");
    assert_eq!(with(json!({"iterations": 50}))["ok"]["state"], "ready");
    assert_eq!(code(&with(json!({"iterations": -1}))), "bad_field");
    assert_eq!(code(&with(json!({"iteration": 1}))), "bad_field");
}

#[test]
fn a_policy_that_is_left_out_is_the_stricter_one() {
    let clean = record(1, ONE, "clean", &[]);
    let with = |policy: Value| {
        let question =
            json!({"op": "review", "policy": policy, "pin": ONE, "steps": [begin(), clean]});
        ask_one(&question)["ok"]["state"].clone()
    };
    assert_eq!(with(Value::Null), "parked");
    assert_eq!(with(json!({})), "parked");
    assert_eq!(
        with(json!({"human_ratification": "not_required"})),
        "verified"
    );
}
