//! Limits on how often a member posts, rates and sends messages.

use std::time::Duration;

use forum_api::model::{ErrorCode, Timestamp};
use forum_api::runtime::Clock;
use serde_json::json;

use crate::board::generate::words::Random;
use crate::board::settings;
use crate::demo::{Demo, body, status_and_code};

const DAY: u64 = 24 * 60 * 60;

#[tokio::test]
async fn a_member_waits_the_post_interval_between_two_posts() {
    let demo = Demo::new().await;
    let (tea, general) = (
        demo.tea_posts_path().await,
        demo.threads_path("General").await,
    );
    let thread = json!({ "title": "x", "body": "x" });
    assert_eq!(demo.post("alice", &general, thread.clone()).await.0, 201);
    demo.advance(14);
    assert_eq!(
        status_and_code(&demo.post("alice", &tea, body("x")).await),
        (422, "VALIDATION")
    );
    assert_eq!(
        status_and_code(&demo.post("alice", &general, thread).await),
        (422, "VALIDATION")
    );
    assert_eq!(demo.post("bob", &tea, body("x")).await.0, 201);
    demo.advance(1);
    assert_eq!(demo.post("alice", &tea, body("x")).await.0, 201);
}

#[tokio::test]
async fn a_post_dated_in_the_future_does_not_block_its_author() {
    let demo = Demo::new().await;
    let tea = demo.tea_posts_path().await;
    demo.set(settings::POSTS_PER_HOUR.key, "2").await;
    demo.advance(DAY);
    for name in ["alice", "bob"] {
        assert_eq!(demo.post(name, &tea, body("x")).await.0, 201);
    }
    demo.clock
        .set(demo.clock.now().saturating_sub(Duration::from_secs(DAY)));
    for _ in 0..2 {
        assert_eq!(demo.post("alice", &tea, body("x")).await.0, 201);
        assert_eq!(
            status_and_code(&demo.post("alice", &tea, body("x")).await),
            (422, "VALIDATION")
        );
        demo.advance(15);
    }
    assert_eq!(
        status_and_code(&demo.post("alice", &tea, body("x")).await),
        (429, "RATE_LIMITED")
    );
}

#[tokio::test]
async fn a_changed_setting_takes_effect_at_once() {
    let demo = Demo::new().await;
    let tea = demo.tea_posts_path().await;
    assert_eq!(demo.post("alice", &tea, body("x")).await.0, 201);
    demo.set(settings::POST_INTERVAL.key, "0").await;
    assert_eq!(demo.post("alice", &tea, body("x")).await.0, 201);
    demo.set(settings::BODY_MAX.key, "3").await;
    assert_eq!(
        status_and_code(&demo.post("alice", &tea, body("four")).await),
        (422, "VALIDATION")
    );
    assert_eq!(demo.post("alice", &tea, body("ÄÖÜ")).await.0, 201);
}

#[tokio::test]
async fn posts_in_an_hour_are_limited() {
    let demo = Demo::new().await;
    let tea = demo.tea_posts_path().await;
    demo.set(settings::POSTS_PER_HOUR.key, "3").await;
    for _ in 0..3 {
        assert_eq!(demo.post("mod", &tea, body("x")).await.0, 201);
        demo.advance(20);
    }
    let client = demo.as_member("mod").await;
    let refused = client.post(&tea, &body("x")).await;
    assert_eq!(
        (refused.status, refused.code()),
        (429, Some(ErrorCode::BoardRateLimited))
    );
    assert_eq!(refused.header("retry-after"), Some("3540"));
    demo.advance(3540);
    assert_eq!(demo.post("mod", &tea, body("x")).await.0, 201);
    assert_eq!(demo.post("mod", &tea, body("x")).await.0, 429);
}

/// Returns the seconds until the hourly limit allows another post, computed from the times of all posts.
fn retry_after(posts: &[u64], now: u64, limit: usize) -> Option<u64> {
    let mut recent: Vec<u64> = posts
        .iter()
        .copied()
        .filter(|at| (now.saturating_sub(HOUR) + 1..=now).contains(at))
        .collect();
    recent.sort_unstable();
    let oldest = recent.iter().rev().nth(limit - 1)?;
    Some((oldest + HOUR - now).div_ceil(1000))
}

