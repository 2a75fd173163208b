//! The verdict rule, text by text. No process and no agent is involved: a verdict is read only from the final
//! message of an attempt that ended in success.
#![expect(
    clippy::panic,
    reason = "tests fail by panicking, also in what they share"
)]

use backstop_gates::{ArtifactKind, NoVerdict, Verdict, prefer_structured, verdict};
use proptest::prelude::*;
use serde::Deserialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Read<'a> {
    Pass,
    Fail(&'a str),
    Blank,
    NotFirst,
    Contradicted,
    NoArtifact,
}
use Read::{Blank, Contradicted, Fail, NoArtifact, NotFirst, Pass};

fn read(result: &Result<Verdict, NoVerdict>) -> Read<'_> {
    match result {
        Ok(Verdict::Pass) => Pass,
        Ok(Verdict::Fail { reason }) => Fail(reason.as_str()),
        Err(NoVerdict::Blank) => Blank,
        Err(NoVerdict::NotFirst { .. }) => NotFirst,
        Err(NoVerdict::Contradicted { .. }) => Contradicted,
        Err(NoVerdict::NoArtifact) => NoArtifact,
        Err(NoVerdict::Malformed { why }) => panic!("text is no object: {why}"),
    }
}

/// The texts and what each is read as, shared with the generated page. Where a public incident reads a verdict from the
/// last line, or a sentinel from anywhere, the first-line rule wins: of those only the bare ones pass.
const CORPUS: &str = include_str!("verdicts.json");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    #[serde(rename = "group")]
    name: String,
    /// Whether its texts are, or hold, the object of a structured verdict.
    #[serde(default)]
    object: bool,
    #[serde(default)]
    artifact: Option<ArtifactKind>,
    cases: Vec<Case>,
}

/// A text, the name of its reading, the reason of a failure, and the findings.
#[derive(Deserialize)]
#[expect(
    dead_code,
    reason = "findings are read where verdicts of both forms are"
)]
struct Case(
    String,
    String,
    #[serde(default)] String,
    #[serde(default)] Vec<String>,
);

impl Case {
    fn wanted(&self) -> Read<'_> {
        match self.1.as_str() {
            "pass" => Pass,
            "fail" => Fail(&self.2),
            "blank" => Blank,
            "not_first" => NotFirst,
            "contradicted" => Contradicted,
            "no_artifact" => NoArtifact,
            other => panic!("`{other}` is no reading"),
        }
    }
}

#[test]
fn a_text_has_the_verdict_of_its_first_line_and_no_other() {
    let groups: Vec<Group> = serde_json::from_str(CORPUS).unwrap();
    let cases: usize = groups.iter().map(|group| group.cases.len()).sum();
    assert!(cases >= 200);
    for group in &groups {
        for case in group.cases.iter().filter(|_| !group.object) {
            let text = &case.0;
            let found = verdict(text, group.artifact.as_ref());
            assert_eq!(read(&found), case.wanted(), "{}: {text:?}", group.name);
        }
    }
}

/// What is structured is not read here, so it must not pass here by accident.
#[test]
fn an_object_is_no_verdict_in_text() {
    let groups: Vec<Group> = serde_json::from_str(CORPUS).unwrap();
    let objects = groups.iter().filter(|group| group.object);
    for Case(text, ..) in objects.flat_map(|group| &group.cases) {
        let starts = text.trim_start().starts_with(['{', '[', '"']);
        if starts {
            assert_eq!(read(&verdict(text, None)), NotFirst, "{text:?}");
        }
    }
}

#[test]
fn lines_in_a_closed_block_are_code_and_in_one_that_stays_open_are_not() {
    let lines = |text| backstop_gates::outside_code(text).join("|");
    assert_eq!(lines("a\n```\nb\n```\nc"), "a|c");
    assert_eq!(lines("a\n~~~~\n```\nb\n~~~~\nc"), "a|c");
    assert_eq!(lines("a\n```\nb"), "a|```|b");
    assert_eq!(lines(""), "");
}

