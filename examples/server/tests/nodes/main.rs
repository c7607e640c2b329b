//! Drills with several nodes on one Postgres and one Redis: killed nodes, outages of the two, the loss of the primary of a
//! Postgres with a standby, the loss of the standby, reads on replicas, and poolers.
//!
//! `tests/run` starts both stores and sets `FORUM_API_POSTGRES` and `FORUM_API_REDIS`; without them each test fails. A
//! drill takes less than a minute.
//!
//! `cargo test` builds the server. To run only this binary, run `cargo build -p forum-server` first.

use forum_test_support::{
    client, cluster, connection, link, node, postgres, prerequisites, program, random, receiver,
    redis,
};

mod checks;
mod distance;
mod failover;
mod killed;
mod load;
mod outage;
mod pooler;
mod replicas;
mod standby;
mod stores;
mod wait;
