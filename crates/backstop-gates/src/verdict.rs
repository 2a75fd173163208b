//! The strict verdict: a text passes only by its first line, and never by accident.
//! No guessing here: no substrings, no sentiment, no other language, no table of synonyms.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use backstop_vocab::{Text, is_blank};
use serde::{Deserialize, Serialize};

use crate::artifact::ArtifactKind;
use crate::state::Reason;

/// How often the same session is asked again for its verdict; each is an attempt.
pub const MAX_REASKS: u32 = 2;

/// Non-blank lines that an approval with an artifact has besides its verdict.
const ARTIFACT_LINES: usize = 2;

/// What a reviewer said.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Verdict {
    /// `PASS` or `APPROVE`.
    Pass,
    /// `FAIL` or `BLOCK`.
    Fail {
        /// What followed on the line; may be blank.
        #[serde(default)]
        reason: Reason,
    },
}

/// Why a text has no verdict.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum NoVerdict {
    /// Nothing to read.
    Blank,
    /// The first line is something else.
    NotFirst {
        /// That line, cut.
        line: Text<120>,
    },
    /// A later line says the opposite.
    Contradicted {
        /// That line, cut.
        line: Text<120>,
    },
    /// An approval with an artifact that is not there.
    NoArtifact,
    /// A JSON object that is not the one of the contract.
    Malformed {
        /// What is wrong with it, cut.
        why: Text<120>,
    },
}

impl fmt::Display for NoVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blank => f.write_str("the text is blank: start it with PASS or FAIL"),
            Self::NotFirst { line } => write!(
                f,
                "the first line is `{line}`: make it exactly PASS, APPROVE, or FAIL or BLOCK with a reason"
            ),
            Self::Contradicted { line } => {
                write!(
                    f,
                    "the later line `{line}` contradicts the first: give one verdict"
                )
            }
            Self::NoArtifact => write!(
                f,
                "the approval is bare: give at least {ARTIFACT_LINES} lines of the artifact below it"
            ),
            Self::Malformed { why } => write!(
                f,
                "the object is no verdict ({why}): give `verdict`, `reason` and `findings` only, and nothing around the object"
            ),
        }
    }
}

impl core::error::Error for NoVerdict {}

/// The verdict of a reviewer's final message, in time linear in its length.
///
/// Its first non-blank line must be exactly `PASS`, `APPROVE`, `FAIL` or `BLOCK` in any ASCII case, with an optional final
/// full stop, one layer of Markdown emphasis and a leading `Verdict:`; `FAIL` and `BLOCK` may go on with `:` or ` - ` and
/// a reason. With an artifact kind, an approval needs two more non-blank lines.
///
/// # Errors
/// Why it has none. That is neither a pass nor a failure.
pub fn verdict(text: &str, artifact_kind: Option<&ArtifactKind>) -> Result<Verdict, NoVerdict> {
    let mut lines = text.split('\n').filter(|line| !is_blank(line));
    let first = lines.next().ok_or(NoVerdict::Blank)?;
    let not_first = || NoVerdict::NotFirst {
        line: Text::clip(first.trim()),
    };
    if is_indented_code(first) {
        return Err(not_first());
    }
    let found = read_line(first).ok_or_else(not_first)?;
    let passes = found == Verdict::Pass;
    let mut fence = Fence::default();
    // A block that is never closed is not one: what stands in it counts after all.
    let mut in_block = None;
    let mut more = 0_usize;
    for line in lines {
        more = more.saturating_add(1);
        let swallowed = fence.swallows(line);
        if fence.open.is_none() {
            in_block = None;
        }
        match opposite(line, passes) {
            Some(line) if !swallowed => return Err(NoVerdict::Contradicted { line }),
            found => in_block = in_block.or(found),
        }
    }
    if let Some(line) = in_block {
        return Err(NoVerdict::Contradicted { line });
    }
    if passes && artifact_kind.is_some() && more < ARTIFACT_LINES {
        return Err(NoVerdict::NoArtifact);
    }
    Ok(found)
}

/// The part of a later line that says the opposite. Characters that nobody sees hide nothing here.
fn opposite(line: &str, passes: bool) -> Option<Text<120>> {
    let unseen = |c: char| is_blank(c.encode_utf8(&mut [0; 4]));
    let parts = line.split(is_break).map(|part| part.trim_matches(unseen));
    let contradicts =
        |part: &&str| read_line(part).is_some_and(|other| (other == Verdict::Pass) != passes);
    parts.into_iter().find(contradicts).map(Text::clip)
}

