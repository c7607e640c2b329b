//! The states of a delivery (spec, States and transitions; contract, section 8).

use forum_api::model::Timestamp;
use forum_api::webhook::Outcome::{Answered, LeaseExpired, Unanswered, Withheld};
use forum_api::webhook::{ATTEMPTS, Backoff, Outcome, Progress, State};
use proptest::prelude::*;

use crate::sample::after;

/// What the outcomes of a delivery's attempts, one after another, make of it.
fn made_of(outcomes: &[Outcome]) -> Progress {
    outcomes
        .iter()
        .fold(Progress::queued(after(0)), |progress, outcome| {
            progress.after(*outcome, &Backoff::default(), after(0), 0.0)
        })
}

/// As many failures before the last outcome, and what comes of it: the state, the attempts, and the wait in seconds.
#[rustfmt::skip]
const TABLE: &[(usize, Outcome, State, u32, Option<i64>)] = &[
    (0, Answered(200), State::Delivered, 1, None),
    (0, Answered(299), State::Delivered, 1, None),
    (2, Answered(204), State::Delivered, 3, None),
    (5, Answered(200), State::Delivered, 6, None),
    (0, Answered(500), State::Retrying, 1, Some(30)),
    (1, Answered(404), State::Retrying, 2, Some(60)),
    (2, Answered(301), State::Retrying, 3, Some(120)),
    (3, Answered(199), State::Retrying, 4, Some(240)),
    (4, Answered(429), State::Retrying, 5, Some(480)),
    (5, Answered(300), State::Dead, 6, None),
    (0, Unanswered, State::Retrying, 1, Some(30)),
    (5, Unanswered, State::Dead, 6, None),
    (0, LeaseExpired, State::Retrying, 1, Some(30)),
    (4, LeaseExpired, State::Retrying, 5, Some(480)),
    (5, LeaseExpired, State::Dead, 6, None),
    (0, Answered(410), State::Gone, 1, None),
    (3, Answered(410), State::Gone, 4, None),
    (5, Answered(410), State::Gone, 6, None),
    (0, Withheld, State::Withheld, 0, None),
    (5, Withheld, State::Withheld, 5, None),
];

#[test]
fn every_path_of_the_table() {
    for (failures, outcome, state, attempts, wait) in TABLE {
        let before = vec![Unanswered; *failures];
        let progress = made_of(&[before.as_slice(), &[*outcome]].concat());
        let expected = Progress {
            state: *state,
            attempts: *attempts,
            due_at: wait.map(|seconds| after(seconds * 1000)),
        };
        assert_eq!(progress, expected, "{outcome:?} after {failures} failures");
    }
}

#[test]
fn an_operator_retry_depends_on_the_state() {
    let queued = Progress::queued(after(7));
    let retrying = Progress {
        due_at: Some(after(7)),
        ..made_of(&[Unanswered; 2])
    };
    for (outcomes, expected) in [
        (vec![], None),
        (vec![Unanswered; 2], Some(retrying)),
        (vec![Answered(200)], Some(queued)),
        (vec![Withheld], Some(queued)),
        (vec![Unanswered; 6], Some(queued)),
        (vec![Unanswered, Answered(410)], Some(queued)),
    ] {
        let progress = made_of(&outcomes);
        assert_eq!(progress.retried(after(7)), expected, "{progress:?}");
    }
}

#[test]
fn a_state_is_found_by_its_name() {
    let names = State::ALL.map(State::as_str);
    let expected = [
        "queued",
        "retrying",
        "delivered",
        "dead",
        "gone",
        "withheld",
    ];
    assert_eq!(names, expected);
    assert_eq!(names.map(|name| State::new(name).unwrap()), State::ALL);
    assert_eq!(State::new("Queued"), None);
}

fn outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        4 => (100..600_u16).prop_map(Answered),
        1 => (200..300_u16).prop_map(Answered),
        1 => Just(Answered(410)),
        4 => Just(Unanswered),
        2 => Just(LeaseExpired),
        1 => Just(Withheld),
    ]
}

/// One thing that happens to a delivery.
#[derive(Clone, Debug)]
enum Step {
    Attempt(Outcome, f64),
    Retry,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        9 => (outcome(), 0.0..1.0).prop_map(|(outcome, random)| Step::Attempt(outcome, random)),
        1 => Just(Step::Retry),
    ]
}

/// What the specification says in other words: the outcomes since it was queued.
#[derive(Debug, Default)]
struct Model(Vec<Outcome>);

impl Model {
    fn state(&self) -> State {
        match (self.0.last(), self.0.len()) {
            (None, _) => State::Queued,
            (Some(Withheld), _) => State::Withheld,
            (Some(Answered(410)), _) => State::Gone,
            (Some(Answered(status)), _) if status / 100 == 2 => State::Delivered,
            (_, 6..) => State::Dead,
            _ => State::Retrying,
        }
    }

    fn attempts(&self) -> usize {
        let sent = self.0.iter().filter(|outcome| **outcome != Withheld);
        sent.count()
    }
}

/// When a delivery is due, told from when it was before and how the attempt ended.
fn check_due(progress: &Progress, now: Timestamp) -> Result<(), TestCaseError> {
    let wait = progress.due_at.map(|due| due.since(now).as_millis());
    let least = 30_000 << progress.attempts.saturating_sub(1);
    let expected = match progress.state {
        State::Queued => Some(0..1),
        State::Retrying => Some(least..least + least / 5 + 1),
        _ => None,
    };
    let fits = |(wait, expected): (u128, std::ops::Range<u128>)| expected.contains(&wait);
    prop_assert_eq!(wait.is_some(), expected.is_some());
    prop_assert!(wait.zip(expected).is_none_or(fits), "{progress:?}");
    Ok(())
}

proptest! {
    #[test]
    fn whatever_happens_it_is_in_the_state_that_the_specification_says(steps in prop::collection::vec(step(), 0..40)) {
        let backoff = Backoff::default();
        let (mut progress, mut model) = (Progress::queued(after(0)), Model::default());
        for (now, step) in (1..).map(after).zip(steps) {
            let before = progress;
            let is_made_due = matches!(step, Step::Retry) && before.state == State::Retrying;
            match step {
                Step::Attempt(outcome, random) => {
                    progress = before.after(outcome, &backoff, now, random);
                    if before.state.is_pending() {
                        model.0.push(outcome);
                    }
                }
                Step::Retry => {
                    let again = before.retried(now);
                    prop_assert_eq!(again.is_some(), before.state != State::Queued);
                    progress = again.unwrap_or(before);
                    if !before.state.is_pending() {
                        model = Model::default();
                    }
                }
            }
            prop_assert_eq!(progress.state, model.state());
            prop_assert_eq!(progress.attempts as usize, model.attempts());
            prop_assert!(progress.attempts <= ATTEMPTS);
            if is_made_due {
                let due_at = Some(now);
                prop_assert_eq!(progress, Progress { due_at, ..before });
            } else if progress == before {
                prop_assert_eq!(progress.due_at.is_some(), progress.state.is_pending());
            } else {
                check_due(&progress, now)?;
            }
        }
    }
}
