//! Events of the reference board: as documented, and without private content.

use forum_api::Environment;
use forum_api::openapi_document;
use forum_api::test_util::audit_entry;
use forum_api::webhook::Topic;

use crate::prelude::*;
use crate::schema::check;

/// Words of messages, edit reasons and content that awaits approval.
const PRIVATE: [&str; 4] = ["quince", "medlar", "rowan", "damson"];

/// Causes every event, and some private changes. Carol votes and gets a message.
async fn cause_all_events(demo: &Demo) {
    let threads = demo.threads_path("General").await;
    let poll = json!({ "question": "Which tea?", "options": ["Green", "Black"] });
    let new = json!({ "title": "Tea", "body": "Which one?", "poll": poll });
    let thread = send(demo, "alice", "POST", &threads, new).await;
    let posts = posts_path(&thread);
    let reply = send(demo, "bob", "POST", &posts, body("Green.")).await;
    let path = format!("{posts}/{}", reply["postId"].as_str().unwrap());
    let edit = json!({ "body": "Black.", "reason": PRIVATE[2] });
    send(demo, "bob", "PATCH", &path, edit).await;
    send(demo, "mod", "DELETE", &path, Value::Null).await;
    demo.restore(number(&reply["postId"])).await.unwrap();
    send(demo, "newbie", "POST", &posts, body(PRIVATE[3])).await;
    let rating = json!({ "points": 1, "comment": "Well said.", "postId": reply["postId"] });
    send(demo, "alice", "POST", "/members/@bob/reputation", rating).await;
    let poll = demo.get("alice", &posts.replace("posts", "poll")).await.1;
    let path = format!("/polls/{}", poll["pollId"].as_str().unwrap());
    let vote = json!({ "optionIds": [poll["options"][1]["optionId"]] });
    send(demo, "carol", "POST", &format!("{path}/votes"), vote).await;
    let change = json!({ "canChangeVote": true });
    send(demo, "alice", "PATCH", &path, change).await;
    let message = json!({ "to": ["@carol"], "subject": PRIVATE[0], "body": PRIVATE[1], "requestReceipt": true });
    send(demo, "alice", "POST", "/messages", message).await;
    let inbox = demo.get("carol", "/messages").await.1;
    let copy = inbox["items"][0]["messageId"].as_str().unwrap();
    assert_eq!(demo.get("carol", &format!("/messages/{copy}")).await.0, 200);
    let first = format!("{posts}/{}", thread["firstPostId"].as_str().unwrap());
    send(demo, "alice", "PATCH", &first, json!({ "title": "Teas" })).await;
    send(demo, "mod", "DELETE", &first, Value::Null).await;
    demo.restore(number(&thread["firstPostId"])).await.unwrap();
    let newbie = demo.get("mod", "/members/@newbie").await.1;
    let member = number(&newbie["userId"]);
    demo.board.erase(member, false, audit_entry()).await.unwrap();
}

/// Asserts that a text contains no private words, no voter and no secret.
async fn check_public(demo: &Demo, text: &str) {
    let id = demo.get("alice", "/members/@carol").await.1["userId"].to_string();
    let carol = format!(r#""userId":{id}"#);
    let others = ["carol", &carol, "forum_pat_", "whsec_"];
    for private in PRIVATE.into_iter().chain(others) {
        assert!(!text.contains(private), "{private}: {text}");
    }
}

#[tokio::test]
async fn every_event_matches_the_openapi_document_and_contains_no_private_content() {
    let demo = Demo::new().await;
    demo.add_endpoint().await;
    cause_all_events(&demo).await;
    let document = openapi_document(&ApiSettings::default(), &Environment::default());
    let mut topics = BTreeSet::new();
    for body in outbox(&demo).await {
        check_public(&demo, &body).await;
        let mut body: Value = serde_json::from_str(&body).unwrap();
        body["delivery"] = "dlv_1".into();
        let topic = body["topic"].as_str().unwrap();
        let request = &document["webhooks"][topic]["post"]["requestBody"];
        let schema = &request["content"]["application/json"]["schema"];
        check(&document, schema, &body).unwrap_or_else(|reason| panic!("{reason}: {body}"));
        topics.insert(topic.to_owned());
    }
    let all = Topic::STANDARD.iter().map(Topic::to_string);
    assert_eq!(topics, all.collect());
}

#[tokio::test]
async fn generated_content_has_no_events() {
    let demo = Demo::new().await;
    demo.generate(ContentSize { members: 2, threads: 2, posts: 10 }).await;
    assert_eq!(outbox(&demo).await, Vec::<String>::new());
}

#[tokio::test]
async fn a_rollback_emits_no_events_and_does_not_wake_the_worker() {
    let woken = Arc::new(AtomicUsize::new(0));
    let count = woken.clone();
    let demo = Demo::new().await;
    let waiting = "SELECT min(id) AS value FROM post WHERE state = 'awaiting_approval'";
    let post: i64 = demo.query_value(waiting).await;
    let board = demo.board.clone().with_wake(move || {
        count.fetch_add(1, Ordering::SeqCst);
    });
    board
        .write(move |tx, events| {
            Box::pin(async move {
                moderation::approve(tx, events, post).await?;
                Err::<(), _>(BoardError::forbidden("not today"))
            })
        })
        .await
        .unwrap_err();
    assert!(outbox(&demo).await.is_empty());
    assert_eq!(woken.load(Ordering::SeqCst), 0);
    board.write(move |tx, events| Box::pin(moderation::approve(tx, events, post))).await.unwrap();
    assert!(!outbox(&demo).await.is_empty());
    assert_eq!(woken.load(Ordering::SeqCst), 1);
}

/// Sends a request a minute after the previous one. Returns its response, which must be a success.
async fn send(demo: &Demo, name: &'static str, method: &str, path: &str, body: Value) -> Value {
    demo.advance(60);
    let client = demo.as_member(name).await;
    let answer = client
        .request(method.parse().unwrap(), path)
        .header("content-type", "application/json")
        .body(body.to_string())
        .await;
    assert!(answer.status < 300, "{method} {path}: {answer:?}");
    answer.json()
}

/// Returns the bodies of all events in the outbox, in order.
async fn outbox(demo: &Demo) -> Vec<String> {
    let bodies = "SELECT body AS value FROM forum_api_events ORDER BY number";
    demo.query_values(bodies).await
}
