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
    begin: concat!(
        "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY; ",
        limits!()
    ),
    has_limit: true,
    is_repeated: false,
};

/// Number of statements of a query.
#[derive(Clone, Copy, Debug)]
pub enum Statements {
    /// The statement runs outside of a transaction.
    One,
    /// All statements see the same data.
    Several,
}

impl Statements {
    /// Runs a query on a connection.
    pub async fn run<T>(self, client: &Client, query: impl Query<T>) -> BoardResult<T> {
        match self {
            Self::One => {
                let connection = Connection::postgres(Postgres::Connection(client));
                query(&connection.for_one_statement()).await
            }
            Self::Several => {
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
