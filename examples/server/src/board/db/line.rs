//! Postgres below the board: its connections, and the line in which writes stand.

use std::sync::Arc;

use deadpool_postgres::Pool;
use forum_api::host::Result;
use tokio::sync::Semaphore;

use super::postgres::Postgres;
use super::{Connection, Doing, Error, Transaction};

/// How many writes of this process stand in the line at once, each with a connection: one stands ready when the one
/// before it is done. The others wait outside, and leave the connections to the reads.
const IN_LINE: usize = 2;

/// Writes stand in one line, over all nodes: so ids follow time, and no rule is asked while another command changes what
/// it is about.
const STAND_IN_LINE: &str = "SELECT pg_advisory_xact_lock(hashtextextended('board', 0))";

/// A migration may take longer than any other statement. Its own lock serializes those of all nodes; writes do not wait for
/// it.
const WITHOUT_TIMEOUT: &str = "SET LOCAL statement_timeout = 0";

/// A crash of the server may lose a hint, and no commit of one waits for the disk.
const WITHOUT_SYNC: &str = "SET LOCAL synchronous_commit = off";

/// Postgres, which any number of nodes may share. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Line {
    /// Its connections.
    pub pool: Pool,
    places: Arc<Semaphore>,
}

impl Line {
    /// The line at the end of these connections.
    pub fn new(pool: Pool) -> Self {
        let places = Arc::new(Semaphore::new(IN_LINE));
        Self { pool, places }
    }

    /// Looks at the state that there is at each statement.
    pub(super) async fn read<T>(
        &self,
        look: impl for<'a> FnOnce(&'a Connection<'a>) -> Doing<'a, T>,
    ) -> Result<T> {
        let client = self.pool.get().await.map_err(Error::from)?;
        look(&Connection::Postgres(Postgres::Alone(&client))).await
    }

    /// Changes the board in one transaction, when its turn comes.
    pub(super) async fn write<T>(
        &self,
        change: impl for<'a> FnOnce(&'a Transaction<'a>) -> Doing<'a, T>,
    ) -> Result<T> {
        let closed = |_| Error::Wrong("nobody writes any more");
        let _place = self.places.acquire().await.map_err(closed)?;
        self.transaction(STAND_IN_LINE, change).await
    }

    /// Changes the tables in one transaction, while no other node does.
    pub(super) async fn migrate<T>(
        &self,
        change: impl for<'a> FnOnce(&'a Transaction<'a>) -> Doing<'a, T>,
    ) -> Result<T> {
        self.transaction(WITHOUT_TIMEOUT, change).await
    }

    /// Writes hints in one transaction, beside the writes of commands.
    pub(super) async fn write_hints<T>(
        &self,
        change: impl for<'a> FnOnce(&'a Transaction<'a>) -> Doing<'a, T>,
    ) -> Result<T> {
        self.transaction(WITHOUT_SYNC, change).await
    }

    /// Runs `begin`, then `change`, in one transaction.
    async fn transaction<T>(
        &self,
        begin: &str,
        change: impl for<'a> FnOnce(&'a Transaction<'a>) -> Doing<'a, T>,
    ) -> Result<T> {
        let mut client = self.pool.get().await.map_err(Error::from)?;
        let tx = client.transaction().await.map_err(Error::from)?;
        tx.batch_execute(begin).await.map_err(Error::from)?;
        let connection = Connection::Postgres(Postgres::Together(&tx));
        let done = change(&Transaction::of(connection)).await?;
        tx.commit().await.map_err(Error::from)?;
        Ok(done)
    }
}
