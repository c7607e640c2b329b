//! How long lists and searches take on a large board: `cargo bench --bench reads`.
//!
//! It serves a board in a directory of its own with the real program, fills it with `generate`, and asks over one
//! connection. Each figure is the median and the 99th percentile, in milliseconds, of requests that take turns. Five
//! minutes and 4 GB of disk are enough. `POSTS=100000 cargo bench --bench reads` asks a smaller board.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    unreachable_pub,
    reason = "a measurement that goes wrong is to fail, and nobody imports it"
)]

#[path = "../../tests/server/client.rs"]
#[allow(dead_code, reason = "the tests use the rest")]
mod client;
mod line;
#[path = "../../tests/server/program.rs"]
#[allow(dead_code, reason = "the tests use the rest")]
mod program;
#[path = "../../examples/server/board/generate/words.rs"]
#[allow(
    dead_code,
    unused_imports,
    reason = "the program uses the rest, and tests it"
)]
mod words;

use std::process::Command;
use std::time::{Duration, Instant};

use line::Line;
use program::Server;

/// How often each thing is asked for.
const ROUNDS: usize = 300;

/// No list may cost more at its end than this, in the cost of its beginning.
const DEEP: f64 = 1.2;

/// General is for staff, Members for members, Help and fifty more for everybody.
const FORUMS: [(&str, &str); 3] = [
    ("General", "staff"),
    ("Help", "guests"),
    ("Members", "members"),
];

/// Words by their rank: a million posts hold a few dozen, 50,000, 950,000 of them.
const WORDS: [(&str, u64); 4] = [
    ("absent", u64::MAX),
    ("rare", 100_000),
    ("common", 100),
    ("most common", 1),
];

fn main() {
    build();
    let posts = std::env::var("POSTS").unwrap_or_else(|_| "1000000".into());
    let board = filled(&["--posts", &posts]);
    search(&board);
    deep(
        &board,
        "a page of posts",
        &format!("/threads/{}/posts", longest(&board)),
    );
    let board = filled(&["--threads", &posts, "--posts", &posts]);
    deep(&board, "a page of threads", "/forums/1/threads");
}

fn build() {
    let build = ["build", "--release", "--example", "server"];
    let built = Command::new(env!("CARGO")).args(build).status();
    assert!(built.unwrap().success());
}

/// A board with this much on it, and a member of staff.
fn filled(amount: &[&str]) -> Server {
    let plenty = u32::MAX.to_string();
    let server = Server::new(&[
        "--empty",
        "--guest-budget",
        &plenty,
        "--token-budget",
        &plenty,
    ]);
    let run = |arguments: &[&str]| assert_eq!(server.command(arguments).status, 0, "{arguments:?}");
    for (title, read) in FORUMS {
        run(&["forum", "add", title, "--read", read]);
    }
    for number in 1..=50 {
        run(&[
            "forum",
            "add",
            &format!("Place {number}"),
            "--read",
            "guests",
        ]);
    }
    run(&["member", "add", "mary", "--groups", "members"]);
    run(&["member", "add", "sam", "--groups", "members,staff"]);
    let begun = Instant::now();
    run(&[&["generate"], amount].concat());
    println!("generate {}: {:.0?}", amount.join(" "), begun.elapsed());
    server
}

/// The thread with half of the replies.
fn longest(server: &Server) -> String {
    let (mut line, sam) = (Line::to(server), server.token("sam"));
    let threads = line.json("/forums/1/threads?limit=100", Some(&sam));
    let threads = threads["items"].as_array().unwrap().iter();
    let longest = threads
        .max_by_key(|thread| thread["replyCount"].as_u64())
        .unwrap();
    println!("its longest thread has {} replies", longest["replyCount"]);
    longest["threadId"].as_str().unwrap().into()
}

/// The first page of a list against the last full one.
fn deep(server: &Server, what: &str, list: &str) {
    let (mut line, sam) = (Line::to(server), server.token("sam"));
    let (mut cursors, mut path) = (Vec::new(), format!("{list}?limit=100"));
    while let Some(next) = line.json(&path, Some(&sam))["next"].as_str() {
        path = format!("{list}?limit=100&after={next}");
        cursors.push(next.to_owned());
    }
    let pages = cursors.len();
    let last = format!("{list}?after={}", cursors[pages - 2]);
    let times = line.times([list, &last], Some(&sam), ROUNDS);
    let [first, last] = times.map(|times| median(&times));
    let ratio = last / first;
    println!("{what}: first {first:.3}, after {pages} hundreds {last:.3}, ratio {ratio:.2}");
    assert!(ratio <= DEEP, "{what}");
}

fn search(server: &Server) {
    let mut line = Line::to(server);
    let (mary, sam) = (server.token("mary"), server.token("sam"));
    println!("search, median / p99 in ms:");
    for (who, token, narrowed) in [
        ("guest", None, ""),
        ("member of few forums", Some(&*mary), ""),
        ("member of all", Some(&*sam), ""),
        ("member of all, in one forum", Some(&*sam), "&forum=3"),
    ] {
        for sort in ["newest", "oldest", "relevance"] {
            let paths = WORDS
                .map(|(_, rank)| format!("/search?q={}&sort={sort}{narrowed}", words::word(rank)));
            let times = line.times(paths.each_ref().map(String::as_str), token, ROUNDS);
            let figures = WORDS.iter().zip(&times).map(|((word, _), times)| {
                format!("{word} {:.2} / {:.2}", median(times), p99(times))
            });
            println!(
                "  {who}, {sort}: {}",
                figures.collect::<Vec<_>>().join(", ")
            );
        }
    }
}

fn median(times: &[Duration]) -> f64 {
    part(times, 50)
}

fn p99(times: &[Duration]) -> f64 {
    part(times, 99)
}

/// The time that so many of a hundred keep to, in milliseconds.
fn part(times: &[Duration], percent: usize) -> f64 {
    let mut times = times.to_vec();
    times.sort();
    times[(times.len() - 1) * percent / 100].as_secs_f64() * 1e3
}
