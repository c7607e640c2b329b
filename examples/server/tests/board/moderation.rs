//! Moderation by an operator: deletion and restoration of all posts of a member, events of waiting threads.

use std::time::Duration;

use forum_api::audit::{AuditAction, AuditActor};
use forum_api::runtime::{Clock as _, OsRandom};
use forum_api::test_util::audit_entry;

use crate::board::posts::moderation::{PostsOfMember, ThreadFlag};
use crate::demo::field_values;

use crate::prelude::*;

const SECOND: Duration = Duration::from_secs(1);

/// Returns the topics of the events since the last call.
async fn topics(demo: &Demo) -> Vec<String> {
    let find = "SELECT topic AS value FROM forum_api_events ORDER BY number";
    let found = demo.query_values(find).await;
    demo.sql("DELETE FROM forum_api_events").await;
    found
}

/// Deletes or restores posts of a member, as an operator does. Returns the number of posts of each transaction.
async fn change_posts(demo: &Demo, mut rest: PostsOfMember) -> Vec<u64> {
    let mut numbers = Vec::new();
    loop {
        let (number, next) = demo
            .board
            .write(move |tx, events| Box::pin(rest.change_batch(tx, events)))
            .await
            .unwrap();
        let Some(next) = next else {
            return numbers;
        };
        numbers.push(number);
        rest = next;
    }
}

async fn delete_posts(demo: &Demo, name: &str, since: Timestamp) -> Vec<u64> {
    change_posts(demo, PostsOfMember::to_delete(demo.id(name).await, since)).await
}

async fn restore_posts(demo: &Demo, name: &str, since: Timestamp) -> Vec<u64> {
    change_posts(demo, PostsOfMember::to_restore(demo.id(name).await, since)).await
}

#[tokio::test]
async fn posts_that_are_not_deleted_are_not_erased() {
    let demo = Demo::new().await;
    let member = demo.id("bob").await;
    let action = AuditAction::from_static("member.erased");
    let entry =
        AuditActor::command_line(None).entry(&OsRandom, demo.clock.now(), action, "bob").unwrap();
    let erased = demo.board.erase(member, true, entry).await;
    assert!(matches!(erased, Err(BoardError::Conflict(_))), "{erased:?}");
    assert_eq!(demo.get("admin", "/members/@bob").await.0, 200);
}

#[tokio::test]
async fn an_operator_deletes_all_posts_of_a_member_as_a_moderator_does() {
    let demo = Demo::new().await;
    demo.add_endpoint().await;
    demo.set("post.interval_seconds", "0").await;
    demo.set("post.per_hour", "1000").await;
    demo.change(|tx| {
        Box::pin(async move {
            let groups = Groups::of([Group::Members]);
            accounts::add(tx, "spammer", groups, Timestamp::from_millis(0)).await?;
            Ok(())
        })
    })
    .await;
    let counts = async || {
        let forum = demo.forum("General").await;
        let bob = demo.get("admin", "/members/@bob").await.1;
        [&forum["threadCount"], &forum["postCount"], &bob["postCount"]].map(Value::clone)
    };
    let before = counts().await;
    let general = demo.threads_path("General").await;
    let new = json!({ "title": "Zobrowka", "body": "Zobrowka" });
    let (_, thread) = demo.post("spammer", &general, new).await;
    let own = posts_path(&thread);
    for name in ["spammer", "bob"] {
        assert_eq!(demo.post(name, &own, body("Zobrowka")).await.0, 201);
    }
    let tea = demo.tea_posts_path().await;
    for _ in 0..100 {
        assert_eq!(demo.post("spammer", &tea, body("Zobrowka")).await.0, 201);
    }
    demo.advance(60);
    let later = demo.clock.now();
    demo.post("spammer", &tea, body("Zobrowka")).await;
    topics(&demo).await;

    assert_eq!(delete_posts(&demo, "spammer", later).await.iter().sum::<u64>(), 1);
    assert_eq!(topics(&demo).await, ["post.deleted"]);
    let everything = Timestamp::from_millis(i64::MIN);
    let deleted = delete_posts(&demo, "spammer", everything).await;
    assert_eq!(deleted.iter().sum::<u64>(), 102);
    assert!(deleted.iter().all(|number| *number <= 20), "{deleted:?}");
    let mut expected = vec!["post.deleted"; 101];
    expected.push("thread.deleted");
    assert_eq!(topics(&demo).await, expected);
    assert_eq!(counts().await, before);
    let (_, found) = demo.get("guest", "/search?q=zobrowka").await;
    assert_eq!(found["items"], json!([]));
    assert_eq!(demo.get("bob", &own).await.0, 404);

    let first = number(&thread["firstPostId"]);
    demo.restore(first).await.unwrap();
    for expected in [true, false] {
        let is_deleted = demo
            .board
            .write(move |tx, events| Box::pin(moderation::delete(tx, events, first)))
            .await
            .unwrap();
        assert_eq!(is_deleted, expected);
    }
    assert_eq!(topics(&demo).await, ["thread.restored", "thread.deleted"]);
}

