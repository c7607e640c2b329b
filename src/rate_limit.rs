//! Rate limits in fixed windows ([protocol](crate::guide::protocol), section 4.1). A window begins with the first
//! charge after the end of the previous window.

use std::time::Duration;

use sha2::{Digest as _, Sha256};

use crate::model::{CLOCK_TOLERANCE, Timestamp};
use crate::token::Lookup;

/// Number of units that can be charged in one window.
///
/// ```
/// use std::time::Duration;
/// use forum_api::model::Timestamp;
/// use forum_api::rate_limit::Budget;
///
/// let budget = Budget { units: 10, window: Duration::from_secs(300) };
/// let now = Timestamp::from_millis(0);
/// let (state, first) = budget.charge(None, 8, now);
/// assert!(first.allowed && first.remaining == 2);
/// let (_, second) = budget.charge(state, 8, now);
/// assert!(!second.allowed && second.remaining == 2);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Units per window.
    pub units: u32,
    /// Length of a window.
    pub window: Duration,
}

/// State of a running window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowState {
    /// End of the window, exclusive.
    pub ends_at: Timestamp,
    /// Units charged so far.
    pub used: u32,
}

/// Key of a budget.
///
/// A store uses [`to_bytes`](Self::to_bytes) as the key of its rows. Later versions can add kinds of budgets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RateLimitKey {
    /// Budget of a token.
    Token(Lookup),
    /// Budget shared by all guests of one network prefix. Holds the masked address. An IPv4 address is converted to an
    /// IPv4-mapped IPv6 address.
    Prefix(u128),
    /// Budget shared by all guests whose address is unknown.
    UnknownAddress,
    /// Budget of failed password attempts. Holds a hash, see [`RateLimitKey::password_attempts`].
    PasswordAttempts(u128),
}

impl RateLimitKey {
    /// Returns bytes that differ for different keys and stay the same in later versions: a byte for the kind, followed by
    /// the lookup, the address or the hash.
    pub fn to_bytes(&self) -> Vec<u8> {
        let (kind, value) = match self {
            Self::Token(lookup) => (1, lookup.to_bytes()),
            Self::Prefix(address) => (2, address.to_be_bytes()),
            Self::UnknownAddress => (3, [0; 16]),
            Self::PasswordAttempts(hash) => (4, hash.to_be_bytes()),
        };
        [[kind].as_slice(), &value].concat()
    }

    /// Returns the key of a budget of failed password attempts: the first 128 bits of a SHA-256 of `purpose` and
    /// `subject`. The store receives only this hash, not a name or an address.
    ///
    /// Budgets of different purposes are separate. `subject` identifies the account or the address prefix whose
    /// attempts are limited.
    pub fn password_attempts(purpose: &str, subject: &[u8]) -> Self {
        let purpose = Sha256::digest(purpose);
        let hash = Sha256::new_with_prefix(purpose).chain_update(subject).finalize();
        let first = hash.iter().take(16);
        Self::PasswordAttempts(first.fold(0, |number, byte| number << 8 | u128::from(*byte)))
    }
}

/// Result of a charge. The `x-ratelimit-*` headers show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimitDecision {
    /// `true` if all units were charged; `false` if no unit was charged.
    pub allowed: bool,
    /// Units per window.
    pub limit: u32,
    /// Units that remain after this charge.
    pub remaining: u32,
    /// End of the window, or of a window that would start now if none is running.
    pub resets_at: Timestamp,
    /// Time of the charge, by the same clock as [`resets_at`](Self::resets_at). Not before the start of the window.
    pub charged_at: Timestamp,
}

impl Budget {
    /// Returns `true` if the window of `state` is still running at `now`.
    ///
    /// Charges can be made in another order than their times were read, so a window can start after `now`. A window
    /// that starts more than 60 s after `now` counts as ended: the clock was set back, or the length was reduced, after
    /// the window began.
    pub(crate) fn is_running(self, state: &WindowState, now: Timestamp) -> bool {
        now < state.ends_at && self.start_of(state) <= now.saturating_add(CLOCK_TOLERANCE)
    }

    /// Returns the start of a window of this length.
    fn start_of(self, state: &WindowState) -> Timestamp {
        state.ends_at.saturating_sub(self.window)
    }

    /// Returns `state` after a refund of `cost` units; `None` if no window is running, or no charged units remain.
    pub fn refund(
        self,
        state: Option<WindowState>,
        cost: u32,
        now: Timestamp,
    ) -> Option<WindowState> {
        let running = state.filter(|state| self.is_running(state, now))?;
        let used = running.used.saturating_sub(cost);
        (used > 0).then_some(WindowState { used, ..running })
    }

    /// Charges `cost` units if that many remain. A cost of 0 reads the state without starting a window. The time of the
    /// charge is the later of `now` and the start of the running window.
    ///
    /// Returns the state after the charge (`None` if no window is running) and the decision.
    pub fn charge(
        self,
        state: Option<WindowState>,
        cost: u32,
        now: Timestamp,
    ) -> (Option<WindowState>, RateLimitDecision) {
        let running = state.filter(|state| self.is_running(state, now));
        let WindowState { ends_at, used } =
            running.unwrap_or(WindowState { ends_at: now.saturating_add(self.window), used: 0 });
        let remaining = self.units.saturating_sub(used);
        let allowed = cost <= remaining;
        let charged = if allowed { cost } else { 0 };
        let decision = RateLimitDecision {
            allowed,
            limit: self.units,
            remaining: remaining - charged,
            resets_at: ends_at,
            charged_at: running.map_or(now, |running| now.max(self.start_of(&running))),
        };
        let used = used + charged;
        let is_running = running.is_some() || charged > 0;
        let state = is_running.then_some(WindowState { ends_at, used });
        (state, decision)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_keys_are_the_recorded_ones() {
        let text = "0123456789abcdEF";
        let lookup = Lookup::parse(text).unwrap();
        let number = u128::from_be_bytes(*b"0123456789abcdEF");
        for (key, kind, rest) in [
            (RateLimitKey::Token(lookup), "\u{1}", text),
            (RateLimitKey::Prefix(number), "\u{2}", text),
            (RateLimitKey::UnknownAddress, "\u{3}", &"\0".repeat(16)),
            (RateLimitKey::PasswordAttempts(number), "\u{4}", text),
        ] {
            let recorded = format!("{kind}{rest}");
            assert_eq!(key.to_bytes(), recorded.as_bytes(), "{key:?}");
        }
    }

    /// Nodes of different versions share the budgets.
    #[test]
    fn the_hash_of_password_attempts_is_the_recorded_one() {
        let key = RateLimitKey::password_attempts("sign-in", b"alice");
        assert_eq!(key, RateLimitKey::PasswordAttempts(0x0ceb06f5_03e364c9_91301f96_399f0f1c));
    }
}
