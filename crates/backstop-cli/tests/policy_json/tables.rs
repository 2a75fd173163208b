//! The ops that are one call of a policy each, over all of their tables.

use backstop_engine::mode::{self, Account, Ceilings, Meter, Mode};
use backstop_engine::outcome::{self, StatusKind};
use backstop_engine::plan;
use backstop_engine::vocab::Stage;
use serde_json::{Value, json};

use crate::{ONE, TWO, ask, ask_one, code, codes, hold};

#[test]
fn the_stages_follow_each_other() {
    let next = |stage: Stage| json!({ "next": stage.next() });
    let row = |stage: Stage| (json!({"op": "stage_next", "stage": stage}), next(stage));
    hold(&Stage::ALL.map(row));
    hold(&[(
        json!({"op": "stage_next", "stage": "validate"}),
        json!({"next": "ship"}),
    )]);
}

#[test]
fn a_mode_is_read_without_regard_to_case_and_blanks() {
    let parse = |text: &str| json!({"op": "mode_parse", "text": text});
    hold(&[
        (parse("auto"), json!({"mode": "auto"})),
        (parse("\tAUTO \n"), json!({"mode": "auto"})),
        (parse("supervise"), json!({"mode": "supervise"})),
        (parse(" Supervised"), json!({"mode": "supervise"})),
    ]);
    for answer in ask(&["", "au to", "autos", "manual", "ａｕｔｏ"].map(parse)) {
        assert_eq!(code(&answer), "unknown_mode", "{answer}");
        let words = answer["refused"]["message"].as_str().unwrap();
        assert!(words.ends_with("is not a mode: use one of auto, supervise"));
    }
}

/// Counters around both ceilings, whose defaults are 3 and 10.
const COUNTERS: [(u64, u64); 9] = [
    (0, 0),
    (1, 1),
    (2, 9),
    (2, 10),
    (3, 3),
    (3, 10),
    (4, 11),
    (0, 10),
    (u64::MAX, u64::MAX),
];

fn meter(streak: u64, phase_failures: u64) -> Meter {
    let used = [
        (Account::Streak, streak),
        (Account::PhaseFailures, phase_failures),
    ];
    Meter::with_used(Ceilings::DEFAULT, &used)
}

/// The reasons by the rules of the mode, told here a second time.
fn reasons(mode: Mode, stage: Stage, streak: u64, phase_failures: u64) -> Vec<&'static str> {
    let at_validate = stage == Stage::Validate;
    let all = [
        ("ship_always", stage == Stage::Ship),
        ("phase_ceiling", at_validate && phase_failures >= 10),
        ("supervised", at_validate && mode == Mode::Supervise),
        (
            "streak_ceiling",
            at_validate && mode == Mode::Auto && streak >= 3,
        ),
    ];
    all.into_iter()
        .filter(|(_, holds)| *holds)
        .map(|(name, _)| name)
        .collect()
}

#[test]
fn a_stage_gates_for_exactly_these_reasons() {
    let mut table = Vec::new();
    for (mode, stage) in Mode::ALL
        .into_iter()
        .flat_map(|m| Stage::ALL.map(|s| (m, s)))
    {
        for (streak, failures) in COUNTERS {
            let reasons = reasons(mode, stage, streak, failures);
            let of_crate = mode::gate_reasons(mode, stage, &meter(streak, failures));
            assert_eq!(json!(reasons), json!(of_crate));
            let auto_loop = mode == Mode::Auto && stage == Stage::Validate;
            table.push((
                json!({"op": "gate_reasons", "mode": mode, "stage": stage, "streak": streak, "phase_failures": failures}),
                json!({"gates": !reasons.is_empty(), "reasons": reasons, "auto_loop": auto_loop}),
            ));
        }
    }
    assert_eq!(table.len(), 2 * 5 * 9);
    hold(&table);
}

