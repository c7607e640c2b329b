//! A board that was there before, and the API that was added to it.
//!
//! **What was there** is in `before`: a club's board in Postgres. Its members sign in with a link that they are sent,
//! read topics, and reply to them with an HTML form; some sections are for members or for staff alone. It has words, ids
//! and tables of its own (a forum is a *section*, a thread a *topic*, a post an *entry*), and none of them changed.
//!
//! **What was added** is in `added`, a file for each thing that the API has to know:
//!
//! - `access`: what a member may see, by the rank that the pages go by (the trait `Authorizer`);
//! - `board`: sections, topics and entries, a query a method (the trait `Board`). `reply` is the command behind the form;
//!   what this board does not have stays unwritten, and answers 501;
//! - `convert`: the board's words and those of the API;
//! - `error`: the errors of the form as refusals of the API;
//! - `events`: what an entry puts into the outbox;
//! - `webhooks`: who is told of events, and the worker that tells them.
//!
//! What the library keeps for itself is in the board's own database, through the board's own pool. Elsewhere a few lines
//! are new, marked *Added*: here those that mount the API and start the worker, in `before/mod.rs` the one that makes the
//! library's tables, and in `before/reply.rs` the one that puts an entry's event into the entry's transaction.
//!
//! ```sh
//! cargo run -p existing-board -- postgres://user:password@localhost/database [ADDRESS [RECEIVER]]
//! ```
//!
//! `RECEIVER` is a URL that is told of each new entry, such as `http://127.0.0.1:9090`, where the example `receiver`
//! listens.

#![warn(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]

pub mod added;
pub mod before;
