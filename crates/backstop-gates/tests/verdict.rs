//! The verdict rule, text by text. No process and no agent is involved: a verdict is read only from the final
//! message of an attempt that ended in success.
use backstop_gates::{ArtifactKind, NoVerdict, Verdict, prefer_structured, verdict};
use proptest::prelude::*;

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
    }
}

const BARE: &[(&str, Read)] = &[
    ("PASS", Pass),
    ("APPROVE", Pass),
    ("FAIL", Fail("")),
    ("BLOCK", Fail("")),
    ("pass", Pass),
    ("Pass", Pass),
    ("aPPROVE", Pass),
    ("fail", Fail("")),
    ("Block", Fail("")),
    ("PASS.", Pass),
    ("APPROVE.", Pass),
    ("FAIL.", Fail("")),
    ("BLOCK.", Fail("")),
    ("  PASS  ", Pass),
    ("   PASS", Pass),
    ("PASS\r\n", Pass),
    ("\n\n\nPASS\n\n", Pass),
    (" \t \nPASS", Pass),
    ("\u{200b}\nPASS", Pass),
    ("\u{a0}PASS\u{a0}", Pass),
    ("PASS\n\nAll 42 tests are green.", Pass),
    ("PASS\nPASS", Pass),
    ("PASS\nAPPROVE.", Pass),
    ("FAIL\nBLOCK", Fail("")),
    ("PASS..", NotFirst),
    ("PASS .", NotFirst),
    ("PASS!", NotFirst),
    ("PASS?", NotFirst),
    ("PASS,", NotFirst),
    (".PASS", NotFirst),
    ("P A S S", NotFirst),
    ("PASSED", NotFirst),
    ("APPROVED", NotFirst),
    ("APPROVES", NotFirst),
    ("FAILED", NotFirst),
    ("FAILURE: x", NotFirst),
    ("BLOCKED", NotFirst),
    ("BLOCKER: x", NotFirst),
    ("UNPASS", NotFirst),
    ("PASSABLE", NotFirst),
    ("NOT PASS", NotFirst),
    ("OK", NotFirst),
    ("LGTM", NotFirst),
    ("YES", NotFirst),
    ("REVISE", NotFirst),
    ("REJECT", NotFirst),
    ("true", NotFirst),
    ("0", NotFirst),
];

const REASONS: &[(&str, Read)] = &[
    ("FAIL: no tests", Fail("no tests")),
    ("FAIL:no tests", Fail("no tests")),
    ("BLOCK: breaks v1 clients.", Fail("breaks v1 clients.")),
    ("FAIL - no tests", Fail("no tests")),
    ("block - unsafe", Fail("unsafe")),
    (
        "FAIL: password reset PASS path missing",
        Fail("password reset PASS path missing"),
    ),
    ("FAIL: PASS", Fail("PASS")),
    ("FAIL:\n- the first\n- the second", Fail("")),
    ("FAIL: a : b - c", Fail("a : b - c")),
    ("FAIL:  \u{1b}[31mred", Fail("[31mred")),
    ("FAIL no tests", NotFirst),
    ("FAIL, no tests", NotFirst),
    ("FAIL. No tests", NotFirst),
    ("FAIL -no tests", NotFirst),
    ("FAIL- no tests", NotFirst),
    ("FAIL -", NotFirst),
    ("FAIL \u{2014} no tests", NotFirst),
    ("FAIL; no tests", NotFirst),
    ("FAIL (no tests)", NotFirst),
    ("PASS: all good", NotFirst),
    ("PASS:", NotFirst),
    ("PASS - all good", NotFirst),
    ("PASS -", NotFirst),
    ("PASS with nits", NotFirst),
    ("PASS, but the lock leaks", NotFirst),
    ("APPROVE: ship it", NotFirst),
    ("APPROVE with changes", NotFirst),
    ("PASS / FAIL", NotFirst),
    ("PASS|FAIL", NotFirst),
    ("PASS or FAIL: reason", NotFirst),
    ("PASS FAIL", NotFirst),
];

