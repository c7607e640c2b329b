//! An existing board, and the API that was added to it.
//!
//! The module [`before`] is the existing part: the board of a club in Postgres. Members sign in with a link, read
//! topics, and reply to them with an HTML form. Some sections are only for members or only for staff. The board has its
//! own terms, ids and tables (a forum is a *section*, a thread a *topic*, a post an *entry*), which did not change.
//!
//! The module [`added`] is the new part:
//!
//! - `access` implements `Authorizer` with the members' ranks, which the pages use as well.
//! - `board` implements `Board` with one query for each method. `create_post` calls the command of the form. The
//!   methods that this board does not support keep their default implementation, and the API responds with 501.
//! - `convert` converts sections, topics and entries to the types of the API.
//! - `error` converts the errors of the form to errors of the API.
//! - `events` writes an event for each entry to the outbox.
//! - `webhooks` registers endpoints and starts the worker.
//!
//! The library stores its data in the board's database and uses the board's connection pool. A few other lines are new
//! and marked *Added*: `main.rs` mounts the API, starts the worker and stores the usage, `before/connect.rs` limits the
//! waits for a connection, `before/mod.rs` creates the library's tables, and `before/reply.rs` writes an entry's event
//! in the entry's transaction.
//!
//! ```sh
//! cargo run -p existing-board -- postgres://user:password@localhost/database [ADDRESS [RECEIVER]]
//! ```
//!
//! Each new entry is sent to the URL `RECEIVER`, such as `http://127.0.0.1:9090`, where the example `receiver` listens.

#![warn(clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::unwrap_used)]

pub mod added;
pub mod before;
