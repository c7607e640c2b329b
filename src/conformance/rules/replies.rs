//! New replies.

use super::posts::{check_numbers_increase, write_posts};
use super::*;

board_rules! {
    mod replies, __rules_replies;

    /// A body is returned as it was sent.
    async fn a_body_is_stored_verbatim(suite: &Suite) -> TestResult {
        suite.require(Capability::SourceMarkup)?;
        let (alice, thread, _) = write_posts(suite, 1).await?;
        let typed = "Grüße, 茶 & \"tea\" <b>\n\n- ☕️";
        let post = alice.reply(&thread, typed).await.expect_ok()?;
        check_eq!(post.body.as_deref(), Some(typed))?;
        let posts = alice.fetch_posts(&thread).await?;
        check_eq!(posts.last().and_then(|post| post.body.as_deref()), Some(typed))
    }

    /// The HTML of a post executes no script.
    async fn post_html_is_sanitized(suite: &Suite) -> TestResult {
        let (alice, thread, _) = write_posts(suite, 1).await?;
        let post = alice.reply(&thread, XSS_PAYLOAD).await.expect_ok()?;
        check_sanitized(&post.body_html.unwrap_or_default())
    }

    /// A new reply is visible, `editedAt` is null, and `version` is 1.
    async fn a_new_reply_is_visible_and_unedited(suite: &Suite) -> TestResult {
        let (alice, thread, _) = write_posts(suite, 1).await?;
        let post = alice.reply(&thread, "Green.").await.expect_ok()?;
        check_eq!((post.state, post.version), (ContentState::Visible, 1))?;
        check_eq!((post.edited_at, post.edited_by), (None, None))?;
        match suite.require(Capability::InjectedClock) {
            Ok(()) => check_eq!(post.created_at, suite.now()),
            Err(_) => Ok(()),
        }
    }

    /// A reply becomes the last post of its thread immediately, and is counted.
    async fn a_reply_becomes_the_last_post(suite: &Suite) -> TestResult {
        let (_, thread, ids) = write_posts(suite, 2).await?;
        let bob = suite.member("bob").await?;
        let reply = bob.reply(&thread, "Green.").await.expect_ok()?;
        check_eq!((&reply.thread_id, author_id(&reply.author)), (&thread, Some(bob.id())))?;
        check_eq!(bob.fetch_posts(&thread).await?.last(), Some(&reply))?;
        let thread = bob.fetch_thread(&thread).await?;
        let last = thread.last_post.map(|last| (last.post_id, last.created_at));
        check_eq!(last, Some((reply.post_id, reply.created_at)))?;
        check_eq!(thread.reply_count, ids.len() as u64)?;
        check_eq!(thread.last_activity_at, reply.created_at)
    }

    /// An empty or blank `body` is invalid.
    async fn an_empty_body_is_invalid(suite: &Suite) -> TestResult {
        let (alice, thread, ids) = write_posts(suite, 1).await?;
        let before = alice.fetch_thread(&thread).await?;
        for body in ["", " \n\t"] {
            alice.reply(&thread, body).await.expect_validation_error("body")?;
        }
        check_eq!(alice.fetch_thread(&thread).await?, before)?;
        check_eq!(post_ids(&alice.fetch_posts(&thread).await?), ids)
    }

    /// Concurrent replies are all listed with different numbers, and counted.
    async fn concurrent_replies_are_all_stored(suite: &Suite) -> TestResult {
        let (alice, thread, _) = write_posts(suite, 1).await?;
        let written = suite.write_replies_concurrently(&thread).await?.len();
        let posts = alice.fetch_posts(&thread).await?;
        check_eq!(posts.len(), written + 1)?;
        check_eq!(alice.fetch_thread(&thread).await?.reply_count, written as u64)?;
        suite.require(Capability::StablePostNumbers)?;
        check_numbers_increase(&posts)
    }
}
