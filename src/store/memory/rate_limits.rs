//! Rate limit store: exact, and bounded for any number of addresses.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::mem;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use async_trait::async_trait;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::error::BackendResult;
use crate::lock::lock;
use crate::model::Timestamp;
use crate::rate_limit::{Budget, RateLimitDecision, RateLimitKey, WindowState};
use crate::store::RateLimitStore;

/// With [`MAX_KEYS`] keys in each shard, the store holds more than 1,000,000 prefixes in about 50 MB.
const SHARDS: usize = 96;
/// Maximum number of keys in a shard: the capacity of a hash table of 16,384 slots. With one more key, the table would
/// double.
const MAX_KEYS: usize = 14_336;
/// Maximum number of keys in a shard of failed password attempts: all shards together hold at most 172,032 keys in
/// about 10 MB.
const MAX_ATTEMPT_KEYS: usize = 1_792;
/// Key of guests without an address, in the shards of tokens. No lookup has this value.
const UNKNOWN_ADDRESS: u128 = 0;
/// Minimum interval between two sweeps of a full shard.
const SWEEP_INTERVAL: Duration = Duration::from_secs(5);

/// Overflow windows of a kind of keys, by the window length of the budget. Budgets of different lengths do not share a
/// window, because the shorter budget would treat a running window of the longer one as ended.
type OverflowWindows = HashMap<Duration, WindowState>;

/// Rate limits in sharded maps. Tokens, addresses and password attempts have separate shards: a flood of one kind does not
/// affect the others.
///
/// The store holds windows of at most 1,376,256 addresses and 172,032 keys of password attempts; the number of tokens
/// is not limited. A running window is never evicted. If the shard of a new key is full, the key uses the overflow
/// window of its kind and of the length of its budget. The key gets its own window at most 5 s after another window of the
/// shard has ended.
#[derive(Debug)]
pub struct MemoryRateLimitStore {
    tokens: Vec<Mutex<Shard>>,
    prefixes: Vec<Mutex<Shard>>,
    attempts: Vec<Mutex<Shard>>,
    overflow: Mutex<OverflowWindows>,
    attempts_overflow: Mutex<OverflowWindows>,
    /// Random, so that a client cannot choose addresses that are all in one shard.
    seed: u64,
}

impl Default for MemoryRateLimitStore {
    fn default() -> Self {
        Self {
            tokens: shards(usize::MAX),
            prefixes: shards(MAX_KEYS),
            attempts: shards(MAX_ATTEMPT_KEYS),
            overflow: Mutex::default(),
            attempts_overflow: Mutex::default(),
            seed: RandomState::new().hash_one(()),
        }
    }
}

fn shards(max_keys: usize) -> Vec<Mutex<Shard>> {
    let shard = || Mutex::new(Shard::new(max_keys));
    (0..SHARDS).map(|_| shard()).collect()
}

impl MemoryRateLimitStore {
    /// Returns the last known window, which may have ended.
    #[cfg(feature = "redis")]
    pub(crate) fn known(&self, key: &RateLimitKey) -> Option<WindowState> {
        let (key, shard) = self.shard(key)?;
        shard.windows.get(&key).copied()
    }

    /// Merges the state of another store, if there is capacity for the key.
    #[cfg(feature = "redis")]
    pub(crate) fn merge(
        &self,
        key: &RateLimitKey,
        state: WindowState,
        budget: Budget,
        now: Timestamp,
    ) {
        if let Some((key, mut shard)) = self.shard(key) {
            shard.merge(key, state, budget, now);
        }
    }

