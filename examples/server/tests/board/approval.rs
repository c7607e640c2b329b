//! Approved content that newcomers edit awaits approval again.

use serde_json::{Value, json};

use crate::demo::{Demo, all, body, code};

/// The topics of the events since this was last asked, in their order.
async fn topics(demo: &Demo) -> Vec<String> {
    let find = demo.read(|connection| {
        let topics = "SELECT topic FROM forum_api_events ORDER BY number";
        Box::pin(async { Ok(connection.all(topics, &[], |row| row.value()).await?) })
    });
    let topics = find.await;
    demo.sql("DELETE FROM forum_api_events").await;
    topics
}

fn number(id: &Value) -> i64 {
    id.as_str().unwrap().parse().unwrap()
}

/// The counts of General, and what a guest finds by this word.
async fn public(demo: &Demo, word: &str) -> (Value, Value, usize) {
    let general = demo.forum("General").await;
    let (_, found) = demo.get("guest", &format!("/search?q={word}")).await;
    let hits = found["items"].as_array().unwrap().len();
    let counts = (general["threadCount"].clone(), general["postCount"].clone());
    (counts.0, counts.1, hits)
}

async fn edit(demo: &Demo, name: &'static str, path: &str, text: &str) -> (u16, Value) {
    let edited = demo.as_member(name).await.patch(path, &body(text)).await;
    (edited.status, edited.json())
}

#[tokio::test]
async fn an_approved_reply_that_a_newcomer_edits_awaits_approval() {
    let demo = Demo::new().await;
    let tea = demo.tea().await;
    let thread = tea.trim_end_matches("/posts");
    let (_, post) = demo.post("newbie", &tea, body("Zobrowka")).await;
    demo.approve(number(&post["postId"])).await.unwrap();
    topics(&demo).await;
    let before = demo.get("guest", thread).await.1;
    let (counted, path) = (
        public(&demo, "zobrowka").await,
        format!("{tea}/{}", post["postId"].as_str().unwrap()),
    );
    assert_eq!(counted.2, 1);

    let (status, edited) = edit(&demo, "newbie", &path, "Zobrowka and spam").await;
    assert_eq!(
        (status, &edited["state"]),
        (200, &json!("awaiting_approval"))
    );
    assert_eq!(edited["version"], 3, "created, approved, edited");
    let (_, page) = demo.get("guest", &tea).await;
    assert!(!all(&page, "postId").contains(&post["postId"].as_str().unwrap()));
    let (_, hidden) = demo.get("guest", thread).await;
    let replies = |thread: &Value| thread["replyCount"].as_i64().unwrap();
    assert_eq!(replies(&hidden), replies(&before) - 1);
    assert_ne!(hidden["lastPost"]["postId"], post["postId"]);
    let (threads, posts, hits) = public(&demo, "zobrowka").await;
    assert_eq!((threads, hits), (counted.0.clone(), 0));
    assert_eq!(posts.as_i64(), counted.1.as_i64().map(|posts| posts - 1));
    let (status, again) = edit(&demo, "newbie", &path, "Zobrowka once more").await;
    assert_eq!(
        (status, &again["state"]),
        (200, &json!("awaiting_approval"))
    );
    assert_eq!(topics(&demo).await, [] as [&str; 0]);

    demo.approve(number(&post["postId"])).await.unwrap();
    assert_eq!(topics(&demo).await, ["post.updated"]);
    assert_eq!(public(&demo, "zobrowka").await, counted);
    assert_eq!(demo.get("guest", thread).await.1, before);
}

#[tokio::test]
async fn an_approved_thread_whose_first_post_a_newcomer_edits_awaits_approval() {
    let demo = Demo::new().await;
    let new = json!({ "title": "Zobrowka", "body": "Who knows it?" });
    let (_, thread) = demo
        .post("newbie", &demo.threads_of("General").await, new)
        .await;
    demo.approve(number(&thread["firstPostId"])).await.unwrap();
    assert_eq!(topics(&demo).await, ["thread.created", "post.created"]);
    let place = format!("/threads/{}", thread["threadId"].as_str().unwrap());
    let posts = format!("{place}/posts");
    assert_eq!(demo.post("bob", &posts, body("I do.")).await.0, 201);
    demo.set("post.interval_seconds", "0").await;
    let (_, waiting) = demo.post("newbie", &posts, body("Do you?")).await;
    topics(&demo).await;
    let (counted, before) = (
        public(&demo, "zobrowka").await,
        demo.get("guest", &place).await.1,
    );
    assert_eq!(counted.2, 1);

    let first = format!("{posts}/{}", thread["firstPostId"].as_str().unwrap());
    let (status, edited) = edit(&demo, "newbie", &first, "Buy it here.").await;
    assert_eq!(
        (status, &edited["state"]),
        (200, &json!("awaiting_approval"))
    );
    for name in ["guest", "bob"] {
        assert_eq!(demo.get(name, &place).await.0, 404);
    }
    let (_, seen) = demo.get("newbie", &place).await;
    assert_eq!(seen["state"], "awaiting_approval");
    assert_eq!(seen["version"], before["version"].as_i64().unwrap() + 1);
    let (threads, posts, hits) = public(&demo, "zobrowka").await;
    assert_eq!(
        threads.as_i64(),
        counted.0.as_i64().map(|threads| threads - 1)
    );
    assert_eq!(posts.as_i64(), counted.1.as_i64().map(|posts| posts - 2));
    assert_eq!(hits, 0);
    // A reply that is approved meanwhile is published with its thread.
    demo.approve(number(&waiting["postId"])).await.unwrap();
    assert_eq!(topics(&demo).await, [] as [&str; 0]);

    demo.approve(number(&thread["firstPostId"])).await.unwrap();
    assert_eq!(topics(&demo).await, ["post.updated", "post.created"]);
    let (threads, posts, hits) = public(&demo, "zobrowka").await;
    assert_eq!((threads, hits), (counted.0, 1));
    assert_eq!(posts.as_i64(), counted.1.as_i64().map(|posts| posts + 1));
    let (_, after) = demo.get("guest", &place).await;
    assert_eq!(after["replyCount"], 2);
}

#[tokio::test]
async fn a_post_is_not_edited_where_its_author_may_not_reply() {
    let demo = Demo::new().await;
    let tea = demo.tea().await;
    let (_, post) = demo.post("alice", &tea, body("x")).await;
    let path = format!("{tea}/{}", post["postId"].as_str().unwrap());
    assert_eq!(edit(&demo, "alice", &path, "y").await.0, 200);
    demo.sql("UPDATE forum SET reply_groups = 'staff' WHERE title = 'General'")
        .await;
    let refused = edit(&demo, "alice", &path, "z").await;
    assert_eq!(code(&refused), (403, "FORBIDDEN"));
    let (_, page) = demo.get("alice", &tea).await;
    let own = page["items"].as_array().unwrap().last().unwrap();
    let may = (&own["body"], &own["canEdit"], &own["canDelete"]);
    assert_eq!(may, (&json!("y"), &json!(false), &json!(true)));
    assert_eq!(edit(&demo, "mod", &path, "z").await.0, 200);
}
