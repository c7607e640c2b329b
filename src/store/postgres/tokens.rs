//! Token store.

use async_trait::async_trait;
use tokio_postgres::Row;

use super::execute::{Conditions, Parameters, RowReader};
use super::{PostgresError, PostgresStore, rows};
use crate::audit::AuditEntry;
use crate::error::BackendResult;
use crate::model::Timestamp;
use crate::store::{ScopeList, TokenFilter, TokenStateFilter, TokenStore};
use crate::token::{Lookup, TokenRecord, TokenState};

const CREATE: &str = "
INSERT INTO forum_api_tokens (lookup, digest, owner, label, scopes, created_at, expires_at, revoked_at, last_used_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
ON CONFLICT (lookup) DO NOTHING";

const FIND: &str = "
SELECT lookup, digest, owner, label, scopes, created_at, expires_at, revoked_at, last_used_at
FROM forum_api_tokens WHERE lookup = $1";

const REVOKE: &str = "
UPDATE forum_api_tokens SET revoked_at = $2 WHERE lookup = $1 AND revoked_at IS NULL";

const RECORD_USE: &str = include_str!("sql/record_token_use.sql");

const SET_LABEL: &str = "UPDATE forum_api_tokens SET label = $2 WHERE lookup = $1 AND label <> $2";

const PURGE: &str = "
DELETE FROM forum_api_tokens WHERE lookup IN (
    SELECT lookup FROM forum_api_tokens WHERE expires_at < $1 OR revoked_at < $1 LIMIT $2)";

/// Decodes a token from the first nine columns of a row: `lookup`, `digest`, `owner`, `label`, `scopes`, `created_at`,
/// `expires_at`, `revoked_at` and `last_used_at` of the table `forum_api_tokens`, in this order.
///
/// The query of a [`TokenLoader`](crate::store::TokenLoader) calls it for each row.
///
/// # Errors
/// [`PostgresError`] if a column is missing or cannot be decoded.
pub fn read_token(row: &Row) -> Result<TokenRecord, PostgresError> {
    rows::read_token(&mut RowReader::of(row))
}

#[async_trait]
impl TokenStore for PostgresStore {
    async fn create(&self, token: &TokenRecord, audit: &AuditEntry) -> BackendResult<bool> {
        let created = self
            .execute_audited(
                CREATE,
                &[
                    &token.lookup,
                    &token.digest,
                    &token.owner,
                    &token.label,
                    &ScopeList(token.scopes.clone()),
                    &token.created_at,
                    &token.expires_at,
                    &token.revoked_at,
                    &token.last_used_at,
                ],
                audit,
            )
            .await?;
        Ok(created > 0)
    }

    async fn find(&self, lookup: &Lookup) -> BackendResult<Option<TokenRecord>> {
        Ok(self.first(FIND, &[lookup], rows::read_token).await?)
    }

    async fn revoke(
        &self,
        lookup: &Lookup,
        now: Timestamp,
        audit: &AuditEntry,
    ) -> BackendResult<bool> {
        let parameters: Parameters<'_> = &[lookup, &now];
        let revoked = self.execute_audited(REVOKE, parameters, audit).await? > 0;
        Ok(revoked || self.find(lookup).await?.is_some())
    }

    async fn set_label(
        &self,
        lookup: &Lookup,
        label: &str,
        audit: &AuditEntry,
    ) -> BackendResult<bool> {
        let parameters: Parameters<'_> = &[lookup, &label];
        let changed = self.execute_audited(SET_LABEL, parameters, audit).await? > 0;
        Ok(changed || self.find(lookup).await?.is_some())
    }

    async fn record_use(&self, lookup: &Lookup, now: Timestamp) -> BackendResult<()> {
        let too_old = now.saturating_sub(TokenRecord::LAST_USED_RESOLUTION);
        self.execute(RECORD_USE, &[lookup, &now, &too_old]).await?;
        Ok(())
    }

    async fn list(&self, filter: &TokenFilter, now: Timestamp) -> BackendResult<Vec<TokenRecord>> {
        let (created_at, lookup) = filter.start();
        let limit = i64::from(filter.limit);
        let mut conditions = Conditions::new(vec![&created_at, &lookup, &limit]);
        conditions.and("owner =", filter.owner.as_ref());
        match filter.states {
            TokenStateFilter::Any => {}
            TokenStateFilter::NotRevoked => conditions.sql += " AND revoked_at IS NULL",
            TokenStateFilter::Only(TokenState::Revoked) => {
                conditions.sql += " AND revoked_at IS NOT NULL";
            }
            TokenStateFilter::Only(TokenState::Expired) => {
                conditions.sql += " AND revoked_at IS NULL";
                conditions.and("expires_at <=", Some(&now));
            }
            TokenStateFilter::Only(TokenState::Valid) => {
                let now = conditions.bind(&now);
                conditions.sql += &format!(
                    " AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > {now})"
                );
            }
        }
        if let Some(search) = &filter.search {
            let text = conditions.bind(&search.text);
            let owner = conditions.bind(&search.owner);
            conditions.sql += &format!(
                " AND (strpos(lower(label COLLATE \"C\"), lower({text} COLLATE \"C\")) > 0
    OR starts_with(lookup, {text}) OR owner = {owner})"
            );
        }
        let Conditions { sql, parameters } = conditions;
        let sql = format!(
            "SELECT lookup, digest, owner, label, scopes, created_at, expires_at, revoked_at, last_used_at
FROM forum_api_tokens WHERE (created_at, lookup) < ($1, $2){sql}
ORDER BY created_at DESC, lookup DESC LIMIT $3"
        );
        Ok(self.all(&sql, &parameters, rows::read_token).await?)
    }

    async fn purge(&self, before: Timestamp, limit: u32, audit: &AuditEntry) -> BackendResult<u64> {
        let parameters: Parameters<'_> = &[&before, &i64::from(limit)];
        Ok(self.execute_audited(PURGE, parameters, audit).await?)
    }
}
