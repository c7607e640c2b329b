//! Trait of rate limit stores.

use async_trait::async_trait;

use crate::error::BackendResult;
use crate::model::Timestamp;
use crate::rate_limit::{Budget, RateLimitDecision, RateLimitKey};

/// Stores the running windows of rate limits. A store removes ended windows itself.
#[async_trait]
#[doc(alias = "throttle")]
pub trait RateLimitStore: Send + Sync + 'static {
    /// Charges all `cost` units to the window of `key`, or none. Concurrent charges have the same effect as
    /// successive calls of [`Budget::charge`]. A cost of 0 reads the window.
    ///
    /// The caller reads `now` immediately before the call. Concurrent charges can arrive in another order than their
    /// times were read; [`Budget::charge`] counts them in one window. A store with its own clock ignores `now`, and
    /// reads its time in the transaction or script that makes the charge.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails. The response of the API is a 503. The response of
    /// the panel is a 500, or a 503 if the source is an [`OverloadedError`](crate::host::OverloadedError). A store behind a
    /// network can fall back to a [`MemoryRateLimitStore`](super::memory::MemoryRateLimitStore) while it is unreachable.
    async fn charge(
        &self,
        key: &RateLimitKey,
        cost: u32,
        budget: Budget,
        now: Timestamp,
    ) -> BackendResult<RateLimitDecision>;

    /// Refunds `cost` units to the running window of `key`, as [`Budget::refund`] does. Changes nothing if no window runs.
    ///
    /// The panel and a sign-in page charge a password attempt before they verify the password, and refund it if the password
    /// is correct. A store that nodes share may keep the charge if another node has read the window in between.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails. The units stay charged until the window ends.
    async fn refund(
        &self,
        key: &RateLimitKey,
        cost: u32,
        budget: Budget,
        now: Timestamp,
    ) -> BackendResult<()>;
}

impl_for_pointers!(RateLimitStore {
    async fn charge(key: &RateLimitKey, cost: u32, budget: Budget, now: Timestamp) -> BackendResult<RateLimitDecision>;
    async fn refund(key: &RateLimitKey, cost: u32, budget: Budget, now: Timestamp) -> BackendResult<()>;
});
