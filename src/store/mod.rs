//! Stores of tokens, rate limits, idempotency keys and webhooks.
//!
//! Each resource has a trait whose methods are atomic, and each backend a module: [`memory`] and, with features,
//! `sqlite`, `postgres` and `redis`. [`Stores`] and [`WebhookStores`] combine them.
//!
//! The time is a parameter. `Ok(None)` means that the resource does not exist.
//!
//! The suite [`conformance`](crate::conformance) checks other implementations of the traits.

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
mod lock;
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
mod stores;
mod tokens;

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
use lock::lock;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub use migrations::{Migration, MigrationError, Migrations, SchemaStatus};
pub use outbox::{FanOut, OutboxStore, Quarantine, QuarantinedEvent};
pub use rate_limits::RateLimitStore;
pub use stores::{Stores, WebhookStores};
pub use tokens::TokenStore;