/// The structured verdict of an agent that answers by a JSON schema, else that of its text.
///
/// # Errors
/// As for [`verdict`].
pub fn prefer_structured(
    structured: Option<Verdict>,
    text: &str,
    artifact_kind: Option<&ArtifactKind>,
) -> Result<Verdict, NoVerdict> {
    structured.map_or_else(|| verdict(text, artifact_kind), Ok)
}

/// The lines of a text that are in no fenced code block, in time linear in its length. A block that is never closed is not
/// one: its lines come last.
#[must_use]
pub fn outside_code(text: &str) -> Vec<&str> {
    let (mut outside, mut inside) = (Vec::new(), Vec::new());
    let mut fence = Fence::default();
    for line in text.split('\n') {
        let swallowed = fence.swallows(line);
        if fence.open.is_none() {
            inside.clear();
        }
        if swallowed {
            inside.push(line);
        } else {
            outside.push(line);
        }
    }
    if fence.open.is_some() {
        outside.append(&mut inside);
    }
    outside
}

/// What some readers show as a new line although `\n` is what separates lines here.
fn is_break(c: char) -> bool {
    matches!(
        c,
        '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

/// Four columns of indentation make a code block in Markdown.
fn is_indented_code(line: &str) -> bool {
    let indent = line.chars().take_while(|c| *c == ' ').count();
    indent >= 4 || line.chars().nth(indent) == Some('\t')
}

/// Whether lines are within a fenced code block.
#[derive(Default)]
struct Fence {
    open: Option<(char, usize)>,
}

impl Fence {
    /// Takes the next line; true when it is part of a code block.
    fn swallows(&mut self, line: &str) -> bool {
        let body = line.trim();
        let mark = body.chars().next().filter(|c| matches!(c, '`' | '~'));
        let Some(mark) = mark else {
            return self.open.is_some();
        };
        let run = body.chars().take_while(|c| *c == mark).count();
        let after = body.trim_start_matches(mark);
        match self.open {
            // A line of backticks that has another one later is code in a sentence and opens nothing.
            None if run >= 3
                && !is_indented_code(line)
                && (mark == '~' || !after.contains('`')) =>
            {
                self.open = Some((mark, run));
                true
            }
            None => false,
            Some((open, length)) => {
                if mark == open && run >= length && after.is_empty() {
                    self.open = None;
                }
                true
            }
        }
    }
}

/// The verdict that one line is, with one layer of emphasis around all of it, its label or its word.
fn read_line(line: &str) -> Option<Verdict> {
    let line = line.trim();
    if let Some(plain) = without_emphasis(line) {
        return read_word(without_label(&plain));
    }
    let word = without_label(line);
    match without_emphasis(word) {
        Some(plain) => read_word(&plain),
        None => read_word(word),
    }
}

fn without_label(line: &str) -> &str {
    const LABEL: &str = "verdict:";
    match line.split_at_checked(LABEL.len()) {
        Some((label, rest)) if label.eq_ignore_ascii_case(LABEL) => rest.trim_start(),
        Some(_) | None => line,
    }
}

/// The line without the emphasis that it starts with; none when it starts with none.
fn without_emphasis(line: &str) -> Option<String> {
    let mark = ["**", "__", "*", "_"]
        .into_iter()
        .find(|mark| line.starts_with(mark))?;
    let body = line.strip_prefix(mark)?;
    let whole = body.strip_suffix(mark).map(|inner| (inner, ""));
    let first = body.split_once(mark);
    // The first closing mark counts, unless it is in the middle of a name such as `some_name` or stands after a space,
    // where Markdown closes nothing.
    let apart = |(inner, rest): &(&str, &str)| {
        !inner.ends_with(char::is_whitespace)
            && (rest.is_empty() || rest.starts_with(['.', ':', ' ']))
    };
    let (inner, rest) = first.filter(apart).or(whole)?;
    Some([inner, rest].concat())
}

fn read_word(line: &str) -> Option<Verdict> {
    let after = |word: &str| {
        let (found, rest) = line.split_at_checked(word.len())?;
        found.eq_ignore_ascii_case(word).then_some(rest)
    };
    let ends = |rest: &str| rest.is_empty() || rest == ".";
    if ["PASS", "APPROVE"].into_iter().filter_map(after).any(ends) {
        return Some(Verdict::Pass);
    }
    let rest = ["FAIL", "BLOCK"].into_iter().find_map(after)?;
    let reason = match rest.strip_prefix(':').or_else(|| rest.strip_prefix(" - ")) {
        Some(reason) => Reason::clip(reason.trim()),
        None if ends(rest) => Reason::default(),
        None => return None,
    };
    Some(Verdict::Fail { reason })
}