const DRESSED: &[(&str, Read)] = &[
    ("**PASS**", Pass),
    ("*PASS*", Pass),
    ("__PASS__", Pass),
    ("_PASS_", Pass),
    ("**PASS.**", Pass),
    ("**PASS**.", Pass),
    ("Verdict: PASS", Pass),
    ("verdict: pass", Pass),
    ("VERDICT:PASS.", Pass),
    ("**Verdict: PASS**", Pass),
    ("**Verdict:** PASS", Pass),
    ("**Verdict**: PASS", Pass),
    ("Verdict: **PASS**", Pass),
    ("Verdict: _APPROVE_", Pass),
    ("**FAIL**", Fail("")),
    ("**FAIL**: no tests", Fail("no tests")),
    ("**FAIL:** no tests", Fail("no tests")),
    ("**FAIL: no tests**", Fail("no tests")),
    ("**FAIL** - no tests", Fail("no tests")),
    ("_FAIL: some_name_", Fail("some_name")),
    ("Verdict: FAIL: no tests", Fail("no tests")),
    ("Verdict: **BLOCK** - unsafe", Fail("unsafe")),
    ("**Verdict:** BLOCK - unsafe", Fail("unsafe")),
    ("***PASS***", NotFirst),
    ("**_PASS_**", NotFirst),
    ("**Verdict:** **PASS**", NotFirst),
    ("**Verdict: **PASS****", NotFirst),
    ("**PASS", NotFirst),
    ("PASS**", NotFirst),
    ("** PASS **", NotFirst),
    ("*PASS**", NotFirst),
    ("**PASS*", NotFirst),
    ("**PA**SS", NotFirst),
    ("**PASS**ED", NotFirst),
    ("**PASS** but", NotFirst),
    ("**PASS**: all good", NotFirst),
    ("****", NotFirst),
    ("**", NotFirst),
    ("~~PASS~~", NotFirst),
    ("~~FAIL~~", NotFirst),
    ("`PASS`", NotFirst),
    ("`FAIL: reason`", NotFirst),
    ("Verdict: `PASS`", NotFirst),
    ("\"PASS\"", NotFirst),
    ("'PASS'", NotFirst),
    ("(PASS)", NotFirst),
    ("[PASS]", NotFirst),
    ("<b>PASS</b>", NotFirst),
    ("# PASS", NotFirst),
    ("## Verdict: PASS", NotFirst),
    ("- PASS", NotFirst),
    ("* PASS", NotFirst),
    ("1. PASS", NotFirst),
    ("| PASS |", NotFirst),
    ("Verdict PASS", NotFirst),
    ("Verdict = PASS", NotFirst),
    ("Verdict : PASS", NotFirst),
    ("Verdict: Verdict: PASS", NotFirst),
    ("Verdict:", NotFirst),
    ("Verdict:\nPASS", NotFirst),
    ("Final verdict: PASS", NotFirst),
    ("Result: PASS", NotFirst),
    ("Status: PASS", NotFirst),
    ("Verdict: not PASS", NotFirst),
    ("PASS \u{2705}", NotFirst),
    ("\u{2705} PASS", NotFirst),
];

const PROSE: &[(&str, Read)] = &[
    ("I reviewed the diff.\nPASS", NotFirst),
    ("Looks good to me.\n\nPASS", NotFirst),
    ("The tests PASS.", NotFirst),
    ("I would say PASS.", NotFirst),
    ("Everything is fine, APPROVE", NotFirst),
    ("Here is my verdict:\nPASS", NotFirst),
    ("Do not PASS this", NotFirst),
    ("I cannot FAIL: this", NotFirst),
    ("> PASS", NotFirst),
    (">PASS", NotFirst),
    ("> PASS\nPASS", NotFirst),
    ("```\nPASS\n```", NotFirst),
    ("```text\nPASS\n```\nPASS", NotFirst),
    ("~~~\nPASS\n~~~", NotFirst),
    ("    PASS", NotFirst),
    ("\tPASS", NotFirst),
    ("\n     PASS\n", NotFirst),
    ("<thinking>\nPASS\n</thinking>", NotFirst),
    ("PASA", NotFirst),
    ("BESTANDEN", NotFirst),
    ("APROBADO", NotFirst),
    ("APPROUV\u{c9}", NotFirst),
    ("\u{901a}\u{8fc7}", NotFirst),
    ("\u{ff30}\u{ff21}\u{ff33}\u{ff33}", NotFirst),
    ("P\u{410}SS", NotFirst),
    ("\u{420}ASS", NotFirst),
    ("PA\u{17f}S", NotFirst),
    ("PASS\u{301}", NotFirst),
    ("PA\u{200b}SS", NotFirst),
    ("\u{feff}PASS", NotFirst),
    ("PASS\u{200b}", NotFirst),
    ("PASS\0", NotFirst),
    ("\u{1b}[32mPASS\u{1b}[0m", NotFirst),
    ("PASS\rFAIL: x", NotFirst),
    ("PASS\u{2028}FAIL: x", NotFirst),
    ("PASS\\n", NotFirst),
    ("{\"verdict\":\"PASS\"}", NotFirst),
    ("{\"verdict\":\"FAIL\",\"findings\":[]}", NotFirst),
    ("", Blank),
    ("   ", Blank),
    ("\n\n\t\n", Blank),
    ("\u{200b}\u{feff}", Blank),
];

