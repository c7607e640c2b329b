//! The script that charges: its arguments and its result.

use redis::aio::MultiplexedConnection;
use redis::{ErrorKind, RedisResult, Script};

use crate::model::Timestamp;
use crate::rate_limit::{Budget, RateLimitDecision, WindowState};

/// No window is longer, in milliseconds: Lua's numbers are exact up to nine times as far.
const LONGEST: u128 = 1_000_000_000_000_000;

const NO_COUNT: (ErrorKind, &str) = (ErrorKind::UnexpectedReturnType, "not a count of units");

/// The script, to be run by its hash.
pub(super) fn script() -> Script {
    Script::new(include_str!("charge.lua"))
}

/// A charge as the script takes it.
pub(super) struct ChargeRequest<'a> {
    /// The name of the budget in Redis.
    pub(super) key: &'a str,
    /// The units to charge; negative to refund.
    pub(super) cost: i64,
    pub(super) window: Budget,
    /// What the node knows of the budget.
    pub(super) known: Option<WindowState>,
}

/// Result.
#[derive(Clone, Copy)]
pub(super) struct ChargeReply {
    granted: bool,
    used: u32,
    ends: Timestamp,
    /// The time in Redis.
    pub(super) now: Timestamp,
}

impl ChargeRequest<'_> {
    /// Runs the script, which is sent along where Redis does not know it.
    pub(super) async fn ask(
        &self,
        script: &Script,
        mut connection: MultiplexedConnection,
    ) -> RedisResult<ChargeReply> {
        let length = self.window.window.as_millis().min(LONGEST);
        let known = self
            .known
            .map_or((0, 0), |known| (known.used, known.ends_at.as_millis()));
        let (granted, used, ends, now): (bool, i64, i64, i64) = script
            .key(self.key)
            .arg(self.window.units)
            .arg(length as u64)
            .arg(self.cost)
            .arg(known)
            .invoke_async(&mut connection)
            .await?;
        Ok(ChargeReply {
            granted,
            used: u32::try_from(used).map_err(|_| NO_COUNT)?,
            ends: Timestamp::from_millis(ends),
            now: Timestamp::from_millis(now),
        })
    }
}

impl ChargeReply {
    /// The budget as it is now, `None` while no window runs.
    pub(super) fn budget(&self) -> Option<WindowState> {
        let Self { used, ends, .. } = *self;
        (used > 0).then_some(WindowState {
            ends_at: ends,
            used,
        })
    }

    /// As the service takes it.
    pub(super) fn charge(&self, window: Budget) -> RateLimitDecision {
        RateLimitDecision {
            allowed: self.granted,
            limit: window.units,
            remaining: window.units.saturating_sub(self.used),
            resets_at: self.ends,
            charged_at: self.now,
        }
    }
}
