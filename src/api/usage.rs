//! Numbers of requests of each token, operation and hour, counted in memory until they are added to the store.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;
use std::ops::AddAssign;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::time::Duration;

use http::StatusCode;

use crate::host::BackendResult;
use crate::lock::lock;
use crate::model::Timestamp;
use crate::store::{OperationCounts, OperationUsage, TokenUsage, UsageCounts, UsageStore};
use crate::token::Lookup;

/// Number of shards. Concurrent requests rarely use the same one: requests with a token use the shard of the token, and
/// requests of guests use the shard of their thread.
const SHARDS: usize = 64;

thread_local! {
    /// Number of this thread, in the order of the first requests.
    static THREAD: usize = {
        static THREADS: AtomicUsize = AtomicUsize::new(0);
        THREADS.fetch_add(1, Ordering::Relaxed)
    };
}

/// Initial capacity of each map of tokens.
const INITIAL_CAPACITY: usize = 16;

/// Maximum number of entries of each map. It limits the memory if the host does not write the numbers to the store.
const MAX_ENTRIES_PER_MAP: usize = 4096;

/// A request to count.
pub(super) struct RequestUsage {
    pub(super) received_at: Timestamp,
    /// Id of the operation, [`OperationUsage::DOCUMENT`] or [`OperationUsage::OTHER`].
    pub(super) operation: &'static str,
    pub(super) token: Option<Lookup>,
    /// Units that were charged to the token or to the address.
    pub(super) units: u32,
    /// Status and duration; `None` if the client disconnected before the response.
    pub(super) response: Option<(StatusCode, Duration)>,
}

impl RequestUsage {
    fn operation_counts(&self) -> OperationCounts {
        let mut counts = OperationCounts::default();
        counts.usage.requests = 1;
        counts.usage.units = self.units.into();
        if let Some((status, duration)) = self.response {
            counts.usage.rate_limited = (status == StatusCode::TOO_MANY_REQUESTS).into();
            counts.usage.unauthenticated = (status == StatusCode::UNAUTHORIZED).into();
            counts.usage.forbidden = (status == StatusCode::FORBIDDEN).into();
            counts.usage.errors = status.is_server_error().into();
            counts.latency.record(duration);
        }
        counts
    }
}

type Counts<K, V> = HashMap<(Timestamp, K), V>;

struct Shard {
    tokens: Counts<Lookup, UsageCounts>,
    operations: Counts<Cow<'static, str>, OperationCounts>,
}

pub(super) struct UsageCounters {
    shards: Vec<Mutex<Shard>>,
    /// Hour of the last sweep, in milliseconds.
    swept_at: AtomicI64,
}

/// Numbers that were removed from the counters. When the value is dropped, it adds the numbers that were not stored to
/// the counters again.
pub(super) struct TakenUsage<'a> {
    counters: &'a UsageCounters,
    tokens: Vec<TokenUsage>,
    operations: Vec<OperationUsage>,
}

impl TakenUsage<'_> {
    pub(super) async fn store(mut self, store: &dyn UsageStore) -> BackendResult<()> {
        if !self.tokens.is_empty() {
            store.add_token_usage(&self.tokens).await?;
            self.tokens.clear();
        }
        if !self.operations.is_empty() {
            store.add_operation_usage(&self.operations).await?;
            self.operations.clear();
        }
        Ok(())
    }
}

impl Drop for TakenUsage<'_> {
    fn drop(&mut self) {
        for one in self.tokens.drain(..) {
            self.counters.with_shard(Some(one.token), |shard| {
                add(&mut shard.tokens, (one.hour, one.token), one.counts);
            });
        }
        self.counters.with_shard(None, |shard| {
            for one in self.operations.drain(..) {
                add(&mut shard.operations, (one.hour, one.operation), one.counts);
            }
        });
    }
}

impl Default for UsageCounters {
    fn default() -> Self {
        let shard = || {
            Mutex::new(Shard {
                tokens: HashMap::with_capacity(INITIAL_CAPACITY),
                operations: HashMap::new(),
            })
        };
        Self {
            shards: (0..SHARDS).map(|_| shard()).collect(),
            swept_at: AtomicI64::new(i64::MIN),
        }
    }
}

impl UsageCounters {
    pub(super) fn record(&self, request: &RequestUsage) {
        let hour = TokenUsage::hour_of(request.received_at);
        let counts = request.operation_counts();
        self.with_shard(request.token, |shard| {
            if let Some(token) = request.token {
                let mut counts = counts.usage;
                if counts.unauthenticated > 0 {
                    // The units were charged to the address.
                    counts.units = 0;
                }
                add(&mut shard.tokens, (hour, token), counts);
            }
            let operation = Cow::Borrowed(request.operation);
            add(&mut shard.operations, (hour, operation), counts);
        });
    }

    /// Changes the shard of a token, or the shard of this thread.
    fn with_shard(&self, token: Option<Lookup>, change: impl FnOnce(&mut Shard)) {
        let number = match token {
            Some(token) => token.as_bytes().iter().copied().map(usize::from).sum(),
            None => THREAD.with(|number| *number),
        };
        if let Some(shard) = self.shards.get(number % SHARDS) {
            change(&mut lock(shard));
        }
    }

