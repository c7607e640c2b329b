//! The board's database: SQLite or Postgres.
//!
//! Queries and commands are written once, as `async` functions over a [`Connection`] or a [`Transaction`], in SQL that both
//! understand: parameters are `:name` or `?1`, integers have eight bytes, times are milliseconds. On SQLite such a function
//! completes on the database's own thread and never waits; on Postgres it waits for the server.

mod connection;
mod database;
mod error;
mod named_params;
mod postgres;
mod replicas;
mod row_reader;

pub use connection::{Bound, Connection, Driver, OwnedBound, Param, Transaction, bind, bind_owned};
pub use database::{BoardDatabase, Change, Query, TransactionFuture, holds_board};
pub use error::{DbError, DbResult};
pub use named_params::named_params;
pub use postgres::{Postgres, Statements};
pub(super) use replicas::position;
pub use replicas::{LogPosition, READS, Replicas, replica_pools};
pub use row_reader::{RowReader, stored};
