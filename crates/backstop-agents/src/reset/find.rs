//! Where in a notice a reset time stands: after `resets`, `try again at`, `retry in`, `until`, in a field of that
//! name, or after the bar of `limit reached|1760000400`. A number anywhere else is no time.

use super::clock::Clock;
use super::name::{Form, Name};
use super::token::{Kind, Token, capped, tokens};
use super::{Reset, Window, span};

/// What stands for a time, the best first. Between equals the first in the text wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// A moment in full.
    Moment,
    /// A span or a clock time.
    Words,
    /// A header that tells of one window among others.
    Header,
    /// The name of a quota.
    Day,
    Minute,
}

/// How far what belongs together may lie apart, in tokens.
const APART: usize = 8;

pub(super) fn find(words: &str) -> Option<Reset> {
    let text = capped(words);
    let tokens = tokens(text);
    let mut best: Option<(Rank, Reset)> = None;
    for at in 0..tokens.len() {
        let Some((rank, reset)) = at_anchor(&tokens, at, text) else {
            continue;
        };
        if best.as_ref().is_none_or(|(so_far, _)| rank < *so_far) {
            best = Some((rank, reset));
        }
        if rank == Rank::Moment {
            break;
        }
    }
    best.map(|(_, reset)| reset)
}

/// What a value says, past the small words before it.
pub(super) fn said(tokens: &[Token<'_>], text: &str, form: Form) -> Option<Reset> {
    let (tokens, form) = past_small_words(tokens, form);
    let spans = form != Form::Moment;
    let moments = form != Form::Span;
    let span = || {
        let millis =
            span::read(tokens).or_else(|| span::countdown(tokens).filter(|_| form == Form::Span));
        millis.map(|millis| Reset::After { millis })
    };
    let clock = || {
        let clock = Clock::read(tokens, text)?;
        Some(clock.moment().map_or(Reset::Clock(clock), Reset::At))
    };
    span()
        .filter(|_| spans)
        .or_else(|| clock().filter(|_| moments))
        .or_else(|| number(tokens, form))
}

/// A number alone.
fn number(tokens: &[Token<'_>], form: Form) -> Option<Reset> {
    let decimal = tokens.first()?.decimal()?;
    let goes_on = tokens
        .get(1)
        .is_some_and(|next| next.glued && next.kind != Kind::Mark);
    if goes_on {
        return None;
    }
    match form {
        Form::Prose | Form::Moment => decimal.epoch(),
        Form::Counts(unit) => decimal.after(unit),
        Form::Span => None,
    }
}

fn at_anchor(tokens: &[Token<'_>], at: usize, text: &str) -> Option<(Rank, Reset)> {
    let token = tokens.get(at)?;
    let rest = tokens.get(at.checked_add(1)?..)?;
    if token.is_mark("|") {
        let tail = token.glued && rest.first().is_some_and(|next| next.glued);
        return tail.then(|| Some((Rank::Moment, number(rest, Form::Prose)?)))?;
    }
    let word = token.word()?;
    if let Some(found) = quota(word) {
        return Some(found);
    }
    let name = Name::of(word);
    if name.is_compound() {
        let value = rest.get(colon(rest)?..)?;
        let found = said(value, text, name.form()?)?;
        let rank = if name.is_one_of_many() {
            Rank::Header
        } else {
            rank(&found)
        };
        return Some((rank, found));
    }
    let before = at.checked_sub(1).and_then(|at| tokens.get(at));
    let found = said(rest, text, prose(token, before, rest.first())?)?;
    Some((rank(&found), found))
}

fn rank(reset: &Reset) -> Rank {
    match reset {
        Reset::At(_) => Rank::Moment,
        Reset::After { .. } | Reset::Clock(_) => Rank::Words,
        Reset::Quota(Window::Day) => Rank::Day,
        Reset::Quota(Window::Minute) => Rank::Minute,
    }
}

/// A word after which a limit's end is told, and in which form.
fn prose(token: &Token<'_>, before: Option<&Token<'_>>, after: Option<&Token<'_>>) -> Option<Form> {
    let follows =
        |words: &[&str]| before.is_some_and(|before| words.iter().any(|word| before.is(word)));
    let form = match token.text.to_ascii_lowercase().as_str() {
        "reset" | "resets" | "refresh" | "refreshes" | "renew" | "renews" | "resume"
        | "resumes" | "retry" => Form::Prose,
        "again" if follows(&["try", "available", "retry", "back"]) => Form::Prose,
        "back" if follows(&["come", "check"]) => Form::Prose,
        "delay" if follows(&["explicit"]) => Form::Span,
        // The time that was waited already is `wait time`.
        "wait" if !after.is_some_and(|after| after.is("time")) => Form::Span,
        "until" | "till" => Form::Moment,
        _ => return None,
    };
    Some(form)
}

/// Google's names of quotas, such as `GenerateRequestsPerDayPerProjectPerModel-FreeTier`.
fn quota(word: &str) -> Option<(Rank, Reset)> {
    if word.contains("PerDay") {
        return Some((Rank::Day, Reset::Quota(Window::Day)));
    }
    let minute = word.contains("PerMinute");
    minute.then_some((Rank::Minute, Reset::Quota(Window::Minute)))
}

/// Past the colon or equals sign that makes the word before it the name of a field.
fn colon(tokens: &[Token<'_>]) -> Option<usize> {
    let quote = |token: &&Token<'_>| token.is_mark("\"'\\`");
    let quotes = tokens.iter().take(APART).take_while(quote).count();
    let colon = tokens.get(quotes)?.is_mark(":=");
    colon.then_some(quotes.checked_add(1)?)
}

/// What makes sense after this word: `in 5h` is a span, `at 15h` is none.
fn narrowed(word: &Token<'_>) -> Form {
    let is = |words: &[&str]| words.iter().any(|small| word.is(small));
    if is(&["in", "for", "within"]) {
        Form::Span
    } else if is(&["at", "on"]) {
        Form::Moment
    } else {
        Form::Prose
    }
}

/// Past what may stand between a word and its time.
fn past_small_words<'t, 'a>(tokens: &'t [Token<'a>], form: Form) -> (&'t [Token<'a>], Form) {
    const SMALL: [&str; 25] = [
        "about",
        "after",
        "again",
        "approximately",
        "around",
        "at",
        "be",
        "by",
        "daily",
        "date",
        "delay",
        "for",
        "from",
        "in",
        "is",
        "less",
        "next",
        "of",
        "on",
        "than",
        "the",
        "time",
        "until",
        "will",
        "within",
    ];
    let (mut rest, mut form) = (tokens, form);
    for _ in 0..APART {
        let [first, more @ ..] = rest else {
            break;
        };
        let dash = first.is_mark("-–—") && more.first().is_some_and(|next| !next.glued);
        let mark = first.is_mark(":=\"'\\`([~≈·,*@");
        let word = SMALL.iter().any(|word| first.is(word));
        if !(dash || mark || word) {
            break;
        }
        if form == Form::Prose {
            form = narrowed(first);
        }
        rest = more;
    }
    (rest, form)
}
