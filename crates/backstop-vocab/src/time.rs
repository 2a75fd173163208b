//! Time as an argument: milliseconds since the Unix epoch, handed in by the caller. No clock here.

use core::fmt;

use serde::{Deserialize, Serialize};

/// A moment: milliseconds since 1970-01-01T00:00:00Z.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Timestamp(u64);

impl Timestamp {
    /// The moment `ms` milliseconds after the Unix epoch.
    #[must_use]
    pub const fn from_millis(ms: u64) -> Self {
        Self(ms)
    }

    /// Milliseconds since the Unix epoch.
    #[must_use]
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// The moment `span` later; the last one that can be told when there is no such moment.
    #[must_use]
    pub const fn after(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.0))
    }

    /// How long ago `earlier` was; nothing when it lies ahead.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

/// A length of time in milliseconds.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Span(u64);

impl Span {
    /// No time at all.
    pub const ZERO: Self = Self(0);

    /// `ms` milliseconds.
    #[must_use]
    pub const fn from_millis(ms: u64) -> Self {
        Self(ms)
    }

    /// `n` seconds.
    #[must_use]
    pub const fn from_secs(n: u64) -> Self {
        Self(n.saturating_mul(1_000))
    }

    /// `n` minutes.
    #[must_use]
    pub const fn from_mins(n: u64) -> Self {
        Self::from_secs(n.saturating_mul(60))
    }

    /// `n` hours.
    #[must_use]
    pub const fn from_hours(n: u64) -> Self {
        Self::from_mins(n.saturating_mul(60))
    }

    /// The length in milliseconds.
    #[must_use]
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// The length in whole seconds, rounded down.
    #[must_use]
    pub const fn as_secs(self) -> u64 {
        self.0 / 1_000
    }

    /// This and `other` together; the longest span that can be told when the sum is longer.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// This span `n` times over, saturating.
    #[must_use]
    pub const fn times(self, n: u64) -> Self {
        Self(self.0.saturating_mul(n))
    }
}

impl fmt::Display for Span {
    /// `2d 3h`, `1h 5m`, `4m 10s`, `7s`, `250ms`: the two largest units that matter.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let secs = self.as_secs();
        let (days, hours, mins) = (secs / 86_400, secs / 3_600 % 24, secs / 60 % 60);
        match (days, hours, mins, secs % 60) {
            (0, 0, 0, 0) => write!(f, "{}ms", self.0),
            (0, 0, 0, s) => write!(f, "{s}s"),
            (0, 0, m, 0) => write!(f, "{m}m"),
            (0, 0, m, s) => write!(f, "{m}m {s}s"),
            (0, h, 0, _) => write!(f, "{h}h"),
            (0, h, m, _) => write!(f, "{h}h {m}m"),
            (d, 0, _, _) => write!(f, "{d}d"),
            (d, h, _, _) => write!(f, "{d}d {h}h"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn time_saturates_at_both_ends() {
        let end = Timestamp::from_millis(u64::MAX);
        assert_eq!(end.after(Span::from_hours(1)), end);
        assert_eq!(Timestamp::from_millis(5).since(end), Span::ZERO);
        assert_eq!(
            Span::from_hours(u64::MAX)
                .plus(Span::from_secs(1))
                .as_millis(),
            u64::MAX
        );
    }

    #[test]
    fn a_moment_and_a_span_are_milliseconds() {
        assert_eq!(Timestamp::from_millis(1_234).as_millis(), 1_234);
        assert_eq!(Span::from_secs(61).as_millis(), 61_000);
        assert_eq!(Span::from_millis(61_999).as_secs(), 61);
        assert_eq!(Span::from_secs(2).times(3), Span::from_millis(6_000));
    }

    #[test]
    fn a_span_reads_in_its_two_largest_units() {
        let cases = [
            (Span::from_millis(250), "250ms"),
            (Span::from_secs(7), "7s"),
            (Span::from_secs(60), "1m"),
            (Span::from_secs(250), "4m 10s"),
            (Span::from_mins(65), "1h 5m"),
            (Span::from_hours(72), "3d"),
            (Span::from_hours(51), "2d 3h"),
        ];
        for (span, words) in cases {
            assert_eq!(span.to_string(), words);
        }
    }
}
