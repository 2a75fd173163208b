//! Times of day and dates as people and programs write them, each part in any place: `3pm (America/New_York)`,
//! `Oct 9, 8am`, `tomorrow at noon`, `2026-11-30T01:14:29Z`, `Mon, 30 Nov 2026 01:31:49 GMT`.

use backstop_vocab::Timestamp;
use jiff::civil::{Date, Time, Weekday};

use super::token::{Kind, Token};
use super::zone::{self, Said, Zone};

/// A time of day, a date, or both, perhaps with a zone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clock {
    // INVARIANT: a day or a time is there.
    pub(super) day: Option<Day>,
    pub(super) time: Option<Time>,
    pub(super) zone: Option<Said>,
    /// The words can mean nothing else: which half of the day, which of two numbers is the month.
    pub(super) sure: bool,
}

/// A day, as far as it was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Day {
    /// With its year.
    Full(Date),
    /// Without.
    Yearly { month: i8, day: i8 },
    /// The next of this name.
    Weekly(Weekday),
    /// So many days after the words were heard.
    Ahead(i8),
}

/// One part of a clock, and how many tokens it takes.
enum Part {
    Time { time: Time, sure: bool },
    Day { day: Day, sure: bool },
    Year(i16),
    Zone(Option<Said>),
}

type Taken<T> = Option<(T, usize)>;

impl Clock {
    /// What the tokens of `text` start with.
    pub(super) fn read(tokens: &[Token<'_>], text: &str) -> Option<Self> {
        let mut clock = Self {
            day: None,
            time: None,
            zone: None,
            sure: true,
        };
        let (mut rest, mut zoned) = (tokens, false);
        // Weekday, day, year, time and zone.
        for _ in 0..5 {
            let places = [rest, past_joints(rest)];
            let found = places
                .into_iter()
                .find_map(|place| Some((place, clock.part(place, text, zoned)?)));
            let Some((place, (part, used))) = found else {
                break;
            };
            zoned = zoned || matches!(part, Part::Zone(_));
            clock.take(part);
            rest = place.get(used..).unwrap_or(&[]);
            // The next line is about something else, such as a log's own date.
            if past_joints(rest)
                .first()
                .is_some_and(|next| next.opens_line)
            {
                break;
            }
        }
        (clock.day.is_some() || clock.time.is_some()).then_some(clock)
    }

    /// The moment, where everything was said.
    pub(super) fn moment(&self) -> Option<Timestamp> {
        let Some(Day::Full(date)) = self.day else {
            return None;
        };
        let said = self.zone.as_ref().filter(|said| said.sure && self.sure)?;
        said.zone.moment(date.to_datetime(self.time?))
    }

    fn part(&self, tokens: &[Token<'_>], text: &str, zoned: bool) -> Taken<Part> {
        let day = || day(tokens).filter(|_| self.day.is_none() || self.day_is_idle());
        let time = || time(tokens).filter(|_| self.time.is_none());
        let year = || year(tokens).filter(|_| matches!(self.day, Some(Day::Yearly { .. })));
        let zone =
            || zone(tokens, text).filter(|_| (self.time.is_some() || self.day.is_some()) && !zoned);
        day().or_else(time).or_else(year).or_else(zone)
    }

    /// A weekday beside a date says nothing that the date does not.
    fn day_is_idle(&self) -> bool {
        matches!(self.day, Some(Day::Weekly(_)))
    }

    fn take(&mut self, part: Part) {
        match part {
            Part::Time { time, sure } => {
                self.time = Some(time);
                // A date with its year comes with 24 hours.
                let sure = sure || matches!(self.day, Some(Day::Full(_)));
                self.sure = self.sure && sure;
            }
            Part::Day { day, sure } => {
                self.day = Some(day);
                self.sure = self.sure && sure;
            }
            Part::Year(year) => {
                if let Some(Day::Yearly { month, day }) = self.day
                    && let Ok(date) = Date::new(year, month, day)
                {
                    self.day = Some(Day::Full(date));
                }
            }
            Part::Zone(said) => self.zone = said,
        }
    }
}

/// Past what may stand between two parts.
fn past_joints<'t, 'a>(tokens: &'t [Token<'a>]) -> &'t [Token<'a>] {
    let joint = |token: &&Token<'_>| {
        token.is_mark(",(@)")
            || ["at", "on", "next", "this"]
                .iter()
                .any(|word| token.is(word))
    };
    let joints = tokens.iter().take(3).take_while(joint).count();
    tokens.get(joints..).unwrap_or(tokens)
}

