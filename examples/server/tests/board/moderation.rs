//! Approval and edit reasons.

use serde_json::json;

use crate::demo::{Demo, body, field_values, number};

/// Returns the topics of the events since the last call.
async fn topics(demo: &Demo) -> Vec<String> {
    let find = "SELECT topic AS value FROM forum_api_events ORDER BY number";
    let topics = demo.query_values(find).await;
    demo.sql("DELETE FROM forum_api_events").await;
    topics
}

#[tokio::test]
async fn replies_approved_in_a_hidden_thread_are_published_with_it() {
    let demo = Demo::new().await;
    demo.add_endpoint().await;
    demo.set("post.interval_seconds", "0").await;
    let new = json!({ "title": "Zobrowka", "body": "Who knows it?" });
    let general = demo.threads_path("General").await;
    let (_, thread) = demo.post("newbie", &general, new).await;
    demo.approve(number(&thread["firstPostId"])).await.unwrap();
    assert_eq!(topics(&demo).await, ["thread.created", "post.created"]);
    let posts = format!("/threads/{}/posts", thread["threadId"].as_str().unwrap());
    let (_, waiting) = demo.post("newbie", &posts, body("Do you?")).await;
    let first = format!("{posts}/{}", thread["firstPostId"].as_str().unwrap());
    let newbie = demo.as_member("newbie").await;
    let edited = newbie.patch(&first, &body("Buy it here.")).await.json();
    assert_eq!(edited["state"], "awaiting_approval");
    let hits = async || {
        let (_, found) = demo.get("guest", "/search?q=zobrowka").await;
        field_values(&found, "postId").len()
    };
    assert_eq!(hits().await, 0);
    demo.approve(number(&waiting["postId"])).await.unwrap();
    assert_eq!(topics(&demo).await, [] as [&str; 0]);
    demo.approve(number(&thread["firstPostId"])).await.unwrap();
    assert_eq!(topics(&demo).await, ["post.updated", "post.created"]);
    assert_eq!(hits().await, 1);
}

#[tokio::test]
async fn a_newcomer_closes_an_approved_poll_and_cannot_change_its_texts() {
    let demo = Demo::new().await;
    demo.add_endpoint().await;
    let poll = json!({ "question": "Which?", "options": ["A", "B"] });
    let new = json!({ "title": "x", "body": "x", "poll": poll });
    let general = demo.threads_path("General").await;
    let (_, thread) = demo.post("newbie", &general, new).await;
    let poll = format!("/polls/{}", thread["pollId"].as_str().unwrap());
    let newbie = demo.as_member("newbie").await;
    let question = json!({ "question": "Buy it here?" });
    assert_eq!(newbie.patch(&poll, &question).await.status, 200);
    demo.approve(number(&thread["firstPostId"])).await.unwrap();
    topics(&demo).await;
    let options = json!({ "options": [{ "text": "Buy it here." }, { "text": "B" }] });
    for edit in [json!({ "question": "Or here?" }), options] {
        assert_eq!(newbie.patch(&poll, &edit).await.status, 403, "{edit}");
    }
    assert_eq!(topics(&demo).await, [] as [&str; 0]);
    let close = json!({ "closesAt": "2025-12-31T00:00:00Z" });
    assert_eq!(newbie.patch(&poll, &close).await.json()["closed"], true);
    assert_eq!(topics(&demo).await, ["poll.updated"]);
}

#[tokio::test]
async fn a_reason_is_stored_with_its_edit() {
    let demo = Demo::new().await;
    let tea = demo.tea_posts_path().await;
    let (_, post) = demo.post("bob", &tea, body("Black.")).await;
    let path = format!("{tea}/{}", post["postId"].as_str().unwrap());
    for (edit, expected) in [
        (json!({ "body": "x", "reason": "Too long." }), "Too long."),
        (json!({ "body": "y" }), "none"),
    ] {
        let moderator = demo.as_member("mod").await;
        assert_eq!(moderator.patch(&path, &edit).await.status, 200);
        let reason =
            "SELECT coalesce(edit_reason, 'none') AS value FROM post WHERE edited_at IS NOT NULL";
        assert_eq!(demo.query_value::<String>(reason).await, expected);
    }
}
