//! Requests per second over HTTP, compared with bare hyper: `cargo bench -p forum-benches --bench http`. Takes a minute
//! and needs `wrk`.
//!
//! Both servers send the same body from two threads each; the board returns a prepared page. `wrk` loads them in turn
//! over 64 connections. Bare hyper has no tokens and no rate limits, and copies prepared headers: all of the API's, or
//! one. `TURN` sets the seconds of a turn.

use forum_benches::{measurements, static_board, wrk};

#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

mod serve;

use std::sync::Arc;

use bytes::Bytes;
use http::HeaderMap;
use http::header::{CONTENT_TYPE, HeaderValue};
use measurements::{Goal, Samples, row};
use serve::{Bare, bare, whole};
use static_board::{BenchFixture, LARGE, SMALL, StaticBoard, body};
use wrk::{requests_a_second, wrk};

const ROUNDS: usize = 7;

fn main() {
    let board = Arc::new(StaticBoard::default());
    let fixture = BenchFixture::over(Arc::clone(&board));
    let api = whole(fixture.api.clone());
    let small = Bytes::from(body(&board.small));
    println!(
        "responses of {} and of {} bytes, {ROUNDS} rounds",
        small.len(),
        body(&board.large).len()
    );
    let headers = fixture.answer(fixture.request(SMALL)).headers().clone();
    for (what, path, hyper, against, goal) in [
        (
            "requests/s over HTTP, 300-byte response",
            SMALL,
            bare(headers, Bare::Bytes(small.clone())),
            "bare hyper with the same bytes",
            0.78,
        ),
        (
            "requests/s over HTTP, 300-byte response",
            SMALL,
            bare(json(), Bare::Bytes(small)),
            "bare hyper with the same body and one header",
            0.80,
        ),
        (
            "requests/s over HTTP, 5 KB page",
            LARGE,
            bare(json(), Bare::Posts(board)),
            "bare hyper that builds and serialises the same structs",
            0.90,
        ),
    ] {
        let (mut ours, mut theirs, mut ratio) = <(Samples, Samples, Samples)>::default();
        for _ in 0..ROUNDS {
            let [bare, api] = [hyper, api].map(|server| {
                let url = format!("http://{server}{path}");
                requests_a_second(wrk(&fixture.bearer).arg(url))
            });
            theirs.add(bare);
            ours.add(api);
            ratio.add(api / bare);
        }
        theirs.report(against);
        ours.report(what);
        row(what, "ratio", against, Goal::AtLeast(goal), &ratio);
    }
}

fn json() -> HeaderMap {
    let json = HeaderValue::from_static("application/json");
    HeaderMap::from_iter([(CONTENT_TYPE, json)])
}
