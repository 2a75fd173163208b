//! The page of verdicts: texts, and what each is read as. The texts are those that hold the rule in its tests.

use backstop_engine::gates::{MAX_REASKS, NoVerdict, Verdict, verdict};
use serde::Deserialize;

use super::{Page, code, table};

const CORPUS: &str = include_str!("../../../crates/backstop-gates/tests/verdicts.json");

#[derive(Deserialize)]
struct Group {
    group: String,
    cases: Vec<Vec<String>>,
}

/// Every text of the corpus.
pub(super) fn page() -> Page {
    let groups: Vec<Group> = serde_json::from_str(CORPUS).unwrap_or_default();
    let sections: Vec<String> = groups.iter().map(section).collect();
    Page {
        path: "verdicts.md",
        body: format!(
            "# What a text is read as\n\nAn agent without a verdict is asked again, at most {MAX_REASKS} times. Characters \
             outside ASCII are shown by their numbers.\n\n{}",
            sections.join("\n")
        ),
    }
}

fn section(group: &Group) -> String {
    let texts = group.cases.iter().filter_map(|case| case.first());
    let rows = texts.map(|text| vec![shown(text), read(text)]);
    format!(
        "## {}\n\n{}",
        group.group,
        table(&["text", "read as"], rows)
    )
}

/// On one line, with nothing in it that hides or looks like something else.
fn shown(text: &str) -> String {
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

fn read(text: &str) -> String {
    match verdict(text, None) {
        Ok(Verdict::Pass) => "**pass**".to_owned(),
        Ok(Verdict::Fail { reason }) if reason.is_blank() => "**fail**".to_owned(),
        Ok(Verdict::Fail { reason }) => format!("**fail**: {}", code(reason)),
        Err(NoVerdict::Blank) => "none: blank".to_owned(),
        Err(NoVerdict::NotFirst { .. }) => "none: the first line is no verdict".to_owned(),
        Err(NoVerdict::Contradicted { .. }) => "none: contradicted".to_owned(),
        Err(NoVerdict::NoArtifact) => "none: no artifact".to_owned(),
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
        ] {
            assert!(body.contains(row), "{row}");
        }
    }
}
