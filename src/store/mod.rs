//! Stores of tokens, rate limits, idempotency keys, usage, webhooks and the audit log.
//!
//! Each store of the API has a trait, whose methods are atomic; [`Stores`] combines them. A host can implement the traits;
//! the suite [`conformance`](crate::conformance) checks its implementations. [`WebhookStores`] has only implementations of
//! the library. Each backend has a module: [`memory`] and, with features, `sqlite`, `postgres` and `redis`.
//! [`sqlite_schema`] contains the schema and the statements of the SQLite tables for other drivers.
//!
//! The library can drop the future of a call at any time, for example when the client disconnects. The operation must
//! then take effect completely or not at all. Methods that depend on the current time receive it as a parameter. A `find`
//! method returns `Ok(None)` if the resource does not exist.

mod audit;
mod deliveries;
mod endpoints;
mod erasure;
mod feed;
mod idempotency;
pub mod memory;
mod migrations;
mod outbox;
mod pending_events;
#[cfg(feature = "postgres")]
pub mod postgres;
mod rate_limits;
#[cfg(feature = "redis")]
pub mod redis;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
#[cfg_attr(
    not(feature = "postgres"),
    expect(unreachable_pub, reason = "the module `postgres` exports these items")
)]
mod sql;
#[cfg(feature = "sqlite")]
pub mod sqlite;
pub mod sqlite_schema;
mod stores;
mod token_usage;
mod usage;
mod webhook_stores;

pub use crate::token::store::{TokenFilter, TokenSearch, TokenStateFilter, TokenStore};
pub use audit::{AuditFilter, AuditRecord, AuditStore};
pub(crate) use deliveries::DeliveryStore;
#[cfg(any(feature = "conformance", feature = "postgres", feature = "sqlite"))]
pub(crate) use deliveries::MAX_STORED_ATTEMPTS;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
use deliveries::retention_starts_at;
pub use deliveries::{ClaimBatch, ClaimRequest, ClaimedDelivery, Settlement};
pub use deliveries::{
    DeliveryCount, DeliveryFilter, EndpointStats, LastDelivery, QueueStats, ResponseFilter,
};
pub(crate) use endpoints::EndpointStore;
pub use erasure::{ErasedMember, ErasureStatement};
pub(crate) use feed::FeedStore;
pub use feed::{FeedEntry, FeedPosition, FeedRead, FoundInFeed};
pub use idempotency::{
    BeginOutcome, Completion, IdempotencyNamespace, IdempotencyProgress, IdempotencyRecord,
    IdempotencyStore, IdempotentRequest, Reservation, ResourceIds, StoredResponse,
};
pub use migrations::{Migration, MigrationError, MigrationScript, Migrations, SchemaStatus};
pub use outbox::FanOut;
pub(crate) use outbox::OutboxStore;
pub use outbox::{Quarantine, QuarantinedEvent, StoredEvent};
pub use pending_events::PendingEventStore;
#[cfg(any(feature = "conformance", feature = "webhooks"))]
pub(crate) use pending_events::relay_events;
pub use rate_limits::RateLimitStore;
pub use stores::Stores;
pub use token_usage::{TokenUsage, UsageCounts};
pub use usage::UsageStore;
pub use webhook_stores::WebhookStores;