#[test]
fn a_validate_visit_advances_loops_back_or_gates() {
    let mut table = Vec::new();
    for mode in Mode::ALL {
        for (streak, failures) in COUNTERS {
            for (verdict, otherwise) in [("clean", "advance"), ("repairs_needed", "loop_back")] {
                let mut reasons = reasons(mode, Stage::Validate, streak, failures);
                reasons.retain(|reason| verdict != "clean" || *reason != "streak_ceiling");
                let next = if reasons.is_empty() {
                    otherwise
                } else {
                    "gate"
                };
                table.push((
                    json!({"op": "after_validate", "mode": mode, "verdict": verdict, "streak": streak, "phase_failures": failures}),
                    json!({"next": next, "reasons": reasons}),
                ));
            }
        }
    }
    assert_eq!(table.len(), 2 * 9 * 2);
    hold(&table);
}

fn at_validate(ceilings: &Value, streak: u64, phase_failures: u64) -> Value {
    json!({"op": "gate_reasons", "mode": "auto", "stage": "validate", "streak": streak,
        "phase_failures": phase_failures, "ceilings": ceilings})
}

#[test]
fn ceilings_are_over_the_defaults() {
    let gates = |ceilings: &Value, streak, failures| {
        ask_one(&at_validate(ceilings, streak, failures))["ok"]["gates"].clone()
    };
    assert_eq!(gates(&json!({"streak": 5}), 4, 4), false);
    assert_eq!(gates(&json!({"streak": 5}), 5, 5), true);
    assert_eq!(gates(&json!({"streak": 5}), 0, 10), true);
    assert_eq!(gates(&json!({"phase_failures": 4}), 0, 4), true);
    assert_eq!(gates(&json!({}), 3, 3), true);
    assert_eq!(gates(&Value::Null, 3, 3), true);
}

#[test]
fn ceilings_that_cannot_be_are_refused_with_every_fault() {
    let high = |account: Account| json!({account.name(): account.hard_max() + 1});
    for op in ["gate_reasons", "after_validate"] {
        for account in Account::ALL {
            let mut question = at_validate(&json!({account.name(): 0}), 0, 0);
            if op == "after_validate" {
                question = json!({"op": op, "mode": "auto", "verdict": "clean", "streak": 0,
                    "phase_failures": 0, "ceilings": {account.name(): 0}});
            }
            let zero = ask_one(&question);
            assert_eq!(code(&zero), "impossible_ceilings");
            assert_eq!(zero["refused"]["all"][0]["code"], "zero_ceiling");
            assert_eq!(zero["refused"]["all"][0]["account"], account.name());
            question["ceilings"] = high(account);
            let over = ask_one(&question);
            assert_eq!(code(&over), "impossible_ceilings");
            assert_eq!(codes(&over)[0], "over_hard_max");
        }
    }
    let three = json!({"streak": 0, "tokens": 2_000_000_001_u64, "phase_failures": 50});
    let answer = ask_one(&at_validate(&three, 0, 0));
    assert_eq!(
        codes(&answer),
        ["zero_ceiling", "over_hard_max", "mismatched_ceilings"]
    );
    assert_eq!(answer["refused"]["all"][2]["account"], "attempts");
    let pair = ask_one(&at_validate(&json!({"streak": 10}), 0, 0));
    assert_eq!(codes(&pair), ["mismatched_ceilings"]);
}

#[test]
fn a_step_forward_resets_the_streak_but_not_into_validate_from_code() {
    let place = |stage| Stage::ALL.iter().position(|one| *one == stage).unwrap();
    let mut table = Vec::new();
    for (from, to) in Stage::ALL
        .into_iter()
        .flat_map(|from| Stage::ALL.map(|to| (from, to)))
    {
        let resets = place(from) < place(to) && (from, to) != (Stage::Code, Stage::Validate);
        let question = json!({"op": "transition_resets_streak", "from": from, "to": to});
        table.push((question, json!({ "resets": resets })));
    }
    assert_eq!(table.len(), 25);
    hold(&table);
}

