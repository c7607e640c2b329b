//! The board's database: SQLite or Postgres.
//!
//! Queries and commands are written once, as `async` functions over a [`Connection`] or a [`Transaction`], in SQL that both
//! understand: parameters are `:name` or `?1`, integers have eight bytes, times are milliseconds. On SQLite such a function
//! completes on the database's own thread and never waits; on Postgres it waits for the server.

mod connection;
mod database;
mod dialects;
mod known_statements;
mod last_change;
mod named_params;
mod postgres;
mod postgres_read;
mod postgres_transaction;
mod replicas;
mod row;
mod thread_turns;
mod writer;

pub use connection::{Change, Connection, Driver, Query, Transaction, TransactionFuture};
pub use database::{BoardDatabase, holds_board};
pub use dialects::Dialects;
pub use last_change::LastChange;
pub use named_params::{Bound, Param, bind, json, named_params};
pub use postgres_read::ReadKind;
pub use postgres_transaction::Postgres;
pub use replicas::{LogPosition, POSITION, READS, Replicas, hosts, parameters, replica_pools};
pub use row::Row;
pub use writer::Writer;
