//! Pages over HTTP, compared with a handwritten server: `cargo build --release -p forum-server`, then `cargo bench -p
//! forum-benches --bench pages`, or with `-- posts`, `forums`, `threads` or `thread` one kind of page.
//!
//! Fills a board with `forum-server generate` and serves it with `forum-server` in a process of its own. The baseline
//! is a handwritten axum server over the same database, with as many reader threads or connections, the board's SQL and
//! the same JSON, but without tokens, access, rate limits and logs. A second baseline adds the statement that looks up
//! the token and its owner's access, in the same visit to the database. The third is a server on axum and sqlx with one
//! query each for token, owner and data, in a process of its own (`benches/sqlx`). `wrk` loads all four in turn, each
//! with thousands of paths over 64 connections, on the same machine. Each ratio compares turns of one round.
//!
//! Needs `wrk` (Debian's package) and 3 GB of disk, and takes six minutes, most of them to fill the board. With
//! `FORUM_API_BACKEND=postgres` the board is in the Postgres of `FORUM_API_POSTGRES`. `POSTS=100000` makes a smaller
//! board, `TURN=1` shorter turns. `BOARD=sqlite:/tmp/board.db` (or `postgres://…`) keeps the board there and reuses it.

use forum_benches::{measurements, wrk};
use forum_server::board;
use forum_test_support::{client, program};

#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

mod backend;
mod handwritten;
mod load;
mod paths;
mod server;
mod sqlx;

use backend::{Backend, Baseline};
use load::Load;
use measurements::{Goal, Samples, is_selected, row};
use paths::Kind;
use server::RunningServer;
use sqlx::SqlxServer;

/// Number of rounds.
const ROUNDS: usize = 5;

fn main() {
    let backend = Backend::from_environment();
    let served = RunningServer::start(&backend);
    let plain = handwritten::start(backend.url());
    let sqlx = SqlxServer::start(&backend);
    for kind in Kind::ALL
        .into_iter()
        .filter(|kind| is_selected(kind.name()))
    {
        measure(&backend, &served, &plain, &sqlx.origin, kind);
    }
}

fn measure(backend: &Backend, served: &RunningServer, plain: &str, sqlx: &str, kind: Kind) {
    let paths = kind.paths(served);
    let side = |origin, prefix| (origin, Load::new(prefix, &served.token, &paths));
    let sides = [
        side(served.origin(), ""),
        side(plain, ""),
        side(plain, handwritten::WITH_TOKEN),
        side(sqlx, ""),
    ];
    let bytes = sides.each_ref().map(|(side, load)| load.sample(side));
    println!("{}: {bytes:?} bytes", kind.what());
    let round = |_| sides.each_ref().map(|(side, load)| load.run(side));
    let rounds: Vec<[f64; 4]> = (0..ROUNDS).map(round).collect();
    let of = |side: usize| rounds.iter().map(|round| round[side]).collect::<Samples>();
    let what = format!("{}, {}", kind.what(), backend.name());
    for (side, baseline) in (1..).zip(Baseline::ALL) {
        let against = baseline.name();
        of(side).report(&format!("{against}, requests/s"));
        let ratios = rounds.iter().map(|round| round[0] / round[side]).collect();
        let goal = Goal::AtLeast(backend.goal(baseline, kind));
        row(&what, "requests/s, ratio", against, goal, &ratios);
    }
    match backend.goal_rate(kind) {
        Some(goal_rate) => row(&what, "requests/s", "none", goal_rate, &of(0)),
        None => of(0).report("requests/s"),
    }
}
