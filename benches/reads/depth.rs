//! Last pages of long lists, compared with their first pages.

use crate::board::Board;
use crate::connection::Connection;
use crate::measurement::Measurement;
use crate::measurements::{Goal, Samples, row};
use crate::{here, number, posts, rounds};

/// Goal: maximum cost of a late page as a multiple of the first page's.
const GOAL: Goal = Goal::AtMost(1.1);

/// Number of items on each page.
const STEP: u64 = 100;

pub fn posts_of_a_thread() {
    let board = Board::of(1000, number("LONG", 2_500_000));
    let list = format!("/threads/{}/posts", longest(&board));
    let depth = number("DEEP", 1_000_000);
    compare(
        &board,
        &list,
        depth,
        &format!("page at depth {depth} of a thread's posts"),
    );
}

pub fn threads_of_a_forum() {
    let board = Board::of(posts(), posts());
    let depth = posts() / 2 - STEP;
    compare(
        &board,
        "/forums/1/threads",
        depth,
        &format!("page at depth {depth} of a forum's threads"),
    );
}

/// The thread with half of the replies.
fn longest(board: &Board) -> String {
    let (mut line, sam) = (Connection::to(&board.server), board.token("sam"));
    let threads = line.json("/forums/1/threads?limit=100", Some(&sam));
    let threads = threads["items"].as_array().unwrap().iter();
    let longest = threads
        .max_by_key(|thread| thread["replyCount"].as_u64())
        .unwrap();
    println!("the longest thread has {} replies", longest["replyCount"]);
    longest["threadId"].as_str().unwrap().into()
}

/// Compares the page after this number of items with the first page.
fn compare(board: &Board, list: &str, depth: u64, what: &str) {
    let (mut line, sam) = (Connection::to(&board.server), board.token("sam"));
    let mut path = format!("{list}?limit={STEP}");
    let mut cursor = String::new();
    for _ in 0..depth / STEP {
        cursor = line.json(&path, Some(&sam))["next"]
            .as_str()
            .unwrap()
            .into();
        path = format!("{list}?limit={STEP}&after={cursor}");
    }
    let deep = format!("{list}?after={cursor}");
    let mut first = Measurement::new("the first page", vec![list.into()], Some(&sam));
    let mut deep = Measurement::new("the page there", vec![deep], Some(&sam));
    let mut round = || deep.round(&mut line)[0] / first.round(&mut line)[0];
    let ratios: Samples = (0..rounds()).map(|_| round()).collect();
    row(&here(what), "ratio of p50", "the first page", GOAL, &ratios);
    [first, deep].iter().for_each(Measurement::report);
}
