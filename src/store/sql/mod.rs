//! Stores in SQL databases, shared by SQLite and Postgres: [`SqlStore`] over a [`SqlExecutor`].
//!
//! A method that is one statement is implemented here. A [`SqlExecutor`] runs the statements, and implements the methods
//! whose algorithms differ between the databases. Each backend implements `DeliveryStore`.

mod audit;
mod columns;
pub(super) mod deliveries;
pub(super) mod endpoints;
mod executor;
mod feed;
mod idempotency;
mod outbox;
mod rows;
mod statement;
mod tokens;
mod usage;
mod usage_table;

pub use columns::Columns;
#[cfg(any(feature = "sqlite", feature = "tokio-postgres-0_7"))]
pub(super) use columns::text_columns;
pub(super) use columns::{ColumnResult, ScopeList};
pub(super) use executor::{SqlExecutor, SqlStore, query_readable, readable};
pub use rows::read_token;
use rows::{read_attempt, read_event};
pub(super) use rows::{
    read_claimed_event, read_delivery, read_delivery_count, read_endpoint, read_endpoint_stats,
    read_idempotency_record, read_queue_stats, report_unreadable,
};
pub(super) use statement::{Statement, Value};
#[cfg(feature = "postgres")]
pub(super) use usage_table::SUMS;
pub(super) use usage_table::UsageTable;
