//! Words, numbers and marks of a notice. Terminal colours and the escapes of quoted JSON are not among them.

use backstop_vocab::{Span, Timestamp};

use super::Reset;

/// How much of a notice is looked at, in bytes.
const CAP: usize = 16 * 1024;

/// What a [`Token`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Letters; `_` anywhere, `-` between letters.
    Word,
    /// Digits, with commas between thousands and one decimal point.
    Number,
    /// Digits and more than one point: a version, an address.
    Dotted,
    /// Any other character.
    Mark,
}

/// A piece of the text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token<'a> {
    pub(super) kind: Kind,
    pub(super) text: &'a str,
    /// Where it starts in the text, in bytes.
    pub(super) at: usize,
    /// Nothing stands between it and the token before.
    pub(super) glued: bool,
    /// A line ends before it.
    pub(super) opens_line: bool,
}

impl<'a> Token<'a> {
    /// Is it this word, whatever its case?
    pub(super) fn is(&self, word: &str) -> bool {
        self.kind == Kind::Word && self.text.eq_ignore_ascii_case(word)
    }

    pub(super) fn is_mark(&self, marks: &str) -> bool {
        self.kind == Kind::Mark && marks.contains(self.text)
    }

    pub(super) fn word(&self) -> Option<&'a str> {
        (self.kind == Kind::Word).then_some(self.text)
    }

    pub(super) fn decimal(&self) -> Option<Decimal<'a>> {
        (self.kind == Kind::Number).then(|| Decimal::of(self.text))?
    }

    /// A whole number of at most `digits` digits and nothing else.
    pub(super) fn digits(&self, digits: usize) -> Option<u16> {
        let plain = self.kind == Kind::Number && self.text.len() <= digits;
        plain.then(|| self.text.parse().ok())?
    }

    pub(super) fn end(&self) -> usize {
        self.at.saturating_add(self.text.len())
    }
}

/// A number that is not negative.
#[derive(Debug, Clone, Copy)]
pub(super) struct Decimal<'a> {
    whole: u64,
    /// The digits after the point.
    fraction: &'a str,
}

impl Decimal<'_> {
    pub(super) const fn whole(whole: u64) -> Self {
        Self {
            whole,
            fraction: "",
        }
    }

    fn of(text: &str) -> Option<Decimal<'_>> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let whole: String = whole.chars().filter(char::is_ascii_digit).collect();
        let whole = whole.parse().ok()?;
        Some(Decimal { whole, fraction })
    }

    /// This many times `unit`, rounded up.
    pub(super) fn times(self, unit: u64) -> Option<u64> {
        let digits = self.fraction.get(..9).unwrap_or(self.fraction);
        let tenths = 10_u64.checked_pow(u32::try_from(digits.len()).ok()?)?;
        let part: u64 = if digits.is_empty() {
            0
        } else {
            digits.parse().ok()?
        };
        let part = u128::from(part).checked_mul(u128::from(unit))?;
        let part = part.div_ceil(u128::from(tenths));
        let whole = self.whole.checked_mul(unit)?;
        whole.checked_add(u64::try_from(part).ok()?)
    }

    /// Seconds run to the year 5138, milliseconds from 2001: no number can be both.
    pub(super) fn epoch(self) -> Option<Reset> {
        let millis = match self.whole {
            1_000_000_000..100_000_000_000 => self.times(1_000)?,
            1_000_000_000_000..100_000_000_000_000 => self.times(1)?,
            _ => return None,
        };
        Some(Reset::At(Timestamp::from_millis(millis)))
    }

    /// So many of `unit` from now, or an epoch where the number can only be one.
    pub(super) fn after(self, unit: Span) -> Option<Reset> {
        let span = || {
            let millis = self.times(unit.as_millis())?;
            Some(Reset::After { millis })
        };
        self.epoch().or_else(span)
    }
}

/// As much of the text as is looked at.
pub(super) fn capped(text: &str) -> &str {
    let end = text.floor_char_boundary(CAP);
    text.get(..end).unwrap_or(text)
}

/// All tokens of the text.
pub(super) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let (mut at, mut glued, mut opens_line) = (0, false, false);
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let (kind, len) = next(rest);
        let end = at.saturating_add(len.max(1));
        if let Some(kind) = kind {
            let text = text.get(at..end).unwrap_or("");
            found.push(Token {
                kind,
                text,
                at,
                glued,
                opens_line,
            });
        }
        glued = kind.is_some();
        opens_line = !glued && (opens_line || ends_line(rest));
        at = end;
    }
    found
}

/// What the text starts with, and how many bytes of it; no kind for what lies between tokens.
fn next(rest: &str) -> (Option<Kind>, usize) {
    let Some(first) = rest.chars().next() else {
        return (None, 0);
    };
    if first.is_ascii_digit() {
        return number(rest);
    }
    if letter(first) {
        return (Some(Kind::Word), word(rest));
    }
    match escape(rest) {
        0 if first.is_whitespace() || first.is_control() => (None, first.len_utf8()),
        0 => (Some(Kind::Mark), first.len_utf8()),
        len => (None, len),
    }
}

fn ends_line(rest: &str) -> bool {
    ["\n", "\r", "\\n", "\\r"]
        .iter()
        .any(|end| rest.starts_with(end))
}

fn letter(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

fn word(rest: &str) -> usize {
    let after = |i: usize| rest.get(i.saturating_add(1)..)?.chars().next();
    let ends = |(i, c): &(usize, char)| {
        let joins = *c == '-' && after(*i).is_some_and(letter);
        !letter(*c) && !joins
    };
    let end = rest.char_indices().find(ends);
    end.map_or(rest.len(), |(i, _)| i)
}

fn run(text: &str) -> usize {
    let end = text.find(|c: char| !c.is_ascii_digit());
    end.unwrap_or(text.len())
}

/// `3600`, `3,600`, `2.64`; `127.0.0.1` is dotted.
fn number(rest: &str) -> (Option<Kind>, usize) {
    let (mut end, mut points) = (run(rest), 0_u32);
    while let Some(more) = rest.get(end..) {
        let digits = run(more.get(1..).unwrap_or(""));
        match more.chars().next() {
            Some(',') if digits == 3 && points == 0 => {}
            Some('.') if digits > 0 => points = points.saturating_add(1),
            _ => break,
        }
        end = end.saturating_add(digits).saturating_add(1);
    }
    let kind = if points > 1 {
        Kind::Dotted
    } else {
        Kind::Number
    };
    (Some(kind), end)
}

/// The length of a terminal's colour or of an escaped line end or character of quoted JSON.
fn escape(rest: &str) -> usize {
    if let Some(colour) = rest.strip_prefix("\u{1b}[") {
        let parameter = |c: char| c.is_ascii_digit() || c == ';' || c == '?';
        let last = colour.char_indices().find(|(_, c)| !parameter(*c));
        let end = last.map_or(colour.len(), |(i, c)| i.saturating_add(c.len_utf8()));
        return end.saturating_add(2);
    }
    let Some(quoted) = rest.strip_prefix('\\') else {
        return 0;
    };
    match quoted.chars().next() {
        Some('n' | 'r' | 't') => 2,
        Some('u') if quoted.get(1..5).is_some_and(hexadecimal) => 6,
        _ => 0,
    }
}

fn hexadecimal(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_hexdigit())
}
