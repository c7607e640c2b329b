//! Posts that are changed, beyond what every board must do: the edit window, and what operators do.

use forum_api::Language;
use serde_json::json;

use crate::board::settings::EDIT_WINDOW;
use crate::demo::{Demo, all, body};

/// A new reply by bob in the thread about tea: where it is.
async fn reply(demo: &Demo) -> String {
    reply_by(demo, "bob").await
}

async fn reply_by(demo: &Demo, name: &'static str) -> String {
    let tea = demo.tea().await;
    let (_, post) = demo.post(name, &tea, body("Black.")).await;
    format!("{tea}/{}", post["postId"].as_str().unwrap())
}

fn id(path: &str) -> i64 {
    path.rsplit('/').next().unwrap().parse().unwrap()
}

async fn set_window(demo: &Demo, value: &'static str) {
    demo.set(EDIT_WINDOW.key, value).await;
}

async fn edits(demo: &Demo, path: &str) -> (u16, Option<String>) {
    let answer = demo
        .as_member("bob")
        .await
        .patch(path, &body("White."))
        .await;
    (answer.status, answer.code().map(Into::into))
}

#[tokio::test]
async fn the_edit_window_closes_at_its_very_end() {
    let demo = Demo::new().await;
    let post = reply(&demo).await;
    demo.wait(30 * 60 - 1);
    assert_eq!(edits(&demo, &post).await.0, 200);
    demo.wait(1);
    let closed = (403, Some("FORBIDDEN".into()));
    assert_eq!(edits(&demo, &post).await, closed);
    set_window(&demo, "31").await;
    assert_eq!(edits(&demo, &post).await.0, 200);
    set_window(&demo, "unlimited").await;
    demo.wait(1_000_000_000);
    assert_eq!(edits(&demo, &post).await.0, 200);
    set_window(&demo, "0").await;
    assert_eq!(edits(&demo, &reply(&demo).await).await, closed);
}

#[tokio::test]
async fn a_reason_is_kept_with_the_edit_that_it_is_for() {
    let demo = Demo::new().await;
    let post = reply(&demo).await;
    let moderator = demo.as_member("mod").await;
    for (edit, kept) in [
        (json!({ "body": "x", "reason": "Too long." }), "Too long."),
        (json!({ "body": "y" }), "none"),
    ] {
        assert_eq!(moderator.patch(&post, &edit).await.status, 200);
        let found: String = demo
            .one("SELECT coalesce(edit_reason, 'none') FROM post WHERE edited_at IS NOT NULL")
            .await;
        assert_eq!(found, kept);
    }
}

#[tokio::test]
async fn what_is_deleted_is_not_edited() {
    let demo = Demo::new().await;
    let post = reply(&demo).await;
    let moderator = demo.as_member("mod").await;
    assert_eq!(moderator.delete(&post).await.status, 204);
    let (_, page) = demo.get("mod", &demo.tea().await).await;
    let deleted = page["items"].as_array().unwrap().last().unwrap();
    assert_eq!(deleted["state"], "deleted");
    assert_eq!(
        (&deleted["canEdit"], &deleted["canDelete"]),
        (&json!(false), &json!(false))
    );
    let edit = moderator.patch(&post, &body("x")).await;
    assert_eq!((edit.status, edit.code()), (409, Some("CONFLICT")));
}

#[tokio::test]
async fn what_is_restored_is_what_it_was() {
    let demo = Demo::new().await;
    let post = reply_by(&demo, "newbie").await;
    assert_eq!(
        demo.as_member("newbie").await.delete(&post).await.status,
        204
    );
    let number = id(&post);
    let states = async || {
        let (_, page) = demo.get("mod", &demo.tea().await).await;
        all(&page, "state").last().copied().unwrap().to_owned()
    };
    assert_eq!(states().await, "deleted");
    demo.restore(number).await.unwrap();
    assert_eq!(states().await, "awaiting_approval");
    demo.approve(number).await.unwrap();
    assert_eq!(states().await, "visible");
}

#[tokio::test]
async fn moderators_tidy_a_deleted_thread_before_it_comes_back() {
    let demo = Demo::new().await;
    let written = async || {
        let mut counts = Vec::new();
        for path in ["/members/@alice", "/members/@bob", "/members/@mod"] {
            let (_, member) = demo.get("guest", path).await;
            counts.push(member["postCount"].as_i64().unwrap());
        }
        counts
    };
    let authors = written().await;
    let (tea, before) = (demo.tea().await, demo.forum("General").await);
    let (_, page) = demo.get("mod", &tea).await;
    let posts: Vec<String> = all(&page, "postId").into_iter().map(Into::into).collect();
    let moderator = demo.as_member("mod").await;
    for post in [&posts[1], &posts[0], &posts[5]] {
        let deleted = moderator.delete(&format!("{tea}/{post}")).await;
        assert_eq!(deleted.status, 204);
    }
    let first = posts[0].parse().unwrap();
    demo.restore(first).await.unwrap();
    let (_, thread) = demo.get("guest", tea.trim_end_matches("/posts")).await;
    assert_eq!(thread["replyCount"], 3);
    assert_eq!(thread["lastPost"]["postId"], json!(posts[4]));
    assert_eq!(thread["lastActivityAt"], page["items"][4]["createdAt"]);
    let kept: Vec<i64> = authors
        .iter()
        .zip([0, 1, 1])
        .map(|(count, gone)| count - gone)
        .collect();
    assert_eq!(written().await, kept);
    let after = demo.forum("General").await;
    assert_eq!(after["threadCount"], before["threadCount"]);
    assert_eq!(
        after["postCount"],
        before["postCount"].as_u64().unwrap() - 2
    );
}

#[tokio::test]
async fn only_what_awaits_is_approved_and_only_what_is_deleted_restored() {
    let demo = Demo::new().await;
    let post = id(&reply(&demo).await);
    for (post, approved, restored) in [
        (post, "is not awaiting approval", "is not deleted"),
        (999, "there is no post", "there is no post"),
    ] {
        for (done, reason) in [
            (demo.approve(post).await, approved),
            (demo.restore(post).await, restored),
        ] {
            let refusal = format!("{:?}", done.unwrap_err());
            assert!(refusal.contains(reason), "{refusal}");
        }
    }
}

#[tokio::test]
async fn refusals_come_in_the_boards_language() {
    let demo = Demo::that_speaks(Language::German).await;
    let post = reply_by(&demo, "alice").await;
    let bob = demo.as_member("bob").await;
    let refused = bob.delete(&post).await.json();
    assert_eq!(
        refused["error"]["message"],
        "Nur der Verfasser und Moderatoren dürfen diesen Beitrag ändern."
    );
    let refused = bob.delete("/subscriptions/thread/1").await.json();
    assert_eq!(refused["error"]["message"], "Dem folgen Sie nicht.");
}
