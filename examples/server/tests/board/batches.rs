//! Changes that commands leave to batches.

use forum_api::test_util::audit_entry;

use crate::board::posts::moderation::PostsOfMember;
use crate::demo::field_values;
use crate::prelude::*;

/// Number of authors of a thread, whose posts several batches recount.
const AUTHORS: i64 = 120;

/// Number of voters of an option, whose votes several batches remove.
const VOTERS: i64 = 300;

/// Adds members whose ids follow 1,000.
async fn add_members(demo: &Demo, count: i64) {
    demo.sql(&format!(
        "WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < {count})
        INSERT INTO member (id, username, groups, joined_at)
        SELECT 1000 + n, 'member' || n, 'members', 0 FROM number"
    ))
    .await;
}

/// Returns the sum of the counts that are stored for the added members.
async fn sum_of_stored_counts(demo: &Demo) -> i64 {
    let sum = "
        SELECT CAST(coalesce(sum(post_count), 0) AS BIGINT) AS value FROM member WHERE id > 1000";
    demo.query_value(sum).await
}

/// Asserts that the profiles of the added members show this number of posts.
async fn assert_profiles(demo: &Demo, expected: i64) {
    // The budget of a guest is smaller than the number of members.
    for member in (1_001..=1_000 + AUTHORS).step_by(10) {
        let (status, profile) = demo.get("guest", &format!("/members/{member}")).await;
        assert_eq!((status, &profile["postCount"]), (200, &json!(expected)), "{profile}");
    }
}

#[tokio::test]
async fn profiles_are_right_before_the_authors_of_a_hidden_thread_are_recounted() {
    let demo = Demo::new().await;
    add_members(&demo, AUTHORS).await;
    let posts = demo.tea_posts_path().await;
    for member in 1_001..=1_000 + AUTHORS {
        let reply = demo.api.as_member(&member.to_string()).post(&posts, &body("tea")).await;
        assert_eq!(reply.status, 201, "{reply:?}");
    }
    let list = demo.get("mod", &posts).await.1;
    let first = field_values(&list, "postId")[0].to_owned();
    assert_profiles(&demo, 1).await;

    let deleted = demo.as_member("mod").await.delete(&format!("{posts}/{first}")).await;
    assert_eq!(deleted.status, 204);
    assert_eq!(sum_of_stored_counts(&demo).await, AUTHORS);
    assert_profiles(&demo, 0).await;
    assert!(demo.board.run_batch().await.unwrap());
    let rest = sum_of_stored_counts(&demo).await;
    assert!((1..AUTHORS).contains(&rest), "{rest}");
    assert_profiles(&demo, 0).await;

    demo.restore(first.parse().unwrap()).await.unwrap();
    assert_profiles(&demo, 1).await;
    while demo.board.run_batch().await.unwrap() {
        assert_profiles(&demo, 1).await;
    }
    assert_eq!(sum_of_stored_counts(&demo).await, AUTHORS);
    let marked: i64 = demo.query_value("SELECT count(*) AS value FROM thread_recount").await;
    assert_eq!(marked, 0);
}

