//! What webhooks take: `cargo bench -p forum-benches --bench webhooks`, or with `-- receipt` (`throughput`, `claim`) a part of it.
//!
//! The real parts work together: a database, the reference board as the authority, one worker, HTTP, and receivers on
//! loopback in the same process. What is compared takes turns, in five rounds. The database is SQLite in a file, or,
//! with `FORUM_API_BACKEND=postgres`, one of its own in the Postgres that `FORUM_API_POSTGRES` names; let that one wait
//! for its disk as it would at work. Five minutes and 4 GB of disk are enough, most of them for `claim`;
//! `QUEUED=100000` has fewer wait there for the one that hangs.

use forum_benches::{fixture, measurements, place, receiver};

#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

mod claim;
mod receipt;
mod throughput;

use measurements::is_wanted;

/// How often each thing is measured.
const ROUNDS: usize = 5;

#[tokio::main]
async fn main() {
    if is_wanted("receipt") {
        receipt::measure().await;
    }
    if is_wanted("throughput") {
        throughput::measure().await;
    }
    if is_wanted("claim") {
        claim::measure().await;
    }
}
