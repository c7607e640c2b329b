//! Storage of tokens, rate limits, idempotency keys and webhooks: a narrow trait for each resource, with one atomic
//! operation a method, and a folder for each backend.
//!
//! Time is an argument. `Ok(None)` means absent; creating and changing are different methods.

/// Types that SQL databases store as text, each with its decoder and its encoder.
#[cfg(any(feature = "postgres", feature = "sqlite"))]
macro_rules! text_columns {
    ($backend:ident) => {
        $backend! {
            DeliveryId: DeliveryId::parse, ToString::to_string;
            EndpointId: EndpointId::parse, ToString::to_string;
            EventId: EventId::parse, ToString::to_string;
            ForumId: ForumId::parse, ToString::to_string;
            KeyId: KeyId::new, KeyId::as_str;
            Lookup: Lookup::parse, Lookup::as_str;
            PostId: PostId::parse, ToString::to_string;
            DeliveryState: DeliveryState::parse, |state: &DeliveryState| state.as_str();
            ThreadId: ThreadId::parse, ToString::to_string;
            Topic: Topic::parse, Topic::as_str;
            TopicSet: TopicSet::from_json, TopicSet::to_json;
            UserId: UserId::parse, ToString::to_string;
        }
    };
}

#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod decode;
mod deliveries;
mod endpoints;
mod idempotency;
pub mod memory;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod migrations;
mod outbox;
#[cfg(feature = "postgres")]
pub mod postgres;
mod rate_limits;
#[cfg(feature = "redis")]
pub mod redis;
#[cfg(feature = "sqlite")]
pub mod sqlite;
mod tokens;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use crate::error::{BackendError, BackendResult, IntoBackendError, Overloaded};
#[cfg(any(feature = "postgres", feature = "sqlite"))]
use decode::{decode_event, report_unreadable, scopes_from_json, scopes_to_json};
use deliveries::ended_at;
pub use deliveries::{
    ClaimBatch, ClaimRequest, ClaimedDelivery, DeliveryCount, DeliveryFilter, DeliveryStore,
    MAX_STORED_ATTEMPTS, QueueStats, Settlement, Usage,
};
pub use endpoints::EndpointStore;
pub use idempotency::{
    BeginOutcome, Completion, IdempotencyRecord, IdempotencyStore, IdempotentRequest, Reservation,
    ResourceIds, StoredResponse,
};
#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub use migrations::{Migration, MigrationError, Migrations, SchemaStatus};
pub use outbox::{FanOut, OutboxStore, Quarantine, QuarantinedEvent};
pub use rate_limits::RateLimitStore;
pub use tokens::TokenStore;

/// The stores of an API.
#[derive(Clone)]
pub struct Stores {
    /// Tokens.
    pub tokens: Arc<dyn TokenStore>,
    /// Budgets.
    pub rate_limits: Arc<dyn RateLimitStore>,
    /// Responses by `Idempotency-Key`.
    pub idempotency: Arc<dyn IdempotencyStore>,
}

impl Stores {
    /// Stores in memory, whose contents are lost when the process ends.
    pub fn in_memory() -> Self {
        Self {
            tokens: Arc::new(memory::MemoryTokenStore::default()),
            rate_limits: Arc::new(memory::MemoryRateLimitStore::default()),
            idempotency: Arc::new(memory::MemoryIdempotencyStore::default()),
        }
    }
}

opaque_debug!(Stores);

/// The stores of webhooks: three views of one store.
#[derive(Clone)]
pub struct WebhookStores {
    /// Events that wait to be fanned out.
    pub outbox: Arc<dyn OutboxStore>,
    /// Endpoints.
    pub endpoints: Arc<dyn EndpointStore>,
    /// Deliveries.
    pub deliveries: Arc<dyn DeliveryStore>,
}

impl WebhookStores {
    /// Stores in memory, whose contents are lost when the process ends.
    pub fn in_memory() -> Self {
        Self::from_store(memory::MemoryWebhookStore::default())
    }

    /// One store that implements all three traits.
    pub fn from_store<T: OutboxStore + EndpointStore + DeliveryStore>(store: T) -> Self {
        let store = Arc::new(store);
        Self {
            outbox: store.clone(),
            endpoints: store.clone(),
            deliveries: store,
        }
    }
}

opaque_debug!(WebhookStores);

/// No code that could panic runs under the lock of a store, so a poisoned lock protects no partial change.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
