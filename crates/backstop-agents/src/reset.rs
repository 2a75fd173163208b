//! When a provider's limit ends, as an agent's own program put it, and the moment that this is.
//!
//! [`Reset::find`] looks through the words of a limit notice, [`Reset::field`] reads one header or field.
//! [`Reset::resolve`] supplies what was left unsaid from when the words were heard and from the host's zone, and
//! says so.
//!
//! Deliberately absent: whether a limit was hit at all, and whose words may say so (the adapters); how long is waited
//! (policy); the clock and the host's zone (the edge).

mod clock;
mod find;
mod moment;
mod name;
mod span;
mod token;
mod zone;

use backstop_vocab::{Span, Timestamp};

pub use clock::Clock;
pub use zone::Zone;

use moment::MINUTE;
use token::{Decimal, tokens};

/// When a limit ends, as it was put. Not yet a moment: what is relative, or lacks a date or a zone, is resolved later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reset {
    /// A moment, said in full.
    At(Timestamp),
    /// So long after the words were heard.
    After {
        /// Rounded up: nobody wakes too early.
        millis: u64,
    },
    /// A time of day, a date, or both.
    Clock(Clock),
    /// No time, but the name of the quota that was spent: it comes back when its window ends.
    Quota(Window),
}

/// The window of a quota.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Window {
    /// A minute from the first request in it: all of it is over a minute from now.
    Minute,
    /// A day; the provider whose quotas are named so lets them end at midnight in California.
    Day,
}

/// A [`Reset`], resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Until {
    /// The moment, which may have just passed; none where the words leave it open.
    pub at: Option<Timestamp>,
    /// Something was not said (zone, date, which half of the day), and was supposed.
    pub assumed: bool,
}

impl Reset {
    /// The first reset time in the words of a limit notice; none where they name none. A moment said in full outranks
    /// a clock time or a span that stands before it. Only the first 16 KiB are looked at.
    #[must_use]
    pub fn find(words: &str) -> Option<Self> {
        find::find(words)
    }

    /// What a header or a scalar field holds, by its name: `retry-after` and its kin, whatever is called `reset`.
    /// None where the name promises no time or the value holds none.
    #[must_use]
    pub fn field(name: &str, value: &str) -> Option<Self> {
        let text = token::capped(value);
        let tokens = tokens(text);
        let form = name::Name::of(name).form()?;
        find::said(&tokens, text, form)
    }

    /// From a number of seconds or milliseconds since the Unix epoch, told apart by their size; none for one that
    /// is neither, such as a count.
    #[must_use]
    pub fn epoch(number: u64) -> Option<Self> {
        Decimal::whole(number).epoch()
    }

    /// In so many seconds.
    #[must_use]
    pub const fn seconds(number: u64) -> Self {
        Self::After {
            millis: Span::from_secs(number).as_millis(),
        }
    }

    /// The moment, given when the words were heard and the host's own zone.
    #[must_use]
    pub fn resolve(&self, heard: Timestamp, host: &Zone) -> Until {
        match self {
            Self::At(at) => Until::exactly(*at),
            Self::After { millis } => Until::exactly(heard.after(Span::from_millis(*millis))),
            Self::Clock(clock) => moment::of_clock(clock, heard, host),
            Self::Quota(Window::Minute) => Until::supposed(heard.after(MINUTE)),
            Self::Quota(Window::Day) => moment::of_day(heard),
        }
    }
}

impl Until {
    const fn exactly(at: Timestamp) -> Self {
        Self {
            at: Some(at),
            assumed: false,
        }
    }

    const fn supposed(at: Timestamp) -> Self {
        Self {
            at: Some(at),
            assumed: true,
        }
    }

    /// The words leave the moment open.
    const OPEN: Self = Self {
        at: None,
        assumed: true,
    };
}
