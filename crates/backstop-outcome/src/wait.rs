//! How long an automatic resume waits. The random number is handed in; the same arguments give the same moment.

use backstop_vocab::{Span, Timestamp};
use serde::{Deserialize, Serialize};

use crate::Interruption;

/// The shortest wait for a known reset, for real providers.
pub const QUOTA_FLOOR: Span = Span::from_mins(1);

/// The longest wait for a known reset: 8 days, a weekly limit with a day to spare.
pub const QUOTA_HORIZON: Span = Span::from_hours(8 * 24);

/// What to do about a provider's limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wait {
    /// Resume then.
    Until(Timestamp),
    /// The reset, as the provider told it, lies beyond the horizon: a person decides.
    TooFar(Timestamp),
}

/// How long a provider's limit is waited out.
///
/// A known reset (`until`) is waited for exactly, but never less than `floor` ([`QUOTA_FLOOR`] for real providers) and
/// never more than [`QUOTA_HORIZON`] from `now`. Without one the wait is 1 minute after no earlier wait in a row,
/// doubling with each of `waits` to 30 minutes, and up to a tenth longer by `jitter`, which is any random number.
#[must_use]
pub fn quota_wait(
    until: Option<Timestamp>,
    now: Timestamp,
    waits: u64,
    jitter: u64,
    floor: Span,
) -> Wait {
    match until {
        Some(reset) if reset > now.after(QUOTA_HORIZON) => Wait::TooFar(reset),
        Some(reset) => Wait::Until(reset.max(now.after(floor.min(QUOTA_HORIZON)))),
        None => Wait::Until(now.after(jittered(doubling(waits), jitter))),
    }
}

const fn doubling(waits: u64) -> Span {
    match waits {
        0 => Span::from_mins(1),
        1 => Span::from_mins(2),
        2 => Span::from_mins(4),
        3 => Span::from_mins(8),
        4 => Span::from_mins(16),
        5.. => Span::from_mins(30),
    }
}

/// When an interrupted attempt is resumed: at once when the runner died, else after [`fault_wait`].
#[must_use]
pub fn interruption_wait(
    by: Interruption,
    faults_in_a_row: u64,
    now: Timestamp,
    jitter: u64,
) -> Timestamp {
    match by {
        Interruption::RunnerDied => now,
        Interruption::Network | Interruption::StreamCut | Interruption::Provider => {
            fault_wait(faults_in_a_row, now, jitter)
        }
    }
}

/// When to try again after this many faults in a row, this one included (none counts as one): after 1, 5, 20, then
/// always 60 minutes, and up to a tenth longer by `jitter`, which is any random number.
#[must_use]
pub fn fault_wait(faults_in_a_row: u64, now: Timestamp, jitter: u64) -> Timestamp {
    let span = match faults_in_a_row {
        0 | 1 => Span::from_mins(1),
        2 => Span::from_mins(5),
        3 => Span::from_mins(20),
        4.. => Span::from_mins(60),
    };
    now.after(jittered(span, jitter))
}

/// The span and up to a tenth of it.
fn jittered(span: Span, jitter: u64) -> Span {
    let most = span.as_millis() / 10;
    let extra = jitter.checked_rem(most.saturating_add(1)).unwrap_or(0);
    span.plus(Span::from_millis(extra))
}
