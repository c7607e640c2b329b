//! Sums of the usage statistics.

use std::collections::HashMap;

use crate::model::EndpointId;
use crate::store::DeliveryCount;
use crate::webhook::State;

/// Number of deliveries in each state.
pub(super) fn by_state(counts: &[DeliveryCount]) -> [(State, u64); 6] {
    State::ALL.map(|state| {
        let in_it = counts.iter().filter(|one| one.state == state);
        (state, in_it.map(|one| one.count).sum())
    })
}

/// Number of deliveries to each endpoint, the largest first.
pub(super) fn by_endpoint(counts: &[DeliveryCount]) -> Vec<(&EndpointId, u64)> {
    let mut sums = HashMap::new();
    for one in counts {
        *sums.entry(&one.endpoint).or_insert(0) += one.count;
    }
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_by(|(one, few), (other, many)| many.cmp(few).then_with(|| one.cmp(other)));
    sums
}

/// Labels of the groups of attempts by duration.
pub(super) const DURATIONS: [&str; 6] = [
    "under 10 ms",
    "10 to 100 ms",
    "100 to 500 ms",
    "0.5 to 1 s",
    "1 to 5 s",
    "5 s or more",
];

/// The hours of the last day, the oldest first.
pub(super) struct Hours(pub(super) [Hour; 24]);

/// Deliveries that were queued in one hour, by their state now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Hour {
    pub(super) delivered: u64,
    /// An attempt is to come.
    pub(super) pending: u64,
    /// Dead, gone or withheld.
    pub(super) failed: u64,
}

impl Hours {
    pub(super) fn of(counts: &[DeliveryCount]) -> Self {
        let mut hours = [Hour::default(); 24];
        for one in counts {
            let ago = usize::try_from(one.hours_ago).unwrap_or(usize::MAX);
            if let Some(hour) = hours.iter_mut().rev().nth(ago) {
                hour.add(one.state, one.count);
            }
        }
        Self(hours)
    }

    /// The most in any hour; at least 1.
    pub(super) fn most(&self) -> u64 {
        self.0.iter().map(Hour::total).max().unwrap_or(0).max(1)
    }
}

impl Hour {
    fn add(&mut self, state: State, count: u64) {
        let sum = match state {
            State::Delivered => &mut self.delivered,
            State::Queued | State::Retrying => &mut self.pending,
            State::Dead | State::Gone | State::Withheld => &mut self.failed,
        };
        *sum += count;
    }

    pub(super) fn total(&self) -> u64 {
        self.delivered + self.pending + self.failed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(hours_ago: u64, state: State, endpoint: i64, count: u64) -> DeliveryCount {
        DeliveryCount {
            hours_ago,
            endpoint: EndpointId::from(endpoint),
            state,
            count,
        }
    }

    #[test]
    fn deliveries_are_summed_by_state_endpoint_and_hour() {
        let all = [
            count(0, State::Queued, 2, 1),
            count(0, State::Dead, 2, 20_000),
            count(1, State::Delivered, 1, 7),
            count(23, State::Delivered, 2, 2),
        ];
        let states = by_state(&all).map(|(_, count)| count);
        assert_eq!(states, [1, 0, 9, 20_000, 0, 0]);
        let endpoints: Vec<_> = by_endpoint(&all)
            .into_iter()
            .map(|(id, count)| (id.number().unwrap(), count))
            .collect();
        assert_eq!(endpoints, [(2, 20_003), (1, 7)]);
        let hours = Hours::of(&all);
        assert_eq!((hours.0[23].pending, hours.0[23].failed), (1, 20_000));
        assert_eq!((hours.0[22].delivered, hours.0[0].delivered), (7, 2));
        assert_eq!(hours.most(), 20_001);
    }
}
