//! The board that was there before, with the API in it, in a real Postgres.
//!
//! `tests/run` starts one and puts its address into `FORUM_API_POSTGRES`; without it, nothing here is tried.

use existing_board::{added, before};

mod conformance;
mod database;
mod outbox;
mod refusals;
mod replies;
mod site;
mod stage;
mod tokens;
mod webhooks;
