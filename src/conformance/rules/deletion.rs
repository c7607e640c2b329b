//! Posts and threads that are soft-deleted: by whom, and who sees them afterwards.

use super::*;
use crate::host::ResourceRef;

board_rules! {
    mod deletion;

    /// A deleted post exists only for moderators: for others a second deletion finds nothing, for them it is a conflict.
    async fn only_moderators_see_a_deleted_post(suite: &Suite) -> TestResult {
        let ThreadFixture { forum, alice, reply, .. } = ThreadFixture::new(suite).await?;
        let (bob, mia) = (suite.member("bob").await?, suite.moderator("mia", &forum).await?);
        alice.delete_post(&reply).await.expect_ok()?;
        for caller in [&alice, &bob] {
            check_eq!(caller.post_state(&reply).await?, None, "the post for {caller:?}")?;
            caller.delete_post(&reply).await.expect_path_not_found()?;
        }
        check_eq!(mia.post_state(&reply).await?, Some(ContentState::Deleted))?;
        mia.delete_post(&reply).await.expect_conflict()
    }

    /// The author and the moderators of its forum may delete a reply, and `canDelete` says so.
    async fn authors_and_moderators_delete_replies(suite: &Suite) -> TestResult {
        let ThreadFixture { forum, otto, alice, reply, .. } = ThreadFixture::new(suite).await?;
        let (mia, ada) = (suite.moderator("mia", &forum).await?, suite.admin("ada").await?);
        for (caller, may) in [(otto, false), (mia, true), (ada, true), (alice, true)] {
            check_eq!(caller.fetch_post(&reply).await?.can_delete, may, "canDelete for {caller:?}")?;
            caller.delete_post(&reply).await.expect_ok_if(may)?;
            if may {
                suite.fixture.restore(&reply.post_id).await?;
            }
        }
        Ok(())
    }

    /// Moderators delete a thread with its first post, and afterwards it exists only for them.
    async fn moderators_delete_threads(suite: &Suite) -> TestResult {
        let (ThreadFixture { forum, otto, alice, first, .. }, mia) = ThreadFixture::with_moderator(suite).await?;
        for (caller, may) in [(&otto, false), (&mia, true)] {
            check_eq!(caller.fetch_post(&first).await?.can_delete, may, "canDelete for {caller:?}")?;
            caller.delete_post(&first).await.expect_ok_if(may)?;
        }
        for caller in [&otto, &alice] {
            caller.get_thread(&first.thread_id).await.expect_path_not_found()?;
            caller.first_page(&first.thread_id).await.expect_path_not_found()?;
            check_eq!(caller.fetch_threads(&forum).await?, [])?;
        }
        check_eq!(mia.fetch_thread(&first.thread_id).await?.state, ContentState::Deleted)?;
        mia.delete_post(&first).await.expect_conflict()
    }

    /// A deleted post or thread is in no forum for members, so that the library does not repeat the response to its creation.
    async fn deleted_content_has_no_containing_forum(suite: &Suite) -> TestResult {
        let (ThreadFixture { forum, otto, alice, first, reply }, mia) = ThreadFixture::with_moderator(suite).await?;
        let post = ResourceRef::Post(&reply.thread_id, &reply.post_id);
        let thread = ResourceRef::Thread(&first.thread_id);
        check_eq!(alice.containing_forum(&post).await.expect_ok()?, forum)?;
        alice.delete_post(&reply).await.expect_ok()?;
        alice.containing_forum(&post).await.expect_path_not_found()?;
        check_eq!(otto.containing_forum(&thread).await.expect_ok()?, forum)?;
        mia.delete_post(&first).await.expect_ok()?;
        otto.containing_forum(&thread).await.expect_path_not_found()?;
        mia.containing_forum(&thread).await.expect_ok().map(drop)
    }

    /// Nobody replies in a deleted thread, not even a moderator.
    async fn deleted_threads_take_no_replies(suite: &Suite) -> TestResult {
        let (ThreadFixture { alice, first, .. }, mia) = ThreadFixture::with_moderator(suite).await?;
        mia.delete_post(&first).await.expect_ok()?;
        alice.reply(&first.thread_id, "Still here?").await.expect_path_not_found()?;
        mia.reply(&first.thread_id, "Still here?").await.expect_forbidden()
    }

    /// A deleted post, or one in a deleted thread, is absent for an edit and a deletion.
    async fn deleted_content_cannot_be_changed(suite: &Suite) -> TestResult {
        let (ThreadFixture { alice, first, reply, .. }, mia) = ThreadFixture::with_moderator(suite).await?;
        for deleted in [&reply, &first] {
            mia.delete_post(deleted).await.expect_ok()?;
            alice.edit(&reply, "New words").await.expect_path_not_found()?;
            alice.delete_post(&reply).await.expect_path_not_found()?;
            suite.fixture.restore(&deleted.post_id).await?;
        }
        check_eq!(alice.fetch_post(&reply).await?.edited_at, None)
    }

    /// No other post takes the number of a deleted one.
    async fn post_numbers_are_not_reused(suite: &Suite) -> TestResult {
        suite.require(Capability::PostNumbers)?;
        let ThreadFixture { alice, reply, .. } = ThreadFixture::new(suite).await?;
        let last = suite.post(&alice, &reply.thread_id).await?;
        let before = alice.fetch_post(&last).await?.number;
        alice.delete_post(&reply).await.expect_ok()?;
        check_eq!(alice.fetch_post(&last).await?.number, before)?;
        alice.delete_post(&last).await.expect_ok()?;
        let newest = suite.post(&alice, &reply.thread_id).await?;
        let newest = alice.fetch_post(&newest).await?.number;
        check!(newest > before, "{newest} is above {before}, which was deleted")
    }

    /// Of many deletions of a post at once, one is made.
    async fn one_of_concurrent_deletions_succeeds(suite: &Suite) -> TestResult {
        let (ThreadFixture { reply, .. }, mia) = ThreadFixture::with_moderator(suite).await?;
        let deletions = repeat_n((mia.clone(), reply.clone()), 8)
            .map(|(mia, reply)| async move { mia.delete_post(&reply).await });
        suite.race_for_one(deletions).await
    }
}
