//! Sets of stores in SQLite.

use std::sync::Arc;

use super::{
    Database, SqliteAuditStore, SqliteIdempotencyStore, SqliteTokenStore, SqliteUsageStore,
    SqliteWebhookStore,
};
use crate::store::{Stores, WebhookStores};

impl Stores {
    /// Creates stores of tokens, idempotency keys, usage and the audit log in `database`, for one node (feature `sqlite`).
    /// Rate limits are in memory.
    pub fn in_sqlite(database: &Database) -> Self {
        Self {
            tokens: Arc::new(SqliteTokenStore::new(database.clone())),
            idempotency: Arc::new(SqliteIdempotencyStore::new(database.clone())),
            audit: Arc::new(SqliteAuditStore::new(database.clone())),
            usage: Arc::new(SqliteUsageStore::new(database.clone())),
            ..Self::in_memory()
        }
    }
}

impl WebhookStores {
    /// Creates stores of webhooks in `database` (feature `sqlite`).
    pub fn in_sqlite(database: &Database) -> Self {
        Self::from_store(SqliteWebhookStore::new(database.clone()))
    }
}