    /// Locks the shard of a key. Returns the key's number in the shard as well.
    fn shard(&self, key: &RateLimitKey) -> Option<(u128, MutexGuard<'_, Shard>)> {
        let (shards, key) = match key {
            RateLimitKey::Token(lookup) => (&self.tokens, u128::from_be_bytes(*lookup.as_bytes())),
            RateLimitKey::UnknownAddress => (&self.tokens, UNKNOWN_ADDRESS),
            RateLimitKey::Prefix(prefix) => (&self.prefixes, *prefix),
            RateLimitKey::PasswordAttempts(hash) => (&self.attempts, *hash),
        };
        let hash = xxh3_64_with_seed(&key.to_le_bytes(), self.seed);
        let shard = shards.get(hash as usize % SHARDS)?;
        Some((key, lock(shard)))
    }

    /// Changes the overflow window of the kind of a key that has this length.
    fn change_overflow<T>(
        &self,
        key: &RateLimitKey,
        length: Duration,
        change: impl FnOnce(Option<WindowState>) -> (Option<WindowState>, T),
    ) -> T {
        let mut windows = lock(match key {
            RateLimitKey::PasswordAttempts(_) => &self.attempts_overflow,
            _ => &self.overflow,
        });
        let (state, result) = change(windows.remove(&length));
        windows.extend(state.map(|state| (length, state)));
        result
    }
}

#[async_trait]
impl RateLimitStore for MemoryRateLimitStore {
    async fn charge(
        &self,
        key: &RateLimitKey,
        cost: u32,
        budget: Budget,
        now: Timestamp,
    ) -> BackendResult<RateLimitDecision> {
        let shard = self.shard(key);
        let decision = shard.and_then(|(key, mut shard)| shard.charge(key, cost, budget, now));
        Ok(decision.unwrap_or_else(|| {
            self.change_overflow(key, budget.window, |known| budget.charge(known, cost, now))
        }))
    }

    async fn refund(
        &self,
        key: &RateLimitKey,
        cost: u32,
        budget: Budget,
        now: Timestamp,
    ) -> BackendResult<()> {
        let shard = self.shard(key);
        let is_shared = shard.is_none_or(|(key, mut shard)| shard.refund(key, cost, budget, now));
        if is_shared {
            self.change_overflow(key, budget.window, |known| (budget.refund(known, cost, now), ()));
        }
        Ok(())
    }
}

/// Map of windows with a maximum number of keys.
#[derive(Debug)]
struct Shard {
    max_keys: usize,
    windows: HashMap<u128, WindowState>,
    next_sweep: Timestamp,
    /// Length of the longest window of the shard: a sweep applies to windows of all budgets.
    longest_window: Duration,
}

impl Shard {
    fn new(max_keys: usize) -> Self {
        Self {
            max_keys,
            windows: HashMap::new(),
            next_sweep: Timestamp::from_millis(i64::MIN),
            longest_window: Duration::ZERO,
        }
    }

    /// Returns `None` if there is no capacity for a new key.
    fn charge(
        &mut self,
        key: u128,
        cost: u32,
        budget: Budget,
        now: Timestamp,
    ) -> Option<RateLimitDecision> {
        if let Some(known) = self.windows.get_mut(&key) {
            let (state, decision) = budget.charge(Some(*known), cost, now);
            *known = state.unwrap_or(*known);
            return Some(decision);
        }
        self.has_capacity(budget, now).then(|| {
            let (state, decision) = budget.charge(None, cost, now);
            if let Some(state) = state {
                self.windows.insert(key, state);
            }
            decision
        })
    }

    /// Returns units to the window of the key. Returns `true` if the shard has neither a window of the key nor capacity
    /// for one: the overflow window was charged, unless the window of the key has ended since then.
    fn refund(&mut self, key: u128, cost: u32, budget: Budget, now: Timestamp) -> bool {
        let Some(known) = self.windows.get(&key) else {
            return self.windows.len() >= self.max_keys;
        };
        match budget.refund(Some(*known), cost, now) {
            Some(state) => self.windows.insert(key, state),
            None => self.windows.remove(&key),
        };
        false
    }

