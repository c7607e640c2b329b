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
use crate::model::Timestamp;
use crate::rate_limit::{Budget, RateLimitDecision, RateLimitKey, WindowState};
use crate::store::{RateLimitStore, lock};

/// With [`MAX_KEYS`] keys in each, room for well over 1,000,000 prefixes in some 50 MB.
const SHARDS: usize = 96;
/// What a table of 16,384 slots takes before it would double.
const MAX_KEYS: usize = 14_336;
/// The same for failed password attempts: at most 172,032 keys in about 10 MB.
const MAX_ATTEMPT_KEYS: usize = 1_792;
/// No lookup reads so: the budget of guests without any address is among those of tokens.
const NO_ADDRESS: u128 = 0;

/// Budgets in sharded maps. Tokens, addresses and password attempts are kept apart: a flood of one kind does not affect
/// the others.
///
/// A budget that runs is never evicted. When all places for addresses are taken, new ones share one overflow budget
/// until windows have ended, or up to 5 s longer.
#[derive(Debug)]
pub struct MemoryRateLimitStore {
    tokens: Vec<Mutex<Shard>>,
    prefixes: Vec<Mutex<Shard>>,
    attempts: Vec<Mutex<Shard>>,
    overflow: Mutex<Option<WindowState>>,
    attempts_overflow: Mutex<Option<WindowState>>,
    /// Random, so that a client cannot choose addresses of one shard.
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

fn shards(full: usize) -> Vec<Mutex<Shard>> {
    (0..SHARDS).map(|_| Mutex::new(Shard::new(full))).collect()
}

impl MemoryRateLimitStore {
    pub(crate) fn charge_now(
        &self,
        key: &RateLimitKey,
        cost: u32,
        window: Budget,
        now: Timestamp,
    ) -> RateLimitDecision {
        let place = self.place(key);
        let found = place.and_then(|(key, mut shard)| shard.charge(key, cost, window, now));
        found.unwrap_or_else(|| {
            let overflow = match key {
                RateLimitKey::Attempts(_) => &self.attempts_overflow,
                _ => &self.overflow,
            };
            charge_overflow(overflow, cost, window, now)
        })
    }

    pub(crate) fn refund_now(&self, key: &RateLimitKey, cost: u32, window: Budget, now: Timestamp) {
        if let Some((key, mut shard)) = self.place(key) {
            shard.refund(key, cost, window, now);
        }
    }

    /// What is known of a budget, whose window may be over by now.
    #[cfg(feature = "redis")]
    pub(crate) fn known(&self, key: &RateLimitKey) -> Option<WindowState> {
        self.place(key).and_then(|(key, shard)| shard.known(key))
    }

    /// Takes a budget as it is elsewhere, if there is room for it.
    #[cfg(feature = "redis")]
    pub(crate) fn note(
        &self,
        key: &RateLimitKey,
        budget: WindowState,
        window: Budget,
        now: Timestamp,
    ) {
        if let Some((key, mut shard)) = self.place(key) {
            shard.note(key, budget, window, now);
        }
    }

    /// Where a budget is, under which number.
    fn place(&self, key: &RateLimitKey) -> Option<(u128, MutexGuard<'_, Shard>)> {
        let (shards, key) = match key {
            RateLimitKey::Token(lookup) => (&self.tokens, u128::from_be_bytes(*lookup.as_bytes())),
            RateLimitKey::UnknownAddress => (&self.tokens, NO_ADDRESS),
            RateLimitKey::Prefix(prefix) => (&self.prefixes, *prefix),
            RateLimitKey::Attempts(hash) => (&self.attempts, *hash),
        };
        let number = xxh3_64_with_seed(&key.to_le_bytes(), self.seed);
        let shard = shards.get(number as usize % SHARDS)?;
        Some((key, lock(shard)))
    }
}

fn charge_overflow(
    overflow: &Mutex<Option<WindowState>>,
    cost: u32,
    window: Budget,
    now: Timestamp,
) -> RateLimitDecision {
    let mut budget = lock(overflow);
    let (after, charge) = window.charge(*budget, cost, now);
    *budget = after;
    charge
}

#[async_trait]
impl RateLimitStore for MemoryRateLimitStore {
    async fn charge(
        &self,
        key: &RateLimitKey,
        cost: u32,
        window: Budget,
        now: Timestamp,
    ) -> BackendResult<RateLimitDecision> {
        Ok(self.charge_now(key, cost, window, now))
    }

