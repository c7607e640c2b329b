//! Editing, deleting and approving content that awaits approval. `visibility` has the rules about reading it.

use super::*;

board_rules! {
    mod approval, __rules_approval;

    /// An approved reply is visible to all callers and counted.
    async fn an_approved_reply_is_public(suite: &Suite) -> TestResult {
        let (ThreadFixture { forum, alice, reply, .. }, nora) = with_newcomer(suite).await?;
        let before = alice.fetch_forum(&forum).await?;
        let reply = suite.post(&nora, &reply.thread_id).await?;
        suite.fixture.approve(&reply.post_id).await?;
        check_eq!(alice.post_state(&reply).await?, Some(ContentState::Visible))?;
        let thread = alice.fetch_thread(&reply.thread_id).await?;
        check_eq!(thread.reply_count, 2)?;
        check_eq!(thread.last_post.map(|last| last.post_id), Some(reply.post_id))?;
        check_eq!(alice.fetch_forum(&forum).await?.post_count, before.post_count + 1)
    }

    /// An approved thread is visible to all callers with its first post, and counted.
    async fn an_approved_thread_is_public(suite: &Suite) -> TestResult {
        let (ThreadFixture { forum, alice, .. }, nora) = with_newcomer(suite).await?;
        let before = alice.fetch_forum(&forum).await?;
        let path = suite.thread(&nora, &forum).await?;
        suite.fixture.approve(&path.post_id).await?;
        let thread = alice.fetch_thread(&path.thread_id).await?;
        check_eq!(thread.state, ContentState::Visible)?;
        check_eq!(only(alice.fetch_posts(&path.thread_id).await?)?.state, ContentState::Visible)?;
        let after = alice.fetch_forum(&forum).await?;
        check_eq!(after.thread_count, before.thread_count + 1)?;
        check_eq!(after.post_count, before.post_count + 1)?;
        check_eq!(after.last_activity_at, Some(thread.last_activity_at))
    }

    /// An author can edit a post that awaits approval, and delete it. An edit does not change the state of the post.
    async fn authors_edit_and_delete_posts_awaiting_approval(suite: &Suite) -> TestResult {
        let (ThreadFixture { forum, alice, reply, .. }, nora) = with_newcomer(suite).await?;
        let before = alice.fetch_forum(&forum).await?;
        let reply = suite.post(&nora, &reply.thread_id).await?;
        let edited = nora.edit(&reply, "Better words").await.expect_ok()?;
        check_eq!(edited.state, ContentState::AwaitingApproval)?;
        check_eq!(alice.post_state(&reply).await?, None)?;
        nora.delete_post(&reply).await.expect_ok()?;
        nora.delete_post(&reply).await.expect_path_not_found()?;
        check_eq!(alice.fetch_forum(&forum).await?, before)
    }

    /// An edit of an approved post is visible immediately, or awaits approval. In the second case other callers do not
    /// find the post, and it is not counted until its approval.
    async fn an_edit_of_an_approved_post_is_shown_or_awaits_approval(suite: &Suite) -> TestResult {
        let (ThreadFixture { forum, alice, reply, .. }, nora) = with_newcomer(suite).await?;
        let reply = suite.post(&nora, &reply.thread_id).await?;
        suite.fixture.approve(&reply.post_id).await?;
        let posts = alice.fetch_forum(&forum).await?.post_count;
        let edited = nora.edit(&reply, "Other words").await.expect_ok()?;
        if edited.state == ContentState::AwaitingApproval {
            check_eq!(alice.post_state(&reply).await?, None)?;
            check_eq!(alice.fetch_forum(&forum).await?.post_count, posts - 1)?;
            suite.fixture.approve(&reply.post_id).await?;
        }
        let actual = alice.fetch_post(&reply).await?;
        check_eq!((actual.state, actual.body_html), (ContentState::Visible, edited.body_html))?;
        check_eq!(alice.fetch_forum(&forum).await?.post_count, posts)
    }

    /// An edit of an approved first post is visible immediately, or awaits approval with its thread. In the second case
    /// other callers do not find the thread, and none of its posts is counted until its approval.
    async fn an_edit_of_an_approved_first_post_is_shown_or_awaits_approval(suite: &Suite) -> TestResult {
        let (ThreadFixture { forum, alice, .. }, nora) = with_newcomer(suite).await?;
        let path = suite.thread(&nora, &forum).await?;
        suite.fixture.approve(&path.post_id).await?;
        suite.post(&alice, &path.thread_id).await?;
        let before = alice.fetch_forum(&forum).await?;
        let edited = nora.edit(&path, "Other words").await.expect_ok()?;
        if edited.state == ContentState::AwaitingApproval {
            check_eq!(nora.fetch_thread(&path.thread_id).await?.state, ContentState::AwaitingApproval)?;
            alice.get_thread(&path.thread_id).await.expect_path_not_found()?;
            let pending = alice.fetch_forum(&forum).await?;
            check_eq!(pending.thread_count, before.thread_count - 1)?;
            check_eq!(pending.post_count, before.post_count - 2)?;
            suite.fixture.approve(&path.post_id).await?;
        }
        let thread = alice.fetch_thread(&path.thread_id).await?;
        check_eq!((thread.state, thread.reply_count), (ContentState::Visible, 1))?;
        check_eq!(alice.fetch_forum(&forum).await?, before)
    }

    /// A reply that awaited approval before its deletion awaits approval after its restoration.
    async fn a_restored_reply_awaits_approval_again(suite: &Suite) -> TestResult {
        suite.require(Capability::SoftDeletion)?;
        let (ThreadFixture { forum, alice, reply, .. }, nora) = with_newcomer(suite).await?;
        let before = alice.fetch_forum(&forum).await?;
        let reply = suite.post(&nora, &reply.thread_id).await?;
        nora.delete_post(&reply).await.expect_ok()?;
        suite.restore(&reply.post_id).await?;
        check_eq!(nora.post_state(&reply).await?, Some(ContentState::AwaitingApproval))?;
        check_eq!(alice.post_state(&reply).await?, None)?;
        check_eq!(alice.fetch_forum(&forum).await?, before)?;
        suite.fixture.approve(&reply.post_id).await?;
        check_eq!(alice.post_state(&reply).await?, Some(ContentState::Visible))?;
        check_eq!(alice.fetch_forum(&forum).await?.post_count, before.post_count + 1)
    }

    /// A thread that awaited approval before its deletion awaits approval after its restoration.
    async fn a_restored_thread_awaits_approval_again(suite: &Suite) -> TestResult {
        suite.require(Capability::SoftDeletion)?;
        let (ThreadFixture { forum, alice, .. }, nora) = with_newcomer(suite).await?;
        let mia = suite.moderator("mia", &forum).await?;
        let before = alice.fetch_forum(&forum).await?;
        let path = suite.thread(&nora, &forum).await?;
        mia.delete_post(&path).await.expect_ok()?;
        nora.get_thread(&path.thread_id).await.expect_path_not_found()?;
        suite.restore(&path.post_id).await?;
        check_eq!(nora.fetch_thread(&path.thread_id).await?.state, ContentState::AwaitingApproval)?;
        alice.get_thread(&path.thread_id).await.expect_path_not_found()?;
        check_eq!(alice.fetch_forum(&forum).await?, before)
    }

    /// A reply that is approved in a deleted thread becomes visible and counted when the thread is restored.
    async fn a_reply_approved_in_a_deleted_thread_is_restored_with_it(suite: &Suite) -> TestResult {
        suite.require(Capability::SoftDeletion)?;
        let (ThreadFixture { forum, alice, first, .. }, nora) = with_newcomer(suite).await?;
        let mia = suite.moderator("mia", &forum).await?;
        let before = alice.fetch_forum(&forum).await?;
        let path = suite.post(&nora, &first.thread_id).await?;
        mia.delete_post(&first).await.expect_ok()?;
        let deleted = alice.fetch_forum(&forum).await?;
        suite.fixture.approve(&path.post_id).await?;
        alice.get_thread(&path.thread_id).await.expect_path_not_found()?;
        check_eq!(alice.fetch_forum(&forum).await?, deleted)?;
        suite.restore(&first.post_id).await?;
        check_eq!(alice.post_state(&path).await?, Some(ContentState::Visible))?;
        check_eq!(alice.fetch_thread(&path.thread_id).await?.reply_count, 2)?;
        check_eq!(alice.fetch_forum(&forum).await?.post_count, before.post_count + 1)
    }
}

async fn with_newcomer(suite: &Suite) -> TestResult<(ThreadFixture, TestCaller)> {
    let fixture = ThreadFixture::new(suite).await?;
    Ok((fixture, suite.newcomer("nora").await?))
}
