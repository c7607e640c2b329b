//! Budgets in memory: exact, and bounded however many addresses come.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hash};
use std::mem;
use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;

use super::lock;
use crate::budget::{Budget, BudgetKey, Charge, Window};
use crate::host::Stored;
use crate::model::Timestamp;
use crate::store::Budgets;

/// With [`FULL`] keys in each, room for well over 1,000,000 prefixes in some 50 MB.
const SHARDS: usize = 96;
/// What a table of 16,384 slots takes before it would double.
const FULL: usize = 14_336;
/// How long a table that is at its edge waits before it looks again for what is over: it looks at everything.
const REST: Duration = Duration::from_secs(5);

/// Budgets in sharded maps. Tokens are kept apart from addresses, so that a flood of these leaves those alone.
///
/// A budget that runs is never evicted. When all places for addresses are taken, new ones share one overflow budget
/// until windows have ended, or up to 5 s longer.
#[derive(Debug)]
pub struct MemoryBudgets {
    tokens: Vec<Mutex<Shard<[u8; 16]>>>,
    prefixes: Vec<Mutex<Shard<u128>>>,
    overflow: Mutex<Option<Budget>>,
    no_address: Mutex<Option<Budget>>,
    hasher: RandomState,
}

impl Default for MemoryBudgets {
    fn default() -> Self {
        Self {
            tokens: shards(usize::MAX),
            prefixes: shards(FULL),
            overflow: Mutex::default(),
            no_address: Mutex::default(),
            hasher: RandomState::new(),
        }
    }
}

fn shards<K>(full: usize) -> Vec<Mutex<Shard<K>>> {
    let shard = || Shard {
        full,
        budgets: HashMap::new(),
        next_sweep: Timestamp::from_millis(i64::MIN),
    };
    (0..SHARDS).map(|_| Mutex::new(shard())).collect()
}

/// One lock's share of the keys.
#[derive(Debug)]
struct Shard<K> {
    full: usize,
    budgets: HashMap<K, Budget>,
    next_sweep: Timestamp,
}

impl<K: Copy + Eq + Hash> Shard<K> {
    /// `None` when there is no room for a new key.
    fn charge(&mut self, key: K, cost: u32, window: Window, now: Timestamp) -> Option<Charge> {
        let known = self.budgets.get(&key).copied();
        if known.is_none() && !self.has_room(now) {
            return None;
        }
        let (after, charge) = window.charge(known, cost, now);
        if let Some(after) = after {
            self.budgets.insert(key, after);
        }
        Some(charge)
    }

    /// Forgets what is over before the table would grow, or when it may not grow any more.
    fn has_room(&mut self, now: Timestamp) -> bool {
        let at_the_edge = self.budgets.len() >= self.full.min(self.budgets.capacity());
        if at_the_edge && now >= self.next_sweep {
            self.next_sweep = now.plus(REST);
            self.sweep(now);
        }
        self.budgets.len() < self.full
    }

    /// Into a new table: removing from the old one leaves marks that take room, for which it would grow.
    fn sweep(&mut self, now: Timestamp) {
        let budgets = mem::take(&mut self.budgets).into_iter();
        self.budgets = budgets.filter(|(_, budget)| now < budget.ends).collect();
    }
}

impl MemoryBudgets {
    pub(crate) fn charge_now(
        &self,
        key: &BudgetKey,
        cost: u32,
        window: Window,
        now: Timestamp,
    ) -> Charge {
        let found = match key {
            BudgetKey::Token(lookup) => {
                let key = *lookup.as_bytes();
                self.shard(&self.tokens, &key)
                    .and_then(|shard| lock(shard).charge(key, cost, window, now))
            }
            BudgetKey::Prefix(prefix) => self
                .shard(&self.prefixes, prefix)
                .and_then(|shard| lock(shard).charge(*prefix, cost, window, now)),
            BudgetKey::NoAddress => Some(charge_one(&self.no_address, cost, window, now)),
        };
        found.unwrap_or_else(|| charge_one(&self.overflow, cost, window, now))
    }

    fn shard<'a, K: Hash>(
        &self,
        shards: &'a [Mutex<Shard<K>>],
        key: &K,
    ) -> Option<&'a Mutex<Shard<K>>> {
        shards.get(self.hasher.hash_one(key) as usize % SHARDS)
    }
}

fn charge_one(budget: &Mutex<Option<Budget>>, cost: u32, window: Window, now: Timestamp) -> Charge {
    let mut budget = lock(budget);
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
}
