//! Limits on how often a member posts, rates and sends messages.

use std::time::Duration;

use forum_api::model::ErrorCode;
use forum_api::runtime::Clock;
use serde_json::json;

use crate::board::settings;
use crate::demo::{Demo, body, status_and_code};

const DAY: u64 = 24 * 60 * 60;

#[tokio::test]
async fn a_member_waits_the_post_interval_between_two_posts() {
    let demo = Demo::new().await;
    let tea = demo.tea_posts_path().await;
    let general = demo.threads_path("General").await;
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

#[tokio::test]
async fn messages_in_an_hour_and_ratings_in_a_day_are_limited() {
    let demo = Demo::new().await;
    demo.set(settings::MESSAGES_PER_HOUR.key, "3").await;
    demo.set(settings::RATINGS_PER_DAY.key, "3").await;
    demo.advance(DAY);
    let message = || json!({ "to": ["@bob"], "subject": "x", "body": "x" });
    let rating = || json!({ "points": 1, "comment": "x" });
    let members = ["bob", "carol", "mod", "admin", "newbie"];
    let ratings = members.map(|member| (format!("/members/@{member}/reputation"), rating()));
    let messages = [(); 5].map(|()| ("/messages".to_owned(), message()));
    for (requests, period) in [(messages, 60 * 60), (ratings, DAY)] {
        let [first @ .., next, last] = requests;
        for (path, body) in first {
            assert_eq!(demo.post("alice", &path, body).await.0, 201);
            demo.advance(20);
        }
        let (path, body) = next;
        let refused = demo.post("alice", &path, body.clone()).await;
        assert_eq!(status_and_code(&refused), (429, "RATE_LIMITED"));
        demo.advance(period - 60);
        assert_eq!(demo.post("alice", &path, body).await.0, 201);
        let (path, body) = last;
        assert_eq!(demo.post("alice", &path, body).await.0, 429);
    }
}