/// A thread that is renamed by a member whose edits await approval, and locked meanwhile.
#[tokio::test]
async fn a_change_of_a_waiting_thread_has_its_event_with_the_approval() {
    let demo = Demo::new().await;
    demo.add_endpoint().await;
    let new = json!({ "title": "Kettles", "body": "Which one?" });
    let (_, thread) = demo.post("newbie", &demo.threads_path("General").await, new).await;
    let [id, first] = ["threadId", "firstPostId"].map(|name| number(&thread[name]));
    let lock = async |on| {
        let change = demo.board.write(move |tx, events| {
            Box::pin(moderation::set_flag(tx, events, id, ThreadFlag::Locked, on))
        });
        change.await.unwrap()
    };
    assert!(lock(true).await);
    assert_eq!(topics(&demo).await, [""; 0], "it awaits its first approval");
    demo.approve(first).await.unwrap();
    assert_eq!(topics(&demo).await, ["thread.created", "post.created"]);
    assert!(lock(false).await && !lock(false).await);
    assert_eq!(topics(&demo).await, ["thread.updated"]);
    let path = format!("{}/{first}", posts_path(&thread));
    let edit = async |edit: Value| {
        demo.advance(60);
        let edited = demo.as_member("newbie").await.patch(&path, &edit).await;
        assert_eq!(edited.json()["state"], "awaiting_approval");
        assert_eq!(topics(&demo).await, [""; 0], "the edit awaits approval");
    };
    edit(json!({ "title": "Pots" })).await;
    assert!(lock(true).await);
    assert_eq!(topics(&demo).await, [""; 0], "the thread awaits approval");
    demo.approve(first).await.unwrap();
    assert_eq!(topics(&demo).await, ["thread.updated", "post.updated"]);
    lock(false).await;
    topics(&demo).await;
    edit(json!({ "body": "Which of them?" })).await;
    demo.approve(first).await.unwrap();
    assert_eq!(topics(&demo).await, ["post.updated"]);
}

/// The thread has more changed replies than one transaction sends events of.
#[tokio::test]
async fn batches_send_the_other_events_of_replies_that_were_changed_in_a_hidden_thread() {
    const REPLIES: usize = 50;
    let demo = Demo::new().await;
    demo.add_endpoint().await;
    demo.set("post.interval_seconds", "0").await;
    demo.set("post.per_hour", "1000").await;
    let new = json!({ "title": "Kettles", "body": "Which one?" });
    let (_, thread) = demo.post("alice", &demo.threads_path("General").await, new).await;
    let path = posts_path(&thread);
    let first = number(&thread["firstPostId"]);
    let mut replies = Vec::new();
    for _ in 0..REPLIES {
        let (status, reply) = demo.post("bob", &path, body("This one.")).await;
        assert_eq!(status, 201);
        replies.push(number(&reply["postId"]));
    }
    let delete = async |post: i64| {
        assert_eq!(demo.as_member("mod").await.delete(&format!("{path}/{post}")).await.status, 204);
    };
    let edit = async |post: i64| {
        let edited =
            demo.as_member("mod").await.patch(&format!("{path}/{post}"), &body("That one."));
        assert_eq!(edited.await.status, 200);
    };
    delete(first).await;
    for reply in &replies {
        delete(*reply).await;
    }
    demo.restore(first).await.unwrap();
    let at_once = topics(&demo).await.split_off(REPLIES + 3);
    assert_eq!(at_once, [vec!["thread.restored"], vec!["post.deleted"; 19]].concat());

    // The events of these replies wait for those of their earlier changes.
    let [.., restored, edited] = replies[..] else { unreachable!() };
    demo.restore(restored).await.unwrap();
    demo.restore(edited).await.unwrap();
    edit(edited).await;
    assert_eq!(topics(&demo).await, [""; 0]);
    delete(first).await;
    topics(&demo).await;
    demo.run_batches().await;
    assert_eq!(topics(&demo).await, [""; 0], "the thread is hidden again");
    demo.restore(first).await.unwrap();
    demo.run_batches().await;
    let left = REPLIES - 19;
    let mut expected = vec!["thread.restored"];
    expected.extend(vec!["post.deleted"; left - 2]);
    expected.push("post.updated");
    assert_eq!(topics(&demo).await, expected);
    assert!(!demo.board.run_batch(BatchKind::Events).await.unwrap());
}

