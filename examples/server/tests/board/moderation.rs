//! Approval, restoring, moderators and edit reasons.

use forum_api::host::BoardError;
use serde_json::json;

use crate::board::{accounts, forums};
use crate::demo::{Demo, body, field_values, number};

/// Returns the topics of the events since the last call.
async fn topics(demo: &Demo) -> Vec<String> {
    let find = demo.read(|connection| {
        let topics = "SELECT topic FROM forum_api_events ORDER BY number";
        Box::pin(async { Ok(connection.all(topics, &[], |row| row.value()).await?) })
    });
    let topics = find.await;
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
        let reason = "SELECT coalesce(edit_reason, 'none') FROM post WHERE edited_at IS NOT NULL";
        assert_eq!(demo.query_value::<String>(reason).await, expected);
    }
}

#[tokio::test]
async fn visible_and_unknown_posts_are_neither_approved_nor_restored() {
    let demo = Demo::new().await;
    for (post, approved, restored) in [
        (1, "is not awaiting approval", "is not deleted"),
        (999, "unknown post", "unknown post"),
    ] {
        let refusal = demo.approve(post).await.unwrap_err().to_string();
        assert!(refusal.contains(approved), "{refusal}");
        let refusal = demo.restore(post).await.unwrap_err().to_string();
        assert!(refusal.contains(restored), "{refusal}");
    }
}

#[tokio::test]
async fn a_moderator_must_be_able_to_read_the_forum() {
    let demo = Demo::new().await;
    demo.change(|tx| {
        Box::pin(async {
            let alice = accounts::named(tx, "alice").await?;
            assert!(matches!(
                forums::add_moderator(tx, 5, alice).await,
                Err(BoardError::Validation { .. })
            ));
            assert!(matches!(
                forums::add_moderator(tx, 99, alice).await,
                Err(BoardError::NotFound(_))
            ));
            assert!(forums::add_moderator(tx, 4, alice).await?);
            assert!(!forums::add_moderator(tx, 4, alice).await?);
            Ok(())
        })
    })
    .await;
}
