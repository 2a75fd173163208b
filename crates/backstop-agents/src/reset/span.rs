//! Spans of time as programs print them: `1m2.64s`, `80ms`, `3 days 4 hours`, `an hour`, `2:39:52`.

use backstop_vocab::Span;

use super::token::{Kind, Token};

/// The span that the tokens start with, in milliseconds. Units grow smaller from left to right.
pub(super) fn read(tokens: &[Token<'_>]) -> Option<u64> {
    let (mut rest, mut total, mut last) = (tokens, None, u64::MAX);
    while let Some((millis, unit, after)) = part(rest) {
        let goes_on = total.is_none() || rest.first().is_some_and(|next| !next.opens_line);
        if unit >= last || !goes_on {
            break;
        }
        total = Some(u64::checked_add(total.unwrap_or(0), millis)?);
        last = unit;
        rest = joined(after);
    }
    let past = rest.first().is_some_and(|token| token.is("ago"));
    total.filter(|_| !past)
}

/// `2:39:52`. Two numbers alone are a time of day.
pub(super) fn countdown(tokens: &[Token<'_>]) -> Option<u64> {
    let [hours, first, minutes, second, seconds, ..] = tokens else {
        return None;
    };
    let colons = [first, second].iter().all(|c| c.glued && c.is_mark(":"));
    let below_sixty = [minutes, seconds]
        .iter()
        .all(|part| part.text.len() == 2 && part.digits(2).is_some_and(|n| n < 60));
    if !colons || !below_sixty {
        return None;
    }
    let hours = Span::from_hours(hours.digits(3)?.into());
    let minutes = Span::from_mins(minutes.digits(2)?.into());
    let seconds = Span::from_secs(seconds.digits(2)?.into());
    Some(hours.plus(minutes).plus(seconds).as_millis())
}

/// One number and its unit: the product, the unit, and what follows.
fn part<'t, 'a>(tokens: &'t [Token<'a>]) -> Option<(u64, u64, &'t [Token<'a>])> {
    let [number, unit, rest @ ..] = tokens else {
        return None;
    };
    let unit = unit_of(unit.word()?)?;
    let one = number.is("a") || number.is("an");
    let millis = if one {
        unit
    } else {
        number.decimal()?.times(unit)?
    };
    Some((millis, unit, rest))
}

/// Past `,` and `and`, where another part follows.
fn joined<'t, 'a>(tokens: &'t [Token<'a>]) -> &'t [Token<'a>] {
    let joint = |token: &&Token<'_>| token.is_mark(",") || token.is("and");
    let joints = tokens.iter().take(2).take_while(joint).count();
    let rest = tokens.get(joints..).unwrap_or(tokens);
    let goes_on = rest.first().is_some_and(|token| token.kind == Kind::Number);
    if goes_on { rest } else { tokens }
}

/// One letter is a unit only in lower case: `5M` are tokens, not minutes.
fn unit_of(word: &str) -> Option<u64> {
    let lower = word.to_ascii_lowercase();
    let unit = match if word.len() == 1 { word } else { &lower } {
        "ms" | "msec" | "msecs" | "millis" | "millisecond" | "milliseconds" => Span::from_millis(1),
        "s" | "sec" | "secs" | "second" | "seconds" => Span::from_secs(1),
        "m" | "min" | "mins" | "minute" | "minutes" => Span::from_mins(1),
        "h" | "hr" | "hrs" | "hour" | "hours" => Span::from_hours(1),
        "d" | "day" | "days" => Span::from_hours(24),
        "w" | "wk" | "wks" | "week" | "weeks" => Span::from_hours(7 * 24),
        _ => return None,
    };
    Some(unit.as_millis())
}
