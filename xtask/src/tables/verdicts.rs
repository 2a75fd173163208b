//! The page of verdicts: final messages, and what each is read as. They are those that hold the rule in its tests.

use backstop_engine::Ruling;
use backstop_engine::gates::{ArtifactKind, MAX_REASKS, NoVerdict, Verdict};
use backstop_engine::review::Finding;
use serde::Deserialize;
use serde_json::Value;

use super::{Page, code, list, table};

const CORPUS: &str = include_str!("../../../crates/backstop-gates/tests/verdicts.json");

#[derive(Deserialize)]
struct Group {
    #[serde(rename = "group")]
    title: String,
    #[serde(default)]
    artifact: Option<ArtifactKind>,
    /// Of each, only the text is looked at.
    cases: Vec<Vec<Value>>,
}

/// Every text of the corpus.
pub(super) fn page() -> Page {
    let groups: Vec<Group> = serde_json::from_str(CORPUS).unwrap_or_default();
    let sections: Vec<String> = groups.iter().map(section).collect();
    Page {
        path: "verdicts.md",
        body: format!(
            "# What a final message is read as\n\nAn agent without a verdict is asked again, at most {MAX_REASKS} times. \
             Findings beside an approval make the review inconclusive. Characters outside ASCII are shown by their numbers.\n\n{}",
            sections.join("\n")
        ),
    }
}

fn section(group: &Group) -> String {
    let kind = group.artifact.as_ref();
    let texts = group.cases.iter().filter_map(|case| case.first()?.as_str());
    let rows = texts.map(|text| vec![shown(text), read(text, kind)]);
    format!(
        "## {}\n\n{}",
        group.title,
        table(&["text", "read as"], rows)
    )
}

/// On one line, with nothing in it that hides or looks like something else.
pub(super) fn shown(text: &str) -> String {
    if text.is_empty() {
        return "nothing at all".to_owned();
    }
    let plain = |c: char| c == ' ' || c.is_ascii_graphic();
    code(
        text.chars()
            .map(|c| {
                if plain(c) {
                    c.to_string()
                } else {
                    c.escape_default().to_string()
                }
            })
            .collect::<String>(),
    )
}

fn read(text: &str, kind: Option<&ArtifactKind>) -> String {
    let (verdict, findings) = match Ruling::read(text, kind) {
        Ruling::Verdict { verdict, findings } => (verdict, findings),
        Ruling::None(why) => return none(&why),
    };
    let mut said = match verdict {
        Verdict::Pass => "**pass**".to_owned(),
        Verdict::Fail { reason } if reason.is_blank() => "**fail**".to_owned(),
        Verdict::Fail { reason } => format!("**fail**: {}", code(reason)),
    };
    if !findings.is_empty() {
        let open = findings.as_slice().iter().map(Finding::as_str);
        said = format!("{said}; open: {}", list(open));
    }
    said
}

fn none(why: &NoVerdict) -> String {
    match why {
        NoVerdict::Blank => "none: blank".to_owned(),
        NoVerdict::NotFirst { .. } => "none: the first line is no verdict".to_owned(),
        NoVerdict::Contradicted { .. } => "none: contradicted".to_owned(),
        NoVerdict::NoArtifact => "none: no artifact".to_owned(),
        NoVerdict::Malformed { why } => format!("none: no object of the contract, {}", code(why)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_least_a_hundred_texts_are_shown_each_with_its_reading() {
        let body = page().body;
        assert!(body.lines().filter(|line| line.starts_with("| ")).count() > 100);
        for row in [
            "| `PASS` | **pass** |\n",
            "| `FAIL: no tests` | **fail**: `no tests` |\n",
            "| `PASS\\n\\nFAIL: none` | none: contradicted |\n",
            "| `> PASS` | none: the first line is no verdict |\n",
            "| `PASS\\|FAIL` | none: the first line is no verdict |\n",
            "| nothing at all | none: blank |\n",
            "| `{\"verdict\":\"PASS\",\"findings\":[\"and yet\"]}` | **pass**; open: `and yet` |\n",
            "| ```` ```json\\n{\"verdict\":\"PASS\"}\\n``` ```` | none: the first line is no verdict |\n",
        ] {
            assert!(body.contains(row), "{row}");
        }
    }
}
