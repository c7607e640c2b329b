//! Edits of posts.

use std::time::Duration;

use super::*;

board_rules! {
    mod edits, __rules_edits;

    /// An edit changes the body, `editedAt` and `editedBy`.
    async fn an_edit_changes_the_post(suite: &Suite) -> TestResult {
        let ThreadFixture { alice, reply, .. } = ThreadFixture::new(suite).await?;
        let before = alice.fetch_post(&reply).await?;
        let edited = alice.edit(&reply, "New words").await.expect_ok()?;
        if edited.body.is_some() || suite.require(Capability::SourceMarkup).is_ok() {
            check_eq!(edited.body.as_deref(), Some("New words"), "the source of {reply:?}")?;
        }
        check_editor(suite, &edited, &alice)?;
        check_eq!(edited.created_at, before.created_at)?;
        check_html_changed(suite, &before, &edited)?;
        check_eq!(alice.fetch_post(&reply).await?, edited)
    }

    /// Each edit increments the version.
    async fn an_edit_increments_the_version(suite: &Suite) -> TestResult {
        suite.require(Capability::Versions)?;
        let ThreadFixture { alice, reply, .. } = ThreadFixture::new(suite).await?;
        for (version, body) in [(2, "New words"), (3, "Newer words")] {
            let edited = alice.edit(&reply, body).await.expect_ok()?;
            check_eq!(edited.version, version)?;
        }
        Ok(())
    }

    /// An edit with the current text changes nothing: the version and `editedAt` stay the same.
    async fn an_edit_with_the_current_text_changes_nothing(suite: &Suite) -> TestResult {
        let ThreadFixture { alice, reply, .. } = ThreadFixture::new(suite).await?;
        let edited = alice.edit(&reply, "New words").await.expect_ok()?;
        suite.advance(Duration::from_secs(1));
        let again = with(post_update("New words"), |edit| edit.reason = Some("Spelling".into()));
        check_eq!(alice.update_post(&reply, &again).await.expect_ok()?.value, edited)?;
        check_eq!(alice.fetch_post(&reply).await?, edited)?;
        suite.require(Capability::Versions)?;
        let stale = with(again, |edit| edit.expected_version = Some(1));
        alice.update_post(&reply, &stale).await.expect_stale_version()
    }

    /// An edit with the current title changes neither the post nor the thread.
    async fn an_edit_with_the_current_title_changes_nothing(suite: &Suite) -> TestResult {
        suite.require(Capability::TitleEdits)?;
        let ThreadFixture { otto, first, .. } = ThreadFixture::new(suite).await?;
        let edited = otto.edit_title(&first, "Kettles").await.expect_ok()?;
        let thread = otto.fetch_thread(&first.thread_id).await?;
        suite.advance(Duration::from_secs(1));
        check_eq!(otto.edit_title(&first, "Kettles").await.expect_ok()?, edited)?;
        check_eq!(otto.fetch_thread(&first.thread_id).await?, thread)?;
        check_eq!(otto.fetch_post(&first).await?, edited)
    }

    /// An edit of an older version is a conflict with the reason `version_stale` and changes nothing.
    async fn a_stale_edit_is_a_conflict(suite: &Suite) -> TestResult {
        suite.require(Capability::Versions)?;
        let ThreadFixture { alice, reply, .. } = ThreadFixture::new(suite).await?;
        let of_first_version = |body| with(post_update(body), |edit| edit.expected_version = Some(1));
        let edited = alice.update_post(&reply, &of_first_version("First")).await.expect_ok()?;
        alice.update_post(&reply, &of_first_version("Second")).await.expect_stale_version()?;
        check_eq!(alice.fetch_post(&reply).await?, edited.value)
    }

    /// Exactly one of several concurrent edits of one version succeeds.
    async fn one_of_concurrent_edits_succeeds(suite: &Suite) -> TestResult {
        suite.require(Capability::Versions)?;
        let ThreadFixture { alice, reply, .. } = ThreadFixture::new(suite).await?;
        let edits = (0..8).map(|_| {
            let alice = alice.clone();
            let reply = reply.clone();
            let edit = with(post_update("Mine"), |edit| edit.expected_version = Some(1));
            async move { alice.update_post(&reply, &edit).await }
        });
        suite.race_for_one(edits).await?;
        check_eq!(alice.fetch_post(&reply).await?.version, 2)
    }

    /// An empty or blank `body` is invalid.
    async fn an_edit_without_text_is_invalid(suite: &Suite) -> TestResult {
        let ThreadFixture { alice, reply, .. } = ThreadFixture::new(suite).await?;
        let before = alice.fetch_post(&reply).await?;
        for body in ["", " \n\t "] {
            alice.edit(&reply, body).await.expect_validation_error("body")?;
        }
        check_eq!(alice.fetch_post(&reply).await?, before)
    }

    /// A `title` in an edit of the first post changes the title of the thread and keeps the text.
    async fn a_title_changes_with_the_first_post(suite: &Suite) -> TestResult {
        suite.require(Capability::TitleEdits)?;
        let ThreadFixture { forum, otto, first, .. } = ThreadFixture::new(suite).await?;
        let before = otto.fetch_post(&first).await?;
        let thread = otto.fetch_thread(&first.thread_id).await?;
        let edited = otto.edit_title(&first, "Kettles").await.expect_ok()?;
        check_eq!((&edited.body, &edited.body_html), (&before.body, &before.body_html))?;
        check_editor(suite, &edited, &otto)?;
        check_eq!(otto.fetch_post(&first).await?, edited)?;
        let renamed = otto.fetch_thread(&first.thread_id).await?;
        check_eq!((&*renamed.title, renamed.last_activity_at), ("Kettles", thread.last_activity_at))?;
        check_eq!(otto.fetch_threads(&forum).await?, [renamed])
    }

    /// A new title increments the versions of the post and of the thread.
    async fn a_new_title_increments_the_versions(suite: &Suite) -> TestResult {
        suite.require(Capability::TitleEdits)?;
        suite.require(Capability::Versions)?;
        let ThreadFixture { otto, first, .. } = ThreadFixture::new(suite).await?;
        for (version, title) in [(2, "Kettles"), (3, "Pots")] {
            let edited = otto.edit_title(&first, title).await.expect_ok()?;
            check_eq!(edited.version, version, "the version of the post")?;
            let thread = otto.fetch_thread(&first.thread_id).await?;
            check_eq!(thread.version, version, "the version of the thread")?;
        }
        let stale = with(title_update("Cups"), |edit| edit.expected_version = Some(2));
        otto.update_post(&first, &stale).await.expect_stale_version()?;
        check_eq!(otto.fetch_thread(&first.thread_id).await?.title, "Pots")
    }

    /// One edit can change both the title and the text.
    async fn title_and_text_change_together(suite: &Suite) -> TestResult {
        suite.require(Capability::TitleEdits)?;
        let ThreadFixture { otto, first, .. } = ThreadFixture::new(suite).await?;
        let before = otto.fetch_post(&first).await?;
        let both = with(title_update("Kettles"), |edit| edit.body = Some("Which one?".into()));
        let edited = otto.update_post(&first, &both).await.expect_ok()?.value;
        check_html_changed(suite, &before, &edited)?;
        check_eq!(otto.fetch_thread(&first.thread_id).await?.title, "Kettles")
    }

    /// A `title` in an edit of a reply is invalid. On boards whose titles cannot change it is also invalid in an edit
    /// of the first post. Nothing changes.
    async fn a_title_that_cannot_change_is_invalid(suite: &Suite) -> TestResult {
        let ThreadFixture { otto, alice, first, reply, .. } = ThreadFixture::new(suite).await?;
        let mut edits = vec![(&alice, &reply)];
        if suite.require(Capability::TitleEdits).is_err() {
            edits.push((&otto, &first));
        }
        for (author, path) in edits {
            let thread = author.fetch_thread(&path.thread_id).await?;
            let before = author.fetch_post(path).await?;
            let both = with(title_update("Kettles"), |edit| edit.body = Some("Which one?".into()));
            for edit in [title_update("Kettles"), both] {
                author.update_post(path, &edit).await.expect_validation_error("title")?;
            }
            check_eq!(author.fetch_post(path).await?, before)?;
            check_eq!(author.fetch_thread(&path.thread_id).await?, thread)?;
        }
        Ok(())
    }

    /// A new title that is empty, blank or not a single line is invalid, and changes neither title nor text.
    async fn a_new_title_is_a_single_line(suite: &Suite) -> TestResult {
        suite.require(Capability::TitleEdits)?;
        let ThreadFixture { otto, first, .. } = ThreadFixture::new(suite).await?;
        let before = otto.fetch_post(&first).await?;
        let thread = otto.fetch_thread(&first.thread_id).await?;
        for title in NOT_SINGLE_LINE.into_iter().chain(["", " \n\t "]) {
            let both = with(title_update(title), |edit| edit.body = Some("Which one?".into()));
            otto.update_post(&first, &both).await.expect_validation_error("title")?;
        }
        check_eq!(otto.fetch_post(&first).await?, before)?;
        check_eq!(otto.fetch_thread(&first.thread_id).await?, thread)
    }

    /// A member who may not edit the first post cannot change the title.
    async fn only_editors_of_the_first_post_change_the_title(suite: &Suite) -> TestResult {
        suite.require(Capability::TitleEdits)?;
        let ThreadFixture { otto, alice, first, .. } = ThreadFixture::new(suite).await?;
        let thread = otto.fetch_thread(&first.thread_id).await?;
        alice.edit_title(&first, "Kettles").await.expect_forbidden()?;
        check_eq!(otto.fetch_thread(&first.thread_id).await?, thread)
    }

    /// The author of a post can edit it, and the moderators of its forum, unless the board has no edits by moderators.
    /// Other members are forbidden. `canEdit` agrees.
    async fn authors_and_moderators_edit_posts(suite: &Suite) -> TestResult {
        let ThreadFixture { forum, alice, reply, .. } = ThreadFixture::new(suite).await?;
        let by_moderators = suite.require(Capability::ModeratorEdits).is_ok();
        let mut callers = vec![
            (suite.member("bob").await?, false),
            (suite.admin("ada").await?, by_moderators),
            (suite.moderator("mia", &forum).await?, by_moderators),
            (alice, true),
        ];
        if suite.require(Capability::Moderators).is_ok() {
            let elsewhere = suite.forum(Audience::Guests).await?;
            callers.push((suite.moderator("max", &elsewhere).await?, false));
        }
        for (caller, permitted) in callers {
            check_eq!(caller.fetch_post(&reply).await?.can_edit, permitted, "canEdit for {caller:?}")?;
            caller.edit(&reply, "New words").await.expect_ok_if(permitted)?;
        }
        Ok(())
    }

    /// `canEdit` and `canDelete` are false for a guest.
    async fn a_guest_cannot_edit_or_delete(suite: &Suite) -> TestResult {
        let ThreadFixture { reply, .. } = ThreadFixture::new(suite).await?;
        expect_permissions(&suite.guest()?, &reply, (false, false)).await
    }

    /// An edit or a deletion finds a post only in its own thread.
    async fn a_post_is_not_found_in_another_thread(suite: &Suite) -> TestResult {
        let ThreadFixture { forum, alice, reply, .. } = ThreadFixture::new(suite).await?;
        let other = suite.thread(&alice, &forum).await?;
        for (thread, post) in [
            (other.thread_id, reply.post_id.clone()),
            (reply.thread_id, 999_999.into()),
            (999_999.into(), reply.post_id),
        ] {
            let path = PostPath::new(thread, post);
            alice.edit(&path, "New words").await.expect_path_not_found()?;
            alice.delete_post(&path).await.expect_path_not_found()?;
        }
        Ok(())
    }

    /// An edit or a deletion does not find a post of a hidden forum.
    async fn a_hidden_post_cannot_be_edited(suite: &Suite) -> TestResult {
        let forum = suite.forum(Audience::Staff).await?;
        let sam = suite.moderator("sam", &forum).await?;
        let path = suite.thread(&sam, &forum).await?;
        let alice = suite.member("alice").await?;
        alice.edit(&path, "New words").await.expect_path_not_found()?;
        alice.delete_post(&path).await.expect_path_not_found()?;
        check_eq!(sam.fetch_post(&path).await?.edited_at, None)
    }

    /// A lock forbids edits of the thread's posts, except for moderators. `canEdit` agrees. On some boards it forbids
    /// replies only, or binds moderators as well.
    async fn only_moderators_edit_in_a_locked_thread(suite: &Suite) -> TestResult {
        suite.require(Capability::Locking)?;
        suite.require(Capability::Editing)?;
        let (ThreadFixture { alice, reply, .. }, mia) = ThreadFixture::with_moderator(suite).await?;
        let forbids_edits = suite.require(Capability::LockedEdits).is_ok();
        let by_moderators = suite.require(Capability::ModeratorEdits).is_ok();
        let binds_moderators = forbids_edits && suite.require(Capability::ModeratorsInLockedThreads).is_err();
        for locked in [true, false] {
            suite.fixture.set_locked(&reply.thread_id, locked).await?;
            for (caller, permitted) in [
                (&alice, !locked || !forbids_edits),
                (&mia, by_moderators && (!locked || !binds_moderators)),
            ] {
                let can_edit = caller.fetch_post(&reply).await?.can_edit;
                check_eq!(can_edit, permitted, "canEdit for {caller:?}, locked: {locked}")?;
                caller.edit(&reply, "New words").await.expect_ok_if(permitted)?;
            }
        }
        Ok(())
    }

    /// A lock forbids deletions of the thread's posts, except for moderators. `canDelete` agrees. On some boards it
    /// forbids replies only, or binds moderators as well.
    async fn only_moderators_delete_in_a_locked_thread(suite: &Suite) -> TestResult {
        suite.require(Capability::Locking)?;
        suite.require(Capability::Deletion)?;
        let (ThreadFixture { alice, reply, .. }, mia) = ThreadFixture::with_moderator(suite).await?;
        let forbids_deletions = suite.require(Capability::LockedEdits).is_ok();
        let binds_moderators = forbids_deletions && suite.require(Capability::ModeratorsInLockedThreads).is_err();
        let other = suite.post(&alice, &reply.thread_id).await?;
        suite.fixture.set_locked(&reply.thread_id, true).await?;
        let deletions = [(&alice, reply, !forbids_deletions), (&mia, other, !binds_moderators)];
        for (caller, post, permitted) in deletions {
            let can_delete = caller.fetch_post(&post).await?.can_delete;
            check_eq!(can_delete, permitted, "canDelete of {post:?} for {caller:?}")?;
            caller.delete_post(&post).await.expect_ok_if(permitted)?;
        }
        Ok(())
    }

    /// After the edit window, edits and deletions are forbidden except for moderators.
    async fn authors_cannot_edit_after_the_edit_window(suite: &Suite) -> TestResult {
        suite.require(Capability::EditWindow)?;
        let (ThreadFixture { alice, reply, .. }, mia) = ThreadFixture::with_moderator(suite).await?;
        suite.advance(Duration::from_secs(366 * 24 * 60 * 60));
        expect_permissions(&alice, &reply, (false, false)).await?;
        alice.edit(&reply, "New words").await.expect_forbidden()?;
        alice.delete_post(&reply).await.expect_forbidden()?;
        let can_edit = suite.require(Capability::ModeratorEdits).is_ok();
        expect_permissions(&mia, &reply, (can_edit, true)).await?;
        mia.edit(&reply, "New words").await.expect_ok_if(can_edit)?;
        mia.delete_post(&reply).await.expect_ok()
    }

    /// The role of a moderator is checked when an edit or a deletion is made. It is forbidden for a moderator who was
    /// dismissed after the request began.
    async fn a_dismissed_moderator_cannot_edit(suite: &Suite) -> TestResult {
        suite.require(Capability::Moderators)?;
        let (ThreadFixture { forum, reply, .. }, mia) = ThreadFixture::with_moderator(suite).await?;
        let cached = mia.cache_access().await?;
        suite.fixture.set_moderator(&forum, &mia.id(), false).await?;
        cached.edit(&reply, "New words").await.expect_forbidden()?;
        cached.delete_post(&reply).await.expect_forbidden()
    }

    /// A member who was banned after the request began can neither edit nor delete.
    async fn a_banned_author_cannot_edit(suite: &Suite) -> TestResult {
        let ThreadFixture { otto, alice, reply, .. } = ThreadFixture::new(suite).await?;
        let before = otto.fetch_post(&reply).await?;
        let cached = suite.ban_during_request(&alice).await?;
        cached.edit(&reply, "New words").await.expect_denied()?;
        cached.delete_post(&reply).await.expect_denied()?;
        check_eq!(otto.fetch_post(&reply).await?, before)
    }

    /// The HTML of an edited post executes no script.
    async fn edited_html_is_sanitized(suite: &Suite) -> TestResult {
        let ThreadFixture { alice, reply, .. } = ThreadFixture::new(suite).await?;
        let edited = alice.edit(&reply, XSS_PAYLOAD).await.expect_ok()?;
        check_sanitized(&edited.body_html.unwrap_or_default())
    }
}

