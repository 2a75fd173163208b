//! The plan: its canonical form and digest, serde as one more caller of the checks, the key registry and the schema.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeSet;

use backstop_plan::{
    Checks, Code, Draft, KEYS, Key, Level, MOST_PHASES, Need, Parts, Plan, Reader, SEMANTIC_CODES,
    schema,
};
use backstop_vocab::{Digest, Phase, PhaseKind};
use serde_json::{Value, json};

const FULL: &str = r#"{"phases":[{"kind":"coding","task":"write it\n\"well\"","done_when":"it works","done_when_check":"cargo test","allow_empty":true},{"kind":"research","task":"x"}]}"#;

const CANONICAL: &str = r#"{"phases":[{"allow_empty":true,"done_when":"it works","done_when_check":"cargo test","kind":"coding","task":"write it\n\"well\""},{"kind":"research","task":"x"}]}"#;

fn full() -> Plan {
    Plan::read(FULL, Checks::None).unwrap()
}

#[test]
fn a_plan_has_what_was_written_in_its_order() {
    let plan = full();
    let Parts {
        kind,
        task,
        done_when,
        done_when_check,
        allow_empty,
    } = plan.phases()[0].parts();
    assert_eq!(
        (kind, task.as_str(), allow_empty),
        (PhaseKind::Coding, "write it\n\"well\"", true)
    );
    assert_eq!(done_when.unwrap().as_str(), "it works");
    assert_eq!(done_when_check.unwrap().as_str(), "cargo test");
    let first = plan.phase(Phase::FIRST).unwrap();
    assert_eq!(
        (first.done_when(), first.done_when_check()),
        (done_when, done_when_check)
    );
    assert!(first.allow_empty());
    let second = plan.phase(Phase::FIRST.next()).unwrap();
    assert_eq!(
        (second.kind(), second.task().as_str()),
        (PhaseKind::Research, "x")
    );
    assert_eq!(
        (
            second.done_when(),
            second.done_when_check(),
            second.allow_empty()
        ),
        (None, None, false)
    );
    assert_eq!(plan.phase(Phase::try_from(3).unwrap()), None);
}

