//! Moderation by an operator: deletion and restoration of all posts of a member, events of waiting threads.

use std::time::Duration;

use forum_api::audit::{AuditAction, AuditActor};
use forum_api::model::ContentState;
use forum_api::runtime::{Clock as _, OsRandom};
use forum_api::test_util::audit_entry;

use crate::board::listings;
use crate::board::posts::moderation::{PostsOfMember, ThreadFlag};
use crate::board::removal::ContentOfMember;
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

/// Other writes wait for the whole transaction, and the index takes time for each word.
#[tokio::test]
async fn a_transaction_of_an_operator_changes_few_long_posts() {
    let demo = Demo::new().await;
    demo.set("post.interval_seconds", "0").await;
    let tea = demo.tea_posts_path().await;
    let beginning = demo.clock.now();
    let long = "a cup of tea ".repeat(1_500);
    for text in ["short", &long, "short", "short", &long, &long, "short"] {
        assert_eq!(demo.post("bob", &tea, body(text)).await.0, 201);
    }
    for mut numbers in
        [delete_posts(&demo, "bob", beginning).await, restore_posts(&demo, "bob", beginning).await]
    {
        numbers.retain(|number| *number > 0);
        assert_eq!(numbers, [4, 1, 2]);
    }
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

/// A visible thread, which the tests hide. Its author is a member whose edits await approval.
struct HiddenThread {
    demo: Demo,
    posts: String,
    first: i64,
}

impl HiddenThread {
    async fn new() -> Self {
        let demo = Demo::new().await;
        demo.add_endpoint().await;
        demo.set("post.interval_seconds", "0").await;
        demo.set("post.per_hour", "1000").await;
        let new = json!({ "title": "Kettles", "body": "Which one?" });
        let (_, thread) = demo.post("newbie", &demo.threads_path("General").await, new).await;
        let first = number(&thread["firstPostId"]);
        demo.approve(first).await.unwrap();
        Self { demo, posts: posts_path(&thread), first }
    }

    async fn reply(&self) -> i64 {
        let (status, reply) = self.demo.post("bob", &self.posts, body("This one.")).await;
        assert_eq!(status, 201);
        number(&reply["postId"])
    }

    async fn delete(&self, post: i64) {
        let path = format!("{}/{post}", self.posts);
        assert_eq!(self.demo.as_member("mod").await.delete(&path).await.status, 204);
    }

    async fn edit(&self, name: &str, post: i64, edit: Value) {
        let path = format!("{}/{post}", self.posts);
        let edited = self.demo.as_member(name).await.patch(&path, &edit).await;
        assert_eq!(edited.status, 200, "{edited:?}");
    }

    /// Returns the topic, the id of the reply, and the data of each event since the last call.
    async fn events(&self) -> Vec<(String, i64, Value)> {
        let bodies = self
            .demo
            .query_values::<String>("SELECT body AS value FROM forum_api_events ORDER BY number")
            .await;
        self.demo.sql("DELETE FROM forum_api_events").await;
        bodies
            .iter()
            .map(|event| {
                let mut event: Value = serde_json::from_str(event).unwrap();
                let topic = event["topic"].as_str().unwrap().to_owned();
                let data = event["data"].take();
                let post = data["post"]["postId"].as_str().map_or(0, |id| id.parse().unwrap());
                (topic, post, data)
            })
            .collect()
    }
}

/// The thread has more changed replies than one transaction sends events of.
#[tokio::test]
async fn batches_send_the_other_events_of_replies_that_were_changed_in_a_hidden_thread() {
    const REPLIES: usize = 50;
    let thread = HiddenThread::new().await;
    let mut replies = Vec::new();
    for _ in 0..REPLIES {
        replies.push(thread.reply().await);
    }
    thread.delete(thread.first).await;
    for reply in &replies {
        thread.delete(*reply).await;
    }
    thread.events().await;
    let deletions = |replies: &[i64]| -> Vec<_> {
        replies.iter().map(|reply| ("post.deleted".to_owned(), *reply)).collect()
    };
    let shown = ("thread.restored".to_owned(), 0);
    let names = |events: Vec<(String, i64, Value)>| -> Vec<_> {
        events.into_iter().map(|(topic, post, _)| (topic, post)).collect()
    };
    thread.demo.restore(thread.first).await.unwrap();
    let (at_once, later) = replies.split_at(19);
    let expected = [vec![shown.clone()], deletions(at_once)].concat();
    assert_eq!(names(thread.events().await), expected);

    // A reply has the events of its earlier changes before those of another change.
    let [others @ .., edited, restored] = later else { unreachable!() };
    thread.demo.restore(*restored).await.unwrap();
    let events = thread.events().await;
    assert_eq!(events[1].2["thread"]["replyCount"], 1, "{events:?}");
    let topics = ["post.deleted", "post.restored"];
    assert_eq!(names(events), topics.map(|topic| (topic.to_owned(), *restored)));
    thread.demo.restore(*edited).await.unwrap();
    thread.edit("mod", *edited, body("That one.")).await;
    let topics = ["post.deleted", "post.restored", "post.updated"];
    assert_eq!(names(thread.events().await), topics.map(|topic| (topic.to_owned(), *edited)));

    thread.delete(thread.first).await;
    thread.events().await;
    thread.demo.run_batches().await;
    assert!(thread.events().await.is_empty(), "the thread is hidden again");
    thread.demo.restore(thread.first).await.unwrap();
    thread.demo.run_batches().await;
    assert_eq!(names(thread.events().await), [vec![shown], deletions(others)].concat());
    assert!(!thread.demo.board.run_batch(BatchKind::Events).await.unwrap());
}

/// Each of two threads has more changed replies than two batches send events for.
#[tokio::test]
async fn the_next_batch_is_for_the_thread_with_the_fewest_batches() {
    let demo = Demo::new().await;
    demo.sql(
        "INSERT INTO post (
            thread_id, number, state, created_at, written_at, body, body_html, body_words, update_waits
        )
        WITH RECURSIVE new (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM new WHERE n < 50)
        SELECT thread.id, 1000 + n, 'visible', n, n, '', '', '', TRUE
        FROM new CROSS JOIN thread WHERE thread.id IN (13, 16);
        INSERT INTO thread_publication (thread_id) VALUES (13), (16)",
    )
    .await;
    let find = "
        SELECT count(CASE WHEN update_waits THEN 1 END) AS value FROM post
        WHERE thread_id IN (13, 16) GROUP BY thread_id ORDER BY thread_id";
    let mut waiting = Vec::new();
    while demo.board.run_batch(BatchKind::Events).await.unwrap() {
        waiting.push(demo.query_values::<i64>(find).await);
    }
    assert_eq!(waiting, [[30, 50], [30, 30], [10, 30], [10, 10], [0, 10], [0, 0]]);
}