#[test]
fn progress_needs_more_commits_and_a_new_tree() {
    let seen = |commits: Option<u64>, tree: Option<&str>| json!({"commits": commits, "tree": tree});
    let unmeasured = seen(None, None);
    let first = seen(Some(3), Some(ONE));
    let rows = [
        (vec![], unmeasured.clone(), true),
        (vec![first.clone()], seen(Some(4), Some(TWO)), true),
        (vec![first.clone()], seen(Some(3), Some(TWO)), false),
        (vec![first.clone()], seen(Some(2), Some(TWO)), false),
        (vec![first.clone()], seen(Some(4), Some(ONE)), false),
        (vec![first.clone()], seen(Some(4), None), false),
        (vec![first.clone()], seen(None, Some(TWO)), false),
        (vec![unmeasured.clone()], seen(Some(4), Some(TWO)), false),
        (
            vec![first.clone(), unmeasured],
            seen(Some(4), Some(TWO)),
            true,
        ),
        (
            vec![first, seen(Some(5), Some(TWO))],
            seen(Some(6), Some(ONE)),
            false,
        ),
    ];
    hold(&rows.map(|(earlier, now, progress)| {
        let question = json!({"op": "progress", "earlier": earlier, "now": now});
        (question, json!({ "progress": progress }))
    }));
}

/// The statuses as a journal has them, with what comes with each.
fn tagged(kind: StatusKind) -> Value {
    match kind {
        StatusKind::Success
        | StatusKind::Unknown
        | StatusKind::Ambiguous
        | StatusKind::ResourceKilled
        | StatusKind::IdleTimeout
        | StatusKind::Cancelled => json!({kind.name(): null}),
        StatusKind::Failed => json!({"failed": {"cause": "no_work"}}),
        StatusKind::RateLimited => json!({"rate_limited": {"until": 9}}),
        StatusKind::Interrupted => json!({"interrupted": {"by": "provider"}}),
        StatusKind::AgentUnavailable => json!({"agent_unavailable": {"cause": "auth"}}),
        StatusKind::OverBudget => json!({"over_budget": {"account": "tokens"}}),
        StatusKind::Asked => json!({"asked": {"question": "which of the two?"}}),
    }
}

#[test]
fn every_status_at_every_stage_has_the_policys_action() {
    let mut table = Vec::new();
    for (stage, kind) in Stage::ALL
        .into_iter()
        .flat_map(|s| StatusKind::ALL.iter().map(move |k| (s, *k)))
    {
        let wanted = json!(outcome::decide(stage, kind));
        for status in [json!(kind.name()), tagged(kind)] {
            let question = json!({"op": "outcome", "stage": stage, "status": status});
            table.push((question, wanted.clone()));
        }
    }
    assert_eq!(table.len(), 5 * 12 * 2);
    hold(&table);
}

#[test]
fn the_actions_are_those_of_the_table() {
    let rows = [
        ("advance", vec!["success"]),
        (
            "auto_resume",
            vec!["rate_limited", "ambiguous", "interrupted"],
        ),
        ("gate_infra", vec!["resource_killed", "agent_unavailable"]),
        (
            "gate_review",
            vec!["failed", "unknown", "idle_timeout", "over_budget", "asked"],
        ),
        ("park", vec!["cancelled"]),
    ];
    for (action, names) in rows {
        for name in names {
            let answer = ask_one(&json!({"op": "outcome", "stage": "code", "status": name}));
            assert_eq!(answer["ok"]["action"], action, "{name}");
        }
    }
}

#[test]
fn what_comes_with_a_status_has_its_form() {
    let statuses = [
        json!("Success"),
        json!({}),
        json!(null),
        json!(["success"]),
        json!({"failed": {}}),
        json!({"failed": {"cause": "tired"}}),
        json!({"failed": {"cause": "no_work"}, "success": null}),
        json!({"success": {"evidence": 1}}),
        json!({"rate_limited": {"until": "soon"}}),
        json!({"rate_limited": {"until": -1}}),
        json!({"rate_limited": {"until": 1.5}}),
        json!({"rate_limited": {"after": 1}}),
    ];
    let question = |status| json!({"op": "outcome", "stage": "code", "status": status});
    for answer in ask(&statuses.map(question)) {
        assert_eq!(code(&answer), "bad_field", "{answer}");
    }
}

