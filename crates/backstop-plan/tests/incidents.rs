//! Public incidents of unattended runs: plans as models really wrote them. The specification decides what is right.
#![expect(clippy::expect_used, reason = "a test that cannot go on has failed")]

use backstop_plan::{Checks, Code, Draft, Plan, Refusals};
use serde_json::{Value, json};

const PLAN: &str = r#"{"phases":[{"kind":"coding","task":"x"}]}"#;

fn plan(text: &str) -> Result<Plan, Refusals> {
    Plan::read(text, Checks::Configured)
}

fn codes(outcome: Result<Plan, Refusals>) -> Vec<&'static str> {
    let refusals = outcome.expect_err("a refusal");
    refusals
        .all()
        .iter()
        .map(|refusal| refusal.code.name())
        .collect()
}

fn of(value: Value) -> Result<Plan, Refusals> {
    Draft::from_value(value)
        .with_checks(Checks::Configured)
        .try_into()
}

/// PJ-01.
#[test]
fn one_json_fence_is_read_alone_and_in_prose_and_an_object_beside_a_fence_is_not() {
    let bare = plan(PLAN).unwrap();
    assert_eq!(plan(&format!("```json\n{PLAN}\n```")).unwrap(), bare);
    let told = format!("Here is the plan:\n```json\n{PLAN}\n```\nDone.");
    assert_eq!(plan(&told).unwrap(), bare);
    // An object that stands in prose is not looked for.
    assert_eq!(
        codes(plan(&format!("```bash\nls\n```\n{PLAN}"))),
        ["not_json"]
    );
}

/// PJ-03.
#[test]
fn a_trailing_comma_is_not_mended_and_braces_in_prose_are_not_picked() {
    let refusals = plan(r#"{"phases":[{"kind":"coding","task":"x",},]}"#).unwrap_err();
    let refusal = &refusals.all()[0];
    assert_eq!(
        (refusal.code, refusal.line, refusal.column),
        (Code::NotJson, Some(1), Some(40))
    );
    assert!(refusal.message.starts_with("trailing comma: "), "{refusal}");
    assert_eq!(
        codes(plan(&format!("for {{project}}: {PLAN}"))),
        ["not_json"]
    );
}

/// PJ-04.
#[test]
fn a_cut_answer_and_an_empty_one_are_refused() {
    let cut = "```json\n{\n  \"reasoning\": \"Complex chat backend with 13 features decomposed into 5 layers";
    let refusals = plan(cut).unwrap_err();
    let refusal = &refusals.all()[0];
    assert_eq!(
        (refusal.code, refusal.line, refusal.column),
        (Code::NotJson, Some(1), Some(1))
    );
    assert!(refusal.message.contains("cut off") && refusal.message.contains("fewer words"));
    assert_eq!(codes(plan(r#"{"phases":null}"#)), ["wrong_type"]);
    assert_eq!(codes(plan("{}")), ["empty"]);
    assert_eq!(codes(plan("[]")), ["wrong_type"]);
}

/// PS-01. Phases count from 1.
#[test]
fn an_unknown_kind_is_refused_and_never_an_empty_step() {
    let refusals = of(
        json!({"phases": [{"kind": "review", "task": "look"}, {"kind": "coding", "task": "x"}]}),
    );
    let refusals = refusals.unwrap_err();
    assert_eq!(refusals.all().len(), 1);
    let refusal = &refusals.all()[0];
    assert_eq!(
        (
            refusal.code,
            refusal.phase.map(backstop_vocab::Phase::number)
        ),
        (Code::UnknownKind, Some(1))
    );
    assert!(
        refusal
            .message
            .contains("research, coding, benchmark, security_scan")
    );
}

/// PS-02.
#[test]
fn a_key_that_nobody_reads_is_refused_at_every_level() {
    let phase = json!({"kind": "coding", "task": "x", "type": "agent", "config": {"goal": "y"}});
    let refusals = of(json!({"phases": [phase]})).unwrap_err();
    let mut keys: Vec<_> = refusals
        .all()
        .iter()
        .map(|r| (r.code, r.key.as_deref().unwrap()))
        .collect();
    keys.sort_unstable();
    assert_eq!(
        keys,
        [(Code::UnknownKey, "config"), (Code::UnknownKey, "type")]
    );
    let beside = of(json!({"phases": [{"kind": "coding", "task": "x"}], "config": {}}));
    assert_eq!(codes(beside), ["unknown_key"]);
}

/// PS-05.
#[test]
fn bounds_and_blanks_are_refused_each_with_its_reason() {
    let phase = |kind: &str, task: &str| json!({"kind": kind, "task": task});
    assert_eq!(codes(of(json!({"phases": []}))), ["empty"]);
    assert_eq!(
        codes(of(json!({"phases": [phase("coding", "   ")]}))),
        ["blank_task"]
    );
    let five: Vec<Value> = (0..5).map(|_| phase("coding", "a")).collect();
    let expected = [
        "too_many",
        "duplicate_task",
        "duplicate_task",
        "duplicate_task",
        "duplicate_task",
    ];
    assert_eq!(codes(of(json!({"phases": five}))), expected);
    assert_eq!(
        codes(of(json!({"phases": [phase("Coding", "a")]}))),
        ["unknown_kind"]
    );
    assert_eq!(
        codes(of(json!({"phases": [phase("coding ", "a")]}))),
        ["unknown_kind"]
    );
    assert_eq!(
        codes(of(json!({"phases": [phase("coding", "\u{200b}")]}))),
        ["blank_task"]
    );
}
