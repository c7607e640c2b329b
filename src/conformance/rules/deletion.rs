//! Deletion of posts and threads.

use super::*;
use crate::host::ResourceRef;

board_rules! {
    mod deletion, __rules_deletion;

    /// Only moderators see a deleted post, except for its place on a board that leaves places. For moderators a second
    /// deletion is a conflict. Other callers do not find the post. On a board without soft deletion no caller finds
    /// it.
    async fn only_moderators_see_a_deleted_post(suite: &Suite) -> TestResult {
        let ThreadFixture { forum, alice, reply, .. } = ThreadFixture::new(suite).await?;
        let bob = suite.member("bob").await?;
        let mia = suite.moderator("mia", &forum).await?;
        alice.delete_post(&reply).await.expect_ok()?;
        for caller in [&alice, &bob] {
            let state = caller.post_state(&reply).await?;
            check_eq!(state, suite.deleted_state(), "the post for {caller:?}")?;
            caller.delete_post(&reply).await.expect_path_not_found()?;
        }
        if suite.require(Capability::SoftDeletion).is_err() {
            return mia.delete_post(&reply).await.expect_path_not_found();
        }
        check_eq!(mia.post_state(&reply).await?, Some(ContentState::Deleted))?;
        mia.delete_post(&reply).await.expect_conflict()
    }

    /// Callers who are not moderators see a deleted reply without author and texts, and cannot change it. It keeps its
    /// number, its time and the post that it answers. It is not counted, and a list can begin with it. A moderator sees
    /// it with its texts. The rule has no effect on boards that leave no places.
    async fn a_place_has_no_author_and_no_texts(suite: &Suite) -> TestResult {
        suite.require(Capability::SoftDeletion)?;
        let (ThreadFixture { otto, alice, first, reply, .. }, mia) = ThreadFixture::with_moderator(suite).await?;
        suite.post(&otto, &reply.thread_id).await?;
        let before = alice.fetch_post(&reply).await?;
        let mut callers = vec![otto, alice.clone()];
        callers.extend(suite.guest());
        alice.delete_post(&reply).await.expect_ok()?;
        let moderated = mia.fetch_post(&reply).await?;
        check_eq!((&moderated.author, &moderated.body_html), (&before.author, &before.body_html))?;
        if suite.deleted_state().is_none() {
            return Ok(());
        }
        for caller in callers {
            let place = caller.fetch_post(&reply).await?;
            check_eq!((&place.author, &place.edited_by), (&None, &None), "the authors for {caller:?}")?;
            check_eq!((&place.body, &place.body_html), (&None, &None), "the texts for {caller:?}")?;
            check_eq!(place.extra, None, "the extra fields for {caller:?}")?;
            check_eq!((place.can_edit, place.can_delete), (false, false), "permissions of {caller:?}")?;
            let kept = (place.number, place.created_at, place.in_reply_to);
            check_eq!(kept, (before.number, before.created_at, before.in_reply_to.clone()))?;
            check_eq!(caller.fetch_thread(&first.thread_id).await?.reply_count, 1)?;
            let from = PostFilter { from: Some(reply.post_id.clone()), ..PostFilter::default() };
            let page = caller.list_posts(&first.thread_id, &List::new(from)).await.expect_ok()?.value;
            check_eq!(page.items.first().map(|post| &post.post_id), Some(&reply.post_id))?;
        }
        Ok(())
    }

    /// A reply that no other caller saw before its deletion leaves no place, nor does a deleted thread.
    async fn hidden_content_leaves_no_place(suite: &Suite) -> TestResult {
        let (ThreadFixture { otto, alice, first, reply, .. }, mia) = ThreadFixture::with_moderator(suite).await?;
        if suite.require(Capability::Approval).is_ok() {
            let nora = suite.newcomer("nora").await?;
            let pending = suite.post(&nora, &reply.thread_id).await?;
            mia.delete_post(&pending).await.expect_ok()?;
            for caller in [&otto, &nora] {
                check_eq!(caller.post_state(&pending).await?, None, "{pending:?} for {caller:?}")?;
            }
        }
        mia.delete_post(&first).await.expect_ok()?;
        alice.first_page(&first.thread_id).await.expect_path_not_found()
    }

    /// The author of a reply and the moderators of its forum can delete it. Other members are forbidden. `canDelete`
    /// agrees.
    async fn authors_and_moderators_delete_replies(suite: &Suite) -> TestResult {
        let ThreadFixture { forum, otto, alice, first, .. } = ThreadFixture::new(suite).await?;
        let mia = suite.moderator("mia", &forum).await?;
        let ada = suite.admin("ada").await?;
        for (caller, permitted) in [(&otto, false), (&mia, true), (&ada, true), (&alice, true)] {
            let reply = suite.post(&alice, &first.thread_id).await?;
            check_eq!(caller.fetch_post(&reply).await?.can_delete, permitted, "canDelete of {reply:?} for {caller:?}")?;
            caller.delete_post(&reply).await.expect_ok_if(permitted)?;
        }
        Ok(())
    }

    /// Moderators can delete a thread by deleting its first post. A board may also permit this to the author; other
    /// members are forbidden. Afterwards only moderators see the thread, or no caller on a board without soft deletion.
    /// `canDelete` of the first post agrees.
    async fn moderators_delete_threads(suite: &Suite) -> TestResult {
        let (ThreadFixture { forum, otto, alice, first, .. }, mia) = ThreadFixture::with_moderator(suite).await?;
        let by_author = suite.thread(&otto, &forum).await?;
        let authors_delete = otto.fetch_post(&by_author).await?.can_delete;
        let deletions = [(&alice, &first, false), (&otto, &by_author, authors_delete), (&mia, &first, true)];
        for (caller, deleted, permitted) in deletions {
            let can_delete = caller.fetch_post(deleted).await?.can_delete;
            check_eq!(can_delete, permitted, "canDelete of {deleted:?} for {caller:?}")?;
            caller.delete_post(deleted).await.expect_ok_if(permitted)?;
        }
        for caller in [&otto, &alice] {
            caller.get_thread(&first.thread_id).await.expect_path_not_found()?;
            caller.first_page(&first.thread_id).await.expect_path_not_found()?;
            check!(!caller.thread_ids(&forum).await?.contains(&first.thread_id))?;
        }
        if suite.require(Capability::SoftDeletion).is_err() {
            return mia.get_thread(&first.thread_id).await.expect_path_not_found();
        }
        check_eq!(mia.fetch_thread(&first.thread_id).await?.state, ContentState::Deleted)?;
        mia.delete_post(&first).await.expect_conflict()
    }

    /// `containing_forum` does not find deleted content for callers who are not moderators, so that the library does
    /// not replay the response to the request that created it.
    async fn deleted_content_has_no_containing_forum(suite: &Suite) -> TestResult {
        suite.require(Capability::Deletion)?;
        let (ThreadFixture { forum, otto, alice, first, reply }, mia) = ThreadFixture::with_moderator(suite).await?;
        let post = ResourceRef::Post(&reply.thread_id, &reply.post_id);
        let thread = ResourceRef::Thread(&first.thread_id);
        check_eq!(alice.containing_forum(&post).await.expect_ok()?, forum)?;
        alice.delete_post(&reply).await.expect_ok()?;
        alice.containing_forum(&post).await.expect_path_not_found()?;
        check_eq!(otto.containing_forum(&thread).await.expect_ok()?, forum)?;
        mia.delete_post(&first).await.expect_ok()?;
        otto.containing_forum(&thread).await.expect_path_not_found()?;
        let is_soft = suite.require(Capability::SoftDeletion).is_ok();
        mia.containing_forum(&thread).await.expect_found_if(is_soft)
    }

    /// A reply in a deleted thread is forbidden for moderators. Other callers do not find the thread.
    async fn deleted_threads_take_no_replies(suite: &Suite) -> TestResult {
        let (ThreadFixture { alice, first, .. }, mia) = ThreadFixture::with_moderator(suite).await?;
        mia.delete_post(&first).await.expect_ok()?;
        alice.reply(&first.thread_id, "Still here?").await.expect_path_not_found()?;
        let reply = mia.reply(&first.thread_id, "Still here?").await;
        match suite.require(Capability::SoftDeletion) {
            Ok(()) => reply.expect_forbidden(),
            Err(_) => reply.expect_path_not_found(),
        }
    }

    /// An edit or a deletion does not find a deleted post or a post of a deleted thread.
    async fn deleted_content_cannot_be_changed(suite: &Suite) -> TestResult {
        let (ThreadFixture { alice, first, .. }, mia) = ThreadFixture::with_moderator(suite).await?;
        for deletes_thread in [false, true] {
            let reply = suite.post(&alice, &first.thread_id).await?;
            let deleted = if deletes_thread { &first } else { &reply };
            mia.delete_post(deleted).await.expect_ok()?;
            alice.edit(&reply, "New words").await.expect_path_not_found()?;
            alice.delete_post(&reply).await.expect_path_not_found()?;
            if suite.restore(&deleted.post_id).await? {
                check_eq!(alice.fetch_post(&reply).await?.edited_at, None)?;
            }
        }
        Ok(())
    }

    /// A new post never gets the number of a deleted post.
    async fn post_numbers_are_not_reused(suite: &Suite) -> TestResult {
        suite.require(Capability::StablePostNumbers)?;
        let ThreadFixture { alice, reply, .. } = ThreadFixture::new(suite).await?;
        let last = suite.post(&alice, &reply.thread_id).await?;
        let before = alice.fetch_post(&last).await?.number;
        alice.delete_post(&reply).await.expect_ok()?;
        check_eq!(alice.fetch_post(&last).await?.number, before)?;
        alice.delete_post(&last).await.expect_ok()?;
        let newest = alice.fetch_post(&suite.post(&alice, &reply.thread_id).await?).await?.number;
        check!(newest > before, "the new number {newest} is greater than the deleted number {before}")
    }

    /// Exactly one of several concurrent deletions of a post succeeds.
    async fn one_of_concurrent_deletions_succeeds(suite: &Suite) -> TestResult {
        let (ThreadFixture { reply, .. }, mia) = ThreadFixture::with_moderator(suite).await?;
        let deletions = repeat_n((mia.clone(), reply.clone()), 8)
            .map(|(mia, reply)| async move { mia.delete_post(&reply).await });
        if suite.require(Capability::SoftDeletion).is_ok() {
            return suite.race_for_one(deletions).await;
        }
        suite.require(Capability::AtomicCommands)?;
        let mut succeeded = 0;
        for deletion in run_concurrently(deletions).await {
            succeeded += u32::from(deletion.into_result()?.is_ok());
        }
        check_eq!(succeeded, 1)
    }
}
