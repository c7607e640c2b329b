//! What replies cost where they have to survive a power failure: `cargo bench -p forum-benches --bench replies`, or with `-- durable`
//! (`webhooks`) a part of it.
//!
//! Members write replies, as many at once as there are, through the whole API in this process: token, budget, standing,
//! Markdown, the search index, counts and the event of each reply are all there; only the limit on how fast a member may
//! write is lifted. The board is in a SQLite file that is new in every round.
//!
//! `durable` compares them with a bare writer: a loop over one connection that adds the same rows, of which it is given
//! the contents, and commits all that wait at once together. `webhooks` compares a board with ten endpoints that are told
//! of every reply with one that has none.
//!
//! What is compared takes turns, in five rounds, and each figure is the least, the median and the most of them. It takes a
//! minute, and 1 GB of disk.

use forum_benches::{fixture, measurements, receiver};
use forum_server::board;

#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

mod baseline;
mod durable;
mod rows;
mod webhooks;
mod writers;

use std::time::Duration;

use measurements::is_wanted;

/// How often each thing is measured.
const ROUNDS: usize = 5;

/// For how long, in each round.
const ROUND: Duration = Duration::from_secs(2);

#[tokio::main]
async fn main() {
    if is_wanted("durable") {
        durable::measure().await;
    }
    if is_wanted("webhooks") {
        webhooks::measure().await;
    }
}
