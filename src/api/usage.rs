//! Numbers of requests of each hour, token and operation, counted in memory until they are added to the store.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::mem;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, Ordering};

use http::StatusCode;

use crate::host::BackendResult;
use crate::lock::lock;
use crate::model::Timestamp;
use crate::store::{TokenUsage, UsageCounts, UsageStore};
use crate::token::Lookup;

/// Maximum number of entries. It limits the memory if the host does not write the numbers to the store.
const MAX_ENTRIES: usize = 262_144;

/// Number of entries that are written in one transaction. Other writers wait for it.
const BATCH: usize = 1000;

/// A request to count.
pub(super) struct RequestUsage {
    pub(super) received_at: Timestamp,
    /// Lookup of the token; `None` for a guest.
    pub(super) token: Option<Lookup>,
    /// Id of the operation; `None` before routing and for a request without one.
    pub(super) operation: Option<&'static str>,
    /// Units that were charged to the token or to the address.
    pub(super) units: u32,
    /// Status of the response; `None` if the client disconnected before the response.
    pub(super) status: Option<StatusCode>,
}

impl RequestUsage {
    fn counts(&self) -> UsageCounts {
        let has_status = |status| self.status == Some(status);
        let is_unauthenticated = has_status(StatusCode::UNAUTHORIZED);
        let is_rate_limited = has_status(StatusCode::TOO_MANY_REQUESTS);
        let is_forbidden = has_status(StatusCode::FORBIDDEN);
        let is_refused = is_unauthenticated || is_rate_limited || is_forbidden;
        let is = |class: fn(&StatusCode) -> bool| self.status.as_ref().is_some_and(class);
        let units = match self.token {
            // The units were charged to the address.
            Some(_) if is_unauthenticated => 0,
            _ => self.units.into(),
        };
        UsageCounts {
            requests: 1,
            units,
            rate_limited: is_rate_limited.into(),
            unauthenticated: is_unauthenticated.into(),
            forbidden: is_forbidden.into(),
            rejected: (!is_refused && is(StatusCode::is_client_error)).into(),
            errors: is(StatusCode::is_server_error).into(),
        }
    }
}

/// Beginning of the hour, the token, and the operation.
type Key = (Timestamp, Option<Lookup>, Option<&'static str>);

pub(super) struct UsageCounters {
    counts: Mutex<BTreeMap<Key, UsageCounts>>,
    /// Hour of the last sweep, in milliseconds.
    swept_at: AtomicI64,
}

/// Numbers that were removed from the counters. When the value is dropped, it adds the numbers that were not stored to
/// the counters again.
pub(super) struct TakenUsage<'a> {
    counters: &'a UsageCounters,
    usage: Vec<TokenUsage>,
}

impl TakenUsage<'_> {
    pub(super) async fn store(mut self, store: &dyn UsageStore) -> BackendResult<()> {
        while !self.usage.is_empty() {
            let rest = self.usage.len().saturating_sub(BATCH);
            let (_, batch) = self.usage.split_at(rest);
            store.add_token_usage(batch).await?;
            self.usage.truncate(rest);
        }
        Ok(())
    }
}

impl Drop for TakenUsage<'_> {
    fn drop(&mut self) {
        for one in self.usage.drain(..) {
            let key = (one.hour, one.token, one.operation);
            self.counters.add(key, one.counts);
        }
    }
}

impl Default for UsageCounters {
    fn default() -> Self {
        Self { counts: Mutex::default(), swept_at: AtomicI64::new(i64::MIN) }
    }
}

impl UsageCounters {
    pub(super) fn record(&self, request: &RequestUsage) {
        let hour = TokenUsage::hour_of(request.received_at);
        self.add((hour, request.token, request.operation), request.counts());
    }

