//! The page of reset times: words, and the moment that they are read as. They are those that hold the rule in its tests.

use serde::Deserialize;

use super::verdicts::shown;
use super::{Page, code, table};

const CORPUS: &str = include_str!("../../../crates/backstop-agents/tests/resets.json");

#[derive(Deserialize)]
struct Group {
    #[serde(rename = "group")]
    title: String,
    heard: String,
    zone: String,
    /// The words, the moment, and `assumed` where something was.
    #[serde(default)]
    cases: Vec<Vec<Option<String>>>,
    /// The name and the value of a field, and the same.
    #[serde(default)]
    fields: Vec<Vec<Option<String>>>,
}

/// Every wording of the corpus.
pub(super) fn page() -> Page {
    let groups: Vec<Group> = serde_json::from_str(CORPUS).unwrap_or_default();
    let sections: Vec<String> = groups.iter().map(section).collect();
    Page {
        path: "resets.md",
        body: format!(
            "# When a limit ends\n\nWhat an agent's own program writes of a limit, and when it is waited for. Assumed: a zone, a date or a meaning \
             was not said. A time of day that passed within the hour is now. Characters outside ASCII are shown by their numbers.\n\n{}",
            sections.join("\n")
        ),
    }
}

fn section(group: &Group) -> String {
    let texts = |case: &[Option<String>]| case.iter().flatten().map(|text| shown(text)).collect();
    let row = |case: &[Option<String>], said: usize| {
        let (words, wanted) = case.split_at_checked(said)?;
        let words: Vec<String> = texts(words);
        Some(vec![words.join(": "), moment(wanted)])
    };
    let cases = group.cases.iter().filter_map(|case| row(case, 1));
    let fields = group.fields.iter().filter_map(|field| row(field, 2));
    format!(
        "## {}\n\nHeard at {} on a host in {}.\n\n{}",
        group.title,
        code(&group.heard),
        code(&group.zone),
        table(&["words", "until"], cases.chain(fields))
    )
}

fn moment(wanted: &[Option<String>]) -> String {
    match wanted {
        [Some(at)] => code(at),
        [Some(at), _] => format!("{}, assumed", code(at)),
        [None, Some(_)] => "open".to_owned(),
        _ => "no time".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_least_two_hundred_wordings_are_shown_each_with_its_moment() {
        let body = page().body;
        assert!(body.lines().filter(|line| line.starts_with("| ")).count() > 200);
        for row in [
            "| `Claude AI usage limit reached\\|1760000400` | `2025-10-09T09:00:00Z` |\n",
            "| `resets tomorrow at 11pm` | `2026-12-01T04:00:00Z`, assumed |\n",
            "| `resets today` | open |\n",
            "| `limit of 5 requests per minute` | no time |\n",
            "| `retry-after`: `120` | `2026-11-30T12:02:00Z` |\n",
        ] {
            assert!(body.contains(row), "{row}");
        }
    }
}
