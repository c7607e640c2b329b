//! Sets of stores for an API and for webhooks.

use std::sync::Arc;

use super::{
    AuditStore, DeliveryStore, EndpointStore, IdempotencyStore, OutboxStore, RateLimitStore,
    TokenLoader, TokenStore, UsageStore, memory,
};

/// Stores of an API. Each can be replaced separately:
///
/// ```
/// use std::sync::Arc;
/// use forum_api::store::{RateLimitStore, Stores};
///
/// fn with_shared_budgets(stores: Stores, rate_limits: impl RateLimitStore + 'static) -> Stores {
///     Stores { rate_limits: Arc::new(rate_limits), ..stores }
/// }
/// ```
#[derive(Clone)]
#[doc(alias = "database")]
#[doc(alias = "persistence")]
pub struct Stores {
    /// Token records.
    pub tokens: Arc<dyn TokenStore>,
    /// The host's query for a token and its owner. It reads the same tokens as `tokens`. If it is `None`, the default
    /// of all constructors, the library loads the token and its owner with separate calls.
    pub token_loader: Option<Arc<dyn TokenLoader>>,
    /// Running windows of rate limits.
    pub rate_limits: Arc<dyn RateLimitStore>,
    /// Responses by `Idempotency-Key`.
    pub idempotency: Arc<dyn IdempotencyStore>,
    /// The audit log. Webhook stores in the same database write to the same log. Webhook stores in memory do so if both
    /// are created with [`in_memory_with`](Self::in_memory_with). A [`MergedAuditStore`](super::MergedAuditStore)
    /// combines the logs of several databases.
    pub audit: Arc<dyn AuditStore>,
    /// Requests by token and hour.
    pub usage: Arc<dyn UsageStore>,
}

impl Stores {
    /// Creates stores in memory, with their own audit log. Their contents are lost when the process ends.
    pub fn in_memory() -> Self {
        Self::in_memory_with(&memory::MemoryAuditStore::default())
    }

    /// Creates stores in memory that write to the audit log `audit`. Pass the same log to
    /// [`WebhookStores::in_memory_with`].
    pub fn in_memory_with(audit: &memory::MemoryAuditStore) -> Self {
        Self {
            tokens: Arc::new(memory::MemoryTokenStore::new(audit.clone())),
            token_loader: None,
            rate_limits: Arc::new(memory::MemoryRateLimitStore::default()),
            idempotency: Arc::new(memory::MemoryIdempotencyStore::default()),
            audit: Arc::new(audit.clone()),
            usage: Arc::new(memory::MemoryUsageStore::default()),
        }
    }
}

opaque_debug!(Stores);

/// Stores of webhooks in one database: three trait objects, which only the library implements.
#[derive(Clone)]
pub struct WebhookStores {
    /// Events that are not fanned out yet.
    pub outbox: Arc<dyn OutboxStore>,
    /// Endpoints of webhooks.
    pub endpoints: Arc<dyn EndpointStore>,
    /// Deliveries and their attempts.
    pub deliveries: Arc<dyn DeliveryStore>,
}

impl WebhookStores {
    /// Creates stores in memory, with their own audit log. Their contents are lost when the process ends.
    pub fn in_memory() -> Self {
        Self::from_store(memory::MemoryWebhookStore::default())
    }

    /// Creates stores in memory that write to the audit log `audit`.
    pub fn in_memory_with(audit: &memory::MemoryAuditStore) -> Self {
        Self::from_store(memory::MemoryWebhookStore::new(audit.clone()))
    }

    fn from_store(store: memory::MemoryWebhookStore) -> Self {
        let store = Arc::new(store);
        Self {
            outbox: store.clone(),
            endpoints: store.clone(),
            deliveries: store,
        }
    }
}

opaque_debug!(WebhookStores);
