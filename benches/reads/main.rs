//! How a large board reads: `cargo bench -p forum-benches --bench reads`, or `cargo bench --bench reads -- search` for a part of it.
//!
//! - `search`: searches of every sort on 1,000,000 posts (`POSTS`).
//! - `depth`: a page 1,000,000 posts (`DEEP`) down a thread of a board with 2,500,000 posts (`LONG`) in 1,000 threads.
//! - `threads`: the last page of a forum with 500,000 threads, half of `POSTS`.
//! - `scale`: every read endpoint on 10,000,000 posts (`MANY`) beside 100,000 (`FEW`).
//! - `start`: the first answer of a server that is started on 1,000,000 posts.
//!
//! It serves boards with the real program, fills them with `generate`, and asks over one connection. Each figure is of
//! five rounds (`ROUNDS`), each with 100 requests (`REQUESTS`) of a kind, which take turns with those of the others.
//!
//! Boards are in SQLite, or with `FORUM_API_BACKEND=postgres` in the Postgres that `FORUM_API_POSTGRES` names. They go
//! when they were read, unless `BOARDS` names a directory: there, or in databases of that Postgres, they are kept for the
//! next time. All parts take half an hour, nearly all of it to fill the boards, and 20 GB of disk.

use forum_benches::measurements;
use forum_server::board::generate::words;
use forum_test_support::{client, program};

mod board;
mod cell;
mod connection;
mod depth;
mod scale;
mod search;
mod start;

use std::env;
use std::process::Command;

use measurements::is_wanted;

/// The parts, in the order in which they are measured.
const PARTS: [(&str, fn()); 5] = [
    ("search", search::measure),
    ("start", start::measure),
    ("depth", depth::posts_of_a_thread),
    ("threads", depth::threads_of_a_forum),
    ("scale", scale::measure),
];

fn main() {
    build();
    for (part, measure) in PARTS {
        if is_wanted(part) {
            measure();
        }
    }
}

fn build() {
    let build = ["build", "--release", "-p", "forum-server"];
    let built = Command::new(env!("CARGO")).args(build).status();
    assert!(built.unwrap().success());
}

/// A number that the environment may say.
fn number(name: &str, otherwise: u64) -> u64 {
    env::var(name).map_or(otherwise, |number| number.parse().unwrap())
}

/// On a million posts, unless the environment says otherwise.
fn posts() -> u64 {
    number("POSTS", 1_000_000)
}

fn rounds() -> u64 {
    number("ROUNDS", 5)
}

/// What a row measures, and where.
fn here(what: &str) -> String {
    match env::var(board::BACKEND) {
        Ok(_) => format!("{what}, Postgres"),
        Err(_) => format!("{what}, SQLite"),
    }
}
