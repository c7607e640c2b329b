//! Tokens in memory.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Mutex;

use async_trait::async_trait;

use crate::host::Stored;
use crate::model::Timestamp;
use crate::store::{Tokens, lock};
use crate::token::{Lookup, TokenRecord};

/// Tokens in a map.
#[derive(Debug, Default)]
pub struct MemoryTokens(Mutex<BTreeMap<Lookup, TokenRecord>>);

#[async_trait]
impl Tokens for MemoryTokens {
    async fn create(&self, token: &TokenRecord) -> Stored<bool> {
        let mut tokens = lock(&self.0);
        let free = !tokens.contains_key(&token.lookup);
        if free {
            tokens.insert(token.lookup, token.clone());
        }
        Ok(free)
    }

    async fn find(&self, lookup: &Lookup) -> Stored<Option<TokenRecord>> {
        Ok(lock(&self.0).get(lookup).cloned())
    }

    async fn revoke(&self, lookup: &Lookup, at: Timestamp) -> Stored<bool> {
        let mut tokens = lock(&self.0);
        let token = tokens.get_mut(lookup);
        Ok(token
            .map(|token| token.revoked_at.get_or_insert(at))
            .is_some())
    }

    async fn used(&self, lookup: &Lookup, at: Timestamp) -> Stored<()> {
        if let Some(token) = lock(&self.0)
            .get_mut(lookup)
            .filter(|token| token.use_is_news(at))
        {
            token.last_used_at = Some(at);
        }
        Ok(())
    }

    async fn list(&self, after: Option<&Lookup>, limit: u32) -> Stored<Vec<TokenRecord>> {
        let from = after.map_or(Bound::Unbounded, |lookup| Bound::Excluded(*lookup));
        let tokens = lock(&self.0);
        let page = tokens.range((from, Bound::Unbounded)).take(limit as usize);
        Ok(page.map(|(_, token)| token.clone()).collect())
    }
}
