//! The driver for a pool of `deadpool-postgres` 0.14 with connections of `tokio-postgres` 0.7 (feature
//! `tokio-postgres-0_7`), and functions that create such a pool.
//!
//! Any pool of `deadpool-postgres` can be used. Set timeouts as [`connect`] does, and the recycling method `Fast`; only pools
//! of [`connect`] check that connections respond, and limit the time for each of several hosts. After a failed statement of
//! its own, a host passes the connection to [`close_if_lost`]. Each statement of the stores is prepared once for each
//! connection.
//!
//! `?` converts the errors of both crates to [`BackendError`](crate::host::BackendError) and
//! [`BoardError::Internal`](crate::host::BoardError::Internal), which print as one sentence without values.
//! [`Timestamp`](crate::model::Timestamp), the library's ids, [`Lookup`](crate::token::Lookup) and
//! [`SecretDigest`](crate::token::SecretDigest) can be bound and read, so that a host can store tokens in its own tables.
//! `examples/existing_board` is a board that shares its pool.
//!
//! # PgBouncer
//!
//! The library runs behind PgBouncer 1.21 or later in transaction mode, with `max_prepared_statements` above 0, and in
//! session mode with a `pool_size` of at least the sum of the connections of all processes. [`migrate`] calls
//! [`check_pooler`], which refuses other configurations. [`connect`] sends no start-up options of its own, and sets its
//! limits with a statement. In transaction mode this statement reaches only one of the shared sessions: limit all
//! statements with a default of the role (`ALTER ROLE forum SET statement_timeout = '10s'`), or each transaction with
//! `SET LOCAL`. [`migrate`] works through PgBouncer, because its lock ends with its transaction.

mod columns;
mod driver;
mod error;
mod hosts;
mod migrations;
mod pool;
mod pooler;
mod session;
mod tls;
mod types;

pub use deadpool_postgres;
pub use migrations::{apply_migrations, migrate, migration_status};
#[doc(hidden)]
pub use pool::forget_if_outdated;
pub use pool::{check_writable, close_if_lost, connect};
pub use pooler::check_pooler;
pub use tokio_postgres;
