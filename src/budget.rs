//! Budgets: fixed windows of units, each starting with the first charge after the last one ended (spec, Limits;
//! contract, section 3).

use std::time::Duration;

use crate::model::Timestamp;
use crate::token::Lookup;

/// How many units may be spent in how long a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The units of one window.
    pub units: u32,
    /// How long it lasts.
    pub length: Duration,
}

/// The running window of one budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// When it ends: from this instant on it is over.
    pub ends: Timestamp,
    /// How many of its units are spent.
    pub used: u32,
}

/// Whose budget it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BudgetKey {
    /// A token's.
    Token(Lookup),
    /// That of all guests whose address begins alike: the address with the rest zeroed, IPv4 as IPv4-mapped IPv6.
    Prefix(u128),
    /// That of all guests without any address.
    NoAddress,
}

/// The outcome of a charge, and what the `x-ratelimit-*` headers show of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charge {
    /// Whether it was within the budget. If not, nothing was spent.
    pub granted: bool,
    /// The window's budget.
    pub limit: u32,
    /// What is left after this charge.
    pub remaining: u32,
    /// When the window ends.
    pub reset: Timestamp,
    /// When it was charged, by the clock that [`reset`](Self::reset) goes by.
    pub at: Timestamp,
}

impl Window {
    /// Whether the window of `budget` still runs at `now`.
    ///
    /// One that ends later than a whole window from now counts as ended: the clock was set back since it started.
    pub fn is_running(self, budget: &Budget, now: Timestamp) -> bool {
        now < budget.ends && budget.ends <= now.plus(self.length)
    }

    /// Charges `cost` units to a budget, all of them or none; a cost of 0 looks without starting a window.
    ///
    /// Gives the budget as it is afterwards, `None` while no window runs.
    pub fn charge(
        self,
        budget: Option<Budget>,
        cost: u32,
        now: Timestamp,
    ) -> (Option<Budget>, Charge) {
        let running = budget.filter(|budget| self.is_running(budget, now));
        let Budget { ends, used } = running.unwrap_or(Budget {
            ends: now.plus(self.length),
            used: 0,
        });
        let left = self.units.saturating_sub(used);
        let granted = cost <= left;
        let spent = if granted { cost } else { 0 };
        let after = Budget {
            ends,
            used: used + spent,
        };
        let charge = Charge {
            granted,
            limit: self.units,
            remaining: left - spent,
            reset: ends,
            at: now,
        };
        let runs = running.is_some() || spent > 0;
        (runs.then_some(after), charge)
    }
}