/// A receiver would otherwise show the reply when the thread is visible again.
#[tokio::test]
async fn an_erasure_sends_the_deletions_of_replies_in_a_hidden_thread() {
    let demo = Demo::new().await;
    demo.add_endpoint().await;
    let new = json!({ "title": "Kettles", "body": "Which one?" });
    let (_, thread) = demo.post("alice", &demo.threads_path("General").await, new).await;
    let path = posts_path(&thread);
    let bob = demo.id("bob").await;
    let (_, reply) = demo.post("bob", &path, body("This one.")).await;
    let reply = reply["postId"].as_str().unwrap();
    let edit =
        demo.as_member("bob").await.patch(&format!("{path}/{reply}"), &body("That one.")).await;
    assert_eq!(edit.status, 200);
    let first = thread["firstPostId"].as_str().unwrap();
    for post in [first, reply] {
        let deleted = demo.as_member("mod").await.delete(&format!("{path}/{post}")).await;
        assert_eq!(deleted.status, 204);
    }
    delete_posts(&demo, "bob", Timestamp::from_millis(0)).await;
    demo.sql("DELETE FROM forum_api_events").await;

    demo.board.erase(bob, true, audit_entry()).await.unwrap();
    let bodies = "SELECT topic || ' ' || body AS value FROM forum_api_events ORDER BY number";
    let events: Vec<String> = demo.query_values(bodies).await;
    let [deletion, erasure] = &events[..] else { panic!("{events:?}") };
    let (topic, data) = deletion.split_once(' ').unwrap();
    let data: Value = serde_json::from_str(data).unwrap();
    let post = &data["data"]["post"];
    assert_eq!((topic, post["postId"].as_str()), ("post.deleted", Some(reply)), "{deletion}");
    assert_eq!((&post["author"], &post["editedBy"]), (&Value::Null, &Value::Null), "{deletion}");
    assert!(!deletion.contains("bob"), "{deletion}");
    assert!(erasure.starts_with("member.erased "), "{erasure}");
}

#[tokio::test]
async fn an_operator_restores_what_was_deleted_of_a_member_since_a_time() {
    let demo = Demo::new().await;
    demo.add_endpoint().await;
    demo.set("post.interval_seconds", "0").await;
    demo.set("post.per_hour", "1000").await;
    let general = demo.threads_path("General").await;
    let (_, thread) = demo.post("bob", &general, json!({ "title": "Tea", "body": "Tea" })).await;
    let own = posts_path(&thread);
    let tea = demo.tea_posts_path().await;
    let mut replies = Vec::new();
    for path in [&own].into_iter().chain([&tea; 30]) {
        let (status, reply) = demo.post("bob", path, body("Tea")).await;
        assert_eq!(status, 201);
        replies.push(format!("{path}/{}", reply["postId"].as_str().unwrap()));
    }
    let deleted_before = &replies[1];
    let deleted_after = &replies[2];
    assert_eq!(demo.as_member("mod").await.delete(deleted_before).await.status, 204);
    let state = async || {
        let forum = demo.forum("General").await;
        let bob = demo.get("admin", "/members/@bob").await.1;
        let list = demo.get("bob", &own).await.1;
        let counts = [&forum["threadCount"], &forum["postCount"], &bob["postCount"]];
        (counts.map(Value::clone), field_values(&list, "postId").len())
    };
    let before = state().await;
    demo.advance(60);
    let began_at = demo.clock.now();
    assert_eq!(demo.as_member("mod").await.delete(deleted_after).await.status, 204);
    let bob = demo.id("bob").await;
    let count = demo
        .board
        .read(move |connection| {
            Box::pin(moderation::count_posts(connection, bob, Timestamp::from_millis(0)))
        })
        .await
        .unwrap();
    let deleted = delete_posts(&demo, "bob", Timestamp::from_millis(0)).await;
    assert_eq!(deleted.iter().sum::<u64>(), count.posts as u64);
    assert!(count.threads > 1, "{count:?}");
    topics(&demo).await;

    let none = restore_posts(&demo, "bob", demo.clock.now().saturating_add(SECOND)).await;
    assert_eq!(none.iter().sum::<u64>(), 0);
    let restored = restore_posts(&demo, "bob", began_at).await;
    assert_eq!(restored.iter().sum::<u64>(), count.posts as u64 + 1);
    assert!(restored.iter().all(|number| *number <= 20), "{restored:?}");
    let mut events = topics(&demo).await;
    // Threads become visible before the replies in them.
    let replies_restored = events.split_off(count.threads);
    assert!(events.iter().all(|topic| topic == "thread.restored"), "{events:?}");
    assert!(replies_restored.iter().all(|topic| topic == "post.restored"), "{replies_restored:?}");
    assert_eq!(replies_restored.len(), count.posts + 1 - count.threads);
    assert_eq!(state().await, before);
    let find_deleted = "
        SELECT CAST(post.id AS TEXT) AS value FROM post JOIN member ON member.id = author_id
        WHERE username = 'bob' AND state = 'deleted'";
    let deleted: Vec<String> = demo.query_values(find_deleted).await;
    let expected = deleted_before.rsplit('/').next().unwrap();
    assert_eq!(deleted, [expected]);
    let deleted_at = "
        SELECT count(*) AS value FROM post WHERE (deleted_at IS NULL) = (state = 'deleted')";
    assert_eq!(demo.query_value::<i64>(deleted_at).await, 0);
}
