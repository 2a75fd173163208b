//! How the one JSON object is found in an answer, and where a fault in it is said to be.
#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

use backstop_plan::{Checks, Code, MOST_BYTES, Plan, read};

const PLAN: &str = r#"{"phases":[{"kind":"research","task":"x"}]}"#;

fn accepted(text: &str) -> bool {
    Plan::read(text, Checks::None).is_ok_and(|plan| plan.phases().len() == 1)
}

fn first(text: &str) -> (Code, u32, u32) {
    let refusals = Plan::read(text, Checks::None).expect_err(text);
    let refusal = refusals.all()[0].clone();
    (refusal.code, refusal.line.unwrap(), refusal.column.unwrap())
}

#[test]
fn plain_json_and_one_candidate_fence_are_read() {
    for text in [
        PLAN.to_string(),
        format!("  \n{PLAN}\n\n"),
        format!("\u{feff}{PLAN}"),
        format!("```json\n{PLAN}\n```"),
        format!("```JSON\r\n{PLAN}\r\n```\r\n"),
        format!("```json title=plan\n{PLAN}\n```"),
        format!("```\n{PLAN}\n```"),
        format!("~~~~json\n{PLAN}\n~~~~~\nsaid"),
        format!("1. so:\n     ```json\n     {PLAN}\n     ```\n"),
        format!("```sh\nls\n```\n```json\n{PLAN}\n```\n```text\nbye\n```"),
        format!("write ```json {PLAN} ``` so:\n```json\n{PLAN}\n```"),
        format!("```json {PLAN} ``` is it:\n```json\n{PLAN}\n```"),
        format!("[a note]\n```json\n{PLAN}\n```"),
    ] {
        assert!(accepted(&text), "{text}");
    }
}

#[test]
fn a_fence_line_within_a_string_is_no_fence() {
    let text = PLAN.replace('x', "show ```json\\n{}\\n``` as it is");
    assert!(accepted(&text));
}

#[test]
fn what_is_not_one_object_is_refused_with_its_place() {
    let cases = [
        (String::new(), (Code::NotJson, 1, 1)),
        (" \n".into(), (Code::NotJson, 1, 1)),
        ("a plan".into(), (Code::NotJson, 1, 1)),
        (format!("so: {PLAN}"), (Code::NotJson, 1, 1)),
        (format!("```json {PLAN}```"), (Code::NotJson, 1, 1)),
        // What is no fence, or is within another.
        (format!("``json\n{PLAN}\n``"), (Code::NotJson, 1, 1)),
        (
            format!("```md\n~~~\n```json\n{PLAN}\n```\n"),
            (Code::NotJson, 1, 1),
        ),
        (
            format!("````md\n```json\n{PLAN}\n```\n````\n"),
            (Code::NotJson, 1, 1),
        ),
        (
            format!("so\n```json\n{PLAN}\n``` and so on"),
            (Code::NotJson, 2, 1),
        ),
        // Text after the object, plain and in the fence.
        (format!("{PLAN} done"), (Code::NotJson, 1, 45)),
        (format!("{PLAN}\n{PLAN}"), (Code::NotJson, 2, 1)),
        (
            format!("so\n```json\n{PLAN}\nthat is it\n```"),
            (Code::NotJson, 4, 1),
        ),
        (
            format!("{PLAN}\n```json\n{PLAN}\n```"),
            (Code::NotJson, 2, 1),
        ),
        // A tagged fence has to be JSON.
        ("```json\nphases: none\n```".into(), (Code::NotJson, 2, 1)),
        // Columns are characters.
        ("{\"phases\":[\"éé\",]}".into(), (Code::NotJson, 1, 17)),
        ("so\n```json\n{\"é\":}\n```".into(), (Code::NotJson, 3, 6)),
        // Cut off.
        ("{\"phases\":[".into(), (Code::NotJson, 1, 11)),
        (format!("so\n```json\n{PLAN}\n"), (Code::NotJson, 2, 1)),
        ("{\"phases\": NaN}".into(), (Code::NotJson, 1, 12)),
        ("{'phases': []}".into(), (Code::NotJson, 1, 2)),
    ];
    for (text, place) in cases {
        assert_eq!(first(&text), place, "{text}");
    }
}

