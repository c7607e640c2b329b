//! Durable replies per second, compared with a bare writer of the same rows.

use std::collections::BTreeMap;

use forum_api::webhook::Topic;

use crate::ROUNDS;
use crate::fixture::BenchFixture;
use crate::measurements::{Goal, Samples, row};
use crate::rows::{for_each, rows};
use crate::writers::{WRITERS, Writers, api};
use crate::{ROUND, baseline};

/// Replies per second, and the rows that each reply wrote.
type Side = (f64, BTreeMap<String, f64>);

pub async fn measure() {
    let (seconds, what) = (ROUND.as_secs(), "replies a second");
    println!("durable {what}, {WRITERS} writers, {seconds} s (least, median, most of {ROUNDS})");
    let [mut through, mut beside, mut ratio] = <[Samples; 3]>::default();
    for _ in 0..ROUNDS {
        let (api, left) = side(true).await;
        let (bare, left_by_bare) = side(false).await;
        assert_eq!(left, left_by_bare, "both leave the same rows");
        through.add(api);
        beside.add(bare);
        ratio.add(api / bare);
    }
    through.report(&format!("through the API, {what}"));
    beside.report(&format!("bare writer, {what}"));
    let against = "a bare rusqlite writer with group commit, same rows";
    row(
        "durable replies/s, 64 writers, SQLite",
        "ratio",
        against,
        Goal::AtLeast(0.5),
        &ratio,
    );
}

/// Measures on a new board with an endpoint, so that each reply has an event. The API writes the first reply for both.
async fn side(through_api: bool) -> Side {
    let rig = BenchFixture::new().await;
    rig.endpoint("http://127.0.0.1:9/", &Topic::POST_CREATED)
        .await;
    let writers = Writers::on(&rig).await;
    let api = api(&rig, rig.board.clone());
    writers.one(&api).await;
    let before = rows(&rig.path());
    let per_second = if through_api {
        writers.per_second(&api).await
    } else {
        baseline::per_second(&rig.path()).await
    };
    let after = rows(&rig.path());
    let replies = after["post"] - before["post"];
    (per_second, for_each(&before, &after, replies))
}
