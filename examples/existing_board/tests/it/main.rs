//! The board that was there before, with the API in it, in a real Postgres.
//!
//! `tests/run` starts one and puts its address into `FORUM_API_POSTGRES`; without it, the tests fail.

use existing_board::{added, before};

mod conformance;
mod fixture;
mod outbox;
mod refusals;
mod replies;
mod site;
mod webhooks;