#[test]
fn two_candidates_are_refused_at_the_second_and_never_chosen_between() {
    let same = format!("```json\n{PLAN}\n```\nor\n```json\n{PLAN}\n```");
    assert_eq!(first(&same), (Code::Ambiguous, 5, 1));
    let untagged = format!("```json\n{PLAN}\n```\nfrom\n```rust\n{{ 1 }}\n```");
    assert_eq!(first(&untagged), (Code::Ambiguous, 5, 1));
    let broken = format!("```JSON\nnot yet\n```\n```json\n{PLAN}\n```");
    assert_eq!(first(&broken), (Code::Ambiguous, 4, 1));
}

#[test]
fn a_text_of_64_kib_is_read_and_a_longer_one_refused_where_it_passes_the_limit() {
    let fill = " ".repeat(MOST_BYTES - PLAN.len());
    assert!(accepted(&format!("{PLAN}{fill}")));
    let long = format!("{PLAN}\n{fill}");
    let column = u32::try_from(MOST_BYTES - PLAN.len()).unwrap();
    assert_eq!(first(&long), (Code::TooLarge, 2, column));
}

#[test]
fn a_repeated_key_is_refused_at_every_depth_and_however_it_is_spelt() {
    let cases = [
        (
            r#"{"phases":[],"phases":[{"kind":"research","task":"x"}]}"#,
            (1, 14),
        ),
        (
            r#"{"phases":[{"kind":"research","task":"x","t\u0061sk":"y"}]}"#,
            (1, 42),
        ),
        (
            "{\"phases\":[\n{\"kind\":\"research\",\n \"kind\":\"research\",\"task\":\"x\"}]}",
            (3, 2),
        ),
        (
            r#"{"phases":[{"kind":"research","task":"x","more":[{"a":1,"a":{}}]}]}"#,
            (1, 57),
        ),
        (
            "so\n```json\n{\"phases\":[{\"kind\":\"research\",\"task\":\"\\\"}\",\"task\":\"y\"}]}\n```",
            (3, 44),
        ),
    ];
    for (text, (line, column)) in cases {
        assert_eq!(first(text), (Code::DuplicateKey, line, column), "{text}");
    }
    // The same key in two objects is no repetition.
    let two = r#"{"phases":[{"kind":"research","task":"x"},{"kind":"research","task":"y"}]}"#;
    assert!(Plan::read(two, Checks::None).is_ok());
}

#[test]
fn a_key_elsewhere_does_not_lend_its_place() {
    let text = "{\"task\":3,\n\"more\":{\"a\":{\"task\":1}},\n\"x\":[{\"task\":2}],\n\"phases\":[{\"kind\":\"research\",\"task\":\"x\"}]}";
    let refusals = Plan::read(text, Checks::None).unwrap_err();
    let mut places: Vec<_> = refusals
        .all()
        .iter()
        .map(|r| (r.key.clone().unwrap(), r.line.unwrap(), r.column.unwrap()))
        .collect();
    let expected = [
        ("more".into(), 2, 1),
        ("task".into(), 1, 2),
        ("x".into(), 3, 1),
    ];
    places.sort_unstable();
    assert_eq!(places, expected);
}

#[test]
fn deep_nesting_is_refused_and_not_followed() {
    let text = format!("{{\"phases\":{}{}}}", "[".repeat(1000), "]".repeat(1000));
    assert_eq!(first(&text).0, Code::NotJson);
}

#[test]
fn a_draft_is_read_before_it_is_checked() {
    assert!(read("{}").is_ok());
    assert!(read("{").is_err());
}
