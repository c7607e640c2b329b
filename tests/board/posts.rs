//! Posts: listed and written.

use serde_json::{Value, json};

use crate::demo::{Demo, all, body, code, posts_of};

#[tokio::test]
async fn oldest_come_first_and_pages_meet() {
    let demo = Demo::new().await;
    let tea = demo.tea().await;
    let (_, whole) = demo.get("guest", &tea).await;
    assert_eq!(whole["items"].as_array().unwrap().len(), 6);
    assert!(all(&whole, "createdAt").is_sorted());
    let (mut walked, mut path) = (Vec::new(), format!("{tea}?limit=3"));
    loop {
        let (_, page) = demo.get("guest", &path).await;
        walked.extend(page["items"].as_array().unwrap().clone());
        let Some(next) = page["next"].as_str() else {
            break;
        };
        path = format!("{tea}?limit=3&after={next}");
    }
    assert_eq!(Value::from(walked), whole["items"]);
}

#[tokio::test]
async fn a_page_begins_where_it_is_asked_to() {
    let demo = Demo::new().await;
    let tea = demo.tea().await;
    let (_, whole) = demo.get("guest", &tea).await;
    let (ids, times) = (all(&whole, "postId"), all(&whole, "createdAt"));
    for (query, from) in [
        (format!("from={}", ids[2]), 2),
        (format!("since={}", times[2]), 3),
        (format!("from={}&since={}", ids[1], times[3]), 4),
        (format!("from={}&since={}", ids[4], times[0]), 4),
        (format!("since={}", times[5]), 6),
    ] {
        let (status, page) = demo.get("guest", &format!("{tea}?{query}")).await;
        assert_eq!(
            (status, all(&page, "postId")),
            (200, ids[from..].to_vec()),
            "{query}"
        );
    }
}

#[tokio::test]
async fn from_is_a_post_of_this_thread_that_the_caller_sees() {
    let demo = Demo::new().await;
    let (tea, help) = (
        demo.tea().await,
        demo.thread("Help", "Why is my post not there yet?").await,
    );
    let foreign = help["firstPostId"].as_str().unwrap();
    for from in ["99999", "x", foreign] {
        let refused = demo.get("guest", &format!("{tea}?from={from}")).await;
        assert_eq!(code(&refused), (400, "bad_request"), "{from}");
    }
    let (_, waiting) = demo.get("newbie", &posts_of(&help)).await;
    let hidden = all(&waiting, "postId")[2];
    let path = format!("{}?from={hidden}", posts_of(&help));
    assert_eq!(code(&demo.get("guest", &path).await), (400, "bad_request"));
    assert_eq!(demo.get("newbie", &path).await.0, 200);
    let absent = demo.get("guest", "/threads/999/posts?from=1").await;
    assert_eq!(code(&absent), (404, "not_found"));
}

#[tokio::test]
async fn a_page_carries_the_forms_of_the_body_that_are_asked_for() {
    let demo = Demo::new().await;
    let tea = demo.tea().await;
    for (form, source, html) in [
        ("both", true, true),
        ("source", true, false),
        ("html", false, true),
    ] {
        let (_, page) = demo.get("guest", &format!("{tea}?body={form}")).await;
        let first = &page["items"][0];
        assert_eq!(
            (first["body"].is_string(), first["bodyHtml"].is_string()),
            (source, html),
            "{form}"
        );
    }
}