const HOUR: u64 = 60 * 60 * 1000;

/// The board stores the number of recent posts. Its decisions equal those of a full count, also at the ends of the hour,
/// for posts at the same time, after a change of the limit, and with clocks that are set back.
#[tokio::test]
async fn the_hourly_limit_counts_each_post_of_an_hour() {
    let demo = Demo::new().await;
    let (tea, general) = (
        demo.tea_posts_path().await,
        demo.threads_path("General").await,
    );
    demo.set(settings::POST_INTERVAL.key, "0").await;
    demo.advance(DAY);
    let (random, mut posts, mut limit) = (Random::new(1), Vec::new(), 4);
    demo.set(settings::POSTS_PER_HOUR.key, "4").await;
    let bob = demo.as_member("bob").await;
    let (mut written, mut refused) = (0, 0);
    for _ in 0..600 {
        let now = demo.clock.now().as_millis().unsigned_abs();
        // In most steps, the clock advances to the end of the hour of a post, or to one millisecond before it.
        let due = posts.get(random.below(posts.len() as u64 + 1) as usize);
        let next = match random.below(40) {
            0..8 => now,
            8..16 => now + random.below(HOUR / 4),
            16 => now + 3 * HOUR,
            17 => now - random.below(HOUR / 2),
            place => due.map_or(now, |at: &u64| (at + HOUR - place % 2).max(now)),
        };
        demo.clock.set(Timestamp::from_millis(next as i64));
        if random.below(30) == 0 {
            let text = ["1", "2", "3", "5", "8"][random.below(5) as usize];
            limit = text.parse().unwrap();
            demo.set(settings::POSTS_PER_HOUR.key, text).await;
        }
        let (path, new) = match random.below(4) {
            0 => (&general, json!({ "title": "x", "body": "x" })),
            _ => (&tea, body("x")),
        };
        let answer = bob.post(path, &new).await;
        match retry_after(&posts, next, limit) {
            None => {
                assert_eq!(answer.status, 201, "{answer:?}");
                posts.push(next);
                written += 1;
            }
            Some(seconds) => {
                assert_eq!(answer.status, 429, "{answer:?}");
                assert_eq!(answer.header("retry-after"), Some(&*seconds.to_string()));
                refused += 1;
            }
        }
    }
    assert!(written > 100 && refused > 100, "{written} {refused}");
}

#[tokio::test]
async fn messages_in_an_hour_are_limited() {
    let demo = Demo::new().await;
    demo.set(settings::MESSAGES_PER_HOUR.key, "3").await;
    demo.advance(DAY);
    let message = || json!({ "to": ["@bob"], "subject": "x", "body": "x" });
    for _ in 0..3 {
        assert_eq!(demo.post("alice", "/messages", message()).await.0, 201);
        demo.advance(20);
    }
    let refused = demo.post("alice", "/messages", message()).await;
    assert_eq!(status_and_code(&refused), (429, "RATE_LIMITED"));
    demo.advance(3540);
    assert_eq!(demo.post("alice", "/messages", message()).await.0, 201);
    assert_eq!(demo.post("alice", "/messages", message()).await.0, 429);
}

#[tokio::test]
async fn ratings_in_a_day_are_limited() {
    let demo = Demo::new().await;
    demo.set(settings::RATINGS_PER_DAY.key, "3").await;
    demo.advance(DAY);
    let rating = || json!({ "points": 1, "comment": "x" });
    for member in ["bob", "carol", "mod"] {
        let path = format!("/members/@{member}/reputation");
        assert_eq!(demo.post("alice", &path, rating()).await.0, 201);
        demo.advance(20);
    }
    let path = "/members/@admin/reputation";
    let refused = demo.post("alice", path, rating()).await;
    assert_eq!(status_and_code(&refused), (429, "RATE_LIMITED"));
    demo.advance(DAY - 60);
    assert_eq!(demo.post("alice", path, rating()).await.0, 201);
    let path = "/members/@bob/reputation";
    assert_eq!(demo.post("alice", path, rating()).await.0, 429);
}
