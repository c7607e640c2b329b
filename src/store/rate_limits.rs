//! Trait of rate limit stores.

use async_trait::async_trait;

use crate::error::BackendResult;
use crate::model::Timestamp;
use crate::rate_limit::{Budget, RateLimitDecision, RateLimitKey};

/// Stores budgets.
#[async_trait]
pub trait RateLimitStore: Send + Sync + 'static {
    /// Charges `cost` units to the budget of `key`, all of them or none, atomically: [`Window::charge`] under any
    /// concurrency. A store with its own clock uses that; the others use `now`.
    ///
    /// # Errors
    /// When the store fails. The request is then refused with 500. A store behind a network can fall back to a
    /// [`MemoryRateLimitStore`](super::memory::MemoryRateLimitStore) while it is unreachable.
    async fn charge(
        &self,
        key: &RateLimitKey,
        cost: u32,
        window: Budget,
        now: Timestamp,
    ) -> BackendResult<RateLimitDecision>;

    /// Gives back `cost` units that were charged to the running window of `key`, as [`Window::refund`] does. Changes
    /// nothing when no window runs.
    ///
    /// The panel and a sign-in page charge a password attempt before the check, and refund it when the password was
    /// right. A store that nodes share may keep the charge if another node has read the budget in between.
    ///
    /// # Errors
    /// When the store fails. The units stay charged until the window ends.
    async fn refund(
        &self,
        key: &RateLimitKey,
        cost: u32,
        window: Budget,
        now: Timestamp,
    ) -> BackendResult<()>;
}