#[test]
fn an_approval_with_an_artifact_needs_two_more_lines() {
    let kind: ArtifactKind = "diff_review".parse().unwrap();
    let cases = [
        ("PASS", NoArtifact),
        ("PASS\n\n \n", NoArtifact),
        ("PASS\none line", NoArtifact),
        ("PASS\none line\n\u{200b}\n", NoArtifact),
        ("PASS\none\ntwo", Pass),
        ("PASS\n\none\n\ntwo\n", Pass),
        ("PASS\none\nFAIL: two", Contradicted),
        ("FAIL: no tests", Fail("no tests")),
        ("FAIL", Fail("")),
        ("words\nPASS\none\ntwo", NotFirst),
    ];
    for (text, wanted) in cases {
        assert_eq!(read(&verdict(text, Some(&kind))), wanted, "{text:?}");
    }
}

#[test]
fn a_structured_verdict_outranks_the_text() {
    let fail = Verdict::Fail {
        reason: "leaks".parse().unwrap(),
    };
    let given = prefer_structured(Some(fail.clone()), "PASS", None);
    assert_eq!(given, Ok(fail));
    assert_eq!(
        prefer_structured(Some(Verdict::Pass), "", None),
        Ok(Verdict::Pass)
    );
    assert_eq!(read(&prefer_structured(None, "FAIL: x", None)), Fail("x"));
    let wire: Verdict = serde_json::from_str(r#"{"fail":{}}"#).unwrap();
    assert_eq!(read(&Ok(wire)), Fail(""));
}

#[test]
fn why_there_is_no_verdict_says_what_to_write() {
    let why = |text| verdict(text, None).unwrap_err().to_string();
    assert_eq!(why(" "), "the text is blank: start it with PASS or FAIL");
    assert_eq!(
        why("LGTM\nPASS"),
        "the first line is `LGTM`: make it exactly PASS, APPROVE, or FAIL or BLOCK with a reason"
    );
    assert_eq!(
        why("PASS\n\nFAIL: none"),
        "the later line `FAIL: none` contradicts the first: give one verdict"
    );
}

#[test]
fn a_long_reason_is_cut_and_stays_a_failure() {
    let text = format!("FAIL: {}", "x".repeat(10_000));
    let Ok(Verdict::Fail { reason }) = verdict(&text, None) else {
        panic!("a failure");
    };
    assert_eq!(reason.as_str().len(), 1024);
}

/// Quadratic work on any of these would not end within the test run.
#[test]
fn a_huge_text_is_read_in_one_pass() {
    let many = 1_000_000;
    for unit in [
        "*", "_", "`", "~", " ", "\n", "```\n", "FAIL:", "**", "PASS ", "> ", "\r", "\u{200b}",
        "_a", "* ",
    ] {
        let text = format!("PASS\n{}", unit.repeat(many / unit.len()));
        let _ = verdict(&text, None);
        let _ = verdict(text.trim_start_matches("PASS\n"), None);
    }
}

fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("PASS"),
        Just("FAIL"),
        Just("APPROVE"),
        Just("BLOCK"),
        Just("Verdict:"),
        Just("**"),
        Just("*"),
        Just("_"),
        Just("__"),
        Just("`"),
        Just("```"),
        Just("~~~"),
        Just(">"),
        Just(" "),
        Just("    "),
        Just("\t"),
        Just("\n"),
        Just("\r"),
        Just(":"),
        Just(" - "),
        Just("."),
        Just("\u{200b}"),
        Just("\u{2028}"),
        Just("words"),
    ]
    .prop_map(str::to_owned)
}

fn soup() -> impl Strategy<Value = String> {
    pieces(24)
}

fn pieces(most: usize) -> impl Strategy<Value = String> {
    prop::collection::vec(piece(), 0..most).prop_map(|pieces| pieces.concat())
}

/// The lines that pass, listed rather than parsed: the rule again by another way. Runs of white space are one space.
fn passing_lines() -> Vec<String> {
    let mut lines = Vec::new();
    for word in ["PASS", "APPROVE", "PASS.", "APPROVE."] {
        let bare = word.trim_end_matches('.');
        let stop = word.trim_start_matches(bare);
        lines.push(word.to_owned());
        for gap in ["", " "] {
            lines.push(format!("VERDICT:{gap}{word}"));
            for mark in ["*", "_", "**", "__"] {
                lines.push(format!("{mark}{word}{mark}"));
                lines.push(format!("{mark}{bare}{mark}{stop}"));
                lines.push(format!("VERDICT:{gap}{mark}{word}{mark}"));
                lines.push(format!("VERDICT:{gap}{mark}{bare}{mark}{stop}"));
                lines.push(format!("{mark}VERDICT:{gap}{word}{mark}"));
                lines.push(format!("{mark}VERDICT:{gap}{bare}{mark}{stop}"));
                lines.push(format!("{mark}VERDICT:{mark} {word}"));
                lines.push(format!("{mark}VERDICT{mark}:{gap}{word}"));
            }
        }
    }
    lines
}

