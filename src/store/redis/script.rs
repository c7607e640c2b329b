//! The charge script: its arguments and its result.

use redis::{ErrorKind, RedisResult, Script};

use super::servers::Connection;
use crate::model::{CLOCK_TOLERANCE, Timestamp};
use crate::rate_limit::{Budget, RateLimitDecision, WindowState};

/// Maximum length of a window, in milliseconds. Numbers in Lua are exact up to about nine times this value.
const MAX_WINDOW: u128 = 1_000_000_000_000_000;

const MALFORMED_COUNT: (ErrorKind, &str) =
    (ErrorKind::UnexpectedReturnType, "not a count of units");

/// Returns the script, which is run by its hash.
pub(super) fn script() -> Script {
    Script::new(include_str!("charge.lua"))
}

/// Arguments of the script.
pub(super) struct ChargeRequest<'a> {
    /// Key of the budget in Redis.
    pub(super) key: &'a str,
    /// Units to charge; negative to refund.
    pub(super) cost: i64,
    pub(super) budget: Budget,
    /// The last state that the node knows.
    pub(super) known: Option<WindowState>,
}

/// Result of the script.
#[derive(Clone, Copy)]
pub(super) struct ChargeReply {
    allowed: bool,
    used: u32,
    ends_at: Timestamp,
    /// Time of Redis.
    pub(super) now: Timestamp,
}

impl ChargeRequest<'_> {
    /// Runs the script, and loads it if Redis does not have it.
    pub(super) async fn send(
        &self,
        script: &Script,
        mut connection: Connection,
    ) -> RedisResult<ChargeReply> {
        let window = self.budget.window.as_millis().min(MAX_WINDOW);
        let known = self.known.map_or((0, 0), |known| (known.used, known.ends_at.as_millis()));
        let mut invocation = script.key(self.key);
        invocation
            .arg(self.budget.units)
            .arg(window as u64)
            .arg(self.cost)
            .arg(known)
            .arg(CLOCK_TOLERANCE.as_millis() as u64);
        let (allowed, used, ends_at, now): (bool, i64, i64, i64) =
            connection.invoke(&invocation).await?;
        Ok(ChargeReply {
            allowed,
            used: u32::try_from(used).map_err(|_| MALFORMED_COUNT)?,
            ends_at: Timestamp::from_millis(ends_at),
            now: Timestamp::from_millis(now),
        })
    }
}

impl ChargeReply {
    /// Returns the state after the charge; `None` if no window runs.
    pub(super) fn window_state(&self) -> Option<WindowState> {
        let Self { used, ends_at, .. } = *self;
        (used > 0).then_some(WindowState { ends_at, used })
    }

    pub(super) fn decision(&self, budget: Budget) -> RateLimitDecision {
        RateLimitDecision {
            allowed: self.allowed,
            limit: budget.units,
            remaining: budget.units.saturating_sub(self.used),
            resets_at: self.ends_at,
            charged_at: self.now.max(self.ends_at.saturating_sub(budget.window)),
        }
    }
}
