//! Every reason to refuse a draft: its code, its place, its words, and that all of them come at once.
#![expect(clippy::expect_used, reason = "a test that cannot go on has failed")]

use backstop_plan::{Checks, Code, Draft, MOST_BYTES, MOST_SHOWN, Plan, Refusal, Refusals, read};
use backstop_vocab::Phase;
use serde_json::json;

const CODING: &str = r#"{"phases":[{"kind":"coding","task":"x"}]}"#;

fn refused(text: &str, checks: Checks) -> Refusals {
    Plan::read(text, checks).expect_err(text)
}

fn codes(text: &str) -> Vec<Code> {
    let refusals = refused(text, Checks::Configured);
    refusals.all().iter().map(|refusal| refusal.code).collect()
}

fn only(text: &str) -> Refusal {
    let refusals = refused(text, Checks::Configured);
    assert_eq!(refusals.all().len(), 1, "{text}: {refusals}");
    refusals.all()[0].clone()
}

/// A text for each code that is refused with that code alone.
fn table() -> Vec<(Code, String)> {
    let long = "a".repeat(8193);
    let mut table: Vec<(Code, String)> = [
        (Code::NotJson, "I could not make a plan."),
        (Code::Ambiguous, "```json\n{}\n```\nor\n```\n{}\n```\n"),
        (Code::DuplicateKey, r#"{"phases":[{"kind":"research","task":"a","task":"b"}]}"#),
        (Code::Empty, r#"{"phases":[]}"#),
        (
            Code::TooMany,
            r#"{"phases":[{"kind":"research","task":"a"},{"kind":"research","task":"b"},{"kind":"research","task":"c"},
               {"kind":"research","task":"d"},{"kind":"research","task":"e"}]}"#,
        ),
        (Code::UnknownKind, r#"{"phases":[{"kind":"review","task":"a"}]}"#),
        (Code::UnknownKey, r#"{"phases":[{"kind":"research","task":"a","gaol":"b"}]}"#),
        (Code::WrongType, r#"{"phases":null}"#),
        (Code::BlankTask, r#"{"phases":[{"kind":"research","task":" \n"}]}"#),
        (Code::PlaceholderTask, r#"{"phases":[{"kind":"research","task":"TBD"}]}"#),
        (Code::BlankCondition, r#"{"phases":[{"kind":"research","task":"a","done_when":""}]}"#),
        (Code::ControlCharacters, r#"{"phases":[{"kind":"research","task":"a\u001b[31m"}]}"#),
        (
            Code::DuplicateTask,
            r#"{"phases":[{"kind":"research","task":"a b"},{"kind":"research","task":" a  b"}]}"#,
        ),
        (Code::UncheckedCoding, CODING),
    ]
    .map(|(code, text)| (code, text.to_string()))
    .into();
    table.push((Code::TooLarge, " ".repeat(MOST_BYTES + 1)));
    let too_long = format!(r#"{{"phases":[{{"kind":"research","task":"{long}"}}]}}"#);
    table.push((Code::TaskTooLong, too_long));
    table
}

#[test]
fn every_code_has_a_text_that_is_refused_with_it_alone() {
    let table = table();
    for code in Code::ALL {
        let (_, text) = table.iter().find(|(of, _)| *of == code).expect("a text");
        let refusals = refused(text, Checks::None);
        let found: Vec<Code> = refusals.all().iter().map(|refusal| refusal.code).collect();
        assert_eq!(found, [code], "{text}");
    }
}

#[test]
fn every_message_is_one_line_in_lower_case_without_a_final_stop() {
    for (code, text) in table() {
        for refusal in refused(&text, Checks::None).all() {
            let message = &refusal.message;
            let first = message.chars().next().expect("words");
            assert!(
                !first.is_uppercase() && !message.ends_with('.'),
                "{message}"
            );
            assert!(
                !message.contains('\n') && !message.contains("  "),
                "{message}"
            );
            assert!(
                message.contains(": ") || message.contains("? "),
                "{code}: {message}"
            );
            assert!(refusal.line.is_some() && refusal.column.is_some(), "{code}");
        }
    }
}

#[test]
fn codes_on_the_wire_are_their_printed_names() {
    for code in Code::ALL {
        assert_eq!(serde_json::to_value(code).unwrap(), json!(code.name()));
        assert_eq!(code.to_string(), code.name());
    }
}

#[test]
fn all_refusals_come_at_once_in_the_order_of_the_text() {
    let text = r#"{
  "phases": [
    {"kind": "review", "task": "TODO", "goal": "y"},
    {"task": "  ", "done_when": null, "allow_empty": "yes"},
    7,
    {"kind": "coding", "task": "a", "task": "a\u0007", "done_when_check": "\u200b"},
    {"kind": "coding", "task": "b"},
    {"kind": "coding", "task": "b"}
  ],
  "notes": []
}"#;
    let refusals = refused(text, Checks::None);
    let found: Vec<_> = refusals
        .all()
        .iter()
        .map(|r| {
            (
                r.code,
                r.phase.map(Phase::number),
                r.key.as_deref(),
                r.line,
                r.column,
            )
        })
        .collect();
    let at = |line, column| (Some(line), Some(column));
    let expected = [
        (Code::DuplicateKey, Some(4), Some("task"), at(6, 37)),
        (Code::UnknownKey, None, Some("notes"), at(10, 3)),
        (Code::TooMany, None, Some("phases"), at(2, 3)),
        (Code::UnknownKey, Some(1), Some("goal"), at(3, 40)),
        (Code::UnknownKind, Some(1), Some("kind"), at(3, 6)),
        (Code::PlaceholderTask, Some(1), Some("task"), at(3, 24)),
        (Code::UnknownKind, Some(2), Some("kind"), at(4, 5)),
        (Code::BlankTask, Some(2), Some("task"), at(4, 6)),
        (Code::WrongType, Some(2), Some("done_when"), at(4, 20)),
        (Code::WrongType, Some(2), Some("allow_empty"), at(4, 39)),
        (Code::WrongType, Some(3), None, at(5, 5)),
        (Code::ControlCharacters, Some(4), Some("task"), at(6, 37)),
        (
            Code::BlankCondition,
            Some(4),
            Some("done_when_check"),
            at(6, 56),
        ),
        (
            Code::UncheckedCoding,
            Some(5),
            Some("done_when_check"),
            at(7, 5),
        ),
        (
            Code::UncheckedCoding,
            Some(6),
            Some("done_when_check"),
            at(8, 5),
        ),
        (Code::DuplicateTask, Some(6), Some("task"), at(8, 24)),
    ];
    let expected =
        expected.map(|(code, phase, key, (line, column))| (code, phase, key, line, column));
    assert_eq!(found, expected);
}

#[test]
fn a_refusal_is_serialised_with_what_it_knows() {
    let refusal = only(r#"{"phases":[{"kind":"coding","task":"x","type":"agent"}]}"#);
    let message = "`type` is read by nobody: did you mean `kind`? the keys here are kind, task, done_when, \
                   done_when_check, allow_empty";
    let wire = json!({
        "code": "unknown_key", "phase": 1, "key": "type", "message": message, "line": 1, "column": 40,
    });
    assert_eq!(serde_json::to_value(&refusal).unwrap(), wire);
    assert_eq!(serde_json::from_value::<Refusal>(wire).unwrap(), refusal);
    let words = format!("unknown_key: phase 1: {message} (line 1, column 40)");
    assert_eq!(refusal.to_string(), words);
    let whole = only("nothing").code;
    assert_eq!(whole, Code::NotJson);
    let value = serde_json::to_value(only("nothing")).unwrap();
    let mut keys: Vec<&String> = value.as_object().unwrap().keys().collect();
    keys.sort_unstable();
    assert_eq!(keys, ["code", "column", "line", "message"]);
}

#[test]
fn a_draft_without_a_text_is_refused_without_line_and_column() {
    let draft = Draft::from_value(json!({"phases": [{"kind": "coding", "task": " "}]}));
    let refusals = Plan::try_from(draft).unwrap_err();
    let found: Vec<_> = refusals
        .all()
        .iter()
        .map(|r| (r.code, r.line, r.column))
        .collect();
    let expected = [
        (Code::BlankTask, None, None),
        (Code::UncheckedCoding, None, None),
    ];
    assert_eq!(found, expected);
    assert!(refusals.has(Code::BlankTask) && !refusals.has(Code::Empty));
    assert!(
        refusals
            .to_string()
            .starts_with("the plan is refused: blank_task: phase 1: ")
    );
}

#[test]
fn a_run_away_answer_is_refused_in_bounded_words() {
    let text = format!(r#"{{"phases":[{}0]}}"#, "0,".repeat(20_000));
    let refusals = refused(&text, Checks::None);
    assert_eq!(refusals.all().len(), MOST_SHOWN);
    assert_eq!(refusals.omitted(), 20_002 - MOST_SHOWN);
    assert!(
        refusals
            .to_string()
            .ends_with(&format!("; and {} more", 20_002 - MOST_SHOWN))
    );
    let key = "k".repeat(60_000);
    let refusal = only(&format!(
        r#"{{"phases":[{{"kind":"research","task":"a","{key}":1}}]}}"#
    ));
    assert!(refusal.message.len() < 300 && refusal.key.unwrap().len() < 100);
}

#[test]
fn an_unknown_kind_names_the_known_ones_and_the_nearest() {
    let message =
        |kind: &str| only(&format!(r#"{{"phases":[{{"kind":"{kind}","task":"a"}}]}}"#)).message;
    let known = "one of research, coding, benchmark, security_scan";
    assert_eq!(
        message("review"),
        format!("`review` is not a kind: use {known}")
    );
    for kind in ["Coding", "coding ", "codign"] {
        let words = format!("`{kind}` is not a kind: did you mean `coding`? use {known}");
        assert_eq!(message(kind), words);
    }
    let missing = only(r#"{"phases":[{"task":"a"}]}"#).message;
    assert_eq!(missing, format!("the phase has no `kind`: use {known}"));
}

#[test]
fn an_unknown_key_names_the_nearest_one() {
    for (key, meant) in [
        ("gaol", "leave it out"),
        ("goal", "`task`"),
        ("doneWhen", "`done_when`"),
    ] {
        let text = format!(r#"{{"phases":[{{"kind":"research","task":"a","{key}":"b"}}]}}"#);
        assert!(only(&text).message.contains(meant), "{key}");
    }
    let refusal = only(r#"{"phases":[{"kind":"research","task":"a"}],"Phases":[]}"#);
    assert!(
        refusal.message.contains("did you mean `phases`?"),
        "{refusal}"
    );
    // A key of a phase is not one of the plan.
    let text = r#"{"task":"a","phases":[{"kind":"research","task":"a"}]}"#;
    assert_eq!(codes(text), [Code::UnknownKey]);
    let text = r#"{"phases":[{"kind":"research","task":"a","phases":[]}]}"#;
    assert_eq!(codes(text), [Code::UnknownKey]);
}

#[test]
fn what_is_long_is_shown_cut() {
    for (name, shown) in [
        ("a".repeat(64), "a".repeat(64)),
        ("a".repeat(65), "a".repeat(64) + "…"),
    ] {
        let text = format!(r#"{{"phases":[{{"kind":"{name}","task":"a"}}]}}"#);
        let said = only(&text).message;
        assert!(said.starts_with(&format!("`{shown}` is not")), "{said}");
    }
}

#[test]
fn what_lacks_a_key_or_is_no_object_is_shown_where_it_begins() {
    for text in ["\n  {}", "\n  []", "\n  null"] {
        let refusal = only(text);
        assert_eq!((refusal.line, refusal.column), (Some(2), Some(3)), "{text}");
    }
}

#[test]
fn every_key_refuses_another_type_and_null() {
    for (key, value) in [
        ("kind", "1"),
        ("kind", "null"),
        ("task", "[\"a\"]"),
        ("task", "null"),
        ("done_when", "true"),
        ("done_when", "null"),
        ("done_when_check", "{}"),
        ("done_when_check", "null"),
        ("allow_empty", "\"true\""),
        ("allow_empty", "1"),
        ("allow_empty", "null"),
    ] {
        let (kind, task) = (r#""kind":"research","#, r#""task":"a","#);
        let kind = if key == "kind" { "" } else { kind };
        let task = if key == "task" { "" } else { task };
        let text = format!(r#"{{"phases":[{{{kind}{task}"{key}":{value}}}]}}"#);
        let refusal = only(&text);
        assert_eq!(
            (refusal.code, refusal.key.as_deref()),
            (Code::WrongType, Some(key)),
            "{text}"
        );
        let shape = match key {
            "kind" => "the name of a kind",
            "allow_empty" => "`true` or `false`",
            _ => "a string",
        };
        // Only what may be missing can be left out.
        let optional = value == "null" && !["kind", "task"].contains(&key);
        let out = if optional { ", or leave it out" } else { "" };
        let said = refusal.message;
        assert!(said.ends_with(&format!(": write {shape}{out}")), "{said}");
    }
    assert_eq!(
        only(r#"{"phases":null}"#).message,
        "`phases` is null: write an array of phases"
    );
    for text in [
        "[]",
        "null",
        "3",
        "\"phases\"",
        "{\"phases\":{}}",
        "{\"phases\":[[]]}",
    ] {
        assert_eq!(codes(text), [Code::WrongType], "{text}");
    }
}

#[test]
fn a_refusal_says_what_was_there() {
    for (value, shape) in [
        ("null", "null"),
        ("true", "a boolean"),
        ("3", "a number"),
        ("\"x\"", "a string"),
        ("[]", "an array"),
        ("{\"a\":1}", "an object"),
    ] {
        let key = if shape == "a boolean" {
            "done_when"
        } else {
            "allow_empty"
        };
        let text = format!(r#"{{"phases":[{{"kind":"research","task":"a","{key}":{value}}}]}}"#);
        let said = only(&text).message;
        assert!(
            said.starts_with(&format!("`{key}` is {shape}: write ")),
            "{said}"
        );
    }
}

#[test]
fn a_task_that_is_only_a_placeholder_is_refused_and_one_that_has_one_is_not() {
    let research =
        |task: &str| Plan::single(backstop_vocab::PhaseKind::Research, task, Checks::None);
    for task in [
        "TBD",
        "todo",
        " ToDo: ",
        "[TODO]",
        "...",
        "…",
        "<task>",
        "To  be\ndetermined.",
        "-",
        "N/A",
        "FIXME!",
    ] {
        let refusals = research(task).unwrap_err();
        assert!(refusals.has(Code::PlaceholderTask), "{task}");
    }
    for task in [
        "x",
        "TODO: write the parser",
        "fix every FIXME",
        "làm bài tập",
        "部署",
        "1",
    ] {
        assert!(research(task).is_ok(), "{task}");
    }
}

#[test]
fn text_is_bounded_at_eight_kib_and_its_newlines_stay() {
    let check = |key: &str, text: &str| {
        let mut phase = json!({"kind": "research", "task": "a"});
        phase[key] = text.into();
        Plan::try_from(Draft::from_value(json!({"phases": [phase]})))
    };
    for key in ["task", "done_when", "done_when_check"] {
        assert!(check(key, &"a".repeat(8192)).is_ok());
        assert!(
            check(key, &"a".repeat(8193))
                .unwrap_err()
                .has(Code::TaskTooLong)
        );
        // Bytes count, not characters.
        assert!(
            check(key, &"é".repeat(4097))
                .unwrap_err()
                .has(Code::TaskTooLong)
        );
        assert!(check(key, "a\n\tb").is_ok());
        for control in ["a\rb", "a\u{0}b", "a\u{7f}b", "a\u{202e}b", "a\u{2066}b"] {
            assert!(
                check(key, control)
                    .unwrap_err()
                    .has(Code::ControlCharacters),
                "{control:?}"
            );
        }
        let blank = match key {
            "task" => Code::BlankTask,
            _ => Code::BlankCondition,
        };
        for text in ["", " ", "\n\t", "\u{200b}", "\u{feff}", "\u{1b}"] {
            let refusals = check(key, text).unwrap_err();
            assert_eq!(
                (refusals.all().len(), refusals.all()[0].code),
                (1, blank),
                "{text:?}"
            );
        }
    }
}

#[test]
fn adjacent_phases_with_the_same_kind_and_task_are_refused_and_others_are_not() {
    let plan = |phases: &[(&str, &str)]| {
        let phases: Vec<_> = phases
            .iter()
            .map(|(kind, task)| json!({"kind": kind, "task": task}))
            .collect();
        let draft = Draft::from_value(json!({"phases": phases})).with_checks(Checks::Configured);
        Plan::try_from(draft)
    };
    assert!(
        plan(&[("coding", "a"), ("coding", "a")])
            .unwrap_err()
            .has(Code::DuplicateTask)
    );
    assert!(
        plan(&[("coding", "a b"), ("coding", "a\nb ")])
            .unwrap_err()
            .has(Code::DuplicateTask)
    );
    assert!(plan(&[("coding", "a"), ("research", "a")]).is_ok());
    assert!(plan(&[("coding", "a"), ("research", "b"), ("coding", "a")]).is_ok());
    assert!(plan(&[("coding", "a"), ("coding", "A")]).is_ok());
    // Two tasks that are not there are no repetition.
    let blank = plan(&[("coding", " "), ("coding", "")]).unwrap_err();
    assert!(blank.has(Code::BlankTask) && !blank.has(Code::DuplicateTask));
}

#[test]
fn a_coding_phase_is_checked_here_or_by_the_host_or_waived_by_a_person() {
    let own = r#"{"phases":[{"kind":"coding","task":"x","done_when_check":"cargo test"}]}"#;
    for checks in [Checks::None, Checks::Configured, Checks::Waived] {
        assert!(Plan::read(own, checks).is_ok());
        assert_eq!(Plan::read(CODING, checks).is_ok(), checks != Checks::None);
    }
    for kind in ["research", "benchmark", "security_scan"] {
        assert!(Plan::read(&CODING.replace("coding", kind), Checks::None).is_ok());
    }
    assert!(
        Plan::try_from(read(CODING).unwrap())
            .unwrap_err()
            .has(Code::UncheckedCoding)
    );
    // What the reviewer judges is not a check.
    let judged = r#"{"phases":[{"kind":"coding","task":"x","done_when":"it works"}]}"#;
    assert!(refused(judged, Checks::None).has(Code::UncheckedCoding));
}
