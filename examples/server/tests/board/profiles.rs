//! Profiles of members.

use forum_api::host::{Authorizer, RequestInfo};
use forum_api::model::{Timestamp, UserId};
use forum_api::runtime::Clock;
use serde_json::json;

use crate::board::access::groups::{Group, Groups};
use crate::board::accounts;
use crate::demo::Demo;

/// U+212A, the Kelvin sign, also has the lower case `k`.
#[tokio::test]
async fn usernames_ignore_the_case_of_ascii_letters_only() {
    let demo = Demo::new().await;
    demo.change(|tx| {
        Box::pin(async move {
            accounts::add(
                tx,
                "kim",
                Groups::of([Group::Members]),
                Timestamp::from_millis(0),
            )
            .await?;
            Ok(())
        })
    })
    .await;
    assert_eq!(demo.get("guest", "/members/@KIM").await.0, 200);
    assert_eq!(demo.get("guest", "/members/%40%E2%84%AAim").await.0, 404);
}

#[tokio::test]
async fn the_last_seen_time_is_updated_every_five_minutes() {
    let demo = Demo::new().await;
    let seen = async || demo.get("guest", "/members/@bob").await.1["lastSeenAt"].clone();
    assert_eq!(seen().await, json!(null));
    let request_and_read = async || {
        demo.get("bob", "/me").await;
        demo.board.flush_last_seen().await;
        seen().await
    };
    assert_eq!(request_and_read().await, "2026-01-01T00:00:00.000Z");
    demo.advance(299);
    assert_eq!(request_and_read().await, "2026-01-01T00:00:00.000Z");
    demo.advance(1);
    assert_eq!(request_and_read().await, "2026-01-01T00:05:00.000Z");
    // Times are recorded after a clock was set back.
    demo.set_back(600);
    assert_eq!(request_and_read().await, "2025-12-31T23:55:00.000Z");
}

#[tokio::test]
async fn background_requests_do_not_update_the_last_seen_time() {
    let demo = Demo::new().await;
    let (_, bob) = demo.get("guest", "/members/@bob").await;
    let id = UserId::parse(bob["userId"].as_str().unwrap()).unwrap();
    let request = RequestInfo::background(demo.clock.now());
    let access = demo.board.member_access(&id, &request).await.unwrap();
    assert!(access.is_some());
    assert_eq!(demo.get("guest", "/members/@bob").await.1, bob);
    assert_eq!(bob["lastSeenAt"], json!(null));
}
