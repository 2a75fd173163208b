//! When an attempt has been silent or has run for too long. Pure: the clock is handed in.
//!
//! Deliberately absent: what then happens. And real time: only time in which this process itself ran is counted.

use std::time::Duration;

use tokio::time::Instant;

/// The longest the watchdog sleeps in one go.
pub(super) const TICK: Duration = Duration::from_secs(5);

/// The most that one look at the clock counts. A machine that was suspended, a paused virtual machine or a stopped
/// runner makes the clock jump; nobody was silent in the gap, since nobody was listening.
const MOST_STEP: Duration = Duration::from_secs(10);

/// Which limit was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Due {
    /// No output for the allowed silence.
    Silence,
    /// The attempt's whole time.
    Wall,
    /// Still there after its terminal event.
    Linger,
}

/// The three limits of an attempt and the time that counts against each.
#[derive(Debug)]
pub(super) struct Watchdog {
    silence: Limit,
    wall: Limit,
    linger: Limit,
    active: Duration,
    last: Instant,
}

#[derive(Debug)]
struct Limit {
    most: Option<Duration>,
    spent: Duration,
}

impl Limit {
    fn new(most: Option<Duration>) -> Self {
        Self {
            most,
            spent: Duration::ZERO,
        }
    }

    fn left(&self) -> Option<Duration> {
        self.most.map(|most| most.saturating_sub(self.spent))
    }
}

impl Watchdog {
    /// Starts counting at `now`.
    pub(super) fn new(silence: Option<Duration>, wall: Option<Duration>, now: Instant) -> Self {
        Self {
            silence: Limit::new(silence),
            wall: Limit::new(wall),
            linger: Limit::new(None),
            active: Duration::ZERO,
            last: now,
        }
    }

    /// Counts the time up to `now`.
    pub(super) fn pass(&mut self, now: Instant) {
        let step = now.saturating_duration_since(self.last).min(MOST_STEP);
        self.last = now;
        self.active += step;
        for limit in [&mut self.silence, &mut self.wall, &mut self.linger] {
            limit.spent += step;
        }
    }

    /// Output was heard at `now`: silence begins anew.
    pub(super) fn hear(&mut self, now: Instant) {
        self.pass(now);
        self.silence.spent = Duration::ZERO;
    }

    /// From here on this much silence is allowed; the silence so far counts.
    pub(super) fn allow_silence(&mut self, most: Option<Duration>) {
        // After the terminal event there is no limit of silence to be set any more.
        if self.linger.most.is_none() {
            self.silence.most = most;
        }
    }

    /// The terminal event was heard: only lingering is limited from here on.
    pub(super) fn finish(&mut self, linger: Duration) {
        if self.linger.most.is_none() {
            self.silence.most = None;
            self.wall.most = None;
            self.linger = Limit::new(Some(linger));
        }
    }

    /// The limit that is reached.
    pub(super) fn due(&self) -> Option<Due> {
        let limits = [
            (&self.linger, Due::Linger),
            (&self.wall, Due::Wall),
            (&self.silence, Due::Silence),
        ];
        let reached = limits
            .into_iter()
            .find(|(limit, _)| limit.left() == Some(Duration::ZERO));
        reached.map(|(_, due)| due)
    }

    /// How long to sleep until the next look at the clock.
    pub(super) fn sleep(&self) -> Duration {
        let left = [&self.silence, &self.wall, &self.linger].map(Limit::left);
        left.into_iter().flatten().min().unwrap_or(TICK).min(TICK)
    }

    /// How long it has been silent.
    pub(super) fn silent(&self) -> Duration {
        self.silence.spent
    }

    /// How long the attempt has run.
    pub(super) fn active(&self) -> Duration {
        self.active
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn run(dog: &mut Watchdog, from: Instant, seconds: u32) -> Instant {
        let mut now = from;
        for _ in 0..seconds {
            now += SECOND;
            dog.pass(now);
        }
        now
    }

    #[test]
    fn any_output_begins_the_silence_anew() {
        let start = Instant::now();
        let mut dog = Watchdog::new(Some(10 * SECOND), None, start);
        let now = run(&mut dog, start, 9);
        assert_eq!(dog.due(), None);
        dog.hear(now);
        let now = run(&mut dog, now, 8);
        dog.hear(now + SECOND);
        let now = run(&mut dog, now + SECOND, 9);
        assert_eq!(dog.due(), None);
        run(&mut dog, now, 1);
        assert_eq!(dog.due(), Some(Due::Silence));
    }

    #[test]
    fn talking_does_not_put_off_the_wall() {
        let start = Instant::now();
        let mut dog = Watchdog::new(Some(10 * SECOND), Some(20 * SECOND), start);
        let mut now = start;
        for _ in 0..20 {
            assert_eq!(dog.due(), None);
            now = run(&mut dog, now, 1);
            dog.hear(now);
        }
        assert_eq!(dog.due(), Some(Due::Wall));
    }

    #[test]
    fn a_suspended_machine_is_not_silent() {
        let start = Instant::now();
        let mut dog = Watchdog::new(Some(60 * SECOND), Some(120 * SECOND), start);
        let now = start + Duration::from_hours(8);
        dog.pass(now);
        assert_eq!(dog.due(), None);
        assert_eq!(dog.active(), MOST_STEP);
        run(&mut dog, now, 50);
        assert_eq!(dog.due(), Some(Due::Silence));
    }

    #[test]
    fn an_open_tool_call_may_be_silent_for_longer() {
        let start = Instant::now();
        let mut dog = Watchdog::new(Some(10 * SECOND), None, start);
        dog.allow_silence(Some(30 * SECOND));
        let now = run(&mut dog, start, 29);
        assert_eq!(dog.due(), None);
        dog.allow_silence(Some(10 * SECOND));
        assert_eq!(dog.due(), Some(Due::Silence));
        dog.allow_silence(None);
        run(&mut dog, now, 1000);
        assert_eq!(dog.due(), None);
    }

    #[test]
    fn after_the_terminal_event_only_lingering_is_limited() {
        let start = Instant::now();
        let mut dog = Watchdog::new(Some(10 * SECOND), Some(20 * SECOND), start);
        dog.finish(60 * SECOND);
        let now = run(&mut dog, start, 59);
        dog.allow_silence(Some(SECOND));
        dog.finish(60 * SECOND);
        assert_eq!(dog.due(), None);
        run(&mut dog, now, 1);
        assert_eq!(dog.due(), Some(Due::Linger));
    }

    #[test]
    fn it_sleeps_until_the_nearest_limit_and_never_longer_than_a_tick() {
        let start = Instant::now();
        assert_eq!(Watchdog::new(None, None, start).sleep(), TICK);
        let mut dog = Watchdog::new(Some(60 * SECOND), Some(10 * SECOND), start);
        run(&mut dog, start, 8);
        assert_eq!(dog.sleep(), 2 * SECOND);
    }
}
