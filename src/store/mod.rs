//! Stores of tokens, rate limits, idempotency keys, usage, webhooks and the audit log.
//!
//! Each resource has a trait, whose methods are atomic. Each backend has a module: [`memory`] and, with features,
//! `sqlite`, `postgres` and `redis`. [`Stores`] and [`WebhookStores`] combine them. [`sqlite_schema`] contains the schema
//! and the statements of the SQLite tables for other drivers.
//!
//! The library can drop the future of a call at any time, for example when the client disconnects. The operation must
//! then take effect completely or not at all. Methods that depend on the current time receive it as a parameter. A `find`
//! method returns `Ok(None)` if the resource does not exist.
//!
//! Only the library implements [`OutboxStore`], [`EndpointStore`] and [`DeliveryStore`]. Their methods for the worker and
//! the administration are hidden: they are public only for the tests of the library. A host can implement the other
//! traits; the suite [`conformance`](crate::conformance) checks its implementations.

mod audit;
mod deliveries;
mod endpoints;
mod erasure;
mod feed;
mod idempotency;
mod library_store;
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

pub use crate::token::store::{TokenFilter, TokenSearch, TokenStateFilter, TokenStore};
pub use audit::{AuditFilter, AuditRecord, AuditStore};
#[cfg(any(feature = "conformance", feature = "postgres", feature = "sqlite"))]
pub(crate) use deliveries::MAX_STORED_ATTEMPTS;
pub use deliveries::{ClaimBatch, ClaimRequest, ClaimedDelivery, Settlement};
pub use deliveries::{
    DeliveryCount, DeliveryFilter, DeliveryStore, DueTimeLimits, EndpointStats, LastDelivery,
    QueueStats, ResponseFilter,
};
#[cfg(any(feature = "postgres", feature = "sqlite"))]
use deliveries::{MAX_LEASE, retention_starts_at};
pub use endpoints::EndpointStore;
pub use erasure::{ErasedMember, ErasureStatement};
pub use feed::{FeedEntry, FeedPosition, FeedRead, FeedStore, FoundInFeed};
pub use idempotency::{
    BeginOutcome, Completion, IdempotencyNamespace, IdempotencyProgress, IdempotencyRecord,
    IdempotencyStore, IdempotentRequest, Reservation, ResourceIds, StoredResponse,
};
pub(crate) use library_store::LibraryStore;
pub use migrations::{Migration, MigrationError, MigrationScript, Migrations, SchemaStatus};
pub use outbox::FanOut;
pub use outbox::{OutboxStore, Quarantine, QuarantinedEvent, StoredEvent};
pub use pending_events::PendingEventStore;
#[cfg(any(feature = "conformance", feature = "webhooks"))]
pub(crate) use pending_events::relay_events;
pub use rate_limits::RateLimitStore;
pub use stores::{Stores, WebhookStores};
pub use token_usage::{TokenUsage, UsageCounts};
pub use usage::UsageStore;
