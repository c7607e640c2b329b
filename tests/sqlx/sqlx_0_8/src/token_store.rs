//! Token store.

use forum_api::async_trait;
use forum_api::host::OrInternal;
use forum_api::model::{Timestamp, UserId};
use forum_api::store::sqlite_schema::tokens::{CREATE, FIND, LIST, PURGE, RECORD_USE, REVOKE};
use forum_api::store::{BackendResult, TokenStore};
use forum_api::token::{Lookup, SecretDigest, TokenRecord};
use sqlx::{FromRow, SqlitePool};

use crate::Result;

/// Tokens in the table `forum_api_tokens`.
pub struct SqlxTokenStore(pub SqlitePool);

#[async_trait]
impl TokenStore for SqlxTokenStore {
    async fn create(&self, token: &TokenRecord) -> BackendResult<bool> {
        let scopes = serde_json::to_string(&*token.scopes).or_internal()?;
        let created = sqlx::query(CREATE)
            .bind(token.lookup.as_str())
            .bind(token.digest.as_bytes().as_slice())
            .bind(token.owner.to_string())
            .bind(&token.label)
            .bind(scopes)
            .bind(token.created_at.as_millis())
            .bind(token.expires_at.map(Timestamp::as_millis))
            .bind(token.revoked_at.map(Timestamp::as_millis))
            .bind(token.last_used_at.map(Timestamp::as_millis))
            .execute(&self.0)
            .await;
        Ok(created.or_internal()?.rows_affected() > 0)
    }

    async fn find(&self, lookup: &Lookup) -> BackendResult<Option<TokenRecord>> {
        let row: Option<TokenRow> = sqlx::query_as(FIND)
            .bind(lookup.as_str())
            .fetch_optional(&self.0)
            .await
            .or_internal()?;
        let record = row.map(TokenRow::into_record).transpose();
        record.or_internal()
    }

    async fn revoke(&self, lookup: &Lookup, now: Timestamp) -> BackendResult<bool> {
        let revoked = sqlx::query(REVOKE)
            .bind(lookup.as_str())
            .bind(now.as_millis())
            .execute(&self.0)
            .await;
        Ok(revoked.or_internal()?.rows_affected() > 0)
    }

    async fn record_use(&self, lookup: &Lookup, now: Timestamp) -> BackendResult<()> {
        let too_old = now.saturating_sub(TokenRecord::LAST_USED_RESOLUTION);
        let recorded = sqlx::query(RECORD_USE)
            .bind(lookup.as_str())
            .bind(now.as_millis())
            .bind(too_old.as_millis())
            .execute(&self.0)
            .await;
        recorded.map(drop).or_internal()
    }

    async fn purge(&self, before: Timestamp, limit: u32) -> BackendResult<u64> {
        let purged = sqlx::query(PURGE)
            .bind(before.as_millis())
            .bind(limit)
            .execute(&self.0)
            .await;
        Ok(purged.or_internal()?.rows_affected())
    }

    async fn list(
        &self,
        after: Option<(Timestamp, Lookup)>,
        limit: u32,
    ) -> BackendResult<Vec<TokenRecord>> {
        let created_at = after.map_or(i64::MAX, |(created_at, _)| created_at.as_millis());
        let lookup = after.as_ref().map_or("~", |(_, lookup)| lookup.as_str());
        let rows: Vec<TokenRow> = sqlx::query_as(LIST)
            .bind(created_at)
            .bind(lookup)
            .bind(limit)
            .fetch_all(&self.0)
            .await
            .or_internal()?;
        let records = rows
            .into_iter()
            .map(TokenRow::into_record)
            .collect::<Result<_>>();
        records.or_internal()
    }
}

/// A row of the table.
#[derive(FromRow)]
struct TokenRow {
    lookup: String,
    digest: Vec<u8>,
    owner: String,
    label: String,
    scopes: String,
    created_at: i64,
    expires_at: Option<i64>,
    revoked_at: Option<i64>,
    last_used_at: Option<i64>,
}

impl TokenRow {
    fn into_record(self) -> Result<TokenRecord> {
        let digest: [u8; 32] = self.digest.as_slice().try_into()?;
        let scopes: Vec<String> = serde_json::from_str(&self.scopes)?;
        Ok(TokenRecord {
            lookup: Lookup::parse(&self.lookup)?,
            digest: SecretDigest::new(digest),
            owner: UserId::parse(&self.owner)?,
            label: self.label,
            scopes: scopes.into(),
            created_at: Timestamp::from_millis(self.created_at),
            expires_at: self.expires_at.map(Timestamp::from_millis),
            revoked_at: self.revoked_at.map(Timestamp::from_millis),
            last_used_at: self.last_used_at.map(Timestamp::from_millis),
        })
    }
}
