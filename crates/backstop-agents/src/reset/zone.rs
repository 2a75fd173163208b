//! Time zones, from a database that is part of the program.

use std::fmt;

use backstop_vocab::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone, TimeZoneDatabase};

/// A time zone, or a fixed offset from UTC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Zone(TimeZone);

/// How sure a zone that was said is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) zone: Zone,
    /// The name means this zone and no other.
    pub(super) sure: bool,
}

/// The caller's zone as the library for time has it.
impl From<TimeZone> for Zone {
    fn from(zone: TimeZone) -> Self {
        Self(zone)
    }
}

impl Zone {
    /// Coordinated Universal Time.
    #[must_use]
    pub fn utc() -> Self {
        Self(TimeZone::UTC)
    }

    /// By its IANA name (`Europe/Berlin`), as `UTC`, `GMT` or `Z`, or by its offset (`+02:00`, `-0500`, `UTC+2`).
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let name = name.trim();
        if ["utc", "gmt", "z"].contains(&name.to_ascii_lowercase().as_str()) {
            return Some(Self::utc());
        }
        offset(name).or_else(|| {
            let zone = TimeZoneDatabase::bundled().get(name).ok()?;
            (!zone.is_unknown()).then_some(Self(zone))
        })
    }

    /// The zone that a notice names. Abbreviations come first: the database knows some of them by other rules.
    pub(super) fn said(name: &str) -> Option<Said> {
        let name = name.trim();
        if let Some((means, sure)) = abbreviation(name) {
            let zone = Self::named(means)?;
            return Some(Said { zone, sure });
        }
        let zone = Self::named(name)?;
        Some(Said { zone, sure: true })
    }

    /// What a clock on the wall shows.
    pub(super) fn civil(&self, at: Timestamp) -> Option<DateTime> {
        let millis = i64::try_from(at.as_millis()).ok()?;
        let at = jiff::Timestamp::from_millisecond(millis).ok()?;
        Some(self.0.to_datetime(at))
    }

    /// When a clock on the wall shows this. Where it does so twice, the later; where it never does, the moment at
    /// which it skips this: nobody wakes too early.
    pub(super) fn moment(&self, civil: DateTime) -> Option<Timestamp> {
        let at = match self.0.to_ambiguous_timestamp(civil).offset() {
            AmbiguousOffset::Unambiguous { offset } => offset.to_timestamp(civil).ok()?,
            AmbiguousOffset::Fold { after, .. } => after.to_timestamp(civil).ok()?,
            AmbiguousOffset::Gap { after, .. } => {
                let before_the_gap = after.to_timestamp(civil).ok()?;
                self.0.following(before_the_gap).next()?.timestamp()
            }
        };
        let millis = u64::try_from(at.as_millisecond()).ok()?;
        Some(Timestamp::from_millis(millis))
    }
}

impl fmt::Display for Zone {
    /// Its IANA name, or its offset: [`Zone::named`] reads it back.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0.iana_name(), self.0.to_fixed_offset()) {
            (Some(name), _) => f.write_str(name),
            (None, Ok(offset)) => write!(f, "{offset}"),
            (None, Err(_)) => f.write_str("UTC"),
        }
    }
}

/// `+02:00`, `+0200`, `+02`, `UTC+2`.
fn offset(text: &str) -> Option<Zone> {
    let bare = |prefix: &str| {
        let head = text.get(..prefix.len())?;
        let tail = text.get(prefix.len()..)?;
        head.eq_ignore_ascii_case(prefix).then_some(tail)
    };
    let text = bare("utc").or_else(|| bare("gmt")).unwrap_or(text);
    let (sign, digits) = match text.chars().next()? {
        '+' => (1_i32, text.get(1..)?),
        '-' => (-1, text.get(1..)?),
        _ => return None,
    };
    let (hours, minutes) = match (digits.split_once(':'), digits.len()) {
        (Some(parts), _) => parts,
        (None, 4) => digits.split_at_checked(2)?,
        (None, _) => (digits, "00"),
    };
    let number = |text: &str, most: i32| {
        let plain = (1..=2).contains(&text.len()) && text.chars().all(|c| c.is_ascii_digit());
        let number: i32 = plain.then(|| text.parse().ok())??;
        (number <= most).then_some(number)
    };
    let hours = number(hours, 14)?.checked_mul(3_600)?;
    let minutes = number(minutes, 59)?.checked_mul(60)?;
    let seconds = hours.checked_add(minutes)?.checked_mul(sign)?;
    let offset = Offset::from_seconds(seconds).ok()?;
    Some(Zone(TimeZone::fixed(offset)))
}

/// What an abbreviation means. Sure are those that RFC 2822 defines and nobody else uses; the rest is what is meant
/// most often.
pub(super) fn abbreviation(name: &str) -> Option<(&'static str, bool)> {
    let means = match name.to_ascii_lowercase().as_str() {
        "edt" => ("-04:00", true),
        "est" | "cdt" => ("-05:00", true),
        "mdt" => ("-06:00", true),
        "mst" | "pdt" => ("-07:00", true),
        "pst" => ("-08:00", true),
        "cst" => ("-06:00", false),
        "et" | "eastern" | "eastern time" => ("America/New_York", false),
        "ct" | "central" | "central time" => ("America/Chicago", false),
        "mt" | "mountain" | "mountain time" => ("America/Denver", false),
        "pt" | "pacific" | "pacific time" => ("America/Los_Angeles", false),
        "bst" | "cet" => ("+01:00", false),
        "cest" => ("+02:00", false),
        "ist" => ("+05:30", false),
        "jst" => ("+09:00", false),
        _ => return None,
    };
    Some(means)
}
