//! Threads: listed, read, started.

use serde_json::{Value, json};

use crate::demo::{Demo, all, body, code, posts_of};

#[tokio::test]
async fn newest_activity_comes_first_and_pages_meet() {
    let demo = Demo::new().await;
    let general = demo.threads_of("General").await;
    let (_, whole) = demo.get("guest", &general).await;
    let times = all(&whole, "lastActivityAt");
    assert!(
        times.len() == 5 && times.is_sorted_by(|a, b| a > b),
        "{times:?}"
    );
    let (mut walked, mut path) = (Vec::new(), format!("{general}?limit=2"));
    loop {
        let (_, page) = demo.get("guest", &path).await;
        walked.extend(page["items"].as_array().unwrap().clone());
        let Some(next) = page["next"].as_str() else {
            break;
        };
        path = format!("{general}?limit=2&after={next}");
    }
    assert_eq!(Value::from(walked), whole["items"]);
}

#[tokio::test]
async fn since_takes_what_was_active_later() {
    let demo = Demo::new().await;
    let general = demo.threads_of("General").await;
    let (_, whole) = demo.get("guest", &general).await;
    let second = all(&whole, "lastActivityAt")[1];
    let (_, later) = demo
        .get("guest", &format!("{general}?since={second}"))
        .await;
    assert_eq!(all(&later, "threadId"), all(&whole, "threadId")[..1]);
}

#[tokio::test]
async fn a_thread_is_started_with_its_first_post() {
    let demo = Demo::new().await;
    let (general, before) = (
        demo.threads_of("General").await,
        demo.forum("General").await,
    );
    let new = json!({ "title": "  Kettles  ", "body": "Which *one*?" });
    let (status, thread) = demo.post("alice", &general, new).await;
    assert_eq!(
        (status, &thread["title"], &thread["state"]),
        (201, &json!("Kettles"), &json!("visible"))
    );
    assert_eq!(
        (&thread["replyCount"], &thread["canReply"]),
        (&json!(0), &json!(true))
    );
    assert_eq!(thread["lastPost"]["postId"], thread["firstPostId"]);
    let (_, posts) = demo.get("guest", &posts_of(&thread)).await;
    assert_eq!(
        posts["items"][0]["bodyHtml"],
        "<p>Which <em>one</em>?</p>\n"
    );
    assert_eq!(posts["items"][0]["number"], 1);
    let after = demo.forum("General").await;
    for count in ["threadCount", "postCount"] {
        assert_eq!(
            after[count].as_u64(),
            before[count].as_u64().map(|count| count + 1)
        );
    }
    assert_eq!(after["lastActivityAt"], thread["createdAt"]);
    let (_, threads) = demo.get("guest", &general).await;
    assert_eq!(threads["items"][0]["threadId"], thread["threadId"]);
}

#[tokio::test]
async fn what_the_rules_refuse_leaves_nothing_behind() {
    let demo = Demo::new().await;
    let general = demo.threads_of("General").await;
    let long = |length| "ä".repeat(length);
    for (new, field) in [
        (json!({ "body": "x" }), "title"),
        (json!({ "title": " \n ", "body": "x" }), "title"),
        (json!({ "title": long(121), "body": "x" }), "title"),
        (json!({ "title": "x" }), "body"),
        (json!({ "title": "x", "body": " \t\n" }), "body"),
        (json!({ "title": "x", "body": long(20_001) }), "body"),
    ] {
        let refused = demo.post("alice", &general, new).await;
        assert_eq!(code(&refused), (422, "VALIDATION"));
        let message = refused.1["error"]["message"].as_str().unwrap();
        assert!(message.starts_with(field), "{message}");
    }
    assert_eq!(demo.forum("General").await["threadCount"], 5);
    let most = json!({ "title": long(120), "body": long(20_000) });
    assert_eq!(demo.post("alice", &general, most).await.0, 201);
}

#[tokio::test]
async fn who_may_not_start_threads_is_forbidden_where_they_see_and_nothing_is_there_where_not() {
    let demo = Demo::new().await;
    let new = json!({ "title": "x", "body": "x" });
    for (forum, answer) in [
        ("Announcements", (403, "FORBIDDEN")),
        ("Staff", (404, "not_found")),
    ] {
        let refused = demo
            .post("alice", &demo.threads_of(forum).await, new.clone())
            .await;
        assert_eq!(code(&refused), answer, "{forum}");
    }
    assert_eq!(
        demo.post("mod", &demo.threads_of("Announcements").await, new)
            .await
            .0,
        201
    );
}

#[tokio::test]
async fn a_locked_thread_takes_replies_of_its_moderators() {
    let demo = Demo::new().await;
    demo.sql("UPDATE thread SET locked = TRUE").await;
    let tea = demo.tea().await;
    for (name, may) in [
        ("guest", false),
        ("alice", false),
        ("mod", true),
        ("admin", true),
    ] {
        let (_, thread) = demo.get(name, tea.trim_end_matches("/posts")).await;
        assert_eq!(thread["canReply"], may, "{name}");
    }
    assert_eq!(
        code(&demo.post("alice", &tea, body("x")).await),
        (403, "FORBIDDEN")
    );
    assert_eq!(demo.post("mod", &tea, body("x")).await.0, 201);
    let elsewhere = posts_of(&demo.thread("Members", "Introduce yourself").await);
    assert_eq!(
        code(&demo.post("mod", &elsewhere, body("x")).await),
        (403, "FORBIDDEN")
    );
}
