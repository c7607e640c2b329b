//! Moderation by an operator: deletion of all posts of a member, events of waiting threads.

use forum_api::audit::{AuditAction, AuditActor};
use forum_api::runtime::{Clock as _, OsRandom};

use crate::board::posts::moderation::{PostsOfMember, ThreadFlag};

use crate::prelude::*;

/// Returns the topics of the events since the last call.
async fn topics(demo: &Demo) -> Vec<String> {
    let find = "SELECT topic AS value FROM forum_api_events ORDER BY number";
    let found = demo.query_values(find).await;
    demo.sql("DELETE FROM forum_api_events").await;
    found
}

/// Deletes the posts of a member since a time, as an operator does. Returns the number of posts of each transaction.
async fn delete_posts(demo: &Demo, name: &str, since: Timestamp) -> Vec<u64> {
    let mut rest = PostsOfMember::new(demo.id(name).await, since);
    let mut numbers = Vec::new();
    loop {
        let (number, next) = demo
            .board
            .write(move |tx, events| Box::pin(rest.delete_batch(tx, events)))
            .await
            .unwrap();
        let Some(next) = next else {
            return numbers;
        };
        numbers.push(number);
        rest = next;
    }
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
