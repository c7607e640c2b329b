//! Durable replies per second, compared with a bare writer of the same rows: `cargo bench -p forum-benches --bench
//! replies`.
//!
//! Concurrent members write replies through the whole API in this process: token, rate limit, access, Markdown, search
//! index, counters and events. Flood control is off. The replies are spread over 64 threads of 8 forums. Each round uses
//! a new database with full durability: a SQLite file, or with `FORUM_API_BACKEND=postgres` a database in the Postgres
//! of `FORUM_API_POSTGRES`.
//!
//! The bare writer inserts the same rows, given their contents: on SQLite over one connection, which commits all queued
//! replies together, on Postgres over eight, which commit each reply. Both take turns in the rounds. Takes one minute.

#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

mod bare;
mod postgres;
mod rows;
mod sqlite;
mod writers;

use forum_api::webhook::Topic;
use forum_benches::fixture::BenchFixture;
use forum_benches::measurements::{
    Goal, ROUNDS, Row, Samples, backend_name, by_backend, is_postgres,
};

use bare::{Sample, WRITERS};
use rows::Rows;
use writers::Writers;

const CAUSE: &str = "the bare writer is given the contents; the API parses the request, checks token, permissions and \
    limits, renders Markdown and serialises the event on the same cores";

#[tokio::main]
async fn main() {
    let [mut through, mut beside, mut ratio] = <[Samples; 3]>::default();
    for _ in 0..ROUNDS {
        let (api, left) = side(true).await;
        let (bare, left_by_bare) = side(false).await;
        assert_eq!(left, left_by_bare, "both leave the same rows");
        through.add(api);
        beside.add(bare);
        ratio.add(api / bare);
    }
    through.report("through the API, replies/s");
    beside.report("bare writer, replies/s");
    Row {
        what: &format!("durable replies/s, {WRITERS} writers, {}", backend_name()),
        unit: "ratio",
        baseline: by_backend(
            "a bare rusqlite writer with group commit, same rows",
            "a bare tokio-postgres writer with the same rows and commits",
        ),
        goal: Goal::AtLeast(by_backend(0.6, 0.5)),
        cause: CAUSE,
    }
    .write(&ratio);
}

/// Measures on a new board with an endpoint, so that each reply has an event. The API writes the first reply for both.
/// Returns the replies per second, and the rows that each reply wrote.
async fn side(through_api: bool) -> (f64, Vec<(String, f64)>) {
    let fixture = BenchFixture::new().await;
    fixture.endpoint("http://127.0.0.1:9/", &Topic::POST_CREATED).await;
    let writers = Writers::new(&fixture).await;
    let before = Rows::count(&fixture.directory);
    let per_second = if through_api {
        writers.per_second().await
    } else {
        let sample = Sample::of(&fixture.directory);
        if is_postgres() {
            postgres::per_second(&fixture.directory.database_url(), sample).await
        } else {
            sqlite::per_second(&fixture.directory, sample).await
        }
    };
    let rows = Rows::count(&fixture.directory).per_reply(&before);
    (per_second, rows)
}
