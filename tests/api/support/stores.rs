//! Stores that are at fault, whatever they are asked.

use std::future::pending;

use forum_api::async_trait;
use forum_api::host::{Fault, Stored};
use forum_api::model::Timestamp;
use forum_api::rate_limit::{BudgetKey, Charge, Window};
use forum_api::store::{Attempt, Begin, Budgets, Idempotency, Outcome, Ticket, Tokens};
use forum_api::token::{Lookup, TokenRecord};

/// What happens instead of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Broken {
    Fails,
    Panics,
    Hangs,
}

impl Broken {
    async fn answer<T>(self) -> Stored<T> {
        match self {
            Self::Fails => Err(Fault::new("the store is out of reach")),
            Self::Panics => panic!("the store panics"),
            Self::Hangs => pending().await,
        }
    }
}

#[async_trait]
impl Tokens for Broken {
    async fn create(&self, _: &TokenRecord) -> Stored<bool> {
        self.answer().await
    }

    async fn find(&self, _: &Lookup) -> Stored<Option<TokenRecord>> {
        self.answer().await
    }

    async fn revoke(&self, _: &Lookup, _: Timestamp) -> Stored<bool> {
        self.answer().await
    }

    async fn used(&self, _: &Lookup, _: Timestamp) -> Stored<()> {
        self.answer().await
    }

    async fn list(&self, _: Option<(Timestamp, Lookup)>, _: u32) -> Stored<Vec<TokenRecord>> {
        self.answer().await
    }
}

#[async_trait]
impl Budgets for Broken {
    async fn charge(&self, _: &BudgetKey, _: u32, _: Window, _: Timestamp) -> Stored<Charge> {
        self.answer().await
    }

    async fn refund(&self, _: &BudgetKey, _: u32, _: Window, _: Timestamp) -> Stored<()> {
        self.answer().await
    }
}

#[async_trait]
impl Idempotency for Broken {
    async fn begin(&self, _: &Attempt, _: Timestamp) -> Stored<Begin> {
        self.answer().await
    }

    async fn settle(&self, _: &Ticket, _: Outcome) -> Stored<()> {
        self.answer().await
    }
}
