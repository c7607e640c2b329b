//! Budgets in memory: exact, and bounded however many addresses come.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::{Mutex, MutexGuard};

use async_trait::async_trait;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::shard::Shard;
use crate::error::Stored;
use crate::model::Timestamp;
use crate::rate_limit::{Budget, BudgetKey, Charge, Window};
use crate::store::{Budgets, lock};

/// With [`FULL`] keys in each, room for well over 1,000,000 prefixes in some 50 MB.
const SHARDS: usize = 96;
/// What a table of 16,384 slots takes before it would double.
const FULL: usize = 14_336;
/// The same for failed password attempts: at most 172,032 keys in about 10 MB.
const FULL_OF_ATTEMPTS: usize = 1_792;
/// No lookup reads so: the budget of guests without any address is among those of tokens.
const NO_ADDRESS: u128 = 0;

/// Budgets in sharded maps. Tokens, addresses and password attempts are kept apart: a flood of one kind does not affect
/// the others.
///
/// A budget that runs is never evicted. When all places for addresses are taken, new ones share one overflow budget
/// until windows have ended, or up to 5 s longer.
#[derive(Debug)]
pub struct MemoryBudgets {
    tokens: Vec<Mutex<Shard>>,
    prefixes: Vec<Mutex<Shard>>,
    attempts: Vec<Mutex<Shard>>,
    overflow: Mutex<Option<Budget>>,
    attempts_overflow: Mutex<Option<Budget>>,
    /// Unknown to whoever would send addresses to one shard alone.
    seed: u64,
}

impl Default for MemoryBudgets {
    fn default() -> Self {
        Self {
            tokens: shards(usize::MAX),
            prefixes: shards(FULL),
            attempts: shards(FULL_OF_ATTEMPTS),
            overflow: Mutex::default(),
            attempts_overflow: Mutex::default(),
            seed: RandomState::new().hash_one(()),
        }
    }
}

fn shards(full: usize) -> Vec<Mutex<Shard>> {
    (0..SHARDS).map(|_| Mutex::new(Shard::new(full))).collect()
}

impl MemoryBudgets {
    pub(crate) fn charge_now(
        &self,
        key: &BudgetKey,
        cost: u32,
        window: Window,
        now: Timestamp,
    ) -> Charge {
        let place = self.place(key);
        let found = place.and_then(|(key, mut shard)| shard.charge(key, cost, window, now));
        found.unwrap_or_else(|| {
            let overflow = match key {
                BudgetKey::Attempts(_) => &self.attempts_overflow,
                _ => &self.overflow,
            };
            charge_overflow(overflow, cost, window, now)
        })
    }

    pub(crate) fn refund_now(&self, key: &BudgetKey, cost: u32, window: Window, now: Timestamp) {
        if let Some((key, mut shard)) = self.place(key) {
            shard.refund(key, cost, window, now);
        }
    }

    /// What is known of a budget, whose window may be over by now.
    #[cfg(feature = "redis")]
    pub(crate) fn known(&self, key: &BudgetKey) -> Option<Budget> {
        self.place(key).and_then(|(key, shard)| shard.known(key))
    }

    /// Takes a budget as it is elsewhere, if there is room for it.
    #[cfg(feature = "redis")]
    pub(crate) fn note(&self, key: &BudgetKey, budget: Budget, window: Window, now: Timestamp) {
        if let Some((key, mut shard)) = self.place(key) {
            shard.note(key, budget, window, now);
        }
    }

    /// Where a budget is, under which number.
    fn place(&self, key: &BudgetKey) -> Option<(u128, MutexGuard<'_, Shard>)> {
        let (shards, key) = match key {
            BudgetKey::Token(lookup) => (&self.tokens, u128::from_be_bytes(*lookup.as_bytes())),
            BudgetKey::NoAddress => (&self.tokens, NO_ADDRESS),
            BudgetKey::Prefix(prefix) => (&self.prefixes, *prefix),
            BudgetKey::Attempts(hash) => (&self.attempts, *hash),
        };
        let number = xxh3_64_with_seed(&key.to_le_bytes(), self.seed);
        let shard = shards.get(number as usize % SHARDS)?;
        Some((key, lock(shard)))
    }
}

fn charge_overflow(
    overflow: &Mutex<Option<Budget>>,
    cost: u32,
    window: Window,
    now: Timestamp,
) -> Charge {
    let mut budget = lock(overflow);
    let (after, charge) = window.charge(*budget, cost, now);
    *budget = after;
    charge
}

#[async_trait]
impl Budgets for MemoryBudgets {
    async fn charge(
        &self,
        key: &BudgetKey,
        cost: u32,
        window: Window,
        now: Timestamp,
    ) -> Stored<Charge> {
        Ok(self.charge_now(key, cost, window, now))
    }

    async fn refund(
        &self,
        key: &BudgetKey,
        cost: u32,
        window: Window,
        now: Timestamp,
    ) -> Stored<()> {
        self.refund_now(key, cost, window, now);
        Ok(())
    }
}