    /// Replaces the known state, unless the known state is a later state of the same window, with more used units.
    #[cfg(feature = "redis")]
    fn merge(&mut self, key: u128, state: WindowState, budget: Budget, now: Timestamp) {
        let known = self.windows.get(&key).copied();
        let is_outdated =
            known.is_some_and(|known| known.ends_at == state.ends_at && known.used > state.used);
        if !is_outdated && (known.is_some() || self.has_capacity(budget, now)) {
            self.windows.insert(key, state);
        }
    }

    /// Returns `true` if a new key fits. Removes ended windows before the map would grow, and when the map is full.
    fn has_capacity(&mut self, budget: Budget, now: Timestamp) -> bool {
        self.longest_window = self.longest_window.max(budget.window);
        let would_grow = self.windows.len() >= self.max_keys.min(self.windows.capacity());
        let is_due = now >= self.next_sweep || self.next_sweep > now.saturating_add(SWEEP_INTERVAL);
        if would_grow && is_due {
            self.next_sweep = now.saturating_add(SWEEP_INTERVAL);
            // Removed entries would leave marks that take capacity, so the old map would grow. A new map has no marks.
            let windows = mem::take(&mut self.windows).into_iter();
            let longest = Budget { window: self.longest_window, ..budget };
            let running = windows.filter(|(_, state)| longest.is_running(state, now));
            self.windows = running.collect();
        }
        self.windows.len() < self.max_keys
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Timestamp = Timestamp::from_millis(0);

    /// Returns a budget of 9 units.
    fn budget(minutes: u64) -> Budget {
        Budget { units: 9, window: Duration::from_secs(60 * minutes) }
    }

    /// Creates a store without capacity for windows of addresses and of password attempts.
    fn full_store() -> MemoryRateLimitStore {
        MemoryRateLimitStore {
            prefixes: shards(0),
            attempts: shards(0),
            ..MemoryRateLimitStore::default()
        }
    }

    async fn remaining(store: &MemoryRateLimitStore, key: RateLimitKey, budget: Budget) -> u32 {
        store.charge(&key, 0, budget, START).await.unwrap().remaining
    }

    #[tokio::test]
    async fn a_refund_of_a_key_without_capacity_returns_units_to_the_overflow_window() {
        let store = full_store();
        for keys in [[1, 2].map(RateLimitKey::Prefix), [1, 2].map(RateLimitKey::PasswordAttempts)] {
            for key in &keys {
                store.charge(key, 2, budget(5), START).await.unwrap();
            }
            let [first, second] = keys;
            assert_eq!(remaining(&store, first, budget(5)).await, 5);
            store.refund(&second, 1, budget(5), START).await.unwrap();
            assert_eq!(remaining(&store, first, budget(5)).await, 6);
            let with_capacity = RateLimitKey::UnknownAddress;
            store.refund(&with_capacity, 1, budget(5), START).await.unwrap();
            assert_eq!(remaining(&store, first, budget(5)).await, 6);
        }
    }

    #[tokio::test]
    async fn budgets_of_two_lengths_have_separate_overflow_windows() {
        let store = full_store();
        let [long, short] = [1, 2].map(RateLimitKey::PasswordAttempts);
        store.charge(&long, 4, budget(60), START).await.unwrap();
        store.charge(&short, 2, budget(5), START).await.unwrap();
        store.refund(&short, 1, budget(5), START).await.unwrap();
        assert_eq!(remaining(&store, long, budget(60)).await, 5);
        assert_eq!(remaining(&store, short, budget(5)).await, 8);
    }

    #[test]
    fn a_sweep_for_a_short_window_keeps_a_long_one() {
        let mut shard = Shard::new(64);
        shard.charge(0, 1, budget(60), START);
        for minute in 0..59 {
            let now = START.saturating_add(Duration::from_secs(60 * minute));
            for key in 1..64 {
                shard.charge(key, 1, budget(5), now);
            }
            let long = shard.charge(0, 0, budget(60), now).unwrap();
            assert_eq!(long.remaining, 8, "after {minute} minutes");
        }
    }
}
