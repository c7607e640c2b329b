//! Reads on a server of Postgres, the primary or a replica.

use deadpool_postgres::{Client, Pool};
use forum_api::host::BoardResult;
use tokio::sync::Semaphore;

use super::connection::{Connection, Query};
use super::postgres_transaction::{Failure, Postgres, PostgresTransaction, TransactionKind};

/// Limits a transaction also behind a pooler in transaction mode, whose sessions may not have the limits of the connection.
macro_rules! limits {
    () => {
        "SET LOCAL statement_timeout = '10s'; SET LOCAL idle_in_transaction_session_timeout = '20s'"
    };
}

pub(super) use limits;

const SNAPSHOT: TransactionKind = TransactionKind {
    begin: concat!("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY; ", limits!()),
    has_limit: true,
    is_repeated: false,
};

/// Kind of a read.
#[derive(Clone, Copy, Debug)]
pub enum ReadKind {
    /// One statement outside of a transaction. A second statement fails.
    One,
    /// One statement that looks up a key and takes well below a millisecond. On SQLite, it does not wait for slow reads.
    Short,
    /// Several statements, which see the same data.
    Snapshot,
    /// Several statements that can take long. They see the same data. Other reads do not wait for such reads.
    Search,
}

impl ReadKind {
    /// Runs a query on a connection.
    pub async fn run<T>(self, client: &Client, query: impl Query<T>) -> BoardResult<T> {
        match self {
            Self::One | Self::Short => {
                let connection = Connection::postgres(Postgres::Connection(client));
                query(&connection.for_one_statement()).await
            }
            Self::Snapshot | Self::Search => {
                let failure = Failure::new();
                let tx = PostgresTransaction::begin(client, SNAPSHOT, &failure).await?;
                query(&Connection::postgres(Postgres::Transaction(&tx))).await
            }
        }
    }
}

/// Limits the concurrent use of a pool to a part of its connections.
pub(super) fn share(pool: &Pool, part: usize) -> Semaphore {
    Semaphore::new((pool.status().max_size / part).max(1))
}
