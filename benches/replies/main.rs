//! Durable replies per second: `cargo bench -p forum-benches --bench replies`, or with `-- durable` or `-- webhooks`
//! one part of it.
//!
//! Concurrent members write replies through the whole API in this process: token, rate limit, access, Markdown, search
//! index, counters and events. Flood control is off. The replies are spread over 64 threads of 8 forums. Each round uses a
//! new SQLite file with full durability.
//!
//! `durable` compares them with a bare writer that inserts the same rows, given their contents: on SQLite over one
//! connection, which commits all queued replies together, on Postgres (`FORUM_API_BACKEND=postgres`) over eight, which
//! commit each reply. It also measures replies in one thread. `http` compares replies over sockets on SQLite, on Postgres,
//! and on two nodes that share a Postgres. `webhooks` compares a board with ten endpoints that receive each reply with a
//! board without endpoints.
//!
//! Configurations take turns in five rounds; each figure is printed as minimum, median and maximum. Takes two minutes
//! and 1 GB of disk.

use forum_benches::{fixture, measurements, receiver, storage};
use forum_server::board;

#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

mod baseline;
mod durable;
mod over_http;
mod postgres_baseline;
mod rows;
mod webhooks;
mod writers;

use std::time::Duration;

use measurements::is_selected;
use storage::is_postgres;

/// Number of rounds.
const ROUNDS: usize = 5;

/// Time of writing before each measurement, in which connections prepare their statements.
const WARM_UP: Duration = Duration::from_secs(1);

/// Duration of each measurement in a round.
const ROUND: Duration = Duration::from_secs(2);

#[tokio::main]
async fn main() {
    if is_selected("durable") {
        durable::measure().await;
    }
    if is_selected("http") && is_postgres() {
        over_http::measure().await;
    }
    if is_selected("webhooks") {
        webhooks::measure().await;
    }
}
