//! Token store.

use std::collections::{BTreeSet, HashMap};
use std::ops::Bound;
use std::sync::Mutex;

use async_trait::async_trait;

use crate::error::BackendResult;
use crate::model::Timestamp;
use crate::store::{TokenStore, lock};
use crate::token::{Lookup, TokenRecord};

/// Tokens in a map.
#[derive(Debug, Default)]
pub struct MemoryTokenStore(Mutex<Records>);

/// Both hold the same tokens.
#[derive(Debug, Default)]
struct Records {
    records: HashMap<Lookup, TokenRecord>,
    by_age: BTreeSet<(Timestamp, Lookup)>,
}

#[async_trait]
impl TokenStore for MemoryTokenStore {
    async fn create(&self, token: &TokenRecord) -> BackendResult<bool> {
        let mut tokens = lock(&self.0);
        let free = !tokens.records.contains_key(&token.lookup);
        if free {
            tokens.by_age.insert((token.created_at, token.lookup));
            tokens.records.insert(token.lookup, token.clone());
        }
        Ok(free)
    }

    async fn find(&self, lookup: &Lookup) -> BackendResult<Option<TokenRecord>> {
        Ok(lock(&self.0).records.get(lookup).cloned())
    }

    async fn revoke(&self, lookup: &Lookup, at: Timestamp) -> BackendResult<bool> {
        let mut tokens = lock(&self.0);
        let token = tokens.records.get_mut(lookup);
        Ok(token
            .map(|token| token.revoked_at.get_or_insert(at))
            .is_some())
    }

    async fn record_use(&self, lookup: &Lookup, at: Timestamp) -> BackendResult<()> {
        if let Some(token) = lock(&self.0)
            .records
            .get_mut(lookup)
            .filter(|token| token.should_record_use(at))
        {
            token.last_used_at = Some(at);
        }
        Ok(())
    }

    async fn list(
        &self,
        after: Option<(Timestamp, Lookup)>,
        limit: u32,
    ) -> BackendResult<Vec<TokenRecord>> {
        let before = after.map_or(Bound::Unbounded, Bound::Excluded);
        let tokens = lock(&self.0);
        let page = tokens.by_age.range((Bound::Unbounded, before)).rev();
        let page = page.filter_map(|(_, lookup)| tokens.records.get(lookup).cloned());
        Ok(page.take(limit as usize).collect())
    }
}
