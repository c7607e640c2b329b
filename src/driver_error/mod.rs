//! Errors of database drivers as texts without the values of parameters and rows.

#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod column;
#[cfg(feature = "postgres")]
mod database;
#[cfg(feature = "sqlite")]
pub(crate) mod sqlite;
#[cfg(feature = "tokio-postgres-0_7")]
pub(crate) mod tokio_postgres;

#[cfg(all(feature = "sqlite", not(feature = "postgres")))]
pub(crate) use column::ColumnError;
#[cfg(feature = "postgres")]
pub use {column::ColumnError, database::DatabaseError};
