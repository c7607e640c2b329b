//! The database below the board: SQLite, or Postgres.
//!
//! Queries and commands are written once, as `async` functions over a [`Connection`] or a [`Transaction`], in SQL that both
//! understand: parameters are `:name` or `?1`, integers have eight bytes, times are milliseconds. On SQLite such a
//! function runs to its end on the database's own thread and never waits; on Postgres it waits for the server.

mod columns;
mod connection;
mod database;
mod error;
mod line;
pub mod numbered;
mod postgres;
mod stores;
mod table;
mod value;

pub use columns::{Columns, stored};
pub use connection::{Connection, Transaction};
pub use database::{Database, Doing};
pub use error::{Error, Result};
pub use line::Line;
pub use postgres::Postgres;
pub use table::Table;
pub use value::bind;
pub use value::{Bound, Value};
