//! What the API costs a page over HTTP, everything in it: `cargo bench --bench pages`, or with `-- posts` (`forums`,
//! `threads`, `thread`) one kind of page.
//!
//! It fills a board with the real program's `generate` and serves it with that program, in a process of its own. Beside
//! it runs a server written by hand: axum over the same database, as many reader threads or connections, the board's
//! own SQL and the same JSON, but no token, no standing, no budget, no log. `wrk` asks both in turn, each time for
//! thousands of paths over 64 connections, and shares the machine with them. A ratio is of one round.
//!
//! It needs `wrk` (Debian's package) and 3 GB of disk, and takes four minutes, most of them to fill the board. With
//! `FORUM_API_BACKEND=postgres` the board is in the Postgres that `FORUM_API_POSTGRES` names. `POSTS=100000` asks a
//! smaller board, `TURN=1` asks more briefly, and `BOARD=sqlite:/tmp/board.db` (or `postgres://…`) keeps the board
//! there, and takes the one that is there.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    unreachable_pub,
    reason = "a measurement that goes wrong is to fail, and nobody imports it"
)]

#[path = "../../examples/server/board/mod.rs"]
#[allow(dead_code, unused_imports, reason = "the server uses the rest")]
mod board;
#[path = "../../tests/server/client.rs"]
#[allow(dead_code, reason = "the tests use the rest")]
mod client;
#[path = "../figures/mod.rs"]
mod figures;
mod load;
mod paths;
mod place;
mod plain;
#[path = "../../tests/server/program.rs"]
#[allow(dead_code, unused_imports, reason = "the tests use the rest")]
mod program;
mod served;
#[path = "../wrk/mod.rs"]
mod wrk;

use figures::{Figures, Goal, is_wanted, row};
use load::Load;
use paths::Kind;
use place::Place;
use served::Served;

/// How often each side is asked.
const ROUNDS: usize = 5;

const AGAINST: &str = "axum by hand, no token, no budget";

fn main() {
    let place = Place::chosen();
    let served = Served::start(&place);
    let plain = plain::start(place.url());
    for kind in Kind::ALL.into_iter().filter(|kind| is_wanted(kind.name())) {
        measure(&place, &served, &plain, kind);
    }
}

fn measure(place: &Place, served: &Served, plain: &str, kind: Kind) {
    let load = Load::new(&served.token, &kind.paths(served));
    let sides = [served.origin(), plain];
    let bytes = sides.map(|side| load.sample(side));
    println!("{}: {bytes:?} bytes", kind.what());
    let rounds = (0..ROUNDS).map(|_| sides.map(|side| load.run(side)));
    let rounds: Vec<[f64; 2]> = rounds.collect();
    let of = |side: usize| rounds.iter().map(|round| round[side]).collect::<Figures>();
    let ratios = rounds
        .iter()
        .map(|[served, plain]| served / plain)
        .collect();
    of(1).tell("by hand, requests/s");
    let what = format!("{}, {}", kind.what(), place.name());
    row(
        &what,
        "requests/s, ratio",
        AGAINST,
        Goal::AtLeast(place.goal()),
        &ratios,
    );
    match place.pace(kind) {
        Some(pace) => row(
            &what,
            "requests/s",
            "64 connections on two cores",
            pace,
            &of(0),
        ),
        None => of(0).tell("requests/s"),
    }
}
