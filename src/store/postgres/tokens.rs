//! Token store.

use async_trait::async_trait;

use super::PostgresStore;
use super::execute::Parameters;
use super::rows::read_token;
use crate::audit::AuditEntry;
use crate::error::BackendResult;
use crate::model::Timestamp;
use crate::store::{ScopeList, TokenStore};
use crate::token::{Lookup, TokenRecord};

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

/// No lookup begins with `~` or a later character, so a list after `i64::MAX` and `~` is complete.
const LIST: &str = "
SELECT lookup, digest, owner, label, scopes, created_at, expires_at, revoked_at, last_used_at
FROM forum_api_tokens WHERE (created_at, lookup) < ($1, $2)
ORDER BY created_at DESC, lookup DESC LIMIT $3";

const PURGE: &str = "
DELETE FROM forum_api_tokens WHERE lookup IN (
    SELECT lookup FROM forum_api_tokens WHERE expires_at < $1 OR revoked_at < $1 LIMIT $2)";

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
        Ok(self.first(FIND, &[lookup], read_token).await?)
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

    async fn record_use(&self, lookup: &Lookup, now: Timestamp) -> BackendResult<()> {
        let too_old = now.saturating_sub(TokenRecord::LAST_USED_RESOLUTION);
        self.execute(RECORD_USE, &[lookup, &now, &too_old]).await?;
        Ok(())
    }

    async fn list(
        &self,
        after: Option<(Timestamp, Lookup)>,
        limit: u32,
    ) -> BackendResult<Vec<TokenRecord>> {
        let created_at = after.map_or(i64::MAX, |(created_at, _)| created_at.as_millis());
        let lookup = after.as_ref().map_or("~", |(_, lookup)| lookup.as_str());
        let parameters: Parameters<'_> = &[&created_at, &lookup, &i64::from(limit)];
        Ok(self.all(LIST, parameters, read_token).await?)
    }

    async fn purge(&self, before: Timestamp, limit: u32, audit: &AuditEntry) -> BackendResult<u64> {
        let parameters: Parameters<'_> = &[&before, &i64::from(limit)];
        Ok(self.execute_audited(PURGE, parameters, audit).await?)
    }
}