/// Checks the time and the author of an edit, unless the board does not record them.
fn check_editor(suite: &Suite, edited: &Post, editor: &TestCaller) -> TestResult {
    if edited.edited_at.is_some() || suite.require(Capability::EditTimes).is_ok() {
        let is_later = |time| time >= edited.created_at;
        check!(edited.edited_at.is_some_and(is_later))?;
    }
    if edited.edited_by.is_some() || suite.require(Capability::Editors).is_ok() {
        check_eq!(author_id(&edited.edited_by), Some(editor.id()))?;
    }
    Ok(())
}

/// Checks that an edit changed the rendered text, unless the board can lack it.
fn check_html_changed(suite: &Suite, before: &Post, edited: &Post) -> TestResult {
    if edited.body_html.is_none() && suite.require(Capability::RenderedPosts).is_err() {
        return Ok(());
    }
    let is_changed = edited.body_html != before.body_html;
    check!(is_changed, "the text of {:?} changes", edited.post_id)
}

/// Checks `canEdit` and `canDelete` of a post.
async fn expect_permissions(
    caller: &TestCaller,
    path: &PostPath,
    expected: (bool, bool),
) -> TestResult {
    let post = caller.fetch_post(path).await?;
    let actual = (post.can_edit, post.can_delete);
    check_eq!(actual, expected, "permissions of {caller:?} for {path:?}")
}
