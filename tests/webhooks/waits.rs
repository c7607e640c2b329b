//! How long it takes until the next attempt.

use std::time::Duration;

use forum_api::webhook::Backoff;
use proptest::prelude::*;

/// What the wait is after each failure at the least, in seconds.
const WAITS: [u64; 10] = [30, 60, 120, 240, 480, 960, 1920, 3600, 3600, 3600];

#[test]
fn it_starts_at_half_a_minute_and_doubles_up_to_an_hour() {
    for (failed, seconds) in (1..).zip(WAITS) {
        let wait = Backoff::default().wait(failed, 0.0);
        assert_eq!(wait, Duration::from_secs(seconds), "after {failed}");
    }
}

#[test]
fn it_is_up_to_a_fifth_longer() {
    let backoff = Backoff::default();
    for (failed, half, most) in [(1, 33, 36), (5, 528, 576), (7, 2112, 2304), (8, 3600, 3600)] {
        assert_eq!(backoff.wait(failed, 0.5), Duration::from_secs(half));
        let nearly = backoff.wait(failed, 1.0 - f64::EPSILON);
        assert!(
            Duration::from_secs(most).abs_diff(nearly) < Duration::from_millis(1),
            "{nearly:?}"
        );
    }
}

#[test]
fn an_operator_may_want_other_waits() {
    let backoff = Backoff {
        initial: Duration::from_millis(100),
        max: Duration::from_millis(300),
    };
    let waits = [1, 2, 3, 4].map(|failed| backoff.wait(failed, 0.0).as_millis());
    assert_eq!(waits, [100, 200, 300, 300]);
}

proptest! {
    #[test]
    fn it_is_never_shorter_than_it_was_to_be_nor_longer_than_the_longest(
        initial in 0..1u64 << 40, max in 0..1u64 << 40, failed: u32, random in 0.0..1.0,
    ) {
        let backoff = Backoff { initial: Duration::from_millis(initial), max: Duration::from_millis(max) };
        let wait = backoff.wait(failed, random);
        prop_assert!(wait <= backoff.max);
        prop_assert!(wait >= backoff.initial.min(backoff.max));
    }
}
