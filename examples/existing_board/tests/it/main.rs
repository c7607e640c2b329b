//! Tests of the board with the API in a real Postgres.
//!
//! `FORUM_API_POSTGRES` is its URL, which `tests/run` sets. Without it, the tests fail.

use existing_board::{added, before};

mod conformance;
mod errors;
mod fixture;
mod outbox;
mod pages;
mod program;
mod replies;
mod site;
mod votes;
mod webhooks;
