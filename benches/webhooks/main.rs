//! Webhook deliveries: `cargo bench -p forum-benches --bench webhooks`, or with `-- receipt`, `throughput` or `claim`
//! one part of it.
//!
//! Uses the real parts: a database, the reference board as authorizer, one worker, HTTP, and receivers on loopback in
//! the same process. Configurations take turns in five rounds. The database is a SQLite file, or with
//! `FORUM_API_BACKEND=postgres` a new database in the Postgres of `FORUM_API_POSTGRES`, which must write durably. Takes
//! five minutes and 4 GB of disk, most of them for `claim`; `QUEUED=100000` queues fewer deliveries there.

use forum_benches::{fixture, measurements, receiver, storage};

#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

mod claim;
mod receipt;
mod throughput;

use measurements::is_selected;

/// Number of rounds.
const ROUNDS: usize = 5;

#[tokio::main]
async fn main() {
    if is_selected("receipt") {
        receipt::measure().await;
    }
    if is_selected("throughput") {
        throughput::measure().await;
    }
    if is_selected("claim") {
        claim::measure().await;
    }
}
