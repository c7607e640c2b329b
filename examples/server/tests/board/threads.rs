//! Threads: what their titles and bodies become, and how long they may be.

use serde_json::json;

use crate::demo::{Demo, code, posts_of};

#[tokio::test]
async fn a_title_is_trimmed_and_a_body_rendered() {
    let demo = Demo::new().await;
    let general = demo.threads_of("General").await;
    let new = json!({ "title": "  Kettles  ", "body": "Which *one*?" });
    let (status, thread) = demo.post("alice", &general, new).await;
    assert_eq!((status, &thread["title"]), (201, &json!("Kettles")));
    let (_, posts) = demo.get("guest", &posts_of(&thread)).await;
    assert_eq!(
        posts["items"][0]["bodyHtml"],
        "<p>Which <em>one</em>?</p>\n"
    );
}

#[tokio::test]
async fn titles_and_bodies_may_be_so_long() {
    let demo = Demo::new().await;
    let general = demo.threads_of("General").await;
    let long = |length| "ä".repeat(length);
    for (title, text, field) in [
        (long(121), long(1), "title"),
        (long(1), long(20_001), "body"),
    ] {
        let new = json!({ "title": title, "body": text });
        let refused = demo.post("alice", &general, new).await;
        assert_eq!(code(&refused), (422, "VALIDATION"));
        let message = refused.1["error"]["message"].as_str().unwrap();
        assert!(message.starts_with(field), "{message}");
    }
    let most = json!({ "title": long(120), "body": long(20_000) });
    assert_eq!(demo.post("alice", &general, most).await.0, 201);
}
