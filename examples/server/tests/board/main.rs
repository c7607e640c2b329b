//! The reference board behind the API, in process; the board's own unit tests run here as well.

use forum_server::board;
use forum_test_support::{postgres, schema};

mod backend;
mod batches;
mod board_rules;
mod bounded;
mod conformance;
mod demo;
mod events;
mod examples;
mod fixture;
mod last_seen;
mod migrations;
mod model;
mod moderation;
mod mutations;
mod pages;
mod parameters;
mod planning;
mod prelude;
mod query_plans;
mod races;
mod search;
mod sessions;
mod settings;
mod shared;
mod token_loading;
mod transcripts;