#[test]
fn the_digest_is_that_of_sorted_json_without_white_space() {
    assert_eq!(full().canonical(), CANONICAL);
    assert_eq!(serde_json::to_string(&full()).unwrap(), CANONICAL);
    assert_eq!(full().digest(), Digest::of(CANONICAL.as_bytes()));
    let pretty =
        serde_json::to_string_pretty(&serde_json::from_str::<Value>(FULL).unwrap()).unwrap();
    for text in [CANONICAL, &pretty, &format!("so\n```json\n{pretty}\n```")] {
        assert_eq!(
            Plan::read(text, Checks::None).unwrap().digest(),
            full().digest()
        );
    }
    // What is said by leaving it out is the same plan.
    let spelt = FULL.replace(r#""task":"x""#, r#""task":"x","allow_empty":false"#);
    assert_eq!(
        Plan::read(&spelt, Checks::None).unwrap().digest(),
        full().digest()
    );
}

#[test]
fn any_edit_makes_another_digest() {
    let mut seen = vec![full().digest()];
    for (from, to) in [
        ("it works", "it worked"),
        ("cargo test", "cargo test "),
        ("coding", "benchmark"),
        ("\"x\"", "\"X\""),
        (r#","allow_empty":true"#, ""),
        (r#","done_when":"it works""#, ""),
    ] {
        let digest = Plan::read(&FULL.replace(from, to), Checks::None)
            .unwrap()
            .digest();
        assert!(!seen.contains(&digest), "{from}");
        seen.push(digest);
    }
}

#[test]
fn serde_meets_the_same_checks_as_a_caller() {
    assert_eq!(serde_json::from_str::<Plan>(CANONICAL).unwrap(), full());
    assert_eq!(serde_json::from_str::<Plan>(FULL).unwrap(), full());
    for forged in [
        r#"{"phases":[]}"#,
        r#"{"phases":[{"kind":"research","task":" "}]}"#,
        r#"{"phases":[{"kind":"research","task":"a\u001b"}]}"#,
        r#"{"phases":[{"kind":"Research","task":"a"}]}"#,
        r#"{"phases":[{"kind":"research","task":"a","task":"b"}]}"#,
        r#"{"phases":[{"kind":"research","task":"a","goal":"b"}]}"#,
        r#"{"phases":[{"kind":"research","task":"a","done_when":null}]}"#,
        r#"{"phases":[{"kind":"research","task":"a"}],"approved":true}"#,
        r#"{"phases":[{"kind":"research","task":"a"},{"kind":"research","task":"a"}]}"#,
    ] {
        assert!(serde_json::from_str::<Plan>(forged).is_err(), "{forged}");
    }
}

#[test]
fn a_plan_that_leans_on_host_checks_reads_back_and_says_so() {
    let text = r#"{"phases":[{"kind":"research","task":"x"},{"kind":"coding","task":"x"}]}"#;
    let plan = Plan::read(text, Checks::Configured).unwrap();
    let back: Plan = serde_json::from_str(&serde_json::to_string(&plan).unwrap()).unwrap();
    assert_eq!(back, plan);
    assert!(back.unchecked().eq([Phase::FIRST.next()]));
    assert_eq!(full().unchecked().count(), 0);
}

#[test]
fn a_goal_is_a_plan_of_one_phase_by_the_same_door() {
    let plan = Plan::single(PhaseKind::Coding, "fix it", Checks::Configured).unwrap();
    assert_eq!(
        plan.canonical(),
        r#"{"phases":[{"kind":"coding","task":"fix it"}]}"#
    );
    let refused = Plan::single(PhaseKind::Coding, " ", Checks::None).unwrap_err();
    assert!(refused.has(Code::BlankTask) && refused.has(Code::UncheckedCoding));
}

#[test]
fn the_registry_names_each_key_once_with_its_reader() {
    let rows: Vec<_> = KEYS
        .iter()
        .map(|e| (e.name, e.level, e.reader, e.need))
        .collect();
    let expected = [
        ("phases", Level::Plan, Reader::Engine, Need::Required),
        ("kind", Level::Phase, Reader::Engine, Need::Required),
        ("task", Level::Phase, Reader::Agents, Need::Required),
        ("done_when", Level::Phase, Reader::Reviewer, Need::Optional),
        (
            "done_when_check",
            Level::Phase,
            Reader::Host,
            Need::Optional,
        ),
        ("allow_empty", Level::Phase, Reader::Engine, Need::Optional),
    ];
    assert_eq!(rows, expected);
    for entry in KEYS {
        assert_eq!(Key::named(entry.level, entry.name), Some(entry.key));
        assert_eq!(serde_json::to_value(entry.key).unwrap(), json!(entry.name));
        assert!(!entry.meaning.is_empty());
    }
    assert_eq!(Key::named(Level::Plan, "task"), None);
    assert_eq!(Key::named(Level::Phase, "Task"), None);
    // Every key of a phase is written by a plan that has them all.
    let phase = &serde_json::to_value(full()).unwrap()["phases"][0];
    let mut of_phase: Vec<&str> = KEYS
        .iter()
        .filter(|e| e.level == Level::Phase)
        .map(|e| e.name)
        .collect();
    of_phase.sort_unstable();
    assert!(phase.as_object().unwrap().keys().eq(of_phase.iter()));
}

#[test]
fn the_schema_is_that_of_the_registry() {
    let schema = schema();
    assert_eq!(
        schema["$schema"],
        "https://json-schema.org/draft/2020-12/schema"
    );
    assert!(jsonschema::meta::is_valid(&schema));
    assert_eq!(
        schema["properties"]["phases"]["maxItems"],
        json!(MOST_PHASES)
    );
    let phase = &schema["properties"]["phases"]["items"];
    assert_eq!(phase["required"], json!(["kind", "task"]));
    assert_eq!(phase["additionalProperties"], json!(false));
    assert_eq!(
        phase["properties"]["kind"]["enum"],
        json!(["research", "coding", "benchmark", "security_scan"])
    );
}

#[test]
fn the_schema_tells_each_key_s_meaning() {
    let schema = schema();
    let plan = schema["properties"].as_object().unwrap();
    let phase = plan["phases"]["items"]["properties"].as_object().unwrap();
    let keys = || plan.values().chain(phase.values());
    let meanings: BTreeSet<&str> = keys()
        .map(|key| key["description"].as_str().unwrap())
        .collect();
    assert_eq!(meanings.len(), keys().count(), "{meanings:?}");
    let says = |meaning: &&str| meaning.split(' ').count() > 3;
    assert!(meanings.iter().all(says), "{meanings:?}");
}

#[test]
fn the_schema_refuses_what_it_can_and_the_rest_are_the_semantic_codes() {
    let schema = jsonschema::validator_for(&schema()).unwrap();
    let phase = |kind: &str, task: &str| json!({"kind": kind, "task": task});
    let one = |phase: Value| json!({"phases": [phase]});
    let five: Vec<Value> = ["a", "b", "c", "d", "e"]
        .map(|task| phase("research", task))
        .into();
    let cases = [
        (Code::Empty, json!({"phases": []})),
        (Code::Empty, json!({})),
        (Code::TooMany, json!({"phases": five})),
        (Code::UnknownKind, one(phase("Coding", "a"))),
        (Code::UnknownKind, one(json!({"task": "a"}))),
        (
            Code::UnknownKey,
            one(json!({"kind": "research", "task": "a", "goal": "b"})),
        ),
        (
            Code::UnknownKey,
            json!({"phases": [phase("research", "a")], "more": 1}),
        ),
        (Code::WrongType, json!([])),
        (Code::WrongType, json!({"phases": null})),
        (
            Code::WrongType,
            one(json!({"kind": "research", "task": "a", "allow_empty": 1})),
        ),
        (Code::BlankTask, one(phase("research", "\u{200b}"))),
        (Code::PlaceholderTask, one(phase("research", "TBD"))),
        (
            Code::BlankCondition,
            one(json!({"kind": "research", "task": "a", "done_when": "\u{200b}"})),
        ),
        (Code::ControlCharacters, one(phase("research", "a\u{1b}"))),
        (Code::TaskTooLong, one(phase("research", &"é".repeat(8000)))),
        (
            Code::DuplicateTask,
            json!({"phases": [phase("research", "a"), phase("research", "a")]}),
        ),
        (Code::UncheckedCoding, one(phase("coding", "a"))),
    ];
    for (code, value) in cases {
        let fits = schema.is_valid(&value);
        assert_eq!(fits, SEMANTIC_CODES.contains(&code), "{code}: {value}");
        assert!(
            Plan::try_from(Draft::from_value(value))
                .unwrap_err()
                .has(code),
            "{code}"
        );
    }
    assert!(schema.is_valid(&serde_json::from_str(FULL).unwrap()));
}
