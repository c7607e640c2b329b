//! The reference board behind the API, in process; the board's own unit tests run here as well.

#[path = "../../examples/server/board/mod.rs"]
#[allow(dead_code, reason = "the server uses the rest")]
mod board;

mod approval;
mod backend;
mod changes;
mod conformance;
#[path = "../support/databases.rs"]
#[allow(dead_code, reason = "the server's tests use the rest")]
mod databases;
mod deliveries;
mod demo;
mod events;
mod faults;
mod flood;
mod forums;
mod hints;
mod migrations;
mod model;
mod pages;
mod posts;
mod profiles;
#[path = "../api/support/schema.rs"]
mod schema;
mod search;
mod sessions;
mod shared;
mod stage;
mod standing;
mod statements;
mod threads;
mod walks;
#[path = "../webhooks/wire/mod.rs"]
#[allow(dead_code, reason = "the webhooks' own tests use the rest")]
mod wire;
