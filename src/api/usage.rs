//! Numbers of requests of each token and hour, counted in memory until they are added to the store.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, Ordering};

use http::StatusCode;

use crate::model::Timestamp;
use crate::store::{TokenUsage, UsageCounts, lock};
use crate::token::Lookup;

/// Number of maps: concurrent requests rarely use the same one.
const SHARDS: usize = 64;

/// Allocated entries of each map.
const INITIAL_KEYS: usize = 16;

/// Largest number of entries of each map, if the host does not write the numbers to the store.
const MAX_KEYS: usize = 4096;

type Shard = Mutex<HashMap<(Timestamp, Lookup), UsageCounts>>;

pub(super) struct UsageCounters {
    shards: Vec<Shard>,
    hasher: RandomState,
    /// Hour of the last sweep, in milliseconds.
    swept_at: AtomicI64,
}

/// Numbers that were removed from the counters. Adds them again when it is dropped.
pub(super) struct TakenUsage<'a> {
    counters: &'a UsageCounters,
    usage: Vec<TokenUsage>,
}

impl TakenUsage<'_> {
    pub(super) fn usage(&self) -> &[TokenUsage] {
        &self.usage
    }

    /// Drops the numbers, which are in the store.
    pub(super) fn forget(mut self) {
        self.usage.clear();
    }
}

impl Drop for TakenUsage<'_> {
    fn drop(&mut self) {
        self.usage
            .drain(..)
            .for_each(|usage| self.counters.add(usage));
    }
}

impl Default for UsageCounters {
    fn default() -> Self {
        let shard = || Mutex::new(HashMap::with_capacity(INITIAL_KEYS));
        Self {
            shards: (0..SHARDS).map(|_| shard()).collect(),
            hasher: RandomState::new(),
            swept_at: AtomicI64::new(i64::MIN),
        }
    }
}

impl UsageCounters {
    /// Counts a request. `units` are those that were charged to the token.
    pub(super) fn record(&self, token: &Lookup, now: Timestamp, status: StatusCode, units: u32) {
        let counts = UsageCounts {
            requests: 1,
            units: units.into(),
            rate_limited: (status == StatusCode::TOO_MANY_REQUESTS).into(),
            unauthenticated: (status == StatusCode::UNAUTHORIZED).into(),
            forbidden: (status == StatusCode::FORBIDDEN).into(),
            errors: status.is_server_error().into(),
        };
        self.add(TokenUsage {
            hour: TokenUsage::hour_of(now),
            token: *token,
            counts,
        });
    }

    pub(super) fn add(&self, usage: TokenUsage) {
        let index = self.hasher.hash_one(usage.token) as usize % SHARDS;
        let Some(shard) = self.shards.get(index) else {
            return;
        };
        let (mut shard, key) = (lock(shard), (usage.hour, usage.token));
        if shard.len() < MAX_KEYS || shard.contains_key(&key) {
            *shard.entry(key).or_default() += usage.counts;
        }
    }

    /// Removes all numbers, and returns them in the order of hours and tokens. The maps keep their memory.
    pub(super) fn take(&self) -> TakenUsage<'_> {
        let mut usage = Vec::new();
        for shard in &self.shards {
            let mut shard = lock(shard);
            usage.extend(shard.drain().map(|((hour, token), counts)| TokenUsage {
                hour,
                token,
                counts,
            }));
        }
        usage.sort_unstable_by_key(|usage| (usage.hour, usage.token));
        TakenUsage {
            counters: self,
            usage,
        }
    }

    /// Returns whether no sweep was made in this hour yet, and records it.
    pub(super) fn is_sweep_due(&self, now: Timestamp) -> bool {
        let hour = TokenUsage::hour_of(now).as_millis();
        self.swept_at.swap(hour, Ordering::Relaxed) != hour
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_counted_by_token_hour_and_status() {
        let counters = UsageCounters::default();
        let [one, other] =
            ["0000000000000001", "0000000000000002"].map(|text| Lookup::parse(text).unwrap());
        let at = |minutes: i64| Timestamp::from_millis(minutes * 60_000);
        for (token, minute, status, units) in [
            (&one, 0, 200, 1),
            (&one, 59, 429, 0),
            (&one, 59, 403, 5),
            (&one, 60, 401, 0),
            (&other, 1, 500, 3),
        ] {
            let status = StatusCode::from_u16(status).unwrap();
            counters.record(token, at(minute), status, units);
        }
        let usage = |token, hour: i64, counts| TokenUsage {
            hour: at(hour * 60),
            token,
            counts,
        };
        let requests = |requests| UsageCounts {
            requests,
            ..UsageCounts::default()
        };
        let expected = [
            usage(
                one,
                0,
                UsageCounts {
                    units: 6,
                    rate_limited: 1,
                    forbidden: 1,
                    ..requests(3)
                },
            ),
            usage(
                other,
                0,
                UsageCounts {
                    units: 3,
                    errors: 1,
                    ..requests(1)
                },
            ),
            usage(
                one,
                1,
                UsageCounts {
                    unauthenticated: 1,
                    ..requests(1)
                },
            ),
        ];
        assert_eq!(counters.take().usage(), expected);
        let taken = counters.take();
        assert_eq!(taken.usage(), expected, "dropped numbers are counted again");
        taken.forget();
        assert_eq!(counters.take().usage(), []);
    }

    #[test]
    fn new_tokens_are_dropped_when_a_map_is_full() {
        let counters = UsageCounters::default();
        let token = Lookup::parse("0000000000000001").unwrap();
        for hour in 0..=MAX_KEYS as i64 {
            let hour = Timestamp::from_millis(hour * 3_600_000);
            counters.record(&token, hour, StatusCode::OK, 1);
            counters.record(&token, hour, StatusCode::OK, 1);
        }
        let taken = counters.take();
        assert_eq!(taken.usage().len(), MAX_KEYS);
        assert!(taken.usage().iter().all(|usage| usage.counts.requests == 2));
    }
}
