//! Many nodes on one Postgres and one Redis, as their operator meets them: killed, cut off, upgraded, told to stop.
//!
//! `tests/run` starts both stores and puts their addresses into `FORUM_API_POSTGRES` and `FORUM_API_REDIS`; without
//! them, each test fails. A drill takes some ten seconds; `FORUM_DRILL_SECONDS=60` makes that a minute of load,
//! and lets leases run out by themselves.
//!
//! `cargo test` builds the server; for this binary alone, `cargo build -p forum-server` has to come first.

use forum_test_support::{
    client, cluster, connection, database, extent, needs, node, program, random, receiver, redis,
};

mod audit;
mod crowd;
mod held;
mod killed;
mod once;
mod outage;
mod outbox;
mod patience;
mod restrained;
mod stopped;
mod stores;
mod told;
mod upgraded;
