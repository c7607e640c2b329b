//! Numbers and latencies of the requests of an operation.

use std::borrow::Cow;
use std::ops::AddAssign;
use std::time::Duration;

use super::UsageCounts;
use crate::model::Timestamp;

/// Histogram of response durations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LatencyHistogram {
    /// Sum of the durations, in milliseconds.
    pub total_millis: u64,
    /// Numbers of responses by duration. Bucket `i` counts the responses that took at least `BOUNDS_MS[i - 1]` and less
    /// than [`BOUNDS_MS[i]`](Self::BOUNDS_MS) milliseconds. The last bucket counts the responses that took 5 s or longer.
    pub buckets: [u64; 10],
}

impl LatencyHistogram {
    /// Exclusive upper bounds of all buckets except the last, in milliseconds.
    pub const BOUNDS_MS: [u64; 9] = [5, 10, 25, 50, 100, 250, 500, 1000, 5000];

    /// Columns of the buckets.
    #[cfg(any(feature = "postgres", feature = "sqlite"))]
    pub(crate) const COLUMNS: [&'static str; 10] = [
        "under_5_ms",
        "under_10_ms",
        "under_25_ms",
        "under_50_ms",
        "under_100_ms",
        "under_250_ms",
        "under_500_ms",
        "under_1_s",
        "under_5_s",
        "from_5_s",
    ];

    /// Counts one response.
    pub fn record(&mut self, duration: Duration) {
        let millis = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        self.total_millis = self.total_millis.saturating_add(millis);
        let bucket = Self::BOUNDS_MS.partition_point(|bound| *bound <= millis);
        if let Some(count) = self.buckets.get_mut(bucket) {
            *count += 1;
        }
    }

    /// Returns the number of responses.
    pub fn count(&self) -> u64 {
        self.buckets.iter().sum()
    }

    /// Returns the mean duration, rounded down to milliseconds; `None` without responses.
    pub fn mean(&self) -> Option<Duration> {
        let mean = self.total_millis.checked_div(self.count())?;
        Some(Duration::from_millis(mean))
    }

    /// Estimates the duration that `percent` of the responses did not exceed. A `percent` above 100 counts as 100. Returns
    /// `None` without responses.
    ///
    /// The estimate assumes that the responses of a bucket are distributed evenly. It is between the bounds of the
    /// bucket that contains the exact value. If the exact value is 5 s or longer, the estimate is 5 s.
    pub fn percentile(&self, percent: u8) -> Option<Duration> {
        let rank = self.count() as f64 * f64::from(percent.min(100)) / 100.0;
        let mut below = 0.0;
        let mut lower = 0;
        for (count, bound) in self.buckets.iter().zip(Self::BOUNDS_MS) {
            let count = *count as f64;
            if count > 0.0 && below + count >= rank {
                let width = (bound - lower) as f64;
                let millis = lower as f64 + width * (rank - below) / count;
                return Some(Duration::from_secs_f64(millis / 1000.0));
            }
            below += count;
            lower = bound;
        }
        (self.count() > 0).then(|| Duration::from_millis(lower))
    }
}

impl AddAssign for LatencyHistogram {
    fn add_assign(&mut self, other: Self) {
        self.total_millis = self.total_millis.saturating_add(other.total_millis);
        for (sum, count) in self.buckets.iter_mut().zip(other.buckets) {
            *sum += count;
        }
    }
}

/// Numbers and durations of the requests of an operation, with and without a token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OperationCounts {
    /// Numbers of requests.
    pub usage: UsageCounts,
    /// Durations of the responses.
    pub latency: LatencyHistogram,
}

impl OperationCounts {
    /// Number of columns in the table `forum_api_operation_usage`, without hour and operation.
    #[cfg(feature = "postgres")]
    pub(crate) const COLUMNS: usize = UsageCounts::COLUMNS + 1 + LatencyHistogram::COLUMNS.len();

    /// Returns the values in the order of the columns.
    #[cfg(any(feature = "postgres", feature = "sqlite"))]
    pub(crate) fn to_row(self) -> impl Iterator<Item = i64> {
        let LatencyHistogram {
            total_millis,
            buckets,
        } = self.latency;
        let latency = [total_millis].into_iter().chain(buckets);
        let latency = latency.map(|count| i64::try_from(count).unwrap_or(i64::MAX));
        self.usage.to_row().into_iter().chain(latency)
    }
}

impl AddAssign for OperationCounts {
    fn add_assign(&mut self, other: Self) {
        self.usage += other.usage;
        self.latency += other.latency;
    }
}

/// Requests of one operation in one hour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationUsage {
    /// Beginning of the hour.
    pub hour: Timestamp,
    /// Id of the operation in the OpenAPI document, or [`DOCUMENT`](Self::DOCUMENT) or [`OTHER`](Self::OTHER).
    pub operation: Cow<'static, str>,
    /// Numbers of requests.
    pub counts: OperationCounts,
}

impl OperationUsage {
    /// Operation of requests for the OpenAPI document.
    pub const DOCUMENT: &'static str = "openapi";

    /// Operation of requests that no endpoint handles.
    pub const OTHER: &'static str = "other";
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(millis: &[u64]) -> LatencyHistogram {
        let mut counts = LatencyHistogram::default();
        for millis in millis {
            counts.record(Duration::from_millis(*millis));
        }
        counts
    }

    #[test]
    fn a_duration_at_a_bound_belongs_to_the_longer_bucket() {
        let counts = counts(&[0, 4, 5, 24, 25, 999, 1000, 4999, 5000, 60_000]);
        assert_eq!(counts.buckets, [2, 1, 1, 1, 0, 0, 0, 1, 2, 2]);
        assert_eq!((counts.count(), counts.total_millis), (10, 72_056));
        assert_eq!(counts.mean(), Some(Duration::from_millis(7205)));
    }

    #[test]
    fn percentiles_are_interpolated_within_a_bucket() {
        let percentile = |millis: &[u64], percent| {
            let estimate = counts(millis).percentile(percent);
            estimate.map(|estimate| estimate.as_micros())
        };
        let even = [10, 12, 14, 16, 18, 20, 21, 22, 23, 24];
        for (millis, percent, expected) in [
            (&[][..], 50, None),
            (&[0], 50, Some(2_500)),
            (&even, 50, Some(17_500)),
            (&even, 100, Some(25_000)),
            (&[1, 1, 1, 30], 75, Some(5_000)),
            (&[1, 1, 1, 30], 95, Some(45_000)),
            (&[6000], 95, Some(5_000_000)),
        ] {
            assert_eq!(percentile(millis, percent), expected, "{millis:?}");
        }
    }
}
