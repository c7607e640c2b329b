//! Token store.

use async_trait::async_trait;
use rusqlite::{Row, params};

use super::audit::change_audited;
use super::execute::{all, change, first};
use super::{Database, SqliteError, rows};
use crate::audit::AuditEntry;
use crate::error::BackendResult;
use crate::model::Timestamp;
use crate::store::sqlite_schema::tokens::{
    CREATE, FIND, PURGE, RECORD_USE, REVOKE, SET_LABEL, list,
};
use crate::store::{ScopeList, TokenFilter, TokenStore};
use crate::token::{Lookup, TokenRecord};

/// Decodes a token from the columns `lookup`, `digest`, `owner`, `label`, `scopes`, `created_at`, `expires_at`, `revoked_at` and
/// `last_used_at` of the table `forum_api_tokens`, which it finds by name.
///
/// The query of a [`TokenLoader`](crate::store::TokenLoader) calls it for each row. No earlier column of the row may
/// have one of these names.
///
/// # Errors
/// [`rusqlite::Error`] if a column is missing or cannot be decoded.
pub fn read_token(row: &Row<'_>) -> rusqlite::Result<TokenRecord> {
    rows::read_token(row)
}

/// Token records in the table `forum_api_tokens`.
#[derive(Clone, Debug)]
pub struct SqliteTokenStore(Database);

impl SqliteTokenStore {
    /// Creates a store in `database`.
    pub const fn new(database: Database) -> Self {
        Self(database)
    }
}

#[async_trait]
impl TokenStore for SqliteTokenStore {
    async fn create(&self, token: &TokenRecord, audit: &AuditEntry) -> BackendResult<bool> {
        let (token, audit) = (token.clone(), audit.clone());
        let write = self.0.write(move |savepoint| {
            let row = params![
                token.lookup,
                token.digest,
                token.owner,
                token.label,
                ScopeList(token.scopes),
                token.created_at,
                token.expires_at,
                token.revoked_at,
                token.last_used_at,
            ];
            Ok(change_audited(savepoint, CREATE, row, &audit)? > 0)
        });
        write.await
    }

    async fn find(&self, lookup: &Lookup) -> BackendResult<Option<TokenRecord>> {
        let lookup = *lookup;
        self.0
            .read_short(move |connection| Ok(first(connection, FIND, [lookup], rows::read_token)?))
            .await
    }

    async fn revoke(
        &self,
        lookup: &Lookup,
        now: Timestamp,
        audit: &AuditEntry,
    ) -> BackendResult<bool> {
        let (lookup, audit) = (*lookup, audit.clone());
        let write = self.0.write(move |savepoint| {
            let row = params![lookup, now];
            let revoked = change_audited(savepoint, REVOKE, row, &audit)? > 0;
            Ok(revoked || first(savepoint, FIND, [lookup], rows::read_token)?.is_some())
        });
        write.await
    }

    async fn set_label(
        &self,
        lookup: &Lookup,
        label: &str,
        audit: &AuditEntry,
    ) -> BackendResult<bool> {
        let (lookup, label, audit) = (*lookup, label.to_owned(), audit.clone());
        let write = self.0.write(move |savepoint| {
            let row = params![lookup, label];
            let changed = change_audited(savepoint, SET_LABEL, row, &audit)? > 0;
            Ok(changed || first(savepoint, FIND, [lookup], rows::read_token)?.is_some())
        });
        write.await
    }

    async fn record_use(&self, lookup: &Lookup, now: Timestamp) -> BackendResult<()> {
        let lookup = *lookup;
        let too_old = now.saturating_sub(TokenRecord::LAST_USED_RESOLUTION);
        self.0.write_detached::<SqliteError>(move |savepoint| {
            change(savepoint, RECORD_USE, params![lookup, now, too_old])?;
            Ok(())
        });
        Ok(())
    }

    async fn list(&self, filter: &TokenFilter, now: Timestamp) -> BackendResult<Vec<TokenRecord>> {
        let filter = filter.clone();
        self.0
            .read(move |connection| {
                let (created_at, lookup) = filter.start();
                let search = filter.search.as_ref();
                let parameters = params![
                    created_at,
                    lookup,
                    filter.limit,
                    now,
                    filter.owner,
                    search.map(|search| &search.text),
                    search.and_then(|search| search.owner.as_ref()),
                ];
                Ok(all(
                    connection,
                    &list(&filter),
                    parameters,
                    rows::read_token,
                )?)
            })
            .await
    }

    async fn purge(&self, before: Timestamp, limit: u32, audit: &AuditEntry) -> BackendResult<u64> {
        let audit = audit.clone();
        let purge = self.0.write(move |savepoint| {
            let old = params![before, limit];
            Ok(change_audited(savepoint, PURGE, old, &audit)?)
        });
        purge.await
    }
}
