//! A Postgres that any number of nodes write to, one after the other.

use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::Pool;
use forum_api::host::{Refusal, Result};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

use super::postgres::Postgres;
use super::{Connection, Doing, Error, Transaction};

/// Writes stand in one line, over all nodes: so ids follow time, and no rule is asked while another command changes what
/// it is about.
const LINE: &str = "SELECT pg_advisory_xact_lock(hashtextextended('board', 0))";

/// How many writes of a node stand in the line. Each holds a connection: the others wait without one, so that however
/// long the line is, those who look find one free.
const IN_LINE: usize = 2;

/// How long a write waits for its place in the line.
const PATIENCE: Duration = Duration::from_secs(10);

/// A node's connections to Postgres. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Shared {
    pool: Pool,
    places: Arc<Semaphore>,
}

impl Shared {
    pub(super) fn new(pool: Pool) -> Self {
        Self {
            pool,
            places: Arc::new(Semaphore::new(IN_LINE)),
        }
    }

    pub(super) const fn pool(&self) -> &Pool {
        &self.pool
    }

    /// Looks at the state of each statement.
    pub(super) async fn read<T>(
        &self,
        look: impl for<'a> FnOnce(&'a Connection<'a>) -> Doing<'a, T>,
    ) -> Result<T> {
        let client = self.pool.get().await.map_err(Error::from)?;
        look(&Connection::Postgres(Postgres::Alone(&client))).await
    }

    /// Changes the board in one transaction, when it is this one's turn.
    pub(super) async fn write<T>(
        &self,
        change: impl for<'a> FnOnce(&'a Transaction<'a>) -> Doing<'a, T>,
    ) -> Result<T> {
        let _place = self.place().await?;
        let mut client = self.pool.get().await.map_err(Error::from)?;
        let tx = client.transaction().await.map_err(Error::from)?;
        tx.batch_execute(LINE).await.map_err(Error::from)?;
        let done = change(&Transaction::of(Connection::Postgres(Postgres::Together(
            &tx,
        ))))
        .await?;
        tx.commit().await.map_err(Error::from)?;
        Ok(done)
    }

    async fn place(&self) -> Result<SemaphorePermit<'_>> {
        let place = timeout(PATIENCE, self.places.acquire()).await;
        let place = place.map_err(|_| Refusal::failed("the writes before this one took too long"));
        place?.map_err(Refusal::failed)
    }
}
