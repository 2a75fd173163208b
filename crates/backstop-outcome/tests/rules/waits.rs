//! How long an automatic resume waits.

use backstop_outcome::{
    Interruption, QUOTA_FLOOR, QUOTA_HORIZON, Wait, fault_wait, interruption_wait, quota_wait,
};
use backstop_vocab::{Span, Timestamp};
use proptest::prelude::*;

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);

fn at(span: Span) -> Timestamp {
    NOW.after(span)
}

fn known(until: Timestamp) -> Wait {
    quota_wait(Some(until), NOW, 3, 77, QUOTA_FLOOR)
}

#[test]
fn a_known_reset_is_waited_for_exactly() {
    for span in [Span::from_mins(1), Span::from_hours(5), QUOTA_HORIZON] {
        assert_eq!(known(at(span)), Wait::Until(at(span)));
    }
}

#[test]
fn a_reset_that_is_past_or_too_near_waits_a_minute() {
    let minute = Wait::Until(at(Span::from_mins(1)));
    assert_eq!(known(Timestamp::from_millis(0)), minute);
    assert_eq!(known(NOW), minute);
    assert_eq!(known(at(Span::from_secs(59))), minute);
}

#[test]
fn a_reset_more_than_eight_days_away_is_a_persons_to_decide() {
    let last = at(Span::from_millis(8 * 86_400_000));
    assert_eq!(known(last), Wait::Until(last));
    let far = at(Span::from_millis(8 * 86_400_000 + 1));
    assert_eq!(known(far), Wait::TooFar(far));
    let end = Timestamp::from_millis(u64::MAX);
    assert_eq!(known(end), Wait::TooFar(end));
}

#[test]
fn a_caller_with_a_lower_floor_waits_as_little() {
    let soon = at(Span::from_secs(2));
    let wait = |until, floor| quota_wait(Some(until), NOW, 0, 0, floor);
    assert_eq!(wait(soon, Span::ZERO), Wait::Until(soon));
    assert_eq!(
        wait(NOW, Span::from_secs(1)),
        Wait::Until(at(Span::from_secs(1)))
    );
    let past = Timestamp::from_millis(0);
    assert_eq!(wait(past, Span::ZERO), Wait::Until(NOW));
    let floor = Span::from_hours(9_999);
    assert_eq!(
        wait(NOW, floor),
        Wait::Until(at(QUOTA_HORIZON)),
        "a floor is no way round the horizon"
    );
}

#[test]
fn an_unknown_reset_backs_off_from_one_minute_to_thirty() {
    let minutes = [1, 2, 4, 8, 16, 30, 30, 30];
    for (waits, minutes) in (0..).zip(minutes) {
        let wait = quota_wait(None, NOW, waits, 0, QUOTA_FLOOR);
        assert_eq!(wait, Wait::Until(at(Span::from_mins(minutes))), "{waits}");
    }
    let wait = quota_wait(None, NOW, u64::MAX, 0, QUOTA_FLOOR);
    assert_eq!(wait, Wait::Until(at(Span::from_mins(30))));
}

#[test]
fn a_dead_runner_waits_for_nothing() {
    for faults in [0, 1, 2, 3, 4, u64::MAX] {
        assert_eq!(
            interruption_wait(Interruption::RunnerDied, faults, NOW, 9),
            NOW
        );
    }
}

#[test]
fn other_interruptions_wait_one_five_twenty_and_sixty_minutes() {
    let rows = [
        (0, 1),
        (1, 1),
        (2, 5),
        (3, 20),
        (4, 60),
        (5, 60),
        (u64::MAX, 60),
    ];
    for by in [
        Interruption::Network,
        Interruption::StreamCut,
        Interruption::Provider,
    ] {
        for (faults, minutes) in rows {
            let wanted = at(Span::from_mins(minutes));
            assert_eq!(
                interruption_wait(by, faults, NOW, 0),
                wanted,
                "{by} {faults}"
            );
            assert_eq!(fault_wait(faults, NOW, 0), wanted);
        }
    }
}

#[test]
fn the_longest_jitter_is_a_tenth() {
    assert_eq!(fault_wait(1, NOW, 6_000), at(Span::from_millis(66_000)));
    assert_eq!(fault_wait(1, NOW, 6_001), at(Span::from_millis(60_000)));
    let wait = quota_wait(None, NOW, 9, 180_000, QUOTA_FLOOR);
    assert_eq!(wait, Wait::Until(at(Span::from_mins(33))));
}

#[test]
fn a_wait_is_written_with_its_moment() {
    let json = serde_json::to_string(&Wait::TooFar(Timestamp::from_millis(7))).unwrap();
    assert_eq!(json, r#"{"too_far":7}"#);
}

proptest! {
    #[test]
    fn a_wait_for_a_limit_ends_within_the_horizon(
        until in prop::option::of(any::<u64>()), now in any::<u64>(), waits in any::<u64>(),
        jitter in any::<u64>(), floor in any::<u64>(),
    ) {
        let (until, now) = (until.map(Timestamp::from_millis), Timestamp::from_millis(now));
        match quota_wait(until, now, waits, jitter, Span::from_millis(floor)) {
            Wait::Until(moment) => {
                prop_assert!(moment >= now && moment <= now.after(QUOTA_HORIZON));
            }
            Wait::TooFar(moment) => prop_assert_eq!(Some(moment), until),
        }
    }

    #[test]
    fn jitter_adds_at_most_a_tenth(faults in 0..9u64, jitter in any::<u64>()) {
        let least = fault_wait(faults, NOW, 0).since(NOW).as_millis();
        let found = fault_wait(faults, NOW, jitter).since(NOW).as_millis();
        prop_assert!(found >= least && found <= least + least / 10);
    }
}
