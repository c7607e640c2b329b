//! Reads on large boards: `cargo build --release -p forum-server`, then `cargo bench -p forum-benches --bench reads`, or
//! with `-- search` one part of it.
//!
//! - `search`: searches in every order on 1,000,000 posts (`POSTS`).
//! - `forums`: searches by a member of 50 of 200 forums, on as many posts.
//! - `common`: CPU time of searches for common words on 40,000 posts, on SQLite.
//! - `depth`: a page 1,000,000 posts (`DEEP`) into a thread, on a board with 2,500,000 posts (`LONG`) in 1,000 threads.
//! - `threads`: the last page of a forum with 500,000 threads, half of `POSTS`.
//! - `scale`: each read endpoint on 10,000,000 posts (`MANY`), compared with 100,000 (`FEW`).
//! - `start`: the first response of a server that starts on 1,000,000 posts.
//!
//! Serves boards with `forum-server`, fills them with its `generate` command, and sends requests over one connection.
//! Each figure is of five rounds (`ROUNDS`) of 100 requests (`REQUESTS`) of each kind, in turns.
//!
//! Boards are in SQLite, or with `FORUM_API_BACKEND=postgres` in the Postgres of `FORUM_API_POSTGRES`. They are deleted
//! afterwards, unless `BOARDS` names a directory: then they are kept, there or in that Postgres, and reused. All parts
//! take half an hour, most of it to fill the boards, and 20 GB of disk.

use forum_benches::measurements;
use forum_server::board::generate::words;
use forum_test_support::{client, program};

mod board;
mod connection;
mod depth;
mod measurement;
mod scale;
mod search;
mod start;

use std::env;

use measurements::is_selected;

/// The parts in the order in which they run.
const PARTS: [(&str, fn()); 7] = [
    ("search", search::measure),
    ("forums", search::in_some_forums),
    ("common", search::cpu_time_of_common_words),
    ("start", start::measure),
    ("depth", depth::posts_of_a_thread),
    ("threads", depth::threads_of_a_forum),
    ("scale", scale::measure),
];

fn main() {
    for (part, measure) in PARTS {
        if is_selected(part) {
            measure();
        }
    }
}

/// Reads a number from the environment.
fn number(name: &str, otherwise: u64) -> u64 {
    env::var(name).map_or(otherwise, |number| number.parse().unwrap())
}

/// Number of posts: a million by default.
fn posts() -> u64 {
    number("POSTS", 1_000_000)
}

fn rounds() -> u64 {
    number("ROUNDS", 5)
}

/// Prefix of a row's name: the size and the database.
fn here(what: &str) -> String {
    match env::var(board::BACKEND) {
        Ok(_) => format!("{what}, Postgres"),
        Err(_) => format!("{what}, SQLite"),
    }
}
