//! Periods of charts, and sums of hourly counts by interval.

use std::ops::AddAssign;
use std::time::Duration;

use crate::model::{DAY, HOUR, Timestamp};

/// Beginning of an interval, and the counts of the interval.
pub(super) type Interval<T> = (Timestamp, T);

/// A period of the page, divided into the columns of its charts.
#[derive(Debug)]
pub(super) struct Period {
    /// Value of the query parameter `period`.
    pub(super) value: &'static str,
    /// Length, as in "the last 24 hours".
    pub(super) name: &'static str,
    /// Length of an interval.
    pub(super) interval: Duration,
    pub(super) intervals: u32,
}

impl Period {
    /// The periods. The first is the default.
    pub(super) const ALL: [Self; 3] = [
        Self { value: "24h", name: "24 hours", interval: HOUR, intervals: 24 },
        Self { value: "7d", name: "7 days", interval: HOUR.saturating_mul(6), intervals: 28 },
        Self { value: "30d", name: "30 days", interval: DAY, intervals: 30 },
    ];

    /// Returns the period with this value, or the default.
    pub(super) fn parse(value: &str) -> &'static Self {
        let [default, ..] = &Self::ALL;
        let mut periods = Self::ALL.iter();
        periods.find(|one| one.value == value).unwrap_or(default)
    }

    /// Returns the beginning of the first interval.
    pub(super) fn since(&self, now: Timestamp) -> Timestamp {
        first_interval(now, self.interval, self.intervals)
    }

    pub(super) fn length(&self) -> Duration {
        self.interval.saturating_mul(self.intervals)
    }
}

/// Returns the beginning of the first of `count` intervals of a length, of which the last contains `now`.
pub(super) fn first_interval(now: Timestamp, length: Duration, count: u32) -> Timestamp {
    let before = length.saturating_mul(count.saturating_sub(1));
    now.interval_start(length).saturating_sub(before)
}

/// Sums the counts of hours by interval, the oldest interval first. Omits hours outside of the intervals.
pub(super) fn intervals<T: AddAssign + Clone + Default>(
    hours: impl Iterator<Item = Interval<T>>,
    now: Timestamp,
    length: Duration,
    count: u32,
) -> Vec<Interval<T>> {
    let first = first_interval(now, length, count);
    let starts = (0..count).map(|index| first.saturating_add(length.saturating_mul(index)));
    let mut sums: Vec<_> = starts.map(|start| (start, T::default())).collect();
    for (hour, counts) in hours {
        let start = hour.interval_start(length);
        if let Some((_, sum)) = sums.iter_mut().find(|(other, _)| *other == start) {
            *sum += counts;
        }
    }
    sums
}

/// Sums the counts of all intervals.
pub(super) fn total<T: AddAssign + Clone + Default>(intervals: &[Interval<T>]) -> T {
    let mut total = T::default();
    for (_, counts) in intervals {
        total += counts.clone();
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hours_are_summed_by_interval_up_to_now() {
        let hour = |number: i64| Timestamp::from_millis(number * 60 * 60 * 1000);
        let now = hour(49).saturating_add(Duration::from_millis(17));
        let stored =
            [(hour(-24 * 30), 1), (hour(23), 2), (hour(26), 4), (hour(47), 8), (hour(49), 16)];
        let days = intervals(stored.into_iter(), now, DAY, 30);
        assert_eq!((days.len(), days.first()), (30, Some(&(hour(-24 * 27), 0))));
        assert!(days.ends_with(&[(hour(0), 2), (hour(24), 12), (hour(48), 16)]));
        let hours = intervals(stored.into_iter(), now, HOUR, 24);
        assert_eq!(hours.first(), Some(&(hour(26), 4)));
        assert_eq!(hours.last(), Some(&(hour(49), 16)));
        assert_eq!(total(&hours), 28);
    }
}
