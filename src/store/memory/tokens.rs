//! Token store.

use std::collections::{BTreeSet, HashMap};
use std::ops::Bound;
use std::sync::Mutex;

use async_trait::async_trait;

use crate::error::Stored;
use crate::model::Timestamp;
use crate::store::{Tokens, lock};
use crate::token::{Lookup, TokenRecord};

/// Tokens in a map.
#[derive(Debug, Default)]
pub struct MemoryTokens(Mutex<Records>);

/// Both hold the same tokens.
#[derive(Debug, Default)]
struct Records {
    records: HashMap<Lookup, TokenRecord>,
    by_age: BTreeSet<(Timestamp, Lookup)>,
}

#[async_trait]
impl Tokens for MemoryTokens {
    async fn create(&self, token: &TokenRecord) -> Stored<bool> {
        let mut tokens = lock(&self.0);
        let free = !tokens.records.contains_key(&token.lookup);
        if free {
            tokens.by_age.insert((token.created_at, token.lookup));
            tokens.records.insert(token.lookup, token.clone());
        }
        Ok(free)
    }

    async fn find(&self, lookup: &Lookup) -> Stored<Option<TokenRecord>> {
        Ok(lock(&self.0).records.get(lookup).cloned())
    }

    async fn revoke(&self, lookup: &Lookup, at: Timestamp) -> Stored<bool> {
        let mut tokens = lock(&self.0);
        let token = tokens.records.get_mut(lookup);
        Ok(token
            .map(|token| token.revoked_at.get_or_insert(at))
            .is_some())
    }

    async fn used(&self, lookup: &Lookup, at: Timestamp) -> Stored<()> {
        if let Some(token) = lock(&self.0)
            .records
            .get_mut(lookup)
            .filter(|token| token.use_is_news(at))
        {
            token.last_used_at = Some(at);
        }
        Ok(())
    }

    async fn list(
        &self,
        after: Option<(Timestamp, Lookup)>,
        limit: u32,
    ) -> Stored<Vec<TokenRecord>> {
        let before = after.map_or(Bound::Unbounded, Bound::Excluded);
        let tokens = lock(&self.0);
        let page = tokens.by_age.range((Bound::Unbounded, before)).rev();
        let page = page.filter_map(|(_, lookup)| tokens.records.get(lookup).cloned());
        Ok(page.take(limit as usize).collect())
    }
}
