//! The bodies of the fuzzers on inputs that are drawn: any bytes, and bytes that are near what each door expects.

use backstop_testkit::engine::gates::{
    GateDraft, GateKind, OnFail, SpecFaults, Trigger, default_board, stopship,
};
use backstop_testkit::engine::{Event, Fact};
use backstop_testkit::{Opening, Walk, bytes};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde::Deserialize;

/// `text` with a few of its bytes replaced, taken out or put in.
fn near(texts: Vec<String>) -> impl Strategy<Value = Vec<u8>> {
    let change = (
        any::<Index>(),
        0_usize..3,
        prop::collection::vec(any::<u8>(), 0..3),
    );
    (select(texts), prop::collection::vec(change, 0..4)).prop_map(|(text, changes)| {
        let mut bytes = text.into_bytes();
        for (at, cut, put) in changes {
            let from = at.index(bytes.len() + 1);
            let to = (from + cut).min(bytes.len());
            bytes.splice(from..to, put);
        }
        bytes
    })
}

fn messages() -> Vec<String> {
    let objects = [
        r#"{"verdict":"PASS"}"#,
        r#"{"verdict":"FAIL","findings":[{"path":"a.rs","summary":"off by one"},"more"]}"#,
        r#"{"verdict":"APPROVE","reason":"one\ntwo","findings":[]}"#,
        "```json\n{\"verdict\":\"PASS\"}\n```",
        "PASS\n{\"verdict\":\"FAIL\"}",
    ];
    let texts = [
        "PASS\n\none\ntwo",
        "**Verdict:** PASS.",
        "FAIL: x\n- one\n```\n- two\n```",
        "> PASS",
    ];
    objects
        .iter()
        .chain(&texts)
        .map(|text| (*text).to_owned())
        .collect()
}

/// Tokens of an object of the contract, in any order.
fn tokens() -> impl Strategy<Value = Vec<u8>> {
    let token = select(vec![
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"verdict\"",
        "\"reason\"",
        "\"findings\"",
        "\"path\"",
        "\"summary\"",
        "\"PASS\"",
        "\"FAIL\"",
        "\"\"",
        "\"x\"",
        "null",
        "true",
        "7",
        " ",
        "\n",
        "PASS",
        "FAIL: x",
        "```",
        "- x",
    ]);
    prop::collection::vec(token, 0..16).prop_map(|tokens| tokens.concat().into_bytes())
}

/// Values of a key: some that fit, some that do not.
fn word(fits: &'static [&'static str]) -> impl Strategy<Value = String> {
    prop_oneof![
        4 => select(fits).prop_map(str::to_owned),
        1 => select(vec!["", " ", "\u{200b}", "Scout", "nobody", "a b", "é", "x/y", "\u{1b}[0m"]).prop_map(str::to_owned),
        1 => any::<String>(),
    ]
}

const ROLES: &[&str] = &[
    "scout",
    "planner",
    "implementer",
    "reviewer",
    "verifier",
    "release_lead",
];

fn draft() -> impl Strategy<Value = GateDraft> {
    let kinds = &[
        "findings",
        "outline",
        "repair",
        "note",
        "diff_review",
        "verify_report",
    ];
    let closed = (
        select(vec![Trigger::RoleStart, Trigger::RoleComplete]),
        select(vec![GateKind::Verify, GateKind::Review, GateKind::Approve]),
        select(vec![OnFail::Retry, OnFail::Block, OnFail::Escalate]),
    );
    let open = (
        word(&["a", "b", "c", "d"]),
        word(ROLES),
        prop::option::of(word(ROLES)),
        prop::option::of(prop_oneof![0_u32..12, any::<u32>()]),
        prop::option::of(word(kinds)),
        any::<bool>(),
    );
    (closed, open).prop_map(
        |((on, gate, on_fail), (id, role, blocks_role, max_retries, artifact_kind, explicit))| {
            GateDraft {
                id,
                role,
                on,
                gate,
                on_fail,
                blocks_role,
                max_retries,
                artifact_kind,
                require_explicit_verdict: explicit,
            }
        },
    )
}

/// A file of gates as a person writes it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    gates: Vec<GateDraft>,
}

const STOPSHIP: &str = r#"
[[gates]]
id = "scout-findings"
role = "scout"
on = "role_complete"
gate = "approve"
on_fail = "block"
blocks_role = "implementer"
artifact_kind = "findings"

[[gates]]
id = "suite"
role = "verifier"
on = "role_start"
gate = "verify"
on_fail = "retry"
max_retries = 2
"#;