    async fn refund(
        &self,
        key: &RateLimitKey,
        cost: u32,
        window: Budget,
        now: Timestamp,
    ) -> BackendResult<()> {
        self.refund_now(key, cost, window, now);
        Ok(())
    }
}

/// A full table waits this long before it looks at all its keys for expired ones again.
const SWEEP_INTERVAL: Duration = Duration::from_secs(5);

/// A table of budgets that never grows beyond what it may hold.
#[derive(Debug)]
pub(super) struct Shard {
    full: usize,
    budgets: HashMap<u128, WindowState>,
    next_sweep: Timestamp,
}

impl Shard {
    /// An empty one, for so many budgets at most.
    pub(super) fn new(full: usize) -> Self {
        Self {
            full,
            budgets: HashMap::new(),
            next_sweep: Timestamp::from_millis(i64::MIN),
        }
    }

    /// `None` when there is no room for a new key.
    pub(super) fn charge(
        &mut self,
        key: u128,
        cost: u32,
        window: Budget,
        now: Timestamp,
    ) -> Option<RateLimitDecision> {
        if let Some(known) = self.budgets.get_mut(&key) {
            let (after, charge) = window.charge(Some(*known), cost, now);
            *known = after.unwrap_or(*known);
            return Some(charge);
        }
        self.has_room(window, now).then(|| {
            let (after, charge) = window.charge(None, cost, now);
            if let Some(after) = after {
                self.budgets.insert(key, after);
            }
            charge
        })
    }

    /// Gives back units of a running window.
    pub(super) fn refund(&mut self, key: u128, cost: u32, window: Budget, now: Timestamp) {
        let Some(known) = self.budgets.get(&key) else {
            return;
        };
        match window.refund(Some(*known), cost, now) {
            Some(after) => self.budgets.insert(key, after),
            None => self.budgets.remove(&key),
        };
    }

    /// What was last known of a budget, whose window may be over by now.
    #[cfg(feature = "redis")]
    pub(super) fn known(&self, key: u128) -> Option<WindowState> {
        self.budgets.get(&key).copied()
    }

    /// Takes a budget from elsewhere, if there is room. Of one window, what tells of more units came later.
    #[cfg(feature = "redis")]
    pub(super) fn note(&mut self, key: u128, budget: WindowState, window: Budget, now: Timestamp) {
        let known = self.known(key);
        let is_late =
            known.is_some_and(|known| known.ends_at == budget.ends_at && known.used > budget.used);
        if !is_late && (known.is_some() || self.has_room(window, now)) {
            self.budgets.insert(key, budget);
        }
    }

    /// Forgets what is over before the table would grow, or when it may not grow any more.
    fn has_room(&mut self, window: Budget, now: Timestamp) -> bool {
        let at_the_edge = self.budgets.len() >= self.full.min(self.budgets.capacity());
        let is_due = now >= self.next_sweep || self.next_sweep > now.saturating_add(SWEEP_INTERVAL);
        if at_the_edge && is_due {
            self.next_sweep = now.saturating_add(SWEEP_INTERVAL);
            self.sweep(window, now);
        }
        self.budgets.len() < self.full
    }

    /// Into a new table: removing from the old one leaves marks that take room, for which it would grow.
    fn sweep(&mut self, window: Budget, now: Timestamp) {
        let budgets = mem::take(&mut self.budgets).into_iter();
        let running = budgets.filter(|(_, budget)| window.is_running(budget, now));
        self.budgets = running.collect();
    }
}
