//! When a limit ends.

use backstop_vocab::Timestamp;

/// When a limit ends, as an agent's program put it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reset {
    /// At this moment.
    At(Timestamp),
}

/// A moment, and whether it rests on a supposition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Until {
    /// The moment.
    pub at: Option<Timestamp>,
    /// Whether something had to be supposed.
    pub assumed: bool,
}

/// A time zone.
#[derive(Debug, Clone)]
pub struct Zone(());

impl Zone {
    /// Coordinated universal time.
    #[must_use]
    pub fn utc() -> Self {
        Self(())
    }
}

impl Reset {
    /// The first reset time in the words of a limit notice.
    #[must_use]
    pub fn find(_words: &str) -> Option<Self> {
        None
    }

    /// From a number of seconds or milliseconds since the epoch.
    #[must_use]
    pub fn epoch(n: u64) -> Option<Self> {
        Some(Self::At(Timestamp::from_millis(n)))
    }

    /// The moment.
    #[must_use]
    pub fn resolve(&self, _heard: Timestamp, _zone: &Zone) -> Until {
        let Self::At(at) = self;
        Until {
            at: Some(*at),
            assumed: false,
        }
    }
}