/// `3pm`, `3:13 AM`, `23:30`, `08:49:37.5`, `midnight`, `noon`.
fn time(tokens: &[Token<'_>]) -> Taken<Part> {
    let sure = |time| Part::Time { time, sure: true };
    match tokens {
        [word, ..] if word.is("midnight") => Some((sure(Time::midnight()), 1)),
        [word, ..] if word.is("noon") => Some((sure(Time::constant(12, 0, 0, 0)), 1)),
        [hour, ..] => {
            let said = hour.digits(2)?;
            let (minute, after_minute) = sixtieth(tokens, 1).unwrap_or((0, 1));
            let (second, after_second) = second(tokens, after_minute).unwrap_or((0, after_minute));
            let half = half(tokens.get(after_second..)?);
            if half.is_none() && after_minute == 1 {
                return None;
            }
            let exact = hour.text.starts_with('0') || said > 12 || after_second > after_minute;
            let (twelve, used) = half.map_or((None, 0), |(pm, used)| (Some(pm), used));
            let hour = match (twelve, said) {
                (Some(false), 12) => 0,
                (Some(true), 0) | (Some(_), 13..) => return None,
                (Some(true), 1..=11) => said.checked_add(12)?,
                (_, said) => said,
            };
            let millis = i32::try_from(second).ok()?;
            let nanos = millis.checked_rem(1_000)?.checked_mul(1_000_000)?;
            let second = i8::try_from(millis.checked_div(1_000)?).ok()?;
            let time = Time::new(i8::try_from(hour).ok()?, minute, second, nanos).ok()?;
            let sure = exact || twelve.is_some();
            Some((Part::Time { time, sure }, after_second.checked_add(used)?))
        }
        [] => None,
    }
}

/// `:59`, glued on; and the place after it.
fn sixtieth(tokens: &[Token<'_>], at: usize) -> Option<(i8, usize)> {
    let [colon, number, ..] = tokens.get(at..)? else {
        return None;
    };
    let glued = colon.glued && colon.is_mark(":") && number.glued && number.text.len() == 2;
    let number = i8::try_from(number.digits(2)?).ok()?;
    glued.then_some((number, at.checked_add(2)?))
}

/// `:59` or `:59.123`, in milliseconds rounded up; and the place after it.
fn second(tokens: &[Token<'_>], at: usize) -> Option<(u64, usize)> {
    let [colon, number, ..] = tokens.get(at..)? else {
        return None;
    };
    let whole = number.text.split('.').next().map_or(0, str::len);
    let glued = colon.glued && colon.is_mark(":") && number.glued && whole == 2;
    let millis = number.decimal()?.times(1_000)?;
    // What rounds up to the next minute is cut instead: there is no second 60.
    let last = number.text.starts_with("59");
    let millis = if last { millis.min(59_999) } else { millis };
    glued.then_some((millis, at.checked_add(2)?))
}

/// Is it after noon? `pm`, `PM`, `p.m.`
fn half(tokens: &[Token<'_>]) -> Taken<bool> {
    let [first, rest @ ..] = tokens else {
        return None;
    };
    if first.is("am") || first.is("pm") {
        return Some((first.is("pm"), 1));
    }
    let dotted = first.is("a") || first.is("p");
    match rest {
        [dot, m, rest @ ..] if dotted && dot.glued && dot.is_mark(".") && m.glued && m.is("m") => {
            let last = rest
                .first()
                .is_some_and(|dot| dot.glued && dot.is_mark("."));
            Some((first.is("p"), if last { 4 } else { 3 }))
        }
        _ => None,
    }
}

fn day(tokens: &[Token<'_>]) -> Taken<Part> {
    let sure = |(day, used)| (Part::Day { day, sure: true }, used);
    let said = || {
        named_day(tokens)
            .or_else(|| month_day(tokens))
            .or_else(|| day_month(tokens))
    };
    said()
        .or_else(|| iso(tokens))
        .map(sure)
        .or_else(|| slashed(tokens))
}

/// `today`, `tomorrow`, `Thursday`.
fn named_day(tokens: &[Token<'_>]) -> Taken<Day> {
    let word = tokens.first()?.word()?.to_ascii_lowercase();
    let day = match word.as_str() {
        "today" | "tonight" => Day::Ahead(0),
        "tomorrow" => Day::Ahead(1),
        "mon" | "monday" => Day::Weekly(Weekday::Monday),
        "tue" | "tues" | "tuesday" => Day::Weekly(Weekday::Tuesday),
        "wed" | "wednesday" => Day::Weekly(Weekday::Wednesday),
        "thu" | "thur" | "thurs" | "thursday" => Day::Weekly(Weekday::Thursday),
        "fri" | "friday" => Day::Weekly(Weekday::Friday),
        "sat" | "saturday" => Day::Weekly(Weekday::Saturday),
        "sun" | "sunday" => Day::Weekly(Weekday::Sunday),
        _ => return None,
    };
    Some((day, 1))
}

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

fn month(token: &Token<'_>) -> Option<i8> {
    let word = token.word()?.to_ascii_lowercase();
    let named = |month: &&str| word.len() >= 3 && month.starts_with(word.as_str());
    let at = MONTHS.iter().position(named)?;
    i8::try_from(at.checked_add(1)?).ok()
}

/// `9` or `9th`, and the place after it.
fn ordinal(tokens: &[Token<'_>], at: usize) -> Option<(i8, usize)> {
    let number = tokens.get(at)?.digits(2)?;
    let at = at.checked_add(1)?;
    let suffix = tokens.get(at).is_some_and(|token| {
        token.glued
            && ["st", "nd", "rd", "th"]
                .iter()
                .any(|suffix| token.is(suffix))
    });
    Some((i8::try_from(number).ok()?, at.checked_add(suffix.into())?))
}

/// `Oct 9`, `Oct. 9th`.
fn month_day(tokens: &[Token<'_>]) -> Taken<Day> {
    let month = month(tokens.first()?)?;
    let dot = tokens.get(1)?.is_mark(".");
    let (day, used) = ordinal(tokens, if dot { 2 } else { 1 })?;
    Some((yearly(month, day)?, used))
}

/// `9 Oct`, `9th of October`.
fn day_month(tokens: &[Token<'_>]) -> Taken<Day> {
    let (day, at) = ordinal(tokens, 0)?;
    let of = tokens.get(at)?.is("of");
    let at = at.checked_add(of.into())?;
    let month = month(tokens.get(at)?)?;
    Some((yearly(month, day)?, at.checked_add(1)?))
}

/// There is such a day in some year.
fn yearly(month: i8, day: i8) -> Option<Day> {
    let leap_year = 2_000;
    Date::new(leap_year, month, day).ok()?;
    Some(Day::Yearly { month, day })
}

/// The year of a date that had none yet. It is no time of day.
fn year(tokens: &[Token<'_>]) -> Taken<Part> {
    let token = tokens.first()?;
    let year = token.digits(4)?;
    let glued = tokens
        .get(1)
        .is_some_and(|next| next.glued && next.is_mark(":"));
    let year = i16::try_from(year).ok()?;
    ((1970..2200).contains(&year) && !glued).then_some((Part::Year(year), 1))
}

/// `2026-11-30`, also before a `T`.
fn iso(tokens: &[Token<'_>]) -> Taken<Day> {
    let [year, first, month, second, day, rest @ ..] = tokens else {
        return None;
    };
    let glued = [first, month, second, day].iter().all(|token| token.glued);
    if !glued || year.text.len() != 4 || !first.is_mark("-/") || first.text != second.text {
        return None;
    }
    let date = date(year, month, day)?;
    let timed = rest.first().is_some_and(|t| t.glued && t.is("T"));
    Some((Day::Full(date), if timed { 6 } else { 5 }))
}

/// `11/30/2026`: the month comes first, unless it cannot.
fn slashed(tokens: &[Token<'_>]) -> Taken<Part> {
    let [month, first, day, second, year, ..] = tokens else {
        return None;
    };
    let slashes = [first, second].iter().all(|t| t.glued && t.is_mark("/"));
    if !slashes || year.kind != Kind::Number || year.text.len() != 4 {
        return None;
    }
    let (american, european) = (date(year, month, day), date(year, day, month));
    let sure = american.is_none() || european.is_none() || american == european;
    let day = Day::Full(american.or(european)?);
    Some((Part::Day { day, sure }, 5))
}

fn date(year: &Token<'_>, month: &Token<'_>, day: &Token<'_>) -> Option<Date> {
    let small = |token: &Token<'_>| i8::try_from(token.digits(2)?).ok();
    let year = i16::try_from(year.digits(4)?).ok()?;
    // Year 1 is what some programs print for a time that they do not know.
    if year < 1970 {
        return None;
    }
    Date::new(year, small(month)?, small(day)?).ok()
}

/// `(Europe/Berlin)`, `UTC`, `+02:00`, `PDT`. What stands in brackets after a time is a zone, known or not,
/// unless it is a day.
fn zone(tokens: &[Token<'_>], text: &str) -> Taken<Part> {
    let [first, rest @ ..] = tokens else {
        return None;
    };
    if first.is_mark("(") {
        let inside = rest.iter().take(8).position(|token| token.is_mark(")"))?;
        let from = rest.first()?;
        let inner = text.get(from.at..rest.get(inside)?.at)?;
        let said = Zone::said(inner).or_else(|| Zone::said(name(from, text)?));
        if said.is_none() && day(rest).is_some() {
            return None;
        }
        return Some((Part::Zone(said), inside.checked_add(2)?));
    }
    let name = name(first, text).filter(|name| is_plain(name))?;
    let said = Zone::said(name)?;
    let end = first.at.checked_add(name.len())?;
    let used = tokens.iter().take_while(|token| token.end() <= end).count();
    Some((Part::Zone(Some(said)), used.max(1)))
}

/// Everything from the token on that may be part of a zone's name.
fn name<'a>(from: &Token<'_>, text: &'a str) -> Option<&'a str> {
    let rest = text.get(from.at..)?;
    let part = |c: char| c.is_ascii_alphanumeric() || "/_+-:".contains(c);
    let end = rest.find(|c| !part(c)).unwrap_or(rest.len());
    Some(rest.get(..end)?.trim_end_matches(['/', '_', '+', '-', ':']))
}

/// Without brackets, small words are the sentence's own, and a sign with one digit is a range.
fn is_plain(name: &str) -> bool {
    let offset = name.starts_with(['+', '-']) && name.len() > 2;
    let area = name.contains('/');
    let utc = |prefix: &str| {
        let head = name.get(..prefix.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(prefix))
    };
    let capitals = name.chars().all(|c| c.is_ascii_uppercase());
    let known = name == "z" || (name.len() > 2 && zone::abbreviation(name).is_some());
    offset || area || utc("utc") || utc("gmt") || capitals || known
}
