//! What webhooks take: `cargo bench --bench webhooks`, or with `-- receipt` (`throughput`, `claim`) a part of it.
//!
//! The real parts work together: a database, the reference board as the authority, one worker, HTTP, and receivers on
//! loopback in the same process. What is compared takes turns, in five rounds. The database is SQLite in a file, or,
//! with `FORUM_API_BACKEND=postgres`, one of its own in the Postgres that `FORUM_API_POSTGRES` names; let that one wait
//! for its disk as it would at work. Five minutes and 4 GB of disk are enough, most of them for `claim`;
//! `QUEUED=100000` has fewer wait there for the one that hangs.

#[path = "../allocator/mod.rs"]
mod allocator;
#[path = "../../examples/server/board/mod.rs"]
#[allow(dead_code, unused_imports, reason = "the server uses the rest")]
mod board;
mod claim;
#[path = "../../tests/support/databases.rs"]
#[allow(dead_code, unused_imports, reason = "the tests use the rest")]
mod databases;
#[path = "../figures/mod.rs"]
mod figures;
#[allow(dead_code, reason = "other benches use the rest")]
mod place;
mod receipt;
mod receiver;
#[allow(dead_code, reason = "other benches use the rest")]
mod rig;
mod throughput;

use figures::is_wanted;

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
