//! Statements of the board on Postgres, and the lock of its writes.

use std::fmt;
use std::pin::pin;
use std::sync::Arc;

use deadpool_postgres::{Client, GenericClient, Pool};
use forum_api::host;
use tokio::sync::Semaphore;
use tokio_postgres::Row;
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::types::{ToSql, Type};

use super::named_params::{NamedParams, named_params};
use super::{Bound, Change, Connection, DbError, DbResult, Param, Query, Transaction};

/// Number of writes of this process that wait for the lock with a connection, so that one is ready when another is done.
/// The others wait without one, and leave the connections to reads.
const WRITES_WITH_CONNECTION: usize = 2;

/// The writes of all nodes hold one lock, so that ids follow time, and no rule is checked while another command changes
/// the rows that it is about.
pub const ACQUIRE_WRITE_LOCK: &str = "SELECT pg_advisory_xact_lock(hashtextextended('board', 0))";

/// A migration may take longer than any other statement. Its own lock serializes those of all nodes; writes do not wait for
/// it.
pub const WITHOUT_TIMEOUT: &str = "SET LOCAL statement_timeout = 0";

/// A crash of the server may lose a hint, and no commit of one waits for the disk.
pub const COMMIT_WITHOUT_SYNC: &str = "SET LOCAL synchronous_commit = off";

/// Connections to Postgres, which any number of nodes may share. Cheap to clone.
#[derive(Clone, Debug)]
pub struct PostgresDatabase {
    pub pool: Pool,
    writes: Arc<Semaphore>,
}

impl PostgresDatabase {
    pub fn new(pool: Pool) -> Self {
        let writes = Arc::new(Semaphore::new(WRITES_WITH_CONNECTION));
        Self { pool, writes }
    }

    /// Each statement sees the state of its own time.
    pub(super) async fn read<T>(&self, query: impl Query<T>) -> host::BoardResult<T> {
        let client = self.pool.get().await.map_err(DbError::from)?;
        query(&Connection::Postgres(Postgres::Connection(&client))).await
    }

    pub(super) async fn write<T>(&self, change: impl Change<T>) -> host::BoardResult<T> {
        let closed = |_| DbError::Invalid("writes are closed");
        let _permit = self.writes.acquire().await.map_err(closed)?;
        self.transaction(ACQUIRE_WRITE_LOCK, change).await
    }

    /// Runs `begin`, then `change`, in one transaction.
    pub(super) async fn transaction<T>(
        &self,
        begin: &str,
        change: impl Change<T>,
    ) -> host::BoardResult<T> {
        let mut client = self.pool.get().await.map_err(DbError::from)?;
        let tx = client.transaction().await.map_err(DbError::from)?;
        tx.batch_execute(begin).await.map_err(DbError::from)?;
        let connection = Connection::Postgres(Postgres::Transaction(&tx));
        let done = change(&Transaction::of(connection)).await?;
        tx.commit().await.map_err(DbError::from)?;
        Ok(done)
    }
}

/// A connection to Postgres, inside or outside of a transaction.
#[derive(Clone, Copy)]
pub enum Postgres<'a> {
    Connection(&'a Client),
    Transaction(&'a deadpool_postgres::Transaction<'a>),
}

impl Postgres<'_> {
    pub(super) async fn query(
        &self,
        sql: &'static str,
        parameters: &[Bound<'_>],
    ) -> DbResult<Vec<Row>> {
        let statement = named_params(sql);
        let values = values(&statement, parameters)?;
        match self {
            Self::Connection(client) => query(*client, &statement.sql, &values).await,
            Self::Transaction(client) => query(*client, &statement.sql, &values).await,
        }
    }

    pub(super) async fn execute(
        &self,
        sql: &'static str,
        parameters: &[Bound<'_>],
    ) -> DbResult<u64> {
        let statement = named_params(sql);
        let values = values(&statement, parameters)?;
        self.change(&statement.sql, &values).await
    }

    pub(super) async fn execute_texts(&self, sql: &str, parameters: &[String]) -> DbResult<u64> {
        let values = parameters.iter().map(|text| text as &(dyn ToSql + Sync));
        self.change(sql, &values.collect::<Vec<_>>()).await
    }

    pub(super) async fn run(&self, sql: &str) -> DbResult<()> {
        Ok(self.tx()?.batch_execute(sql).await?)
    }

    pub(super) async fn copy_in<'b, const N: usize>(
        &self,
        copy: &str,
        types: &[Type; N],
        rows: impl Iterator<Item = [&'b (dyn Param + Sync); N]> + Send,
    ) -> DbResult<()> {
        let sink = self.tx()?.copy_in(copy).await?;
        let mut copy = pin!(BinaryCopyInWriter::new(sink, types));
        for row in rows {
            let row = row.map(|value| value as &(dyn ToSql + Sync));
            copy.as_mut().write(&row).await?;
        }
        copy.finish().await?;
        Ok(())
    }

    async fn change(&self, sql: &str, values: &[&(dyn ToSql + Sync)]) -> DbResult<u64> {
        tracing::trace!(sql, "executing statement");
        let tx = self.tx()?;
        let statement = tx.prepare_cached(sql).await?;
        Ok(tx.execute(&statement, values).await?)
    }

    fn tx(&self) -> DbResult<&deadpool_postgres::Transaction<'_>> {
        match self {
            Self::Transaction(tx) => Ok(tx),
            Self::Connection(_) => Err(DbError::Invalid("a statement needs a transaction")),
        }
    }
}

impl fmt::Debug for Postgres<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Postgres")
    }
}

async fn query(
    client: &impl GenericClient,
    sql: &str,
    values: &[&(dyn ToSql + Sync)],
) -> DbResult<Vec<Row>> {
    tracing::trace!(sql, "executing statement");
    let statement = client.prepare_cached(sql).await?;
    Ok(client.query(&statement, values).await?)
}

/// Returns the values in the order of the statement's numbers.
fn values<'a>(
    statement: &NamedParams,
    parameters: &[Bound<'a>],
) -> DbResult<Vec<&'a (dyn ToSql + Sync)>> {
    let value = |name: &String| {
        let bound = parameters.iter().find(|(bound, _)| bound == name);
        bound.map(|(_, value)| *value as &(dyn ToSql + Sync))
    };
    let values: Option<Vec<_>> = statement.names.iter().map(value).collect();
    let values = values.filter(|values| values.len() == parameters.len());
    values.ok_or(DbError::Invalid(
        "the parameters do not match the statement",
    ))
}
