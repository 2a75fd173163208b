//! What a role that judges said, read strictly from its final message alone: one JSON object, or text whose first line is
//! the verdict. No file is looked at, since anybody can leave one, and nothing is mended or dug out of prose.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use backstop_gates::{ArtifactKind, NoVerdict, Verdict, outside_code, verdict};
use backstop_review::{Finding, Findings};
use backstop_vocab::Text;
use serde::Deserialize;

use crate::Ruling;

impl Ruling {
    /// The JSON schema of an object that is read as a verdict. What is read is wider only in case, in the words APPROVE
    /// and BLOCK, and in what may be left out.
    pub const SCHEMA: &str = include_str!("verdict.schema.json");

    /// Reads a final message. One that starts with `{` is the object of the contract or no verdict: a structured verdict
    /// outranks text, and a broken one is not read as text. Any other is read by its first line; a failure's findings are
    /// the items of its lists.
    ///
    /// With an artifact kind, an approval needs two lines that are not blank besides its verdict; in an object they are
    /// its `reason`.
    #[must_use]
    pub fn read(message: &str, artifact: Option<&ArtifactKind>) -> Self {
        let body = message.trim();
        let found = if body.starts_with('{') {
            object(body, artifact)
        } else {
            text(message, artifact)
        };
        match found {
            Ok((verdict, findings)) => Self::Verdict { verdict, findings },
            Err(why) => Self::None(why),
        }
    }
}

type Found = Result<(Verdict, Findings), NoVerdict>;

fn text(message: &str, artifact: Option<&ArtifactKind>) -> Found {
    let found = verdict(message, None)?;
    let lines = outside_code(message);
    let passes = found == Verdict::Pass;
    if let Some(line) = lines.iter().find(|line| says_opposite(line, passes)) {
        let line = Text::clip(line.trim());
        return Err(NoVerdict::Contradicted { line });
    }
    // After the contradictions: more lines do not mend those.
    let found = verdict(message, artifact)?;
    let findings = if passes {
        Findings::default()
    } else {
        Findings::clip(lines.into_iter().filter_map(listed))
    };
    Ok((found, findings))
}

/// Whether the line is an object of the contract that says the opposite.
fn says_opposite(line: &str, passes: bool) -> bool {
    let line = line.trim();
    let answer = || serde_json::from_str::<Answer>(line).ok();
    line.starts_with('{') && answer().is_some_and(|found| (found.verdict == Word::Passes) != passes)
}

/// The answer of an agent that is given a schema.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    verdict: Word,
    #[serde(default)]
    reason: Option<String>,
    #[serde(default)]
    findings: Vec<Open>,
}

/// One of the four words and nothing else, in any ASCII case.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
enum Word {
    Passes,
    Fails,
}

impl TryFrom<String> for Word {
    type Error = &'static str;
    fn try_from(word: String) -> Result<Self, Self::Error> {
        let is = |known: &&str| word.eq_ignore_ascii_case(known);
        if ["PASS", "APPROVE"].iter().any(is) {
            return Ok(Self::Passes);
        }
        if ["FAIL", "BLOCK"].iter().any(is) {
            return Ok(Self::Fails);
        }
        Err("`verdict` is neither PASS nor FAIL")
    }
}

/// What is open, with the path that it is about or without.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "a finding is neither a text nor an object of `summary` and `path`"
)]
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
    /// None when a reader would see nothing.
    fn finding(&self) -> Option<Finding> {
        let (summary, path) = match self {
            Self::Words(summary) => (summary, None),
            Self::Placed(Placed { summary, path }) => (summary, path.as_ref()),
        };
        let whole = Finding::clip(summary)?;
        path.map_or(Some(whole), |path| {
            Finding::clip(&format!("{path}: {summary}"))
        })
    }
}

fn object(body: &str, artifact: Option<&ArtifactKind>) -> Found {
    let malformed = |why: &str| NoVerdict::Malformed {
        why: Text::clip(why),
    };
    let Answer {
        verdict: word,
        reason,
        findings,
    } = serde_json::from_str(body).map_err(|error| malformed(&format!("{error}")))?;
    let findings: Option<Vec<Finding>> = findings.iter().map(Open::finding).collect();
    // A blank finding is not dropped: an approval with one would come out clean.
    let findings = findings.ok_or_else(|| malformed("a finding is blank"))?;
    let reason = reason.unwrap_or_default();
    let found = match word {
        Word::Passes => verdict(&format!("PASS\n{reason}"), artifact)?,
        Word::Fails => Verdict::Fail {
            reason: Text::clip(reason.trim()),
        },
    };
    Ok((found, Findings::clip(findings)))
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
