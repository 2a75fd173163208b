//! From a clock time to a moment.

use backstop_vocab::{Span, Timestamp};
use jiff::ToSpan;
use jiff::civil::{Date, DateTime, Time};

use super::clock::{Clock, Day};
use super::{Until, Zone};

/// A clock time that passed no longer ago than this is now, and not tomorrow. Programs round the time down, keep it
/// for a while and tell it late, and clocks differ; a wait of a day for nothing costs more than an attempt that the
/// provider turns down. What is told by a time of day alone is hours away: hardly ever is it 23.
const GRACE: Span = Span::from_hours(1);

/// No wait that was supposed ends later.
const FARTHEST: Span = Span::from_hours(366 * 24);

/// The longest window of a plan.
const MONTH: Span = Span::from_hours(31 * 24);

pub(super) const MINUTE: Span = Span::from_mins(1);

/// Where a day's quota ends.
const CALIFORNIA: &str = "America/Los_Angeles";

pub(super) fn of_clock(clock: &Clock, heard: Timestamp, host: &Zone) -> Until {
    let said = clock.zone.as_ref();
    let zone = said.map_or(host, |said| &said.zone);
    let sure = clock.sure && clock.time.is_some() && said.is_some_and(|said| said.sure);
    let Some(found) = found(clock, heard, zone) else {
        return Until::OPEN;
    };
    let assumed = !sure || found.assumed;
    let too_far = found.at > heard.after(FARTHEST);
    if assumed && too_far {
        return Until::OPEN;
    }
    Until {
        at: Some(found.at),
        assumed,
    }
}

/// The next midnight in California.
pub(super) fn of_day(heard: Timestamp) -> Until {
    let midnight = || {
        let zone = Zone::named(CALIFORNIA)?;
        let tomorrow = ahead(zone.civil(heard)?.date(), 1)?;
        zone.moment(tomorrow.to_datetime(Time::midnight()))
    };
    midnight().map_or(Until::OPEN, Until::supposed)
}

/// A moment, and whether its day was supposed.
struct Found {
    at: Timestamp,
    assumed: bool,
}

fn found(clock: &Clock, heard: Timestamp, zone: &Zone) -> Option<Found> {
    let here = zone.civil(heard)?.date();
    let dates = dates(clock.day, here);
    // A day begins at midnight; in the middle of it, nobody knows when it is meant.
    let time = clock.time.unwrap_or(Time::midnight());
    if clock.time.is_none() && dates.contains(&here) {
        return None;
    }
    let moments = dates
        .iter()
        .filter_map(|date| zone.moment(DateTime::from_parts(*date, time)));
    let moments: Vec<Timestamp> = moments.collect();
    match clock.day {
        Some(Day::Full(_) | Day::Ahead(_)) => Some(Found {
            at: *moments.first()?,
            assumed: false,
        }),
        Some(Day::Yearly { .. }) => nearest(&moments, heard),
        Some(Day::Weekly(_)) | None => next(&moments, heard),
    }
}

/// The days that may be meant, in order.
fn dates(day: Option<Day>, here: Date) -> Vec<Date> {
    let near = |days: std::ops::RangeInclusive<i8>| days.filter_map(|days| ahead(here, days));
    match day {
        Some(Day::Full(date)) => vec![date],
        Some(Day::Ahead(days)) => ahead(here, days).into_iter().collect(),
        Some(Day::Weekly(weekday)) => near(-1..=8)
            .filter(|date| date.weekday() == weekday)
            .collect(),
        // Leap days are up to eight years apart.
        Some(Day::Yearly { month, day }) => {
            let years = (-8_i16..=8).filter_map(|years| here.year().checked_add(years));
            years
                .filter_map(|year| Date::new(year, month, day).ok())
                .collect()
        }
        None => near(-1..=2).collect(),
    }
}

fn ahead(date: Date, days: i8) -> Option<Date> {
    date.checked_add(i64::from(days).days()).ok()
}

/// The first that has not passed, or has only just.
fn next(moments: &[Timestamp], heard: Timestamp) -> Option<Found> {
    let fits = |at: &&Timestamp| heard.since(**at) <= GRACE;
    let at = *moments.iter().find(fits)?;
    Some(Found {
        at,
        assumed: at < heard,
    })
}

/// The next, unless it is far away and the one before is near: then the words are old.
fn nearest(moments: &[Timestamp], heard: Timestamp) -> Option<Found> {
    let last = moments.iter().rfind(|at| **at < heard);
    let next = moments.iter().find(|at| **at >= heard);
    match (last, next) {
        (_, Some(at)) if at.since(heard) <= MONTH => Some(Found {
            at: *at,
            assumed: false,
        }),
        (Some(at), _) if heard.since(*at) <= MONTH => Some(Found {
            at: *at,
            assumed: true,
        }),
        (_, at) => Some(Found {
            at: *at?,
            assumed: true,
        }),
    }
}