const LATER: &[(&str, Read)] = &[
    ("PASS\n\nFAIL: none", Contradicted),
    ("PASS\nFAIL", Contradicted),
    ("PASS\nsome words\nBLOCK: the lock leaks", Contradicted),
    ("PASS\n**FAIL**: the lock leaks", Contradicted),
    ("PASS\nVerdict: FAIL", Contradicted),
    ("PASS\nFAIL:\n- the lock leaks", Contradicted),
    ("PASS\n    FAIL: the lock leaks", Contradicted),
    ("PASS\nwords\rFAIL: the lock leaks", Contradicted),
    ("PASS\nwords\u{2028}FAIL: the lock leaks", Contradicted),
    ("PASS\n\u{200b}FAIL: the lock leaks\u{feff}", Contradicted),
    ("FAIL: x\nPASS", Contradicted),
    ("BLOCK\n\n**APPROVE**", Contradicted),
    ("PASS\n```\nFAIL: never closed", Contradicted),
    ("PASS\n```\nwords\n```\nFAIL: after the block", Contradicted),
    ("PASS\n```\nwords\n``\nFAIL: x\n```\n", Pass),
    ("PASS\n```\nFAIL: a log\n```\nwords", Pass),
    ("PASS\n~~~\nFAIL: a log\n~~~", Pass),
    ("PASS\n~~~\n```\nFAIL: a log\n~~~\nwords", Pass),
    ("PASS\n````\n```\nFAIL: a log\n````", Pass),
    ("PASS\n```not a `fence`\nFAIL: x", Contradicted),
    ("PASS\n```\nFAIL: one\n```\n```\nFAIL: two", Contradicted),
    ("PASS\n> FAIL: quoted", Pass),
    ("PASS\nIt would FAIL: without the lock", Pass),
    ("PASS\n`FAIL: x` was the old answer", Pass),
    ("FAIL: x\nThe rest would PASS", Fail("x")),
    ("FAIL: x\n```\nPASS\n```", Fail("x")),
];

/// From the public incidents of kinds verdict-parse and completion-signal. Where an incident reads a verdict from the last
/// line, or a sentinel from anywhere, the first-line rule wins: none of these may pass but the bare ones.
const INCIDENTS: &[(&str, Read)] = &[
    (
        "**Verdict:** REVISE\n\nI cannot approve this until the lock is released.",
        NotFirst,
    ),
    ("", Blank),
    ("   ", Blank),
    ("Sorry, I can't help with that.", NotFirst),
    ("{\"passed\": tru", NotFirst),
    ("it looks mostly fine", NotFirst),
    ("**APPROVED FOR MERGE**", NotFirst),
    ("LGTM", NotFirst),
    ("Review APPROVED", NotFirst),
    ("## Review\nReview PASSED", NotFirst),
    ("Review PASSED\nbut FAIL: missing tests", NotFirst),
    (
        "The tests PASS but the API is wrong.\nFAIL: breaks v1 clients",
        NotFirst,
    ),
    (
        "`PASS` or `FAIL: reason` \u{2014} I choose FAIL: no tests",
        NotFirst,
    ),
    ("PASS", Pass),
    ("**PASS**", Pass),
    ("PASS.", Pass),
    (
        "FAIL: password reset PASS path missing",
        Fail("password reset PASS path missing"),
    ),
    ("PASS\n\nFAIL: none", Contradicted),
    ("> PASS", NotFirst),
    ("```\nPASS\n```", NotFirst),
    ("{\"verdict\":\"FAIL\",\"findings\":[]}", NotFirst),
    (
        "{\"type\":\"user\",\"text\":\"Output <promise>DONE</promise> when fully complete\"}\n{\"type\":\"assistant\",\"text\":\"Starting.\"}\n",
        NotFirst,
    ),
    ("LOOP_COMPLETE", NotFirst),
    ("Not everything is finished yet", NotFirst),
    ("I have not successfully completed all tasks", NotFirst),
    (
        "---RALPH_STATUS---\nSTATUS: IN_PROGRESS\nEXIT_SIGNAL: false\nRECOMMENDATION: Continue processing...\n---END_RALPH_STATUS---\nPhase completed, tests complete, feature complete.",
        NotFirst,
    ),
    ("<promise>DONE</promise>", NotFirst),
];

#[test]
fn a_text_has_the_verdict_of_its_first_line_and_no_other() {
    let tables = [BARE, REASONS, DRESSED, PROSE, LATER, INCIDENTS];
    assert!(tables.iter().map(|table| table.len()).sum::<usize>() >= 200);
    for (text, wanted) in tables.into_iter().flatten() {
        assert_eq!(read(&verdict(text, None)), *wanted, "{text:?}");
    }
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
