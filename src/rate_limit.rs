//! Rate limits: fixed windows of units, each starting with the first charge after the previous one ended
//! (`docs/protocol.md`, section 4.1).

use std::time::Duration;

use sha2::{Digest as _, Sha256};

use crate::model::Timestamp;
use crate::token::Lookup;

/// How many units may be spent in how long a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// The units of one window.
    pub units: u32,
    /// How long it lasts.
    pub window: Duration,
}

/// The running window of one budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowState {
    /// When it ends: from this instant on it is over.
    pub ends_at: Timestamp,
    /// How many of its units are spent.
    pub used: u32,
}

/// Whose budget it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RateLimitKey {
    /// A token's.
    Token(Lookup),
    /// That of all guests whose address begins alike: the address with the rest zeroed, IPv4 as IPv4-mapped IPv6.
    Prefix(u128),
    /// That of all guests without any address.
    UnknownAddress,
    /// Budget of failed password attempts. Holds a hash, see [`RateLimitKey::attempts`].
    Attempts(u128),
}

impl RateLimitKey {
    /// Returns the key of a budget of failed password attempts: the first 128 bits of the SHA-256 of `purpose` and
    /// `subject`. No store sees a name or an address.
    ///
    /// Budgets of different purposes are separate. `subject` identifies what is limited, such as an address prefix or a
    /// member.
    pub fn attempts(purpose: &str, subject: &[u8]) -> Self {
        let purpose = Sha256::digest(purpose);
        let hash = Sha256::new()
            .chain_update(purpose)
            .chain_update(subject)
            .finalize();
        let first = hash.iter().take(16);
        Self::Attempts(first.fold(0, |number, byte| number << 8 | u128::from(*byte)))
    }
}

/// The outcome of a charge, and what the `x-ratelimit-*` headers show of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimitDecision {
    /// Whether it was within the budget. If not, nothing was spent.
    pub allowed: bool,
    /// The window's budget.
    pub limit: u32,
    /// What is left after this charge.
    pub remaining: u32,
    /// When the window ends.
    pub resets_at: Timestamp,
    /// When it was charged, by the clock that [`reset`](Self::reset) goes by.
    pub charged_at: Timestamp,
}

impl Budget {
    /// Returns whether the window of `budget` still runs at `now`.
    ///
    /// One that ends later than a whole window from now counts as ended: the clock was set back since it started.
    pub fn is_running(self, budget: &WindowState, now: Timestamp) -> bool {
        now < budget.ends_at && budget.ends_at <= now.saturating_add(self.window)
    }

    /// Returns `budget` after `cost` of its units were given back; `None` while no window runs.
    pub fn refund(
        self,
        budget: Option<WindowState>,
        cost: u32,
        now: Timestamp,
    ) -> Option<WindowState> {
        let running = budget.filter(|budget| self.is_running(budget, now))?;
        let used = running.used.saturating_sub(cost);
        (used > 0).then_some(WindowState { used, ..running })
    }

    /// Charges `cost` units to a budget, all of them or none; a cost of 0 looks without starting a window.
    ///
    /// Gives the budget as it is afterwards, `None` while no window runs.
    pub fn charge(
        self,
        budget: Option<WindowState>,
        cost: u32,
        now: Timestamp,
    ) -> (Option<WindowState>, RateLimitDecision) {
        let running = budget.filter(|budget| self.is_running(budget, now));
        let WindowState {
            ends_at: ends,
            used,
        } = running.unwrap_or(WindowState {
            ends_at: now.saturating_add(self.window),
            used: 0,
        });
        let left = self.units.saturating_sub(used);
        let granted = cost <= left;
        let spent = if granted { cost } else { 0 };
        let after = WindowState {
            ends_at: ends,
            used: used + spent,
        };
        let charge = RateLimitDecision {
            allowed: granted,
            limit: self.units,
            remaining: left - spent,
            resets_at: ends,
            charged_at: now,
        };
        let runs = running.is_some() || spent > 0;
        (runs.then_some(after), charge)
    }
}
