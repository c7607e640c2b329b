//! CPU time of a reply by a member with many posts in the last hour, below a raised limit, compared with members with
//! few posts. On SQLite, because the CPU time of this process contains that of the database.

use std::path::Path;
use std::time::Duration;

use forum_api::ForumApi;
use forum_benches::cpu_time::cpu_time;

use crate::ROUNDS;
use crate::board::settings;
use crate::fixture::BenchFixture;
use crate::measurements::{Goal, Samples, row};
use crate::storage::Storage;
use crate::writers::{Spread, WRITERS, Writers, api};

/// Number of posts of the member with many posts in the last hour.
const MANY: u32 = 25_000;

/// Limit of posts per hour.
const LIMIT: u32 = 2 * MANY;

/// Number of replies of each kind in a round.
const REPLIES: usize = 2_000;

pub async fn measure() {
    println!("CPU time of {REPLIES} replies in ms (least, median, most of {ROUNDS})");
    let fixture = BenchFixture::within(Storage::sqlite()).await;
    let writers = Writers::on(&fixture, Spread::OneThread).await;
    fill(&fixture).await;
    let api = api(fixture.board.clone());
    let [mut many, mut few, mut ratio] = <[Samples; 3]>::default();
    for _ in 0..ROUNDS {
        let of_others = cpu_time_of(&writers, &api, |reply| 1 + reply % (WRITERS - 1)).await;
        let of_one = cpu_time_of(&writers, &api, |_| 0).await;
        few.add(of_others.as_secs_f64() * 1e3);
        many.add(of_one.as_secs_f64() * 1e3);
        ratio.add(of_one.as_secs_f64() / of_others.as_secs_f64());
    }
    few.report("members with few posts in the last hour");
    many.report(&format!("a member with {MANY} posts in the last hour"));
    row(
        "CPU time of a reply by a member with 25,000 posts in the last hour, SQLite",
        "ratio",
        "members with few posts",
        Goal::AtMost(1.1),
        &ratio,
    );
}

/// Writes the posts of the first writer, and raises the limit.
async fn fill(fixture: &BenchFixture) {
    let fill = fixture.board.write(|tx, events| {
        Box::pin(async move {
            let limit = settings::named(settings::POSTS_PER_HOUR.key).unwrap();
            limit.set(tx, &LIMIT.to_string()).await?;
            let begin = events.now.saturating_sub(Duration::from_secs(30 * 60));
            let posts = format!(
                "WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < {MANY})
                INSERT INTO post (
                    thread_id, number, author_id, state, created_at, ordered_at, body, body_html, body_words
                )
                SELECT
                    thread.id, thread.last_number + n, member.id, 'visible', {begin} + n, {begin} + n, 'tea',
                    '<p>tea</p>', 'tea'
                FROM number, thread, member WHERE member.username = 'writer0';
                UPDATE thread SET last_number = last_number + {MANY}, reply_count = reply_count + {MANY}",
                begin = begin.as_millis(),
            );
            Ok(tx.execute_batch(&posts).await?)
        })
    });
    fill.await.unwrap();
}

/// CPU time of the replies of the writers with these numbers.
async fn cpu_time_of(
    writers: &Writers,
    api: &ForumApi,
    writer: impl Fn(usize) -> usize,
) -> Duration {
    let this = Path::new("/proc/self");
    let begin = cpu_time(this);
    for reply in 0..REPLIES {
        writers.one(api, writer(reply)).await;
    }
    cpu_time(this) - begin
}
