//! Members as others see them.

use serde_json::json;

use crate::demo::Demo;

#[tokio::test]
async fn a_name_is_found_whatever_the_case_of_its_letters() {
    let demo = Demo::new().await;
    let (status, alice) = demo.get("guest", "/members/%40ALICE").await;
    assert_eq!((status, &alice["username"]), (200, &json!("alice")));
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
