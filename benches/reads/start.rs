//! Time to the first response of a server that starts on a large board.

use std::time::Instant;

use crate::board::Board;
use crate::client;
use crate::measurements::{Goal, Samples, row};
use crate::{here, posts, rounds};

pub fn measure() {
    let mut board = Board::of(posts() / 10, posts());
    let mut times = Samples::default();
    for _ in 0..rounds() {
        let start = board.stop();
        let begun = Instant::now();
        board = start();
        let first = client::get(&board.server.api_url("/forums"));
        assert_eq!(first.status, 200, "{first:?}");
        times.add(begun.elapsed().as_secs_f64() * 1e3);
    }
    let what = here(&format!("first response, {} posts", posts()));
    row(
        &what,
        "ms",
        "the start of the process",
        Goal::AtMost(200.0),
        &times,
    );
}
