//! First answers in Postgres.

use async_trait::async_trait;

use super::Postgres;
use super::run::{change, first};
use crate::error::Stored;
use crate::model::Timestamp;
use crate::store::postgres::idempotency;
use crate::store::{Attempt, Begin, Idempotency, Outcome, Ticket};

#[async_trait]
impl Idempotency for Postgres {
    /// Where another request takes the key at the same moment, a second look finds it taken.
    async fn begin(&self, attempt: &Attempt, now: Timestamp) -> Stored<Begin> {
        loop {
            let begin = idempotency::begin(attempt, now);
            let read = |row: &[&str]| idempotency::begun(row, attempt, now);
            if let Some(begun) = first(&self.pool, begin, read).await? {
                return Ok(begun);
            }
        }
    }

    async fn settle(&self, ticket: &Ticket, outcome: Outcome) -> Stored<()> {
        change(&self.pool, idempotency::settle(ticket, &outcome)).await?;
        Ok(())
    }
}
