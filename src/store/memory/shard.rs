//! One lock's share of the budgets.

use std::collections::HashMap;
use std::mem;
use std::time::Duration;

use crate::model::Timestamp;
use crate::rate_limit::{Budget, Charge, Window};

/// How long a table that is at its edge waits before it looks again for what is over: it looks at everything.
const REST: Duration = Duration::from_secs(5);

/// A table of budgets that never grows beyond what it may hold.
#[derive(Debug)]
pub(super) struct Shard {
    full: usize,
    budgets: HashMap<u128, Budget>,
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
        window: Window,
        now: Timestamp,
    ) -> Option<Charge> {
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
    pub(super) fn refund(&mut self, key: u128, cost: u32, window: Window, now: Timestamp) {
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
    pub(super) fn known(&self, key: u128) -> Option<Budget> {
        self.budgets.get(&key).copied()
    }

    /// Takes a budget from elsewhere, if there is room. Of one window, what tells of more units came later.
    #[cfg(feature = "redis")]
    pub(super) fn note(&mut self, key: u128, budget: Budget, window: Window, now: Timestamp) {
        let known = self.known(key);
        let is_late =
            known.is_some_and(|known| known.ends == budget.ends && known.used > budget.used);
        if !is_late && (known.is_some() || self.has_room(window, now)) {
            self.budgets.insert(key, budget);
        }
    }

    /// Forgets what is over before the table would grow, or when it may not grow any more.
    fn has_room(&mut self, window: Window, now: Timestamp) -> bool {
        let at_the_edge = self.budgets.len() >= self.full.min(self.budgets.capacity());
        let is_due = now >= self.next_sweep || self.next_sweep > now.plus(REST);
        if at_the_edge && is_due {
            self.next_sweep = now.plus(REST);
            self.sweep(window, now);
        }
        self.budgets.len() < self.full
    }

    /// Into a new table: removing from the old one leaves marks that take room, for which it would grow.
    fn sweep(&mut self, window: Window, now: Timestamp) {
        let budgets = mem::take(&mut self.budgets).into_iter();
        let running = budgets.filter(|(_, budget)| window.is_running(budget, now));
        self.budgets = running.collect();
    }
}
