//! The stores of an API.

use std::sync::Arc;

use super::{AuditStore, IdempotencyStore, RateLimitStore, TokenStore, UsageStore, memory};

/// Stores of an API. Each can be replaced separately:
///
/// ```
/// use std::sync::Arc;
/// use forum_api::store::{RateLimitStore, Stores};
///
/// fn with_shared_budgets(mut stores: Stores, rate_limits: impl RateLimitStore + 'static) -> Stores {
///     stores.rate_limits = Arc::new(rate_limits);
///     stores
/// }
/// ```
#[derive(Clone)]
#[doc(alias = "database")]
#[doc(alias = "persistence")]
#[non_exhaustive]
pub struct Stores {
    /// Token records.
    pub tokens: Arc<dyn TokenStore>,
    /// Running windows of rate limits.
    pub rate_limits: Arc<dyn RateLimitStore>,
    /// Responses by `Idempotency-Key`.
    pub idempotency: Arc<dyn IdempotencyStore>,
    /// The audit log. Webhook stores in the same database write to the same log.
    pub audit: Arc<dyn AuditStore>,
    /// Requests by token, operation and hour.
    pub usage: Arc<dyn UsageStore>,
}

impl Stores {
    /// Creates stores in memory. Their contents are lost when the process ends.
    pub fn in_memory() -> Self {
        let audit = memory::MemoryAuditStore::default();
        Self {
            tokens: Arc::new(memory::MemoryTokenStore::new(audit.clone())),
            rate_limits: Arc::new(memory::MemoryRateLimitStore::default()),
            idempotency: Arc::new(memory::MemoryIdempotencyStore::default()),
            audit: Arc::new(audit),
            usage: Arc::new(memory::MemoryUsageStore::default()),
        }
    }
}

opaque_debug!(Stores);
