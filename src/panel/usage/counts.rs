//! How many of what: functions of what was read.

use std::collections::HashMap;

use crate::model::{EndpointId, Timestamp};
use crate::webhook::{Delivery, State};

const HOUR: i64 = 60 * 60 * 1000;

/// How many deliveries are in each state.
pub(super) fn by_state(deliveries: &[Delivery]) -> [(State, usize); 6] {
    State::ALL.map(|state| {
        let in_it = deliveries.iter().filter(|one| one.progress.state == state);
        (state, in_it.count())
    })
}

/// How many went to each endpoint, the most first.
pub(super) fn by_endpoint(deliveries: &[Delivery]) -> Vec<(&EndpointId, usize)> {
    let mut counts = HashMap::new();
    for delivery in deliveries {
        *counts.entry(&delivery.endpoint).or_insert(0) += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by(|(one, few), (other, many)| many.cmp(few).then_with(|| one.cmp(other)));
    counts
}

/// The upper ends of what attempts are sorted into, in milliseconds.
const STEPS: [(u64, &str); 6] = [
    (10, "under 10 ms"),
    (100, "10 to 100 ms"),
    (500, "100 to 500 ms"),
    (1_000, "0.5 to 1 s"),
    (5_000, "1 to 5 s"),
    (u64::MAX, "5 s or more"),
];

/// How many attempts took about as long.
pub(super) fn durations(took: &[u64]) -> Vec<(&'static str, usize)> {
    let mut counts = STEPS.map(|(_, label)| (label, 0));
    for took in took {
        let step = STEPS.iter().position(|(end, _)| took < end);
        if let Some((_, count)) = step.and_then(|step| counts.get_mut(step)) {
            *count += 1;
        }
    }
    counts.into()
}

/// The hours of the last day, the oldest first.
pub(super) struct Hours(pub(super) [Hour; 24]);

/// What was queued in an hour, by what became of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Hour {
    pub(super) delivered: usize,
    /// It is still to be sent.
    pub(super) pending: usize,
    /// It is dead, gone or withheld.
    pub(super) failed: usize,
}

impl Hours {
    pub(super) fn of(deliveries: &[Delivery], now: Timestamp) -> Self {
        let mut hours = [Hour::default(); 24];
        for delivery in deliveries {
            let age = now
                .as_millis()
                .saturating_sub(delivery.created_at.as_millis());
            let ago = usize::try_from(age.max(0) / HOUR).unwrap_or(usize::MAX);
            if let Some(hour) = hours.iter_mut().rev().nth(ago) {
                hour.count(delivery.progress.state);
            }
        }
        Self(hours)
    }

    /// The most in any hour; at least 1.
    pub(super) fn most(&self) -> usize {
        self.0.iter().map(Hour::total).max().unwrap_or(0).max(1)
    }
}

impl Hour {
    fn count(&mut self, state: State) {
        let counted = match state {
            State::Delivered => &mut self.delivered,
            State::Queued | State::Retrying => &mut self.pending,
            State::Dead | State::Gone | State::Withheld => &mut self.failed,
        };
        *counted += 1;
    }

    pub(super) fn total(&self) -> usize {
        self.delivered + self.pending + self.failed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{DeliveryId, EventId};
    use crate::webhook::{Progress, Topic};

    fn delivery(at: i64, state: State, endpoint: i64) -> Delivery {
        Delivery {
            id: DeliveryId::from(at),
            event: EventId::from(1),
            topic: Topic::PING,
            endpoint: EndpointId::from(endpoint),
            created_at: Timestamp::from_millis(at),
            progress: Progress {
                state,
                attempts: 1,
                due_at: None,
            },
        }
    }

    #[test]
    fn deliveries_are_counted_by_state_endpoint_and_hour() {
        let now = Timestamp::from_millis(24 * HOUR);
        let all = [
            delivery(24 * HOUR, State::Queued, 2),
            delivery(23 * HOUR + 1, State::Dead, 2),
            delivery(23 * HOUR, State::Delivered, 1),
            delivery(1, State::Delivered, 2),
        ];
        assert_eq!(by_state(&all).map(|(_, count)| count), [1, 0, 2, 1, 0, 0]);
        let endpoints: Vec<_> = by_endpoint(&all)
            .into_iter()
            .map(|(id, count)| (id.number().unwrap(), count))
            .collect();
        assert_eq!(endpoints, [(2, 3), (1, 1)]);
        let hours = Hours::of(&all, now);
        assert_eq!((hours.0[23].pending, hours.0[23].failed), (1, 1));
        assert_eq!((hours.0[22].delivered, hours.0[0].delivered), (1, 1));
        assert_eq!(hours.most(), 2);
    }

    #[test]
    fn attempts_are_sorted_by_how_long_they_took() {
        let counts = durations(&[0, 9, 10, 999, 1_000, 60_000]);
        let counts: Vec<_> = counts.into_iter().map(|(_, count)| count).collect();
        assert_eq!(counts, [2, 1, 0, 1, 1, 1]);
    }
}