#[test]
fn a_verdict_is_strict() {
    let read = |text: &str| json!({"op": "verdict", "text": text});
    let pass = json!({"verdict": "pass"});
    let fail = |reason: &str| json!({"verdict": "fail", "reason": reason});
    hold(&[
        (read("PASS"), pass.clone()),
        (read("\n  approve.\n"), pass.clone()),
        (read("**Verdict: PASS**"), pass),
        (read("FAIL"), json!({"verdict": "fail"})),
        (read("BLOCK: no tests"), fail("no tests")),
        (read("fail - no tests"), fail("no tests")),
    ]);
    let none = [
        "",
        "PASSED",
        "I PASS it",
        "> PASS",
        "`PASS`",
        "PASS\nFAIL",
        "OK",
        "合格",
        "PASS!",
    ];
    for answer in ask(&none.map(read)) {
        assert_eq!(answer["ok"]["verdict"], Value::Null, "{answer}");
        assert!(answer["ok"]["reason"].is_string());
    }
}

#[test]
fn an_approval_with_an_artifact_has_two_more_lines() {
    let read = |text: &str| {
        let question = json!({"op": "verdict", "text": text, "artifact_kind": "diff_review"});
        ask_one(&question)["ok"]["verdict"].clone()
    };
    assert_eq!(read("PASS\none\n\n"), Value::Null);
    assert_eq!(read("PASS\none\ntwo"), "pass");
    assert_eq!(read("FAIL"), "fail");
    let kind = json!({"op": "verdict", "text": "PASS", "artifact_kind": "a b"});
    assert_eq!(code(&ask_one(&kind)), "bad_field");
}

fn plan(text: &str, checks_configured: &Value) -> Value {
    json!({"op": "plan", "text": text, "checks_configured": checks_configured})
}

#[test]
fn a_plan_has_its_digest_and_its_phases() {
    let text = r#"Here it is:
```json
{"phases": [{"task": "Look", "kind": "research"}, {"kind": "coding", "task": "Do", "done_when_check": "make test"}]}
```"#;
    let read = plan::Plan::read(text, plan::Checks::None).unwrap();
    let phases = json!([{"kind": "research", "task": "Look"},
        {"done_when_check": "make test", "kind": "coding", "task": "Do"}]);
    let wanted = json!({"digest": read.digest(), "phases": phases});
    hold(&[
        (plan(text, &json!(false)), wanted.clone()),
        (plan(text, &json!(true)), wanted),
    ]);
}

#[test]
fn a_plan_is_refused_with_every_reason() {
    let phase = r#"{"kind":"coding","task":"do it"}"#;
    let one = format!("{{\"phases\":[{phase}]}}");
    let cases = [
        ("nothing", "not_json"),
        (r#"{"phases":[]}"#, "empty"),
        (
            r#"{"phases":[{"kind":"dance","task":"x y"}]}"#,
            "unknown_kind",
        ),
        (
            r#"{"phases":[{"kind":"research","task":" "}]}"#,
            "blank_task",
        ),
        (
            r#"{"phases":[{"kind":"research","task":"TODO"}]}"#,
            "placeholder_task",
        ),
        (&one, "unchecked_coding"),
    ];
    for (text, wanted) in cases {
        let answer = ask_one(&plan(text, &json!(false)));
        assert_eq!(code(&answer), "impossible_plan");
        assert_eq!(codes(&answer), [wanted]);
    }
    let five = format!("{{\"phases\":[{}],\"owner\":1}}", [phase; 5].join(","));
    let answer = ask_one(&plan(&five, &json!(true)));
    let wanted = plan::Plan::read(&five, plan::Checks::Configured).unwrap_err();
    let wanted: Vec<&str> = wanted
        .all()
        .iter()
        .map(|refusal| refusal.code.name())
        .collect();
    assert_eq!(codes(&answer), wanted);
    assert!(wanted.contains(&"too_many") && wanted.contains(&"unknown_key"));
    let fault = &answer["refused"]["all"][0];
    assert!(fault["line"].is_u64() && fault["column"].is_u64() && fault["message"].is_string());
    assert_eq!(code(&ask_one(&plan(&one, &json!("yes")))), "bad_field");
}