fn is_seen(line: &str) -> bool {
    line.chars().any(|c| !c.is_whitespace() && c != '\u{200b}')
}

fn kind_of(text: &str) -> &'static str {
    match read(&verdict(text, None)) {
        Pass => "pass",
        Fail(_) => "fail",
        NotFirst => "not_first",
        Blank | Contradicted | NoArtifact => "none",
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn arbitrary_text_never_panics(text in any::<String>(), mixed in soup()) {
        let _ = verdict(&text, None);
        let _ = verdict(&mixed, None);
    }

    #[test]
    fn text_with_leading_prose_never_passes(prose in "[a-zA-Z,;]{1,12} [a-z ,]{0,40}[!?,;]?", rest in soup()) {
        let upper = prose.trim().to_ascii_uppercase();
        prop_assume!(!["PASS", "APPROVE", "FAIL", "BLOCK"].contains(&upper.as_str()));
        prop_assert_eq!(kind_of(&format!("{prose} PASS\n{rest}")), "not_first");
        prop_assert_eq!(kind_of(&format!("{prose}\nPASS\n{rest}")), "not_first");
    }

    #[test]
    fn whatever_passes_starts_with_one_of_the_listed_lines(head in pieces(4), text in pieces(6)) {
        let text = format!("{head}PASS{text}");
        if kind_of(&text) == "pass" {
            let first = text.split('\n').find(|line| is_seen(line)).unwrap();
            let words: Vec<&str> = first.split_whitespace().collect();
            let line = words.join(" ").to_ascii_uppercase();
            prop_assert!(passing_lines().contains(&line), "{:?}", text);
        }
    }

    #[test]
    fn a_line_that_is_near_one_of_the_listed_ones_passes_only_as_one_of_them(
        line in prop::sample::select(passing_lines()),
        at in any::<prop::sample::Index>(),
        cut in 0_usize..2,
        put in prop_oneof![any::<char>().prop_map(String::from), piece(), "[!-~]"],
        below in soup(),
    ) {
        let mut chars: Vec<char> = line.chars().collect();
        let from = at.index(chars.len() + 1);
        let to = (from + cut).min(chars.len());
        chars.splice(from..to, put.chars());
        let text = format!("{}\n{below}", chars.into_iter().collect::<String>());
        if kind_of(&text) == "pass" {
            let first = text.split('\n').find(|line| is_seen(line)).unwrap();
            let words: Vec<&str> = first.split_whitespace().collect();
            prop_assert!(passing_lines().contains(&words.join(" ").to_ascii_uppercase()), "{:?}", text);
        }
    }

    #[test]
    fn any_text_that_passes_begins_with_one_of_the_listed_lines(text in "(?s).{0,12}(?i:pass|approve).{0,12}") {
        if kind_of(&text) == "pass" {
            let first = text.split('\n').find(|line| line.chars().any(char::is_alphabetic)).unwrap();
            let words: Vec<&str> = first.split_whitespace().collect();
            prop_assert!(passing_lines().contains(&words.join(" ").to_ascii_uppercase()), "{:?}", text);
        }
    }

    #[test]
    fn adding_lines_never_turns_a_text_into_a_pass(text in soup(), more in soup()) {
        prop_assume!(is_seen(&text));
        let longer = kind_of(&format!("{text}\n{more}"));
        match kind_of(&text) {
            "fail" => prop_assert_ne!(longer, "pass"),
            "not_first" => prop_assert_eq!(longer, "not_first"),
            _ => {}
        }
    }
}

#[test]
fn every_listed_line_passes() {
    for line in passing_lines() {
        assert_eq!(kind_of(&line), "pass", "{line:?}");
        assert_eq!(kind_of(&line.to_ascii_lowercase()), "pass", "{line:?}");
    }
}
