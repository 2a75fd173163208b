//! The wall clock, read at the edge and nowhere else.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use backstop_agents::Zone;
use backstop_engine::vocab::Timestamp;
use jiff::tz::TimeZone;

/// The longest single sleep: a clock that was set, or a machine that slept, is noticed after it.
pub(crate) const LONGEST_SLEEP: Duration = Duration::from_secs(20);

/// Whoever says what time it is.
pub trait Clock {
    /// Now.
    fn now(&self) -> Timestamp;
}

/// The clock of this machine.
#[derive(Debug, Clone, Copy)]
pub struct Wall;

impl Clock for Wall {
    fn now(&self) -> Timestamp {
        now()
    }
}

/// Now.
#[must_use]
pub fn now() -> Timestamp {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    Timestamp::from_millis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

/// The zone that this machine is set to.
#[must_use]
pub fn zone() -> Zone {
    TimeZone::system().into()
}

/// A moment in UTC, to the second: `2031-05-06 07:08:09Z`.
#[must_use]
pub fn utc(at: Timestamp) -> String {
    let millis = i64::try_from(at.as_millis()).unwrap_or(i64::MAX);
    match jiff::Timestamp::from_millisecond(millis) {
        Ok(moment) => moment.strftime("%Y-%m-%d %H:%M:%SZ").to_string(),
        Err(_) => format!("{millis} ms"),
    }
}

/// A moment in RFC 3339 and UTC: `2031-05-06T07:08:09Z`.
#[must_use]
pub fn rfc_3339(at: Timestamp) -> String {
    let millis = i64::try_from(at.as_millis()).unwrap_or(i64::MAX);
    jiff::Timestamp::from_millisecond(millis)
        .map_or_else(|_| format!("{millis} ms"), |moment| moment.to_string())
}

/// Reads a moment in RFC 3339.
///
/// # Errors
/// When it is none, or before 1970.
pub fn parse_rfc_3339(text: &str) -> Result<Timestamp, String> {
    let wrong = |why: String| {
        format!("`{text}` is no moment in RFC 3339, such as 2031-05-06T07:08:09Z: {why}")
    };
    let moment: jiff::Timestamp = text
        .parse()
        .map_err(|error: jiff::Error| wrong(error.to_string()))?;
    let millis = u64::try_from(moment.as_millisecond());
    millis
        .map(Timestamp::from_millis)
        .map_err(|_| wrong("it is before 1970".into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_reads_in_utc() {
        assert_eq!(utc(Timestamp::from_millis(1_000)), "1970-01-01 00:00:01Z");
    }

    #[test]
    fn a_moment_is_read_back_as_it_is_printed() {
        let at = Timestamp::from_millis(1_796_000_000_250);
        assert_eq!(parse_rfc_3339(&rfc_3339(at)), Ok(at));
        assert_eq!(
            parse_rfc_3339("1970-01-01T02:00:01+02:00"),
            Ok(Timestamp::from_millis(1_000))
        );
        assert!(parse_rfc_3339("1969-01-01T00:00:00Z").is_err());
        assert!(parse_rfc_3339("tomorrow").is_err());
    }
}
