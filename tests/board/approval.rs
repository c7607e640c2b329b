//! What newcomers write awaits approval.

use serde_json::json;

use crate::demo::{Demo, all, body, code, posts_of};

#[tokio::test]
async fn a_newcomers_reply_is_seen_by_its_author_and_the_moderators() {
    let demo = Demo::new().await;
    let (tea, before) = (demo.tea().await, demo.forum("General").await);
    let (status, post) = demo.post("newbie", &tea, body("Hello!")).await;
    assert_eq!((status, &post["state"]), (201, &json!("awaiting_approval")));
    for (name, posts) in [
        ("guest", 6),
        ("alice", 6),
        ("newbie", 7),
        ("mod", 7),
        ("admin", 7),
    ] {
        let (_, page) = demo.get(name, &tea).await;
        assert_eq!(all(&page, "postId").len(), posts, "{name}");
    }
    let (_, thread) = demo.get("newbie", tea.trim_end_matches("/posts")).await;
    assert_eq!(thread["replyCount"], 5);
    assert_eq!(demo.forum("General").await, before);
    assert_eq!(
        demo.get("guest", "/members/@newbie").await.1["postCount"],
        0
    );
}

#[tokio::test]
async fn a_newcomers_thread_is_seen_by_its_author_and_the_moderators() {
    let demo = Demo::new().await;
    let (general, before) = (
        demo.threads_of("General").await,
        demo.forum("General").await,
    );
    let new = json!({ "title": "Hello", "body": "I am new." });
    let (status, thread) = demo.post("newbie", &general, new).await;
    assert_eq!(
        (status, &thread["state"]),
        (201, &json!("awaiting_approval"))
    );
    for (name, threads) in [("guest", 5), ("bob", 5), ("newbie", 6), ("mod", 6)] {
        let (_, page) = demo.get(name, &general).await;
        assert_eq!(all(&page, "threadId").len(), threads, "{name}");
        let status = demo.get(name, &posts_of(&thread)).await.0;
        assert_eq!(status, if threads == 6 { 200 } else { 404 }, "{name}");
    }
    assert_eq!(demo.forum("General").await, before);
    for (name, answer) in [("bob", (404, "not_found")), ("newbie", (403, "FORBIDDEN"))] {
        let refused = demo.post(name, &posts_of(&thread), body("x")).await;
        assert_eq!(code(&refused), answer, "{name}");
    }
}