    /// Removes and returns all numbers. The maps keep their memory.
    pub(super) fn take(&self) -> TakenUsage<'_> {
        let mut tokens = Vec::new();
        let mut operations = HashMap::new();
        for shard in &self.shards {
            let mut shard = lock(shard);
            tokens.extend(
                shard
                    .tokens
                    .drain()
                    .map(|((hour, token), counts)| TokenUsage {
                        hour,
                        token,
                        counts,
                    }),
            );
            for (key, counts) in shard.operations.drain() {
                *operations
                    .entry(key)
                    .or_insert_with(OperationCounts::default) += counts;
            }
        }
        let mut operations: Vec<_> = operations
            .into_iter()
            .map(|((hour, operation), counts)| OperationUsage {
                hour,
                operation,
                counts,
            })
            .collect();
        tokens.sort_unstable_by_key(|usage| (usage.hour, usage.token));
        operations.sort_unstable_by(|one, other| {
            (one.hour, &one.operation).cmp(&(other.hour, &other.operation))
        });
        TakenUsage {
            counters: self,
            tokens,
            operations,
        }
    }

    /// Returns `true` if no sweep was recorded for this hour, and records a sweep.
    pub(super) fn is_sweep_due(&self, now: Timestamp) -> bool {
        let hour = TokenUsage::hour_of(now).as_millis();
        self.swept_at.swap(hour, Ordering::Relaxed) != hour
    }
}

/// Adds numbers to a map. Drops the numbers of a new key if the map is full.
fn add<K: Eq + Hash, V: AddAssign>(map: &mut Counts<K, V>, key: (Timestamp, K), counts: V) {
    let is_full = map.len() >= MAX_ENTRIES_PER_MAP;
    match map.entry(key) {
        Entry::Occupied(mut known) => *known.get_mut() += counts,
        Entry::Vacant(new) if !is_full => drop(new.insert(counts)),
        Entry::Vacant(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    fn at(minutes: i64) -> Timestamp {
        Timestamp::from_millis(minutes * 60_000)
    }

    fn lookup(number: u8) -> Lookup {
        Lookup::parse(&format!("{number:016}")).unwrap()
    }

    /// A request for the operation `search`, which took 7 ms.
    fn request(minute: i64, token: u8, status: u16, units: u32) -> RequestUsage {
        let status = StatusCode::from_u16(status).unwrap();
        RequestUsage {
            received_at: at(minute),
            operation: "search",
            token: (token > 0).then(|| lookup(token)),
            units,
            response: Some((status, Duration::from_millis(7))),
        }
    }

    fn usage(hour: i64, token: u8, counts: UsageCounts) -> TokenUsage {
        TokenUsage {
            hour: at(hour * 60),
            token: lookup(token),
            counts,
        }
    }

    fn requests(requests: u64) -> UsageCounts {
        UsageCounts {
            requests,
            ..UsageCounts::default()
        }
    }

    #[test]
    fn requests_are_counted_by_token_operation_hour_and_status() {
        let counters = UsageCounters::default();
        for request in [
            request(0, 1, 200, 1),
            request(59, 1, 429, 0),
            request(59, 1, 403, 5),
            request(60, 1, 401, 1),
            request(1, 2, 500, 3),
            request(2, 0, 200, 2),
        ] {
            counters.record(&request);
        }
        counters.record(&RequestUsage {
            operation: "getMe",
            response: None,
            ..request(61, 0, 200, 4)
        });
        let tokens = [
            usage(
                0,
                1,
                UsageCounts {
                    units: 6,
                    rate_limited: 1,
                    forbidden: 1,
                    ..requests(3)
                },
            ),
            usage(
                0,
                2,
                UsageCounts {
                    units: 3,
                    errors: 1,
                    ..requests(1)
                },
            ),
            usage(
                1,
                1,
                UsageCounts {
                    unauthenticated: 1,
                    ..requests(1)
                },
            ),
        ];
        let taken = counters.take();
        assert_eq!(taken.tokens, tokens);
        let operations = taken.operations.iter().map(|one| {
            let (counts, latency) = (one.counts.usage, one.counts.latency);
            (
                &*one.operation,
                one.hour,
                counts.requests,
                counts.units,
                latency.count(),
            )
        });
        let expected = [
            ("search", at(0), 5, 11, 5),
            ("getMe", at(60), 1, 4, 0),
            ("search", at(60), 1, 1, 1),
        ];
        assert_eq!(operations.collect::<Vec<_>>(), expected);
        let operations = taken.operations.clone();
        drop(taken);
        let mut taken = counters.take();
        let again = (taken.tokens.as_slice(), &taken.operations);
        assert_eq!(
            again,
            (&tokens[..], &operations),
            "dropped numbers are counted again"
        );
        (taken.tokens, taken.operations) = Default::default();
        drop(taken);
        assert!(counters.take().tokens.is_empty() && counters.take().operations.is_empty());
    }

    #[test]
    fn requests_of_guests_on_several_threads_are_added_up() {
        let counters = UsageCounters::default();
        thread::scope(|threads| {
            for _ in 0..4 {
                threads.spawn(|| counters.record(&request(0, 0, 200, 1)));
            }
        });
        let taken = counters.take();
        let [operation] = &*taken.operations else {
            panic!("{:?}", taken.operations);
        };
        assert_eq!(
            operation.counts.usage,
            UsageCounts {
                units: 4,
                ..requests(4)
            }
        );
    }

    #[test]
    fn new_keys_are_dropped_when_a_map_is_full() {
        let counters = UsageCounters::default();
        for hour in 0..=MAX_ENTRIES_PER_MAP as i64 {
            counters.record(&request(hour * 60, 1, 200, 1));
            counters.record(&request(hour * 60, 1, 200, 1));
        }
        let taken = counters.take();
        assert_eq!(
            (taken.tokens.len(), taken.operations.len()),
            (MAX_ENTRIES_PER_MAP, MAX_ENTRIES_PER_MAP)
        );
        assert!(taken.tokens.iter().all(|usage| usage.counts.requests == 2));
    }
}
