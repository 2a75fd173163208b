//! What a role that judges said, read strictly from its final message alone: a file that it leaves can be anybody's.

use backstop_engine::Ruling;
use backstop_engine::gates::{ArtifactKind, Verdict, verdict};
use backstop_engine::review::{Finding, Findings};
use serde::Deserialize;

/// The answer of an agent that is given a schema.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Structured {
    verdict: String,
    #[serde(default)]
    reason: Option<String>,
    #[serde(default)]
    findings: Vec<Open>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Open {
    Words(String),
    Placed(Placed),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Placed {
    summary: String,
    #[serde(default)]
    path: Option<String>,
}

impl Open {
    fn finding(self) -> Option<Finding> {
        match self {
            Self::Words(summary)
            | Self::Placed(Placed {
                summary,
                path: None,
            }) => Finding::clip(&summary),
            Self::Placed(Placed {
                summary,
                path: Some(path),
            }) => Finding::clip(&format!("{path}: {summary}")),
        }
    }
}

/// Reads a final message: the JSON object of the contract, else text whose first line is the verdict.
///
/// With an artifact kind, an approval in text needs two more lines.
#[must_use]
pub fn read(message: &str, artifact: Option<&ArtifactKind>) -> Ruling {
    if let Some(ruling) = structured(message) {
        return ruling;
    }
    match verdict(message, artifact) {
        Ok(Verdict::Pass) => Ruling::Verdict {
            verdict: Verdict::Pass,
            findings: Findings::default(),
        },
        Ok(verdict) => Ruling::Verdict {
            verdict,
            findings: Findings::clip(message.lines().skip(1).filter_map(listed)),
        },
        Err(why) => Ruling::None(why),
    }
}

/// The whole message is one object, bare or in one block, and its verdict is one of the four words.
fn structured(message: &str) -> Option<Ruling> {
    let body = message.trim();
    let fenced = body
        .strip_prefix("```json")
        .and_then(|rest| rest.strip_suffix("```"));
    let Structured {
        verdict: word,
        reason,
        findings,
    } = serde_json::from_str(fenced.unwrap_or(body)).ok()?;
    let alone = word.trim();
    if alone.contains(['\n', ':']) {
        return None;
    }
    let verdict = match (verdict(alone, None).ok()?, reason) {
        (Verdict::Fail { .. }, Some(reason)) => Verdict::Fail {
            reason: backstop_engine::vocab::Text::clip(&reason),
        },
        (verdict, _) => verdict,
    };
    let findings = findings.into_iter().filter_map(Open::finding);
    Some(Ruling::Verdict {
        verdict,
        findings: Findings::clip(findings),
    })
}

/// The finding of a line that is an item of a list.
fn listed(line: &str) -> Option<Finding> {
    let line = line.trim_start();
    let item = line
        .strip_prefix("- ")
        .or_else(|| line.strip_prefix("* "))
        .or_else(|| numbered(line))?;
    Finding::clip(item)
}

fn numbered(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.len() == line.len() {
        return None;
    }
    rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(message: &str) -> (Option<bool>, Vec<String>) {
        match read(message, None) {
            Ruling::Verdict { verdict, findings } => {
                let findings = findings.as_slice().iter();
                let words = findings.map(|finding| finding.as_str().to_owned());
                (Some(verdict == Verdict::Pass), words.collect())
            }
            Ruling::None(_) => (None, Vec::new()),
        }
    }

    #[test]
    fn a_failure_in_text_names_what_is_open_in_a_list() {
        let (passes, open) = found("FAIL: two faults\n\n- one\n* two\n3. three\nand some words\n");
        assert_eq!(passes, Some(false));
        assert_eq!(open, ["one", "two", "three"]);
        assert_eq!(found("PASS\n\n- looked at all of it"), (Some(true), vec![]));
        assert_eq!(found("- PASS"), (None, vec![]));
    }

    #[test]
    fn an_object_of_the_contract_is_a_verdict() {
        let text =
            r#"{"verdict":"FAIL","findings":[{"summary":"off by one","path":"a.rs"},"more"]}"#;
        let open = vec!["a.rs: off by one".to_owned(), "more".to_owned()];
        assert_eq!(found(text), (Some(false), open.clone()));
        assert_eq!(found(&format!("```json\n{text}\n```")), (Some(false), open));
        let contradicting = r#"{"verdict":"pass","findings":["and yet"]}"#;
        assert_eq!(found(contradicting), (Some(true), vec!["and yet".into()]));
    }

    #[test]
    fn what_only_looks_like_an_object_of_the_contract_is_none() {
        for text in [
            r#"{"verdict":"LGTM"}"#,
            r#"{"verdict":"PASS","sure":true}"#,
            r#"{"verdict":"PASS\nFAIL"}"#,
            r#"here it is: {"verdict":"PASS"}"#,
            r#"{"verdict":"PASS"} {"verdict":"FAIL"}"#,
            r#"{"verdict":true}"#,
            "{}",
        ] {
            assert_eq!(found(text).0, None, "{text}");
        }
    }
}
