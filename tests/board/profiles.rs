//! Members as others see them.

use serde_json::json;

use crate::demo::{Demo, body, code};

#[tokio::test]
async fn a_member_is_found_by_id_and_by_name() {
    let demo = Demo::new().await;
    let (status, alice) = demo.get("guest", "/members/@alice").await;
    assert_eq!((status, &alice["username"]), (200, &json!("alice")));
    let by_id = format!("/members/{}", alice["userId"].as_str().unwrap());
    assert_eq!(demo.get("bob", &by_id).await.1, alice);
    assert_eq!(demo.get("guest", "/members/%40ALICE").await.1, alice);
    for absent in [
        "/members/@nobody",
        "/members/999",
        "/members/007",
        "/members/alice",
    ] {
        assert_eq!(
            code(&demo.get("guest", absent).await),
            (404, "not_found"),
            "{absent}"
        );
    }
    assert_eq!(demo.get("guest", "/members/@mallory").await.0, 200);
}

#[tokio::test]
async fn posts_count_where_every_member_may_read() {
    let demo = Demo::new().await;
    let count = async || {
        demo.get("guest", "/members/@mod").await.1["postCount"]
            .as_u64()
            .unwrap()
    };
    let before = count().await;
    for (forum, counted) in [("Staff", 0), ("Members", 1), ("Announcements", 2)] {
        let new = json!({ "title": "x", "body": "x" });
        assert_eq!(
            demo.post("mod", &demo.threads_of(forum).await, new).await.0,
            201
        );
        assert_eq!(count().await, before + counted, "{forum}");
    }
    assert_eq!(demo.post("mod", &demo.tea().await, body("x")).await.0, 201);
    assert_eq!(count().await, before + 3);
}

#[tokio::test]
async fn being_seen_is_noted_every_five_minutes() {
    let demo = Demo::new().await;
    let seen = async || demo.get("guest", "/members/@bob").await.1["lastSeenAt"].clone();
    assert_eq!(seen().await, json!(null));
    demo.get("bob", "/me").await;
    assert_eq!(seen().await, "2026-01-01T00:00:00.000Z");
    demo.wait(299);
    demo.get("bob", "/me").await;
    assert_eq!(seen().await, "2026-01-01T00:00:00.000Z");
    demo.wait(1);
    demo.get("bob", "/me").await;
    assert_eq!(seen().await, "2026-01-01T00:05:00.000Z");
}

#[tokio::test]
async fn me_is_the_tokens_owner() {
    let demo = Demo::new().await;
    let (status, me) = demo.get("carol", "/me").await;
    assert_eq!((status, &me["owner"]["username"]), (200, &json!("carol")));
    assert_eq!(me["unreadMessages"], json!(0));
}