    /// Adds numbers. Drops those of a new key if there are too many keys.
    fn add(&self, key: Key, counts: UsageCounts) {
        let mut known = lock(&self.counts);
        let is_full = known.len() >= MAX_ENTRIES;
        match known.entry(key) {
            Entry::Occupied(mut known) => *known.get_mut() += counts,
            Entry::Vacant(new) if !is_full => drop(new.insert(counts)),
            Entry::Vacant(_) => {}
        }
    }

    /// Removes and returns all numbers.
    pub(super) fn take(&self) -> TakenUsage<'_> {
        let taken = mem::take(&mut *lock(&self.counts));
        let usage = taken.into_iter().map(|((hour, token, operation), counts)| TokenUsage {
            hour,
            token,
            operation,
            counts,
        });
        TakenUsage { counters: self, usage: usage.collect() }
    }

    /// Returns `true` if no sweep was recorded for this hour, and records a sweep.
    pub(super) fn is_sweep_due(&self, now: Timestamp) -> bool {
        let hour = TokenUsage::hour_of(now).as_millis();
        self.swept_at.swap(hour, Ordering::Relaxed) != hour
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(minutes: i64) -> Timestamp {
        Timestamp::from_millis(minutes * 60_000)
    }

    /// Returns a lookup; `None` for the number 0.
    fn token(number: u8) -> Option<Lookup> {
        let token = Lookup::parse(&format!("{number:016}")).unwrap();
        (number > 0).then_some(token)
    }

    fn request(minute: i64, number: u8, status: u16, units: u32) -> RequestUsage {
        RequestUsage {
            received_at: at(minute),
            token: token(number),
            operation: None,
            units,
            status: Some(StatusCode::from_u16(status).unwrap()),
        }
    }

    fn usage(hour: i64, number: u8, counts: [u64; 7]) -> TokenUsage {
        let [requests, units, rate_limited, unauthenticated, forbidden, rejected, errors] = counts;
        TokenUsage {
            hour: at(hour * 60),
            token: token(number),
            operation: None,
            counts: UsageCounts {
                requests,
                units,
                rate_limited,
                unauthenticated,
                forbidden,
                rejected,
                errors,
            },
        }
    }

    #[test]
    fn requests_are_counted_by_token_hour_and_status() {
        let counters = UsageCounters::default();
        for request in [
            request(0, 1, 200, 1),
            request(59, 1, 429, 0),
            request(59, 1, 403, 5),
            request(59, 1, 404, 1),
            request(59, 1, 422, 1),
            request(60, 1, 401, 1),
            request(1, 2, 500, 3),
            request(2, 0, 200, 2),
            request(3, 0, 401, 1),
        ] {
            counters.record(&request);
        }
        counters.record(&RequestUsage { status: None, ..request(61, 0, 200, 4) });
        let expected = [
            usage(0, 0, [2, 3, 0, 1, 0, 0, 0]),
            usage(0, 1, [5, 8, 1, 0, 1, 2, 0]),
            usage(0, 2, [1, 3, 0, 0, 0, 0, 1]),
            usage(1, 0, [1, 4, 0, 0, 0, 0, 0]),
            usage(1, 1, [1, 0, 0, 1, 0, 0, 0]),
        ];
        let taken = counters.take();
        assert_eq!(taken.usage, expected);
        drop(taken);
        let mut taken = counters.take();
        assert_eq!(taken.usage, expected, "dropped numbers are counted again");
        taken.usage.clear();
        drop(taken);
        assert!(counters.take().usage.is_empty());
    }

    #[test]
    fn new_keys_are_dropped_when_there_are_too_many() {
        let counters = UsageCounters::default();
        for hour in 0..=MAX_ENTRIES as i64 {
            counters.record(&request(hour * 60, 1, 200, 1));
            counters.record(&request(hour * 60, 1, 200, 1));
        }
        let taken = counters.take();
        assert_eq!(taken.usage.len(), MAX_ENTRIES);
        assert!(taken.usage.iter().all(|usage| usage.counts.requests == 2));
    }
}
