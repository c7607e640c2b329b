//! Token store.

use async_trait::async_trait;

use super::{ScopeList, SqlExecutor, SqlStore, Statement, read_token};
use crate::audit::AuditEntry;
use crate::error::BackendResult;
use crate::model::Timestamp;
use crate::store::sqlite_schema::tokens::{CREATE, FIND, PURGE, REVOKE, SET_LABEL, list_statement};
use crate::store::{TokenFilter, TokenStore};
use crate::token::{Lookup, TokenRecord};

#[async_trait]
impl<E: SqlExecutor> TokenStore for SqlStore<E> {
    async fn create(&self, token: &TokenRecord, audit: &AuditEntry) -> BackendResult<bool> {
        let values = [
            (&token.lookup).into(),
            (&token.digest).into(),
            (&token.owner).into(),
            token.label.as_str().into(),
            (&ScopeList(token.scopes.clone())).into(),
            token.created_at.into(),
            token.expires_at.into(),
            token.revoked_at.into(),
            token.last_used_at.into(),
        ];
        let create = Statement::new(CREATE, values);
        Ok(self.0.change_audited(create, audit).await? > 0)
    }

    async fn find(&self, lookup: &Lookup) -> BackendResult<Option<TokenRecord>> {
        let find = Statement::new(FIND, [lookup.into()]);
        self.first(find.urgent(), read_token).await
    }

    async fn revoke(
        &self,
        lookup: &Lookup,
        now: Timestamp,
        audit: &AuditEntry,
    ) -> BackendResult<bool> {
        let revoke = Statement::new(REVOKE, [lookup.into(), now.into()]);
        let revoked = self.0.change_audited(revoke, audit).await? > 0;
        Ok(revoked || self.find(lookup).await?.is_some())
    }

    async fn set_label(
        &self,
        lookup: &Lookup,
        label: &str,
        audit: &AuditEntry,
    ) -> BackendResult<bool> {
        let set_label = Statement::new(SET_LABEL, [lookup.into(), label.into()]);
        let changed = self.0.change_audited(set_label, audit).await? > 0;
        Ok(changed || self.find(lookup).await?.is_some())
    }

    async fn record_use(&self, lookup: &Lookup, now: Timestamp) -> BackendResult<()> {
        self.0.record_use(lookup, now).await
    }

    async fn list(&self, filter: &TokenFilter, now: Timestamp) -> BackendResult<Vec<TokenRecord>> {
        let (created_at, lookup) = filter.start();
        let search = filter.search.as_ref();
        let values = [
            created_at.into(),
            lookup.into(),
            filter.limit.into(),
            now.into(),
            filter.owner.as_ref().into(),
            search.map(|search| search.text.as_str()).into(),
            search.and_then(|search| search.owner.as_ref()).into(),
        ];
        let list = Statement::new(list_statement(filter, E::LABEL_CONTAINS), values);
        self.0.query(list, read_token).await
    }

    async fn purge(&self, before: Timestamp, limit: u32, audit: &AuditEntry) -> BackendResult<u64> {
        let purge = Statement::new(PURGE, [before.into(), limit.into()]);
        self.0.change_audited(purge, audit).await
    }
}
