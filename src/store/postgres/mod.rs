//! Tokens and the outbox in a host's own Postgres, through its own pool and driver: the tables as text
//! ([`MIGRATE`]), and the statements that keep them.
//!
//! Whatever a [`Statement`] binds is text, and each column that one selects is a text that is not null, empty where there
//! is nothing. So any driver runs it: with tokio-postgres
//!
//! ```ignore
//! let parameters = statement.parameters.iter().map(|text| text as _).collect::<Vec<&(dyn ToSql + Sync)>>();
//! let rows = client.query(statement.sql, &parameters).await?;
//! ```
//!
//! and with sqlx
//!
//! ```ignore
//! let query = statement.parameters.into_iter().fold(sqlx::query(statement.sql), |query, text| query.bind(text));
//! let rows = query.fetch_all(&pool).await?;
//! ```
//!
//! Around these, an implementation of [`Tokens`](super::Tokens) and [`Outbox`](super::Outbox) is a line a method:
//! `examples/existing_board/added/stores.rs` is one.
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
//! Times are milliseconds since 1970-01-01T00:00:00Z; scopes and topics are JSON arrays. They mean what they mean in
//! SQLite (module `sqlite`), and what a host writes into them by itself stays as it is.
//!
//! ```sql
#![doc = include_str!("schema/1.sql")]
//! ```
//!
//! `forum_api_events` is the outbox. An event waits while `fanned_out_at` is null, and goes with its last delivery.
//!
//! ```sql
#![doc = include_str!("schema/2.sql")]
//! ```

pub mod outbox;
mod schema;
mod statement;
pub mod tokens;

pub use schema::MIGRATE;
pub use statement::Statement;
