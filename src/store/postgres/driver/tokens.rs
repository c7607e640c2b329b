//! Tokens in Postgres.

use async_trait::async_trait;

use super::Postgres;
use super::run::{all, change, changes, first};
use crate::error::Stored;
use crate::model::Timestamp;
use crate::store::Tokens;
use crate::store::postgres::tokens;
use crate::token::{Lookup, TokenRecord};

#[async_trait]
impl Tokens for Postgres {
    async fn create(&self, token: &TokenRecord) -> Stored<bool> {
        changes(&self.pool, tokens::create(token)).await
    }

    async fn find(&self, lookup: &Lookup) -> Stored<Option<TokenRecord>> {
        first(&self.pool, tokens::find(lookup), tokens::record).await
    }

    async fn revoke(&self, lookup: &Lookup, at: Timestamp) -> Stored<bool> {
        changes(&self.pool, tokens::revoke(lookup, at)).await
    }

    async fn used(&self, lookup: &Lookup, at: Timestamp) -> Stored<()> {
        change(&self.pool, tokens::used(lookup, at)).await?;
        Ok(())
    }

    async fn list(
        &self,
        after: Option<(Timestamp, Lookup)>,
        limit: u32,
    ) -> Stored<Vec<TokenRecord>> {
        let list = tokens::list(after.as_ref(), limit);
        all(&self.pool, list, tokens::record).await
    }
}
