//! What is kept of deliveries, and for how long.

use std::time::Duration;

use forum_api::webhook::State;

use super::post::{GONE, LATER, OK, Post};
use super::withheld::ban;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

#[tokio::test]
async fn eight_days_later_the_dead_alone_are_there_and_can_be_retried() {
    let post = Post::new().await;
    let (_good, delivered) = post.add("admin", "thread.created", &[OK]).await;
    let (_leaving, gone) = post.add("admin", "thread.created", &[GONE]).await;
    let (_banned, withheld) = post.add("alice", "thread.created", &[LATER]).await;
    let acts = [LATER, LATER, LATER, LATER, LATER, LATER, OK];
    let (mut failing, dead) = post.add("admin", "thread.created", &acts).await;
    post.happen().await;
    let worker = post.work().await;
    post.demo.change(ban).await;
    worker.pass(6 * DAY).await;
    for (endpoint, state) in [
        (&delivered, State::Delivered),
        (&gone, State::Gone),
        (&withheld, State::Withheld),
        (&dead, State::Dead),
    ] {
        assert_eq!(post.state(endpoint).await, state);
    }
    worker.pass(2 * DAY).await;
    for endpoint in [delivered, gone, withheld] {
        assert_eq!(post.deliveries(&endpoint).await, []);
    }
    let [(id, State::Dead)] = &post.deliveries(&dead).await[..] else {
        panic!("the dead are kept");
    };
    assert_eq!(rows(&post).await, [1, 1, 6]);
    post.retry(id).await;
    worker.wake().await;
    assert_eq!(post.state(&dead).await, State::Delivered);
    let sent = failing.ended().await;
    let ids = sent.iter().map(|seen| seen.header("x-forum-delivery"));
    assert_eq!(ids.collect::<Vec<_>>(), vec![id.to_string(); 7]);
}

/// How many events, deliveries and attempts the file holds.
async fn rows(post: &Post) -> [i64; 3] {
    [
        post.demo.one("SELECT count(*) FROM forum_api_events").await,
        post.demo
            .one("SELECT count(*) FROM forum_api_deliveries")
            .await,
        post.demo
            .one("SELECT count(*) FROM forum_api_attempts")
            .await,
    ]
}