/// Receivers would otherwise show the reply when the thread is visible again. Until then, an event would show a title that
/// awaits approval.
#[tokio::test]
async fn receivers_get_the_deletion_of_an_erased_reply_when_its_thread_is_visible() {
    for awaits_approval in [false, true] {
        let thread = HiddenThread::new().await;
        let demo = &thread.demo;
        let [reply, restored] = [thread.reply().await, thread.reply().await];
        let [unpublished, withdrawn] = [thread.reply().await, thread.reply().await];
        let edit = json!({ "body": "That one.", "reason": "wrong one" });
        thread.edit("bob", reply, edit).await;
        if awaits_approval {
            thread.edit("newbie", thread.first, json!({ "title": "Pots" })).await;
        } else {
            thread.delete(thread.first).await;
        }
        delete_posts(demo, "bob", Timestamp::from_millis(0)).await;
        demo.restore(restored).await.unwrap();
        let bob = demo.id("bob").await;
        let mut rest = Some(ContentOfMember::new(bob, true));
        let refused = loop {
            let Some(content) = rest else { unreachable!() };
            let change = demo.board.write(move |tx, _| Box::pin(content.remove_batch(tx)));
            match change.await {
                Ok(next) => rest = next,
                Err(refused) => break refused,
            }
        };
        assert!(refused.to_string().contains("was restored meanwhile"), "{refused}");
        delete_posts(demo, "bob", Timestamp::from_millis(0)).await;
        thread.events().await;
        // Receivers have not got the one, and have got a deletion of the other.
        demo.sql(&format!(
            "UPDATE post SET published = FALSE WHERE id = {unpublished};
            UPDATE post SET withdrawn = TRUE WHERE id = {withdrawn}"
        ))
        .await;
        demo.board.erase(bob, true, audit_entry()).await.unwrap();
        let topics: Vec<_> = thread.events().await.into_iter().map(|(topic, ..)| topic).collect();
        assert_eq!(topics, ["member.erased"]);
        let texts = "
            SELECT body || body_html || body_words || coalesce(edit_reason, '') AS value FROM post WHERE erased";
        assert_eq!(demo.query_values::<String>(texts).await, ["", ""]);
        let list = demo.board.read(|connection| {
            Box::pin(listings::posts(connection, ContentState::Deleted, i64::MAX, 100))
        });
        let listed: Vec<_> = list.await.unwrap().into_iter().map(|post| post.post_id).collect();
        assert_eq!(listed.is_empty(), awaits_approval);
        assert!([reply, restored].iter().all(|post| !listed.contains(&(*post).into())));
        let count = demo
            .board
            .read(|connection| Box::pin(listings::count_posts(connection, ContentState::Deleted)));
        assert_eq!(count.await.unwrap(), listed.len());
        let unknown = demo.restore(reply).await.unwrap_err();
        assert!(matches!(unknown, BoardError::NotFound(_)), "{unknown}");

        if awaits_approval {
            demo.approve(thread.first).await.unwrap();
        } else {
            demo.restore(thread.first).await.unwrap();
        }
        let events = thread.events().await;
        let deleted: Vec<_> = events.iter().filter(|(topic, ..)| topic == "post.deleted").collect();
        assert_eq!(deleted.iter().map(|(_, post, _)| *post).collect::<Vec<_>>(), [reply, restored]);
        for (_, _, data) in deleted {
            let [author, editor, text] =
                ["author", "editedBy", "body"].map(|name| &data["post"][name]);
            assert!(author.is_null() && editor.is_null() && text.is_null(), "{data}");
        }
        let all = format!("{reply}, {restored}, {unpublished}, {withdrawn}");
        let left = format!("SELECT count(*) AS value FROM post WHERE id IN ({all})");
        assert_eq!(demo.query_value::<i64>(left.leak()).await, 0);
    }
}

