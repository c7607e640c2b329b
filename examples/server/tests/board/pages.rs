//! Pages end early where their texts are long.

use forum_api::mcp::McpServer;
use http::Request;

use crate::prelude::*;

/// Returns the sizes in bytes of the texts of each post of a page.
fn text_sizes(page: &Value) -> Vec<usize> {
    let size = |post: &Value| {
        let texts = [&post["body"], &post["bodyHtml"]];
        texts.into_iter().filter_map(Value::as_str).map(str::len).sum()
    };
    page["items"].as_array().unwrap().iter().map(size).collect()
}

/// Creates a thread with 24 posts of 20,000 `<` (80,000 bytes each as HTML), with two posts of a million bytes, and
/// with short posts.
async fn long_thread(demo: &Demo) -> String {
    demo.set(settings::BODY_MAX.key, "1000000").await;
    demo.set(settings::POST_INTERVAL.key, "0").await;
    let new = json!({ "title": "Long", "body": "x" });
    let threads = demo.threads_path("General").await;
    let posts = posts_path(&demo.post("alice", &threads, new).await.1);
    for (letter, length, count) in [("<", 20_000, 24), ("x", 1_000_000, 2), ("x", 5, 3)] {
        for _ in 0..count {
            let new = body(&letter.repeat(length));
            assert_eq!(demo.post("alice", &posts, new).await.0, 201);
        }
    }
    posts
}

#[tokio::test]
async fn a_page_ends_once_its_texts_exceed_half_a_mebibyte() {
    const MAX: usize = 512 * 1024;
    let demo = Demo::new().await;
    let posts = long_thread(&demo).await;
    for (form, expected) in [("both", 7), ("source", 3), ("html", 6)] {
        let path = format!("{posts}?limit=100&body={form}");
        let pages = demo.pages("guest", &path).await;
        let mut numbers = Vec::new();
        for page in &pages {
            let sizes = text_sizes(page);
            let before_last: usize = sizes.split_last().unwrap().1.iter().sum();
            assert!(before_last <= MAX, "{form}: {sizes:?}");
            if !page["next"].is_null() {
                assert!(sizes.iter().sum::<usize>() > MAX, "{form}: {sizes:?}");
            }
            let posts = page["items"].as_array().unwrap().iter();
            numbers.extend(posts.map(|post| post["number"].as_u64().unwrap()));
        }
        assert_eq!(numbers, Vec::from_iter(1..=30), "{form}");
        assert_eq!(pages.len(), expected, "{form}");
    }
    // A result of a tool contains each text twice: a page ends after half of the texts.
    for (form, expected) in [("both", [7, 4]), ("source", [26, 15]), ("html", [8, 5])] {
        let path = format!("{posts}?limit=100&body={form}");
        let (_, of_api) = demo.get("guest", &path).await;
        let of_tool = listed_by_tool(&demo, &posts, Some(form)).await;
        assert_eq!([&of_api, &of_tool].map(|page| text_sizes(page).len()), expected, "{form}");
    }
    let of_tool = listed_by_tool(&demo, &posts, None).await;
    assert_eq!(text_sizes(&of_tool).len(), 15);
    assert!(of_tool["items"][0]["bodyHtml"].is_null());
}

/// Settings allow longer titles and more recipients than their defaults.
#[tokio::test]
async fn a_page_with_long_titles_or_many_recipients_ends_early() {
    let demo = Demo::new().await;
    let threads = format!("{}?limit=100", demo.threads_path("General").await);
    let lengths = async |name: &'static str, path: &str| -> Vec<usize> {
        let pages = demo.pages(name, path).await;
        pages.iter().map(|page| page["items"].as_array().unwrap().len()).collect()
    };
    let before: usize = lengths("guest", &threads).await.iter().sum();
    demo.sql(&format!(
        "UPDATE thread SET title = '{}';
        WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 1000)
        INSERT INTO member (id, username, groups, joined_at)
        SELECT 1000 + n, 'member' || n, 'members', 0 FROM number;
        INSERT INTO subscription (member_id, forum_id, target, target_id, created_at)
        SELECT 1001, forum_id, 'thread', id, id FROM thread;
        INSERT INTO message (id, subject, body, body_html, receipt_requested)
        SELECT 4000 + id, 'tea', 'tea', 'tea', FALSE FROM member WHERE id > 1000 AND id <= 1020;
        INSERT INTO message_copy (message_id, owner_id, folder, sent_at)
        SELECT message.id, member.id, 'inbox', message.id FROM message CROSS JOIN member
        WHERE message.id > 5000 AND member.id > 1000",
        "x".repeat(300_000)
    ))
    .await;
    let of_threads = lengths("guest", &threads).await;
    assert_eq!(of_threads.iter().sum::<usize>(), before);
    let of_subscriptions = lengths("member1", "/subscriptions?limit=100").await;
    for of_list in [of_threads, of_subscriptions] {
        assert!(of_list.len() > 1 && of_list.iter().all(|length| *length <= 2), "{of_list:?}");
    }
    assert_eq!(lengths("member1", "/messages?limit=100").await, [8, 8, 4]);
}

/// Returns the page of the posts that the tool lists for a guest.
async fn listed_by_tool(demo: &Demo, posts: &str, form: Option<&str>) -> Value {
    let thread = thread_in(posts);
    let arguments = json!({ "threadId": thread, "limit": 100, "body": form });
    let tool = json!({ "name": "listPosts", "arguments": arguments });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": tool });
    let request = Request::post("/mcp")
        .header("content-type", "application/json")
        .body(call.to_string())
        .unwrap();
    let server = McpServer::new(&demo.api.api()).unwrap();
    let response = server.respond(request).await.into_body().into_bytes();
    let mut called: Value = serde_json::from_slice(&response).unwrap();
    called["result"]["structuredContent"].take()
}

/// An escaped character has two bytes in JSON, another control character six.
#[tokio::test]
async fn a_page_ends_once_its_texts_exceed_half_a_mebibyte_in_json() {
    let demo = Demo::new().await;
    demo.set(settings::POST_INTERVAL.key, "0").await;
    let new = json!({ "title": "Controls", "body": "x" });
    let threads = demo.threads_path("General").await;
    let thread = number(&demo.post("alice", &threads, new).await.1["threadId"]);
    let posts = format!("/threads/{thread}/posts");
    for _ in 0..5 {
        assert_eq!(demo.post("alice", &posts, body("x")).await.0, 201);
    }
    let repeat = |letter: &str| letter.repeat(300_000);
    for (text, expected) in [
        (repeat("x"), [3, 2]),
        (repeat(" "), [3, 2]),
        (repeat("x") + "\u{1}", [3, 2]),
        (repeat("\n"), [2, 2]),
        (repeat("\t"), [2, 2]),
        (repeat("\""), [2, 2]),
        (repeat("\\"), [2, 2]),
        (repeat("\u{1}"), [2, 2]),
        ("\"".repeat(60_000), [6, 3]),
        ("\n".repeat(60_000), [6, 3]),
        ("\u{1}".repeat(30_000), [4, 3]),
    ] {
        let last = text.chars().last();
        demo.change(move |tx| {
            Box::pin(async move {
                let update = "UPDATE post SET body = ?2 WHERE thread_id = ?1 AND number > 1";
                tx.execute(update, bind![thread, text]).await
            })
        })
        .await;
        let (_, of_api) = demo.get("guest", &format!("{posts}?body=source")).await;
        let of_tool = listed_by_tool(&demo, &posts, None).await;
        assert_eq!([&of_api, &of_tool].map(|page| text_sizes(page).len()), expected, "{last:?}");
    }
}
