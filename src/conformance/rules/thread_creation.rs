//! New threads.

use super::*;

board_rules! {
    mod thread_creation, __rules_thread_creation;

    /// A new thread has its author, forum and title, `replyCount` 0 and `version` 1, and is the first of its list. Its
    /// first post is also its last post.
    async fn a_thread_is_created_with_its_first_post(suite: &Suite) -> TestResult {
        let (forum, alice) = suite.forum_and_member().await?;
        let thread = alice.start_thread(&forum, "Kettles", "Which one?").await.expect_ok()?;
        check_eq!(thread.title, "Kettles")?;
        check_eq!(author_id(&thread.author), Some(alice.id()))?;
        check_eq!((&thread.forum_id, thread.reply_count), (&forum, 0))?;
        check_eq!((thread.version, thread.locked, thread.pinned), (1, false, false))?;
        let last = thread.last_post.as_ref().map(|last| &last.post_id);
        check_eq!(last, Some(&thread.first_post_id), "the last post")?;
        if suite.require(Capability::InjectedClock).is_ok() {
            check_eq!((thread.created_at, thread.last_activity_at), (suite.now(), suite.now()))?;
        }
        check_eq!(alice.fetch_thread(&thread.thread_id).await?, thread)?;
        check_eq!(alice.thread_ids(&forum).await?, [thread.thread_id])
    }

    /// An empty or blank `title` or `body` is invalid.
    async fn an_empty_title_or_body_is_invalid(suite: &Suite) -> TestResult {
        let (forum, alice) = suite.forum_and_member().await?;
        let before = alice.fetch_forums().await?;
        for blank in ["", " \n\t"] {
            alice.start_thread(&forum, blank, "x").await.expect_validation_error("title")?;
            alice.start_thread(&forum, "x", blank).await.expect_validation_error("body")?;
        }
        check_eq!(alice.fetch_forums().await?, before)?;
        check_eq!(alice.thread_ids(&forum).await?, [])
    }

    /// A `title` with control characters, line breaks or bidirectional overrides is invalid.
    async fn a_title_is_a_single_line(suite: &Suite) -> TestResult {
        let (forum, alice) = suite.forum_and_member().await?;
        for title in NOT_SINGLE_LINE {
            alice.start_thread(&forum, title, "x").await.expect_validation_error("title")?;
        }
        check_eq!(alice.thread_ids(&forum).await?, [])
    }
}
