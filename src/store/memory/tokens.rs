//! Token store.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Mutex;

use async_trait::async_trait;

use super::MemoryAuditStore;
use crate::audit::AuditEntry;
use crate::error::BackendResult;
use crate::lock::lock;
use crate::model::Timestamp;
use crate::store::{TokenFilter, TokenSearch, TokenStateFilter, TokenStore};
use crate::token::{Lookup, TokenRecord, TokenState};

/// Token records in a map.
#[derive(Debug, Default)]
pub(crate) struct MemoryTokenStore {
    records: Mutex<HashMap<Lookup, TokenRecord>>,
    audit: MemoryAuditStore,
}

impl MemoryTokenStore {
    /// Creates a store that writes to the audit log `audit`.
    pub(crate) fn new(audit: MemoryAuditStore) -> Self {
        Self { audit, ..Self::default() }
    }
}

#[async_trait]
impl TokenStore for MemoryTokenStore {
    async fn create(&self, token: &TokenRecord, audit: &AuditEntry) -> BackendResult<bool> {
        let mut records = lock(&self.records);
        let is_new = !records.contains_key(&token.lookup);
        if is_new {
            records.insert(token.lookup, token.clone());
            self.audit.record(audit, 1);
        }
        Ok(is_new)
    }

    async fn find(&self, lookup: &Lookup) -> BackendResult<Option<TokenRecord>> {
        Ok(lock(&self.records).get(lookup).cloned())
    }

    async fn revoke(
        &self,
        lookup: &Lookup,
        now: Timestamp,
        audit: &AuditEntry,
    ) -> BackendResult<bool> {
        let mut records = lock(&self.records);
        let Some(token) = records.get_mut(lookup) else {
            return Ok(false);
        };
        let is_new = token.revoked_at.is_none();
        token.revoked_at.get_or_insert(now);
        self.audit.record(audit, is_new.into());
        Ok(true)
    }

    async fn set_label(
        &self,
        lookup: &Lookup,
        label: &str,
        audit: &AuditEntry,
    ) -> BackendResult<bool> {
        let mut records = lock(&self.records);
        let Some(token) = records.get_mut(lookup) else {
            return Ok(false);
        };
        let changed = token.label != label;
        label.clone_into(&mut token.label);
        self.audit.record(audit, changed.into());
        Ok(true)
    }

    async fn record_use(&self, lookup: &Lookup, now: Timestamp) -> BackendResult<()> {
        let mut records = lock(&self.records);
        let token = records.get_mut(lookup);
        if let Some(token) = token.filter(|token| token.should_record_use(now)) {
            token.last_used_at = Some(now);
        }
        Ok(())
    }

    async fn list(&self, filter: &TokenFilter, now: Timestamp) -> BackendResult<Vec<TokenRecord>> {
        let records = lock(&self.records);
        let selected = records.values().filter(|token| filter.selects(token, now));
        let mut page: Vec<_> = selected.cloned().collect();
        page.sort_unstable_by_key(|token| Reverse((token.created_at, token.lookup)));
        page.truncate(filter.limit as usize);
        Ok(page)
    }

    async fn purge(&self, before: Timestamp, limit: u32, audit: &AuditEntry) -> BackendResult<u64> {
        let mut records = lock(&self.records);
        let is_old = |time: Option<Timestamp>| time.is_some_and(|time| time < before);
        let is_ended = |_: &Lookup, token: &mut TokenRecord| {
            is_old(token.expires_at) || is_old(token.revoked_at)
        };
        let purged = records.extract_if(is_ended).take(limit as usize).count() as u64;
        self.audit.record(audit, purged);
        Ok(purged)
    }
}

impl TokenFilter {
    /// Returns `true` if the filter selects the token, for stores without a query language. The store applies the order
    /// and the limit.
    pub fn selects(&self, token: &TokenRecord, now: Timestamp) -> bool {
        let state = token.state(now);
        let has_state = match self.states {
            TokenStateFilter::Any => true,
            TokenStateFilter::NotRevoked => state != TokenState::Revoked,
            TokenStateFilter::ExpiringSoon => {
                let end = now.saturating_add(TokenStateFilter::SOON);
                state == TokenState::Valid && token.expires_at.is_some_and(|at| at <= end)
            }
            TokenStateFilter::Only(only) => state == only,
        };
        let position = (token.created_at, token.lookup);
        has_state
            && self.after.is_none_or(|after| position < after)
            && self.owner.as_ref().is_none_or(|one| *one == token.owner)
            && self.search.as_ref().is_none_or(|search| search.matches(token))
    }
}

impl TokenSearch {
    fn matches(&self, token: &TokenRecord) -> bool {
        let text = self.text.to_ascii_lowercase();
        token.label.to_ascii_lowercase().contains(&text)
            || token.lookup.as_str().starts_with(&self.text)
            || self.owner.as_ref() == Some(&token.owner)
    }
}
