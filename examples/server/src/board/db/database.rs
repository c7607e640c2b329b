//! The handle on a database.

use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use deadpool_postgres::Pool;
use forum_api::host::{Refusal, Result};
use forum_api::store::sqlite;
use send_wrapper::SendWrapper;

use super::{Connection, Line, Transaction};

/// What a query or a command is while it runs.
pub type Doing<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

/// A database. Cheap to clone.
#[derive(Clone, Debug)]
pub enum Database {
    /// SQLite.
    Sqlite(sqlite::Database),
    /// Postgres.
    Postgres(Line),
}

impl Database {
    /// Looks at the board: on SQLite at one state of it, on Postgres at that of each statement.
    pub async fn read<T: Send + 'static>(
        &self,
        look: impl for<'a> FnOnce(&'a Connection<'a>) -> Doing<'a, T> + Send + 'static,
    ) -> Result<T> {
        match self {
            Self::Sqlite(database) => {
                let read = database.read(move |connection| {
                    at_once(look(&Connection::Sqlite(SendWrapper::new(connection))))
                });
                read.await
            }
            Self::Postgres(line) => line.read(look).await,
        }
    }

    /// As [`read`](Self::read), for look-ups by a key that take well below a millisecond: on SQLite they do not wait for
    /// slow reads.
    pub async fn read_short<T: Send + 'static>(
        &self,
        look: impl for<'a> FnOnce(&'a Connection<'a>) -> Doing<'a, T> + Send + 'static,
    ) -> Result<T> {
        match self {
            Self::Sqlite(database) => {
                let read = database.read_short(move |connection| {
                    at_once(look(&Connection::Sqlite(SendWrapper::new(connection))))
                });
                read.await
            }
            Self::Postgres(line) => line.read(look).await,
        }
    }

    /// Changes the board in one transaction.
    pub async fn write<T: Send + 'static>(
        &self,
        change: impl for<'a> FnOnce(&'a Transaction<'a>) -> Doing<'a, T> + Send + 'static,
    ) -> Result<T> {
        match self {
            Self::Sqlite(database) => database.write(move |tx| on_sqlite(tx, change)).await,
            Self::Postgres(line) => line.write(change).await,
        }
    }

    /// Changes the tables in one transaction. On Postgres it takes a lock of its own, not that of [`write`](Self::write).
    pub async fn migrate<T: Send + 'static>(
        &self,
        change: impl for<'a> FnOnce(&'a Transaction<'a>) -> Doing<'a, T> + Send + 'static,
    ) -> Result<T> {
        match self {
            Self::Sqlite(database) => database.write(move |tx| on_sqlite(tx, change)).await,
            Self::Postgres(line) => line.migrate(change).await,
        }
    }

    /// Writes hints, which may be lost, in one transaction. On Postgres it takes no lock that a command waits for, and
    /// does not wait for the disk.
    pub async fn write_hints<T: Send + 'static>(
        &self,
        change: impl for<'a> FnOnce(&'a Transaction<'a>) -> Doing<'a, T> + Send + 'static,
    ) -> Result<T> {
        match self {
            Self::Sqlite(database) => database.write_behind(move |tx| on_sqlite(tx, change)).await,
            Self::Postgres(line) => line.write_hints(change).await,
        }
    }
}

fn on_sqlite<T>(
    tx: &rusqlite::Connection,
    change: impl for<'a> FnOnce(&'a Transaction<'a>) -> Doing<'a, T>,
) -> Result<T> {
    at_once(change(&Transaction::of(Connection::Sqlite(
        SendWrapper::new(tx),
    ))))
}

/// What SQLite does is done when it returns.
fn at_once<T>(mut doing: Doing<'_, T>) -> Result<T> {
    match doing.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(done) => done,
        Poll::Pending => Err(Refusal::failed(
            "a command waited for something other than SQLite",
        )),
    }
}

impl From<sqlite::Database> for Database {
    fn from(database: sqlite::Database) -> Self {
        Self::Sqlite(database)
    }
}

impl From<Pool> for Database {
    fn from(pool: Pool) -> Self {
        Self::Postgres(Line::new(pool))
    }
}
