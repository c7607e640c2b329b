//! Token store.

use forum_api::async_trait;
use forum_api::audit::AuditEntry;
use forum_api::host::OrInternal;
use forum_api::model::{Timestamp, UserId};
use forum_api::store::sqlite_schema::tokens::{
    CREATE, FIND, PURGE, RECORD_USE, REVOKE, SET_LABEL, list,
};
use forum_api::store::{BackendResult, TokenFilter, TokenStore};
use forum_api::token::{Lookup, SecretDigest, TokenRecord};
use sqlx::{FromRow, Sqlite, SqlitePool, Transaction};

use crate::Result;

/// Tokens in the table `forum_api_tokens`.
pub struct SqlxTokenStore(pub SqlitePool);

#[async_trait]
impl TokenStore for SqlxTokenStore {
    async fn create(&self, token: &TokenRecord, audit: &AuditEntry) -> BackendResult<bool> {
        let scopes = serde_json::to_string(&*token.scopes).or_internal()?;
        let mut transaction = self.0.begin().await.or_internal()?;
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
            .execute(&mut *transaction)
            .await;
        let created = created.or_internal()?.rows_affected();
        Ok(commit(transaction, created, audit).await? > 0)
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

    async fn revoke(
        &self,
        lookup: &Lookup,
        now: Timestamp,
        audit: &AuditEntry,
    ) -> BackendResult<bool> {
        let mut transaction = self.0.begin().await.or_internal()?;
        let revoked = sqlx::query(REVOKE)
            .bind(lookup.as_str())
            .bind(now.as_millis())
            .execute(&mut *transaction)
            .await;
        let revoked = revoked.or_internal()?.rows_affected();
        let revoked = commit(transaction, revoked, audit).await? > 0;
        Ok(revoked || self.find(lookup).await?.is_some())
    }

    async fn purge(&self, before: Timestamp, limit: u32, audit: &AuditEntry) -> BackendResult<u64> {
        let mut transaction = self.0.begin().await.or_internal()?;
        let purged = sqlx::query(PURGE)
            .bind(before.as_millis())
            .bind(limit)
            .execute(&mut *transaction)
            .await;
        let purged = purged.or_internal()?.rows_affected();
        commit(transaction, purged, audit).await
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

    async fn set_label(
        &self,
        lookup: &Lookup,
        label: &str,
        audit: &AuditEntry,
    ) -> BackendResult<bool> {
        let mut transaction = self.0.begin().await.or_internal()?;
        let changed = sqlx::query(SET_LABEL)
            .bind(lookup.as_str())
            .bind(label)
            .execute(&mut *transaction)
            .await;
        let changed = changed.or_internal()?.rows_affected();
        let changed = commit(transaction, changed, audit).await? > 0;
        Ok(changed || self.find(lookup).await?.is_some())
    }

    async fn list(&self, filter: &TokenFilter, now: Timestamp) -> BackendResult<Vec<TokenRecord>> {
        let after = filter.after.as_ref();
        let search = filter.search.as_ref();
        let search_owner = search.and_then(|search| search.owner.as_ref());
        let rows: Vec<TokenRow> = sqlx::query_as(&list(filter))
            .bind(after.map_or(i64::MAX, |(created_at, _)| created_at.as_millis()))
            .bind(after.map_or("~", |(_, lookup)| lookup.as_str()))
            .bind(filter.limit)
            .bind(now.as_millis())
            .bind(filter.owner.as_ref().map(UserId::to_string))
            .bind(search.map(|search| search.text.clone()))
            .bind(search_owner.map(UserId::to_string))
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

/// Commits a change of this number of rows. If the number is not 0, also writes the entry of the audit log. Returns the
/// number.
async fn commit(
    mut transaction: Transaction<'_, Sqlite>,
    count: u64,
    audit: &AuditEntry,
) -> BackendResult<u64> {
    if count > 0 {
        let mut insert = sqlx::query(AuditEntry::INSERT_SQL);
        for value in audit.insert_parameters(count) {
            insert = insert.bind(value);
        }
        insert.execute(&mut *transaction).await.or_internal()?;
    }
    transaction.commit().await.or_internal()?;
    Ok(count)
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
