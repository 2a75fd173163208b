//! Amounts as people write them: `"8h"`, `0.5` US dollars.

use std::fmt;

use backstop_engine::mode::Account;
use serde::{Deserialize, Deserializer, de};

/// A length of time, written like `"10m"`, `"1h 30m"` or `"500ms"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Duration(std::time::Duration);

impl Duration {
    /// `duration` as a setting.
    #[must_use]
    pub const fn new(duration: std::time::Duration) -> Self {
        Self(duration)
    }

    /// Its length.
    #[must_use]
    pub const fn get(self) -> std::time::Duration {
        self.0
    }

    /// Its length in milliseconds.
    #[must_use]
    pub fn millis(self) -> u64 {
        u64::try_from(self.0.as_millis()).unwrap_or(u64::MAX)
    }
}

impl std::str::FromStr for Duration {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let refused =
            || format!("`{text}` is not a duration: write it like \"10m\", \"1h 30m\" or \"30s\"");
        // A day is 24 hours here; the library leaves days to calendars.
        let (days, rest) = match text.trim().split_once('d') {
            Some((days, rest)) => (
                days.trim().parse::<u64>().map_err(|_| refused())?,
                rest.trim(),
            ),
            None => (0, text.trim()),
        };
        let rest = if rest.is_empty() && days > 0 {
            std::time::Duration::ZERO
        } else {
            let span: jiff::SignedDuration = rest.parse().map_err(|_| refused())?;
            std::time::Duration::try_from(span).map_err(|_| refused())?
        };
        let days = std::time::Duration::from_secs(days.saturating_mul(86_400));
        Ok(Self(days.saturating_add(rest)))
    }
}

impl<'de> Deserialize<'de> for Duration {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?
            .parse()
            .map_err(de::Error::custom)
    }
}

/// An amount of bytes, written like `"64 MiB"` or `"2 GB"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size(u64);

impl Size {
    /// In bytes.
    #[must_use]
    pub const fn bytes(self) -> u64 {
        self.0
    }
}

/// What a unit of bytes is worth.
const UNITS: [(&str, u64); 9] = [
    ("kib", 1 << 10),
    ("mib", 1 << 20),
    ("gib", 1 << 30),
    ("tib", 1 << 40),
    ("kb", 1_000),
    ("mb", 1_000_000),
    ("gb", 1_000_000_000),
    ("tb", 1_000_000_000_000),
    ("b", 1),
];

impl std::str::FromStr for Size {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let lower = text.trim().to_ascii_lowercase();
        let read = UNITS.iter().find_map(|(unit, worth)| {
            let number: u64 = lower.strip_suffix(unit)?.trim_end().parse().ok()?;
            number.checked_mul(*worth)
        });
        read.map(Self).ok_or_else(|| {
            format!("`{text}` is not an amount of bytes: write it like \"64 MiB\" or \"2 GB\"")
        })
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?
            .parse()
            .map_err(de::Error::custom)
    }
}

/// Money, written as US dollars.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Usd(pub f64);

impl Usd {
    /// The amount in millionths of a US dollar.
    #[must_use]
    pub fn micro(self) -> Option<u64> {
        micro_usd(self.0)
    }
}

impl<'de> Deserialize<'de> for Usd {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Number;
        impl de::Visitor<'_> for Number {
            type Value = f64;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an amount of US dollars, such as 0.5")
            }
            fn visit_f64<E: de::Error>(self, n: f64) -> Result<f64, E> {
                Ok(n)
            }
            fn visit_i64<E: de::Error>(self, n: i64) -> Result<f64, E> {
                i32::try_from(n).map(f64::from).map_err(E::custom)
            }
        }
        let amount = from.deserialize_any(Number)?;
        micro_usd(amount).map(|_| Self(amount)).ok_or_else(|| {
            de::Error::custom(format!(
                "`{amount}` is not an amount of US dollars: use 0 or more"
            ))
        })
    }
}

/// US dollars in millionths; none for what is negative, not a number, or too large to count.
#[must_use]
pub fn micro_usd(dollars: f64) -> Option<u64> {
    let micro = (dollars * 1e6).round();
    let counts = micro.is_finite() && (0.0..9e15).contains(&micro);
    // The printed form of a whole number below 2^53 is exact.
    if counts {
        format!("{micro:.0}").parse().ok()
    } else {
        None
    }
}

/// What a ceiling's value in a file means in the account's own unit.
pub(super) fn amount(account: Account, value: &toml::Value) -> Result<u64, String> {
    match (account, value) {
        (Account::Cost, toml::Value::Float(dollars)) => whole(micro_usd(*dollars)),
        (Account::Cost, toml::Value::Integer(dollars)) => whole(
            u64::try_from(*dollars)
                .ok()
                .and_then(|n| n.checked_mul(1_000_000)),
        ),
        (Account::Cost, _) => {
            Err("the cost ceiling is an amount of US dollars, such as 25.0".into())
        }
        (Account::ActiveTime, toml::Value::String(text)) => {
            text.parse::<Duration>().map(Duration::millis)
        }
        (Account::ActiveTime, _) => Err("this ceiling is a duration, such as \"8h\"".into()),
        (_, toml::Value::Integer(n)) => whole(u64::try_from(*n).ok()),
        _ => Err(format!(
            "the ceiling of `{account}` is a positive whole number"
        )),
    }
}

fn whole(n: Option<u64>) -> Result<u64, String> {
    n.ok_or_else(|| "a ceiling is a positive number; there is no spelling for \"unlimited\"".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_as_people_write_them() {
        for (text, secs) in [
            ("10m", 600),
            ("1h 30m", 5400),
            ("30s", 30),
            ("2d", 172_800),
            ("1d 1h", 90_000),
        ] {
            assert_eq!(
                text.parse::<Duration>().unwrap().get().as_secs(),
                secs,
                "{text}"
            );
        }
        for text in ["", "10", "-5m", "soon", "d"] {
            assert!(text.parse::<Duration>().is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_read_as_people_write_them() {
        for (text, bytes) in [
            ("64 MiB", 64 << 20),
            ("64mib", 64 << 20),
            ("1 GiB", 1 << 30),
            ("2 GB", 2_000_000_000),
            ("512 KiB", 512 << 10),
            ("7 kb", 7_000),
            ("1 TiB", 1 << 40),
            ("0 B", 0),
        ] {
            assert_eq!(text.parse::<Size>().map(Size::bytes), Ok(bytes), "{text}");
        }
        for text in [
            "",
            "64",
            "MiB",
            "-1 MiB",
            "1.5 GiB",
            "lots",
            "99999999999 TiB",
        ] {
            assert!(text.parse::<Size>().is_err(), "{text}");
        }
    }

    #[test]
    fn dollars_become_millionths_exactly() {
        assert_eq!(micro_usd(25.0), Some(25_000_000));
        assert_eq!(micro_usd(0.1), Some(100_000));
        for odd in [-1.0, f64::NAN, f64::INFINITY, 1e30] {
            assert_eq!(micro_usd(odd), None);
        }
    }
}