#[tokio::test]
async fn a_reply_counts_at_once() {
    let demo = Demo::new().await;
    let (tea, before) = (demo.tea().await, demo.forum("General").await);
    let (status, post) = demo.post("bob", &tea, body("Hello from the *API*.")).await;
    assert_eq!(
        (status, &post["number"], &post["version"]),
        (201, &json!(7), &json!(1))
    );
    assert_eq!(post["bodyHtml"], "<p>Hello from the <em>API</em>.</p>\n");
    assert_eq!(post["author"]["username"], "bob");
    let (_, thread) = demo.get("guest", tea.trim_end_matches("/posts")).await;
    assert_eq!(
        (&thread["replyCount"], &thread["lastPost"]["postId"]),
        (&json!(6), &post["postId"])
    );
    assert_eq!(thread["lastActivityAt"], post["createdAt"]);
    let after = demo.forum("General").await;
    assert_eq!(
        after["postCount"].as_u64(),
        before["postCount"].as_u64().map(|count| count + 1)
    );
    assert_eq!(after["threadCount"], before["threadCount"]);
}

#[tokio::test]
async fn an_empty_thread_is_there_and_a_hidden_one_is_not() {
    let demo = Demo::new().await;
    let tea = demo.tea().await;
    let members = posts_of(&demo.thread("Members", "Introduce yourself").await);
    assert_eq!(code(&demo.get("guest", &members).await), (404, "not_found"));
    assert_eq!(demo.get("bob", &members).await.0, 200);
    demo.sql("UPDATE post SET state = 'deleted'").await;
    let (status, page) = demo.get("guest", &tea).await;
    assert_eq!((status, page), (200, json!({ "items": [], "next": null })));
    let (_, page) = demo.get("mod", &tea).await;
    assert_eq!(all(&page, "state"), ["deleted"; 6]);
}

#[tokio::test]
async fn nobody_replies_to_what_they_do_not_see_or_where_they_may_not() {
    let demo = Demo::new().await;
    let staff = posts_of(&demo.thread("Staff", "Watch sellers").await);
    assert_eq!(
        code(&demo.post("alice", &staff, body("x")).await),
        (404, "not_found")
    );
    assert_eq!(
        code(&demo.post("alice", "/threads/999/posts", body("x")).await),
        (404, "not_found")
    );
    demo.sql("UPDATE forum SET reply_groups = 'staff' WHERE title = 'General'")
        .await;
    let tea = demo.tea().await;
    assert_eq!(
        code(&demo.post("alice", &tea, body("x")).await),
        (403, "FORBIDDEN")
    );
    assert_eq!(
        code(&demo.post("alice", &tea, body(" ")).await),
        (403, "FORBIDDEN")
    );
    assert_eq!(
        code(&demo.post("mod", &tea, body(" ")).await),
        (422, "VALIDATION")
    );
}

#[tokio::test]
async fn a_deleted_thread_is_for_its_moderators() {
    let demo = Demo::new().await;
    let tea = demo.tea().await;
    demo.sql("UPDATE thread SET state = 'deleted'").await;
    for (name, status) in [("guest", 404), ("alice", 404), ("mod", 200), ("admin", 200)] {
        assert_eq!(demo.get(name, &tea).await.0, status, "{name}");
    }
    assert_eq!(
        code(&demo.post("mod", &tea, body("x")).await),
        (403, "FORBIDDEN")
    );
}

#[tokio::test]
async fn an_author_whose_account_is_gone_is_null() {
    let demo = Demo::new().await;
    let tea = demo.tea().await;
    demo.sql("DELETE FROM member WHERE username IN ('alice', 'mod')")
        .await;
    let (_, thread) = demo.get("guest", tea.trim_end_matches("/posts")).await;
    assert_eq!(
        (&thread["author"], &thread["lastPost"]["author"]),
        (&json!(null), &json!(null))
    );
    let (_, page) = demo.get("guest", &tea).await;
    assert_eq!(page["items"][0]["author"], json!(null));
}

#[tokio::test]
async fn a_clock_that_is_put_back_puts_no_post_before_another() {
    let demo = Demo::new().await;
    demo.sql("UPDATE post SET created_at = 2000000000000 WHERE number = 6")
        .await;
    let (_, post) = demo.post("bob", &demo.tea().await, body("x")).await;
    assert_eq!(post["createdAt"], "2033-05-18T03:33:20.000Z");
}
