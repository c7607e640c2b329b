//! States and backoff of deliveries (`docs/protocol.md`, sections 13.10 and 13.11).

use std::time::Duration;

use forum_api::webhook::AttemptOutcome::{
    DecryptionFailed, LeaseExpired, NoResponse, Responded, Withheld,
};
use forum_api::webhook::{AttemptOutcome, Backoff, DeliveryProgress, DeliveryState};
use proptest::prelude::*;

use crate::sample::after;

/// Returns the progress after a sequence of outcomes.
fn after_outcomes(outcomes: &[AttemptOutcome]) -> DeliveryProgress {
    let queued = DeliveryProgress::queued(after(0));
    outcomes.iter().fold(queued, |progress, outcome| {
        progress.after_attempt(*outcome, &Backoff::default(), after(0), 0.0)
    })
}

/// Number of failures, the next outcome, and then state, attempts and delay in seconds.
#[rustfmt::skip]
const TABLE: &[(usize, AttemptOutcome, DeliveryState, u32, Option<i64>)] = &[
    (0, Responded(200), DeliveryState::Delivered, 1, None),
    (0, Responded(299), DeliveryState::Delivered, 1, None),
    (2, Responded(204), DeliveryState::Delivered, 3, None),
    (5, Responded(200), DeliveryState::Delivered, 6, None),
    (0, Responded(500), DeliveryState::Retrying, 1, Some(30)),
    (1, Responded(404), DeliveryState::Retrying, 2, Some(60)),
    (2, Responded(301), DeliveryState::Retrying, 3, Some(120)),
    (3, Responded(199), DeliveryState::Retrying, 4, Some(240)),
    (4, Responded(429), DeliveryState::Retrying, 5, Some(480)),
    (5, Responded(300), DeliveryState::Dead, 6, None),
    (0, NoResponse, DeliveryState::Retrying, 1, Some(30)),
    (5, NoResponse, DeliveryState::Dead, 6, None),
    (0, LeaseExpired, DeliveryState::Retrying, 1, Some(30)),
    (4, LeaseExpired, DeliveryState::Retrying, 5, Some(480)),
    (5, LeaseExpired, DeliveryState::Dead, 6, None),
    (0, Responded(410), DeliveryState::Gone, 1, None),
    (3, Responded(410), DeliveryState::Gone, 4, None),
    (5, Responded(410), DeliveryState::Gone, 6, None),
    (0, Withheld, DeliveryState::Withheld, 0, None),
    (5, Withheld, DeliveryState::Withheld, 5, None),
    (0, DecryptionFailed(Duration::from_secs(7)), DeliveryState::Retrying, 0, Some(7)),
    (5, DecryptionFailed(Duration::from_secs(7)), DeliveryState::Retrying, 5, Some(7)),
];

#[test]
fn an_outcome_determines_state_attempts_and_delay() {
    for (failures, outcome, state, attempts, wait) in TABLE {
        let before = vec![NoResponse; *failures];
        let progress = after_outcomes(&[before.as_slice(), &[*outcome]].concat());
        let mut expected = DeliveryProgress::queued(after(0));
        expected.state = *state;
        expected.attempts = *attempts;
        expected.due_at = wait.map(|seconds| after(seconds * 1000));
        assert_eq!(progress, expected, "{outcome:?} after {failures} failures");
        if !state.is_pending() {
            let later = progress.after_attempt(Responded(500), &Backoff::default(), after(9), 0.0);
            assert_eq!(later, progress, "a finished delivery does not change");
        }
    }
}

#[test]
fn the_backoff_doubles_up_to_an_hour_with_jitter_of_a_fifth() {
    let custom = Backoff { initial: Duration::from_millis(100), max: Duration::from_millis(300) };
    let delays = |backoff: Backoff, random| {
        [1, 2, 3, 7, 8, 9].map(|failures| backoff.delay(failures, random).as_millis())
    };
    let seconds = |seconds: [u128; 6]| seconds.map(|seconds| seconds * 1000);
    let default = Backoff::default();
    let least = seconds([30, 60, 120, 1920, 3600, 3600]);
    assert_eq!(delays(default, 0.0), least);
    let longer = seconds([33, 66, 132, 2112, 3600, 3600]);
    assert_eq!(delays(default, 0.5), longer);
    assert_eq!(delays(custom, 0.0), [100, 200, 300, 300, 300, 300]);
}

proptest! {
    #[test]
    fn a_delay_is_between_the_initial_and_the_maximum_delay(
        initial in 0..1u64 << 40, max in 0..1u64 << 40, failures: u32, random in 0.0..1.0,
    ) {
        let backoff = Backoff { initial: Duration::from_millis(initial), max: Duration::from_millis(max) };
        let delay = backoff.delay(failures, random);
        prop_assert!(delay <= backoff.max);
        prop_assert!(delay >= backoff.initial.min(backoff.max));
    }
}
