//! Finds the one JSON object in an answer: the whole text, or the body of the one fence that could be it.
//!
//! Deliberately without rescue: no search for braces in prose, no mending, no choice between two.

use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;

use serde_json::Value;

use crate::MOST_BYTES;
use crate::marks::Position;
use crate::refusal::{Code, Refusal};

/// A piece of a text, and where it starts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Body<'a> {
    pub(crate) text: &'a str,
    pub(crate) start: Position,
}

/// The JSON value of `text` and the piece it was read from.
pub(crate) fn json(text: &str) -> Result<(Value, Body<'_>), Refusal> {
    if text.len() > MOST_BYTES {
        return Err(too_large(text));
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let body = body(text)?;
    match serde_json::from_str(body.text) {
        Ok(value) => Ok((value, body)),
        Err(error) => Err(malformed(&error, body)),
    }
}

fn body(text: &str) -> Result<Body<'_>, Refusal> {
    let whole = Body {
        text,
        start: Position::START,
    };
    if text.trim_start().starts_with('{') {
        return Ok(whole);
    }
    let candidates: Vec<Fence<'_>> = fences(text).filter(Fence::is_candidate).collect();
    match candidates.as_slice() {
        [] if text.trim_start().starts_with('[') || is_json(text) => Ok(whole),
        [] => Err(prose(text)),
        [one] if one.closed => Ok(one.body),
        [one] => Err(unclosed(one)),
        [_, second, ..] => Err(ambiguous(second, candidates.len())),
    }
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

/// A fenced code block, as Markdown has it, but at any indentation.
struct Fence<'a> {
    tag: &'a str,
    body: Body<'a>,
    opened: Position,
    closed: bool,
}

impl Fence<'_> {
    fn is_candidate(&self) -> bool {
        self.tag.eq_ignore_ascii_case("json") || self.body.text.trim_start().starts_with('{')
    }
}

/// The character of a fence line, how many there are, and what follows them.
fn fence_line(line: &str) -> Option<(char, usize, &str)> {
    let line = line.trim();
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let rest = line.trim_start_matches(mark);
    let count = line.len().checked_sub(rest.len())?;
    (count >= 3).then_some((mark, count, rest.trim()))
}

fn fences(text: &str) -> impl Iterator<Item = Fence<'_>> {
    let mut lines = Lines {
        rest: text,
        passed: 0,
    };
    core::iter::from_fn(move || {
        loop {
            let opened = Position::line_after(lines.passed);
            let Some((mark, count, tag)) = fence_line(lines.next()?) else {
                continue;
            };
            // An inline code span is no fence.
            if !(mark == '`' && tag.contains('`')) {
                return Some(lines.fence(opened, (mark, count), tag));
            }
        }
    })
}

struct Lines<'a> {
    rest: &'a str,
    passed: usize,
}

impl<'a> Lines<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let line = self.rest.split_inclusive('\n').next()?;
        self.rest = self.rest.get(line.len()..)?;
        self.passed = self.passed.saturating_add(1);
        Some(line)
    }

    /// The rest of the fence whose first line was just taken.
    fn fence(&mut self, opened: Position, mark: (char, usize), tag: &'a str) -> Fence<'a> {
        let start = Position::line_after(self.passed);
        let from = self.rest;
        let mut length: usize = 0;
        let mut closed = false;
        while let Some(line) = self.next() {
            closed = fence_line(line)
                .is_some_and(|(c, count, rest)| c == mark.0 && count >= mark.1 && rest.is_empty());
            if closed {
                break;
            }
            length = length.saturating_add(line.len());
        }
        let text = from.get(..length).unwrap_or(from);
        Fence {
            tag: tag.split_whitespace().next().unwrap_or_default(),
            body: Body { text, start },
            opened,
            closed,
        }
    }
}

fn too_large(text: &str) -> Refusal {
    let within = text.char_indices().take_while(|(i, _)| *i < MOST_BYTES);
    let end = within.fold(Position::START, |at, (_, c)| at.past(c));
    let message = format!(
        "the text has {} bytes: use at most {MOST_BYTES}",
        text.len()
    );
    Refusal::of_text(Code::TooLarge, end, message)
}

fn prose(text: &str) -> Refusal {
    let said = if backstop_vocab::is_blank(text) {
        "the text is blank"
    } else {
        "there is no JSON object on its own and no fence that holds one"
    };
    let message = format!(
        "{said}: answer with `{{\"phases\":[…]}}` alone, or with one fence tagged json that holds it"
    );
    Refusal::of_text(Code::NotJson, Position::START, message)
}

fn unclosed(fence: &Fence<'_>) -> Refusal {
    let message =
        "the fence is never closed, so the answer was cut off: send the whole plan, in fewer words";
    Refusal::of_text(Code::NotJson, fence.opened, message.to_string())
}

fn ambiguous(second: &Fence<'_>, count: usize) -> Refusal {
    let message = format!(
        "{count} fences could be the plan, and this is the second: keep one, and tag no other as json or start it with `{{`"
    );
    Refusal::of_text(Code::Ambiguous, second.opened, message)
}

fn malformed(error: &serde_json::Error, body: Body<'_>) -> Refusal {
    let told = error.to_string();
    let cause = told.split(" at line ").next().unwrap_or_default();
    let advice = if error.is_eof() {
        "the answer was cut off: send the whole plan, in fewer words"
    } else {
        "send one JSON object with nothing after it, in double quotes, without comments and trailing commas"
    };
    Refusal::of_text(
        Code::NotJson,
        position(error, body),
        format!("{cause}: {advice}"),
    )
}

/// `serde_json` counts columns in bytes of the body's line.
fn position(error: &serde_json::Error, body: Body<'_>) -> Position {
    let before = error.line().saturating_sub(1);
    let line = body.text.split('\n').nth(before).unwrap_or_default();
    let bytes = error.column().saturating_sub(1);
    let passed = line.char_indices().take_while(|(i, _)| *i < bytes);
    let on_line = passed.fold(Position::START, |at, (_, c)| at.past(c));
    let lines = usize::try_from(body.start.line.saturating_sub(1)).unwrap_or(usize::MAX);
    Position {
        column: on_line.column,
        ..Position::line_after(lines.saturating_add(before))
    }
}
