//! Tokens and the outbox in a host's own Postgres, through its own pool and driver: the tables as text
//! ([`MIGRATE`]), and the statements that keep them.
//!
//! What a [`Statement`] binds is text, whatever the columns are, and what it selects are texts that are not null, empty
//! where there is nothing. So any driver runs it, such as tokio-postgres:
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
//! Around that, an implementation of [`Tokens`](super::Tokens) and [`Outbox`](super::Outbox) is a line or two a method:
//! `examples/existing_board/added/stores.rs` is one. What a row holds is read by [`tokens::record`] and
//! [`outbox::event`]:
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
//! Times are milliseconds since 1970-01-01T00:00:00Z; scopes are a JSON array; an `Idempotency-Key` that has ended
//! without a status has an outcome that nobody knows.
//!
//! ```sql
#![doc = include_str!("schema/1.sql")]
//! ```
//!
//! `forum_api_events` is the outbox, into which a host writes in its own transactions. An event waits while
//! `fanned_out_at` is null, and goes with its last delivery. An endpoint's topics are a JSON array; `*` stands for all but
//! `message.sent`. A delivery is pending while `due_at` says when its next attempt is due, or when the `lease` on it runs
//! out, and `ended_at` says when it was delivered, gone or withheld. What has an endpoint that is not there any more is as
//! good as away.
//!
//! ```sql
#![doc = include_str!("schema/2.sql")]
//! ```

pub mod deliveries;
#[cfg(feature = "postgres")]
mod driver;
pub mod endpoints;
pub mod idempotency;
pub mod outbox;
mod schema;
mod statement;
mod text;
pub mod tokens;

#[cfg(feature = "postgres")]
pub use deadpool_postgres;
#[cfg(feature = "postgres")]
pub use driver::{Postgres, PostgresError, connect, migrate};
pub use schema::MIGRATE;
pub use statement::Statement;
#[cfg(feature = "postgres")]
pub use tokio_postgres;
