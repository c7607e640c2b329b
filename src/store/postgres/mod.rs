//! Stores in Postgres, for any number of nodes: the tables as text ([`MIGRATE`]), the statements that keep them, and,
//! with the feature `postgres`, stores that run those over tokio-postgres.
//!
//! # With tokio-postgres
//!
//! ```no_run
//! # #[cfg(feature = "postgres")]
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! use forum_api::store::postgres::{connect, migrate};
//! use forum_api::store::{Stores, Webhooks};
//!
//! let pool = connect("postgres://forum:secret@localhost/forum", 16)?; // or the board's own pool
//! migrate(&pool).await?; // any number of nodes at once
//! let stores = Stores::in_postgres(&pool);
//! let webhooks = Webhooks::in_postgres(&pool);
//! # drop((stores, webhooks));
//! # Ok(())
//! # }
//! ```
//!
//! Any pool of deadpool-postgres will do; let its waits be bounded as those of [`connect`] are, and its recycling be
//! `Fast`. The errors of both crates turn into [`Fault`](crate::store::Fault) and
//! [`Refusal::Failed`](crate::host::Refusal::Failed) by `?`, as one sentence that shows no values, and
//! [`Timestamp`](crate::model::Timestamp) and the library's ids can be bound and read. `examples/existing_board` is a board
//! that shares its pool.
//!
//! Every operation is one statement, prepared once a connection, and a transaction of its own at the level
//! `READ COMMITTED`, which has to be the default. None holds a lock while it waits for the program, and none is waited for
//! in a circle; a node may die at any instruction.
//!
//! ## PgBouncer
//!
//! In transaction mode it has to know prepared statements: from version 1.21 on, with `max_prepared_statements` set.
//! It refuses what [`connect`] asks for in `options`, unless `ignore_startup_parameters = options` says to leave that
//! out; then set `statement_timeout` (`ALTER ROLE forum SET statement_timeout = '10s'`) and
//! `idle_in_transaction_session_timeout` for the role. The lock of [`MIGRATE`] ends with its transaction, so that it may
//! go through it, too.
//!
//! # With a driver of your own
//!
//! What a [`Statement`] binds is text, whatever the columns are, and what it selects are texts, of which a null is read
//! as the empty one. So any driver runs it, such as tokio-postgres itself:
//!
//! ```
//! use forum_api::store::postgres::Statement;
//! use tokio_postgres::types::ToSql;
//! use tokio_postgres::{Client, Error, Row};
//!
//! async fn rows(client: &Client, statement: &Statement) -> Result<Vec<Row>, Error> {
//!     let parameters = statement.parameters.iter().map(|text| text as &(dyn ToSql + Sync));
//!     client.query(statement.sql, &parameters.collect::<Vec<_>>()).await
//! }
//! ```
//!
//! Around that, an implementation of each trait of [`store`](super) is a line or two a method. What a row holds is read by
//! the function that the statement names, such as [`tokens::record`]:
//!
//! ```
//! use forum_api::store::postgres::tokens;
//! use forum_api::token::Lookup;
//!
//! let lookup = Lookup::parse("0123456789abcdEF").unwrap();
//! let statement = tokens::find(&lookup);
//! assert!(statement.sql.ends_with("WHERE lookup = $1"));
//! assert_eq!(statement.parameters, ["0123456789abcdEF"]);
//!
//! let digest = "kZ1ZQZlCPbQZ8fzeLxbWCbS8dLmqVJM1qLKdS0DBbQA=";
//! let row = ["0123456789abcdEF", digest, "3", "laptop", "[\"forums:read\"]", "0", "", "", "60000"];
//! let token = tokens::record(&row).unwrap();
//! assert_eq!((token.lookup, token.label.as_str(), token.expires_at), (lookup, "laptop", None));
//! ```
//!
//! # Tables
//!
//! Times are milliseconds since 1970-01-01T00:00:00Z; scopes are a JSON array; the outcome of an `Idempotency-Key` that has
//! ended without a status is unknown. Tables whose rows change often have a fill factor below 100, and are vacuumed when a
//! small part of their rows has changed.
//!
//! `forum_api_events` is the outbox, into which a host writes in its own transactions. An event waits while
//! `fanned_out_at` and `quarantine_reason` are null, and goes with its last delivery. An endpoint's topics are a JSON array;
//! `*` means all topics except `message.sent`. A delivery is pending while `due_at` is set: the time of its next attempt or,
//! while `leased`, the end of its `lease`. `sending` is set while an attempt has begun that is not settled, and `ended_at` is
//! the time when it was delivered, gone or withheld. Rows whose endpoint was removed count as removed.
//!
//! Postgres's clock decides leases and due times ([`LeaseClock`]).
//!
//! ```sql
#![doc = include_str!("schema/1.sql")]
//! ```

pub mod deliveries;
#[cfg(feature = "postgres")]
mod driver;
pub mod endpoints;
pub mod idempotency;
mod lease_clock;
pub mod outbox;
mod schema;
mod statement;
mod text;
pub mod tokens;

#[cfg(feature = "postgres")]
pub use deadpool_postgres;
#[cfg(feature = "postgres")]
pub use driver::{Postgres, PostgresError, check_writable, connect, migrate, schema_status};
pub use lease_clock::LeaseClock;
pub use schema::MIGRATE;
pub use statement::Statement;
#[cfg(feature = "postgres")]
pub use tokio_postgres;
