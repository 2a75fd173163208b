//! What a final message is read as, in both forms: the corpus that the gates share, and what is too long to list.

use backstop_engine::Ruling;
use backstop_engine::gates::{ArtifactKind, NoVerdict, Verdict};
use serde::Deserialize;

const CORPUS: &str = include_str!("../../backstop-gates/tests/verdicts.json");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    #[serde(rename = "group")]
    name: String,
    #[serde(default, rename = "object")]
    _object: bool,
    #[serde(default)]
    artifact: Option<ArtifactKind>,
    cases: Vec<Case>,
}

/// A text, the name of its reading, the reason of a failure, and the findings.
#[derive(Deserialize)]
struct Case(
    String,
    String,
    #[serde(default)] String,
    #[serde(default)] Vec<String>,
);

type Read = (&'static str, String, Vec<String>);

fn read(message: &str, artifact: Option<&ArtifactKind>) -> Read {
    let none = |name| (name, String::new(), Vec::new());
    match Ruling::read(message, artifact) {
        Ruling::Verdict { verdict, findings } => {
            let (name, reason) = match verdict {
                Verdict::Pass => ("pass", String::new()),
                Verdict::Fail { reason } => ("fail", reason.to_string()),
            };
            let open = findings.as_slice().iter();
            (name, reason, open.map(|one| one.as_str().into()).collect())
        }
        Ruling::None(why) => none(match why {
            NoVerdict::Blank => "blank",
            NoVerdict::NotFirst { .. } => "not_first",
            NoVerdict::Contradicted { .. } => "contradicted",
            NoVerdict::NoArtifact => "no_artifact",
            NoVerdict::Malformed { .. } => "malformed",
        }),
    }
}

#[test]
fn a_message_is_read_as_the_table_says() {
    let groups: Vec<Group> = serde_json::from_str(CORPUS).unwrap();
    let mut seen = 0;
    for group in &groups {
        for Case(text, reading, reason, findings) in &group.cases {
            let (found, why, open) = read(text, group.artifact.as_ref());
            let found = (found, why.as_str(), open.as_slice());
            let wanted = (reading.as_str(), reason.as_str(), findings.as_slice());
            assert_eq!(found, wanted, "{}: {text:?}", group.name);
            seen += 1;
        }
    }
    assert!(seen >= 350, "{seen}");
}

#[test]
fn why_an_object_is_no_verdict_says_what_to_write() {
    let why = |text| match Ruling::read(text, None) {
        Ruling::None(why) => why.to_string(),
        found @ Ruling::Verdict { .. } => panic!("{found:?}"),
    };
    assert_eq!(
        why(r#"{"verdict":"LGTM"}"#),
        "the object is no verdict (`verdict` is neither PASS nor FAIL at line 1 column 18): give `verdict`, `reason` and `findings` only, and nothing around the object"
    );
    assert!(why(r#"{"verdict":"PASS","sure":true}"#).contains("unknown field `sure`"));
    assert!(why(r#"{"verdict":"PASS"} and so on"#).contains("trailing characters"));
    assert!(why(r#"{"verdict":"PASS","findings":[""]}"#).contains("a finding is blank"));
    assert!(why(r#"{"verdict":"FAIL","findings":[{}]}"#).contains("`summary`"));
}

/// Quadratic work on any of these would not end within the test run.
#[test]
fn a_huge_message_is_read_in_one_pass() {
    let many = 4_000_000;
    for unit in [
        "-",
        "- x\n",
        "{",
        "{}\n",
        "{\"verdict\":\"FAIL\"",
        "[",
        "\"",
        "\\",
        " ",
        "\n",
        "```\n",
        "1. x\n",
        "~",
        "PASS\n",
        "9",
        "{\"verdict\":\"PASS\"}\n",
    ] {
        let rest = unit.repeat(many / unit.len());
        for head in [
            "",
            "PASS\n",
            "FAIL\n",
            "{\"verdict\":\"PASS\",\"reason\":\"",
            "{\"verdict\":",
        ] {
            let (found, _, open) = read(&format!("{head}{rest}"), None);
            assert!(open.len() <= 50);
            let words_pass = head.starts_with("PASS") || unit.starts_with("PASS");
            assert!(found != "pass" || words_pass, "{head:?} and many {unit:?}");
        }
    }
}

#[test]
fn a_huge_object_is_a_verdict_with_its_first_findings() {
    let findings: Vec<String> = (0..100_000).map(|n| format!("\"fault {n}\"")).collect();
    let text = format!(
        r#"{{"verdict":"FAIL","findings":[{}]}}"#,
        findings.join(",")
    );
    let (found, _, open) = read(&text, None);
    assert_eq!((found, open.len()), ("fail", 50));
    assert_eq!(open.first().unwrap(), "fault 0");
    let nested = format!(r#"{{"verdict":"PASS","findings":{}"#, "[".repeat(1_000_000));
    assert_eq!(read(&nested, None).0, "malformed");
}