/// The thread was shown, and hidden again before batches sent the other events of its replies.
#[tokio::test]
async fn a_thread_whose_events_wait_for_batches_can_be_erased() {
    let demo = Demo::new().await;
    let new = json!({ "title": "Tea", "body": "Tea" });
    let (_, thread) = demo.post("bob", &demo.threads_path("General").await, new).await;
    let id = number(&thread["threadId"]);
    demo.sql(&format!("INSERT INTO thread_publication (thread_id) VALUES ({id})")).await;
    delete_posts(&demo, "bob", Timestamp::from_millis(0)).await;
    demo.board.erase(demo.id("bob").await, true, audit_entry()).await.unwrap();
    assert_eq!(demo.get("admin", &posts_path(&thread)).await.0, 404);
    assert!(!demo.board.run_batch(BatchKind::Events).await.unwrap());
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

/// Marks of unfinished deletions: of an earlier time, of other options, of another member, and of other actions.
#[tokio::test]
async fn the_end_of_a_deletion_removes_the_marks_of_its_member_since_its_beginning() {
    let demo = Demo::new().await;
    demo.sql(
        "DELETE FROM forum_api_audit_log;
        INSERT INTO forum_api_audit_log (id, occurred_at, action, details, origin, target, count) VALUES
        ('1', 4, 'post.restored', 'by bob; unfinished', 'command_line', '', 1),
        ('2', 5, 'post.deleted', 'by bob; unfinished', 'command_line', '', 1),
        ('3', 6, 'post.deleted', 'by bob; since 1; unfinished', 'command_line', '', 1),
        ('4', 6, 'post.deleted', 'by bob; since 2', 'command_line', '', 1),
        ('5', 7, 'post.deleted', 'by bob; unfinished', 'command_line', '', 1),
        ('6', 7, 'post.deleted', 'by bobby; unfinished', 'command_line', '', 1),
        ('7', 7, 'post.restored', 'by bob; unfinished', 'command_line', '', 1)",
    )
    .await;
    let unfinished = demo
        .read(|connection| {
            Box::pin(moderation::unfinished_since(connection, "by bob; unfinished".into()))
        })
        .await;
    assert_eq!(unfinished, Some(Timestamp::from_millis(5)));
    demo.change(|tx| {
        Box::pin(moderation::end_deletions(tx, "by bob;".into(), Timestamp::from_millis(6)))
    })
    .await;
    let details = "SELECT details AS value FROM forum_api_audit_log ORDER BY id";
    let expected = [
        "by bob; unfinished",
        "by bob; unfinished",
        "by bob; since 1",
        "by bob; since 2",
        "by bob",
        "by bobby; unfinished",
        "by bob; unfinished",
    ];
    assert_eq!(demo.query_values::<String>(details).await, expected);
}

#[tokio::test]
async fn a_moderator_finds_a_deleted_thread_in_the_list_of_its_forum() {
    let demo = Demo::new().await;
    let tea = demo.tea_posts_path().await;
    let thread = thread_in(&tea);
    let posts = demo.get("mod", &tea).await.1;
    let first = field_values(&posts, "postId")[0];
    let deleted = demo.as_member("mod").await.delete(&format!("{tea}/{first}")).await;
    assert_eq!(deleted.status, 204);
    let general = demo.threads_path("General").await;
    for (name, is_listed) in [("mod", true), ("admin", true), ("alice", false), ("guest", false)] {
        let (_, threads) = demo.get(name, &format!("{general}?limit=100")).await;
        let listed = field_values(&threads, "threadId");
        assert_eq!(listed.contains(&thread), is_listed, "{name}");
    }
}

#[tokio::test]
async fn an_operator_sees_the_time_of_the_last_post_of_a_thread() {
    let demo = Demo::new().await;
    demo.advance(60);
    let tea = demo.tea_posts_path().await;
    assert_eq!(demo.post("bob", &tea, body("Tea")).await.0, 201);
    let list =
        demo.board.read(|connection| Box::pin(listings::threads(connection, None, i64::MAX, 100)));
    let threads = list.await.unwrap();
    let thread = thread_in(&tea);
    let listed = threads.iter().find(|listed| listed.thread_id.to_string() == thread).unwrap();
    assert_eq!(listed.last_activity_at, demo.clock.now());
}
