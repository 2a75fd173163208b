//! The wall clock, read at the edge and nowhere else.

use std::time::{SystemTime, UNIX_EPOCH};

use backstop_engine::vocab::Timestamp;

/// Now.
#[must_use]
pub fn now() -> Timestamp {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    Timestamp::from_millis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_reads_in_utc() {
        assert_eq!(utc(Timestamp::from_millis(1_000)), "1970-01-01 00:00:01Z");
    }
}