fn registers() -> Vec<String> {
    let handoff = |id: &str, payload: &str| {
        let digest = format!("sha256:{}", "0".repeat(64));
        format!(
            r#"{{"id":"{id}","lane":"l","from":"scout","to":"planner","kind":"findings","payload":{payload},"digest":"{digest}","created_at":7}}"#
        )
    };
    let record = |id: &str, visit: u32, kept: &str| {
        let handoff = handoff(id, r#"{"inline":"found"}"#);
        format!(
            r#"{{"handoff":{handoff},"made":{{"stage":"define","visit":{visit}}},"kept":{kept}}}"#
        )
    };
    let records = [
        record("a", 1, r#""waiting""#),
        record("b", 1, r#"{"committed":1}"#),
        record("c", 2, r#"{"reserved":2}"#),
    ];
    vec![
        handoff("a", r#"{"inline":"found"}"#),
        handoff("a", r#"{"inline":" "}"#),
        format!(r#"{{"lane":"l","records":[{}]}}"#, records.join(",")),
    ]
}

#[test]
fn what_the_drawn_ones_are_near_fits() {
    let fits = |text: &str| {
        serde_json::from_str::<backstop_testkit::engine::gates::Handoffs>(text).is_ok()
    };
    assert!(registers().iter().any(|text| fits(text)));
    let file: File = toml::from_str(STOPSHIP).unwrap();
    assert_eq!(bytes::specs(&file.gates).unwrap().gates().len(), 2);
    bytes::facts(story().as_bytes());
    let seed = include_str!("../../../fuzz/seeds/facts/story.jsonl");
    assert!(
        seed.lines()
            .all(|line| serde_json::from_str::<Event>(line).is_ok())
    );
    assert!(bytes::specs(&stopship()).is_ok());
    assert!(bytes::specs(&default_board()).is_ok());
}

/// The facts of a mission, one a line.
#[expect(
    clippy::unwrap_used,
    reason = "a fact that cannot be written fails the test"
)]
fn story() -> String {
    let opening = Opening::default();
    let opened = Event {
        at: Walk::open(opening.clone()).mission.now(),
        fact: Fact::Opened(Box::new(opening.clone().charter())),
    };
    let mut walk = Walk::begin(opening);
    walk.works().red().works().green().stop();
    let facts = std::iter::once(&opened).chain(&walk.facts);
    let lines: Vec<String> = facts
        .map(|fact| serde_json::to_string(fact).unwrap())
        .collect();
    lines.join("\n")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_message_is_read(message in prop_oneof![
        prop::collection::vec(any::<u8>(), 0..200),
        near(messages()),
        tokens(),
    ]) {
        bytes::ruling(&message);
    }

    #[test]
    fn any_set_of_gates_loads_or_tells_every_fault(drafts in prop::collection::vec(draft(), 0..6)) {
        let told = bytes::specs(&drafts).err();
        for fault in told.iter().flat_map(SpecFaults::all) {
            prop_assert!(fault.index < drafts.len() && !fault.fault.code().is_empty());
        }
    }

    #[test]
    fn any_file_of_gates_loads_or_is_refused(
        json in near(vec![serde_json::to_string(&serde_json::json!({"gates": stopship(), "roles": backstop_testkit::engine::gates::standard_roles()})).unwrap()]),
        text in near(vec![STOPSHIP.to_owned()]),
    ) {
        bytes::specs_json(&json);
        if let Ok(file) = toml::from_str::<File>(&String::from_utf8_lossy(&text)) {
            let _ = bytes::specs(&file.gates);
        }
    }

    #[test]
    fn any_payload_is_kept(text in any::<String>(), bytes in prop::collection::vec(any::<u8>(), 0..200), times in 1_usize..2000) {
        bytes::payload(&bytes);
        bytes::payload(text.as_bytes());
        bytes::payload(text.repeat(times).as_bytes());
    }

    #[test]
    fn any_register_keeps_its_laws(text in near(registers())) {
        bytes::handoffs(&text);
    }

    #[test]
    fn any_answer_is_a_plan_or_refused(bytes in prop_oneof![
        prop::collection::vec(any::<u8>(), 0..200),
        near(vec![r#"{"phases":[{"kind":"coding","task":"fix it","done_when":"it works"}]}"#.to_owned()]),
    ]) {
        bytes::plan(&bytes);
    }
    #[test]
    fn any_facts_are_taken_or_refused(facts in near(vec![story()]), order in Just(story()).prop_map(|story| story.lines().skip(1).map(str::to_owned).collect::<Vec<_>>()).prop_shuffle()) {
        bytes::facts(&facts);
        let story = story();
        let opened = story.lines().next().unwrap_or_default();
        bytes::facts(format!("{opened}\n{}", order.join("\n")).as_bytes());
    }
}