#[tokio::test]
async fn a_removed_option_is_not_shown_while_its_votes_are_removed() {
    let demo = Demo::new().await;
    add_members(&demo, VOTERS).await;
    let new = json!({
        "title": "tea", "body": "tea",
        "poll": { "question": "tea", "options": ["a", "b", "c"], "maxChoices": 2 },
    });
    let thread = demo.post("alice", &demo.threads_path("General").await, new).await.1;
    let path = format!("/threads/{}/poll", thread["threadId"].as_str().unwrap());
    let mut poll = demo.get("alice", &path).await.1;
    let votes = format!("/polls/{}/votes", poll["pollId"].as_str().unwrap());
    let [first, second, _] = ["0", "1", "2"]
        .map(|place| poll.pointer(&format!("/options/{place}/optionId")).unwrap().clone());
    for member in 1_001..=1_000 + VOTERS {
        // Some members have also voted for an option that stays.
        let mut chosen = vec![&first];
        chosen.extend((member % 3 == 0).then_some(&second));
        let voter = demo.api.as_member(&member.to_string());
        let vote = voter.post(&votes, &json!({ "optionIds": chosen })).await;
        assert_eq!(vote.status, 201, "{vote:?}");
    }
    let options = poll["options"].as_array_mut().unwrap();
    options.remove(0);
    for option in options {
        option.as_object_mut().unwrap().remove("votes");
    }
    let edit = json!({ "options": poll["options"] });
    let edited = demo
        .as_member("admin")
        .await
        .patch(&format!("/polls/{}", poll["pollId"].as_str().unwrap()), &edit)
        .await;
    assert_eq!(edited.status, 200, "{edited:?}");
    assert_eq!(edited.json()["options"].as_array().unwrap().len(), 2);

    let voter = demo.api.as_member(&(1_000 + VOTERS).to_string());
    assert_eq!(voter.get(&path).await.json()["ownVote"], Value::Null);
    let again = voter.post(&votes, &json!({ "optionIds": [second] })).await;
    assert_eq!(again.status, 201, "{again:?}");
    let mut batches = 0;
    while demo.board.run_batch().await.unwrap() {
        batches += 1;
    }
    assert!(batches > 1, "{batches} batches");
    let poll = demo.get("alice", &path).await.1;
    let expected = VOTERS / 3 + 1;
    assert_eq!(poll["totalVotes"], expected, "{poll}");
    assert_eq!(poll["options"][0]["votes"], expected, "{poll}");
    let rows: i64 = demo
        .query_value("SELECT (SELECT count(*) FROM ballot) + (SELECT count(*) FROM vote) AS value")
        .await;
    assert_eq!(rows, 2 * expected);
}

/// A page reads a limited number of subscriptions.
#[tokio::test]
async fn all_visible_targets_between_hidden_ones_are_listed() {
    let demo = Demo::new().await;
    demo.sql(
        "WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 600)
        INSERT INTO thread (
            id, forum_id, title, title_words, state, created_at, last_activity_at, first_post_id
        )
        SELECT
            1000 + n, forum.id, 'thread ' || n, '', CASE WHEN n IN (10, 300) THEN 'visible' ELSE 'deleted' END,
            n, n, 1000 + n
        FROM number JOIN forum ON forum.title = 'General'",
    )
    .await;
    demo.sql(
        "INSERT INTO subscription (member_id, forum_id, target, target_id, created_at)
        SELECT member.id, thread.forum_id, 'thread', thread.id, thread.created_at
        FROM thread JOIN member ON member.username = 'bob' WHERE thread.id > 1000",
    )
    .await;
    for query in ["limit=20", "target=thread", "limit=1"] {
        let pages = demo.pages("bob", &format!("/subscriptions?{query}")).await;
        let titles: Vec<_> = pages.iter().flat_map(|page| field_values(page, "title")).collect();
        assert_eq!(titles, ["thread 300", "thread 10"], "{query}");
        assert!(pages.len() < 10, "{query}: {} pages", pages.len());
    }
}

/// The thread has more replies than one batch removes.
#[tokio::test]
async fn an_erasure_with_posts_removes_a_thread_with_the_replies_of_others() {
    let demo = Demo::new().await;
    add_members(&demo, AUTHORS).await;
    let new = json!({ "title": "tea", "body": "tea" });
    let thread = demo.post("bob", &demo.threads_path("General").await, new).await.1;
    let posts = posts_path(&thread);
    for member in 1_001..=1_000 + AUTHORS {
        let reply = demo.api.as_member(&member.to_string()).post(&posts, &body("tea")).await;
        assert_eq!(reply.status, 201, "{reply:?}");
    }
    let bob = demo.id("bob").await;
    let mut rest = Some(PostsOfMember::to_delete(bob, Timestamp::from_millis(0)));
    while let Some(posts) = rest {
        let deletion = demo.board.write(move |tx, events| Box::pin(posts.change_batch(tx, events)));
        rest = deletion.await.unwrap().1;
    }
    demo.board.erase(bob, true, audit_entry()).await.unwrap();
    assert_eq!(demo.get("admin", &posts).await.0, 404);
    let left: i64 =
        demo.query_value("SELECT count(*) AS value FROM post WHERE author_id > 1000").await;
    assert_eq!(left, 0);
    assert_profiles(&demo, 0).await;
    assert_eq!(sum_of_stored_counts(&demo).await, 0);
}
