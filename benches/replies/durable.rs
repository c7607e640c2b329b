//! Durable replies per second, compared with a bare writer of the same rows.

use std::collections::BTreeMap;

use forum_api::webhook::Topic;

use crate::ROUNDS;
use crate::fixture::BenchFixture;
use crate::measurements::{Goal, Samples, row};
use crate::rows::{for_each, rows};
use crate::storage::{self, is_postgres};
use crate::writers::{Spread, WRITERS, Writers, api};
use crate::{ROUND, baseline, postgres_baseline};

/// Replies per second, and the rows that each reply wrote.
type Side = (f64, BTreeMap<String, f64>);

pub async fn measure() {
    for spread in [Spread::Forums, Spread::OneThread] {
        compare(spread).await;
    }
}

async fn compare(spread: Spread) {
    let (seconds, what, threads) = (ROUND.as_secs(), "replies a second", spread.name());
    println!(
        "durable {what}, {WRITERS} writers, {threads}, {seconds} s (least, median, most of {ROUNDS})"
    );
    let [mut through, mut beside, mut ratio] = <[Samples; 3]>::default();
    for _ in 0..ROUNDS {
        let (api, left) = side(true, spread).await;
        let (bare, left_by_bare) = side(false, spread).await;
        assert_eq!(left, left_by_bare, "both leave the same rows");
        through.add(api);
        beside.add(bare);
        ratio.add(api / bare);
    }
    through.report(&format!("through the API, {what}"));
    beside.report(&format!("bare writer, {what}"));
    let against = match is_postgres() {
        true => "a bare tokio-postgres writer with the same rows and commits",
        false => "a bare rusqlite writer with group commit, same rows",
    };
    let backend = storage::backend_name();
    let what = match spread {
        Spread::Forums => format!("durable replies/s, {WRITERS} writers, {backend}"),
        Spread::OneThread => format!("durable replies/s, {WRITERS} writers, one thread, {backend}"),
    };
    let goal = if is_postgres() { 0.5 } else { 0.6 };
    row(&what, "ratio", against, Goal::AtLeast(goal), &ratio);
    if is_postgres() && spread == Spread::Forums {
        row(&what, "replies/s", "none", Goal::AtLeast(3_000.0), &through);
    }
}

/// Measures on a new board with an endpoint, so that each reply has an event. The API writes the first reply for both.
async fn side(through_api: bool, spread: Spread) -> Side {
    let fixture = BenchFixture::new().await;
    fixture
        .endpoint("http://127.0.0.1:9/", &Topic::POST_CREATED)
        .await;
    let writers = Writers::on(&fixture, spread).await;
    let api = api(fixture.board.clone());
    writers.one(&api, 0).await;
    let before = rows(&fixture.storage).await;
    let per_second = if through_api {
        writers.per_second(&api).await
    } else if is_postgres() {
        postgres_baseline::per_second(&fixture.storage.pool(), &writers.threads).await
    } else {
        baseline::per_second(&fixture.path(), &writers.threads).await
    };
    let after = rows(&fixture.storage).await;
    let replies = after["post"] - before["post"];
    (per_second, for_each(&before, &after, replies))
}
