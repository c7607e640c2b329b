//! Posts that are edited.

use std::time::Duration;

use super::*;

board_rules! {
    mod edits;

    /// An edit shows in the post, with its editor and its time.
    async fn an_edit_changes_the_post(suite: &Suite) -> TestResult {
        let ThreadFixture { alice, reply, .. } = ThreadFixture::new(suite).await?;
        let before = alice.fetch_post(&reply).await?;
        let edited = alice.edit(&reply, "New words").await.expect_ok()?;
        check_eq!(edited.body.as_deref(), Some("New words"))?;
        check!(edited.edited_at.is_some_and(|time| time >= edited.created_at))?;
        check_eq!(author_id(&edited.edited_by), Some(alice.id()))?;
        check_eq!(edited.created_at, before.created_at)?;
        check!(edited.body_html != before.body_html)?;
        check_eq!(alice.fetch_post(&reply).await?, edited)
    }

    /// Each edit makes another version.
    async fn an_edit_increments_the_version(suite: &Suite) -> TestResult {
        suite.require(Capability::Versions)?;
        let ThreadFixture { alice, reply, .. } = ThreadFixture::new(suite).await?;
        for version in [2, 3] {
            let edited = alice.edit(&reply, "New words").await.expect_ok()?;
            check_eq!(edited.version, version)?;
        }
        Ok(())
    }

    /// An edit of an older version is a conflict, and changes nothing.
    async fn a_stale_edit_is_a_conflict(suite: &Suite) -> TestResult {
        suite.require(Capability::Versions)?;
        let ThreadFixture { alice, reply, .. } = ThreadFixture::new(suite).await?;
        let first = with(post_update("First"), |edit| edit.expected_version = Some(1));
        alice.update_post(&reply, &first).await.expect_ok()?;
        alice.update_post(&reply, &first).await.expect_conflict()?;
        check_eq!(alice.fetch_post(&reply).await?.body.as_deref(), Some("First"))
    }

    /// Of many edits of one version, one is carried out.
    async fn one_of_concurrent_edits_succeeds(suite: &Suite) -> TestResult {
        suite.require(Capability::Versions)?;
        let ThreadFixture { alice, reply, .. } = ThreadFixture::new(suite).await?;
        let edits = (0..8).map(|_| {
            let (alice, reply) = (alice.clone(), reply.clone());
            let edit = with(post_update("Mine"), |edit| edit.expected_version = Some(1));
            async move { alice.update_post(&reply, &edit).await }
        });
        suite.race_for_one(edits).await?;
        check_eq!(alice.fetch_post(&reply).await?.version, 2)
    }

    /// A body without any text is refused.
    async fn an_edit_without_text_is_invalid(suite: &Suite) -> TestResult {
        let ThreadFixture { alice, reply, .. } = ThreadFixture::new(suite).await?;
        let before = alice.fetch_post(&reply).await?;
        for body in ["", " \n\t "] {
            alice.edit(&reply, body).await.expect_validation_error("body")?;
        }
        check_eq!(alice.fetch_post(&reply).await?, before)
    }

    /// The author and the moderators of its forum may edit a post, and `canEdit` says so.
    async fn authors_and_moderators_edit_posts(suite: &Suite) -> TestResult {
        let ThreadFixture { forum, alice, reply, .. } = ThreadFixture::new(suite).await?;
        let elsewhere = suite.forum(Audience::Guests).await?;
        for (caller, may) in [
            (suite.member("bob").await?, false),
            (suite.admin("ada").await?, true),
            (suite.moderator("max", &elsewhere).await?, false),
            (suite.moderator("mia", &forum).await?, true),
            (alice, true),
        ] {
            check_eq!(caller.fetch_post(&reply).await?.can_edit, may, "canEdit for {caller:?}")?;
            caller.edit(&reply, "New words").await.expect_ok_if(may)?;
        }
        Ok(())
    }

    /// A guest may edit and delete nothing, and is shown that.
    async fn a_guest_cannot_edit_or_delete(suite: &Suite) -> TestResult {
        let ThreadFixture { reply, .. } = ThreadFixture::new(suite).await?;
        may_change(&suite.guest()?, &reply, false).await
    }

    /// A post exists only under its own thread.
    async fn a_post_is_not_found_in_another_thread(suite: &Suite) -> TestResult {
        let ThreadFixture { forum, alice, reply, .. } = ThreadFixture::new(suite).await?;
        let other = suite.thread(&alice, &forum).await?;
        for (thread, post) in [
            (other.thread_id, reply.post_id.clone()),
            (reply.thread_id, 999_999.into()),
            (999_999.into(), reply.post_id),
        ] {
            let wrong = PostPath { thread_id: thread, post_id: post };
            alice.edit(&wrong, "New words").await.expect_path_not_found()?;
            alice.delete_post(&wrong).await.expect_path_not_found()?;
        }
        Ok(())
    }

    /// A post of a hidden forum is absent for an edit and a deletion.
    async fn a_hidden_post_cannot_be_edited(suite: &Suite) -> TestResult {
        let forum = suite.forum(Audience::Staff).await?;
        let sam = suite.moderator("sam", &forum).await?;
        let path = suite.thread(&sam, &forum).await?;
        let alice = suite.member("alice").await?;
        alice.edit(&path, "New words").await.expect_path_not_found()?;
        alice.delete_post(&path).await.expect_path_not_found()?;
        check_eq!(sam.fetch_post(&path).await?.edited_at, None)
    }

    /// In a locked thread only moderators edit and delete.
    async fn only_moderators_edit_in_a_locked_thread(suite: &Suite) -> TestResult {
        suite.require(Capability::Locking)?;
        let (ThreadFixture { alice, reply, .. }, mia) = ThreadFixture::with_moderator(suite).await?;
        suite.fixture.set_locked(&reply.thread_id, true).await?;
        may_change(&alice, &reply, false).await?;
        alice.edit(&reply, "New words").await.expect_forbidden()?;
        alice.delete_post(&reply).await.expect_forbidden()?;
        mia.edit(&reply, "New words").await.expect_ok()?;
        suite.fixture.set_locked(&reply.thread_id, false).await?;
        alice.edit(&reply, "My words").await.expect_ok()?;
        suite.fixture.set_locked(&reply.thread_id, true).await?;
        mia.delete_post(&reply).await.expect_ok()
    }

    /// When the edit window is over, authors can no longer edit or delete their posts; moderators can.
    async fn authors_cannot_edit_after_the_edit_window(suite: &Suite) -> TestResult {
        suite.require(Capability::EditWindow)?;
        let (ThreadFixture { alice, reply, .. }, mia) = ThreadFixture::with_moderator(suite).await?;
        suite.advance(Duration::from_secs(366 * 24 * 60 * 60));
        may_change(&alice, &reply, false).await?;
        alice.edit(&reply, "New words").await.expect_forbidden()?;
        alice.delete_post(&reply).await.expect_forbidden()?;
        may_change(&mia, &reply, true).await?;
        mia.edit(&reply, "New words").await.expect_ok()?;
        mia.delete_post(&reply).await.expect_ok()
    }

    /// Whether the caller moderates is decided when the edit is made, not when the request arrives.
    async fn a_dismissed_moderator_cannot_edit(suite: &Suite) -> TestResult {
        let (ThreadFixture { forum, reply, .. }, mia) = ThreadFixture::with_moderator(suite).await?;
        let cached = mia.cache_access().await?;
        suite.fixture.set_moderator(&forum, &mia.id(), false).await?;
        cached.edit(&reply, "New words").await.expect_forbidden()?;
        cached.delete_post(&reply).await.expect_forbidden()
    }

    /// An edit or a deletion by a member who was banned since the request began is not made.
    async fn a_banned_author_cannot_edit(suite: &Suite) -> TestResult {
        let ThreadFixture { otto, alice, reply, .. } = ThreadFixture::new(suite).await?;
        let before = otto.fetch_post(&reply).await?;
        let cached = suite.ban_during_request(&alice).await?;
        cached.edit(&reply, "New words").await.expect_denied()?;
        cached.delete_post(&reply).await.expect_denied()?;
        check_eq!(otto.fetch_post(&reply).await?, before)
    }

    /// No markup becomes HTML that runs by an edit.
    async fn edited_html_is_sanitized(suite: &Suite) -> TestResult {
        let ThreadFixture { alice, reply, .. } = ThreadFixture::new(suite).await?;
        let edited = alice.edit(&reply, XSS_PAYLOAD).await.expect_ok()?;
        is_sanitized(&edited.body_html.unwrap_or_default())
    }
}

/// `canEdit` and `canDelete` of the post for this caller.
async fn may_change(caller: &TestCaller, path: &PostPath, may: bool) -> TestResult {
    let post = caller.fetch_post(path).await?;
    check_eq!(
        (post.can_edit, post.can_delete),
        (may, may),
        "permissions of {caller:?}"
    )
}
