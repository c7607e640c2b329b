//! Edits of polls.

use std::time::Duration;

use super::*;

board_rules! {
    mod poll_edits, __rules_poll_edits;

    /// The author of a poll and the moderators of its forum edit it, unless the board has no edits by moderators. Other
    /// members are forbidden.
    async fn authors_and_moderators_edit_polls(suite: &Suite) -> TestResult {
        let poll = PollFixture::new(suite, new_poll()).await?;
        poll.edit(&poll.bob, &question_update("Which coffee?")).await.expect_forbidden()?;
        check_eq!(poll.fetch(&poll.bob).await?.question, "Which tea?")?;
        let edited = poll.edit(&poll.alice, &question_update("Which coffee?")).await.expect_ok()?;
        check_eq!(edited.question, "Which coffee?")?;
        check_eq!(poll.fetch(&poll.alice).await?, edited)?;
        if suite.require(Capability::Moderators).is_ok() {
            let elsewhere = suite.forum(Audience::Guests).await?;
            let other_moderator = suite.moderator("max", &elsewhere).await?;
            poll.edit(&other_moderator, &question_update("Which milk?")).await.expect_forbidden()?;
        }
        let moderator = suite.moderator("mod", &poll.forum).await?;
        let edit = question_update("Which water?");
        if suite.require(Capability::ModeratorEdits).is_err() {
            return poll.edit(&moderator, &edit).await.expect_forbidden();
        }
        poll.edit(&moderator, &edit).await.expect_ok()?;
        check_eq!(poll.fetch(&poll.bob).await?.question, "Which water?")
    }

    /// Only moderators edit the poll of a locked thread. Its author is forbidden. On some boards the lock forbids replies
    /// only, or binds moderators as well.
    async fn only_moderators_edit_a_locked_threads_poll(suite: &Suite) -> TestResult {
        suite.require(Capability::Locking)?;
        let poll = PollFixture::new(suite, new_poll()).await?;
        suite.fixture.set_locked(&poll.thread, true).await?;
        let edit = question_update("Which coffee?");
        let forbids_edits = suite.require(Capability::LockedEdits).is_ok();
        let binds_moderators = forbids_edits && suite.require(Capability::ModeratorsInLockedThreads).is_err();
        let by_moderators = suite.require(Capability::ModeratorEdits).is_ok();
        poll.edit(&poll.alice, &edit).await.expect_ok_if(!forbids_edits)?;
        let moderator = suite.moderator("mod", &poll.forum).await?;
        poll.edit(&moderator, &edit).await.expect_ok_if(by_moderators && !binds_moderators)
    }

    /// An edit of a poll is forbidden for a moderator who was dismissed after the request began.
    async fn a_dismissed_moderator_cannot_edit_a_poll(suite: &Suite) -> TestResult {
        suite.require(Capability::Moderators)?;
        let poll = PollFixture::new(suite, new_poll()).await?;
        let moderator = suite.moderator("mod", &poll.forum).await?;
        let cached = moderator.cache_access().await?;
        suite.fixture.set_moderator(&poll.forum, &moderator.id(), false).await?;
        poll.edit(&cached, &question_update("Which coffee?")).await.expect_forbidden()?;
        check_eq!(poll.fetch(&poll.bob).await?.question, "Which tea?")
    }

    /// An edit with the current values of the poll changes nothing; the version stays the same.
    async fn an_edit_with_the_current_values_changes_nothing(suite: &Suite) -> TestResult {
        let poll = PollFixture::new(suite, new_poll()).await?;
        let before = poll.fetch(&poll.alice).await?;
        let options: Vec<_> = before.options.iter().map(|option| (Some(&option.option_id), &*option.text)).collect();
        let same = with(options_update(&options), |edit| {
            edit.question = Some(before.question.clone());
            edit.max_choices = Some(before.max_choices.into());
            edit.can_change_vote = Some(before.can_change_vote);
        });
        check_eq!(poll.edit(&poll.alice, &same).await.expect_ok()?, before)?;
        check_eq!(poll.fetch(&poll.alice).await?, before)
    }

    /// An omitted field stays unchanged.
    async fn an_edit_keeps_omitted_fields(suite: &Suite) -> TestResult {
        let end = suite.now().saturating_add(Duration::from_secs(3600));
        let new = with(new_poll(), |poll| poll.closes_at = Some(end));
        let poll = PollFixture::new(suite, new).await?;
        let mut expected = poll.fetch(&poll.alice).await?;
        let edit = with(max_choices_update(3), |edit| edit.can_change_vote = Some(true));
        let edited = poll.edit(&poll.alice, &edit).await.expect_ok()?;
        (expected.max_choices, expected.can_change_vote) = (3, true);
        expected.version = edited.version;
        check_eq!(edited, expected)
    }

    /// Before the first vote, the author can change the options. Afterwards only moderators can; a change by the author
    /// is a conflict. An option that was removed is not found.
    async fn only_moderators_change_options_after_a_vote(suite: &Suite) -> TestResult {
        suite.require(Capability::ModeratorEdits)?;
        let poll = PollFixture::new(suite, new_poll()).await?;
        let [green, black, herbs] = &poll.options;
        let without = options_update(&[(Some(green), "Green"), (Some(black), "Black")]);
        let edited = poll.edit(&poll.alice, &without).await.expect_ok()?;
        poll.check_counts(&edited, &[0, 0], 0)?;
        poll.vote(&poll.bob, &[1]).await.expect_ok()?;
        let renamed = options_update(&[(Some(green), "Oolong"), (Some(black), "Black")]);
        poll.edit(&poll.alice, &renamed).await.expect_conflict()?;
        let gone = options_update(&[(Some(green), "Green"), (Some(herbs), "Herbs")]);
        let moderator = suite.moderator("mod", &poll.forum).await?;
        poll.edit(&moderator, &gone).await.expect_not_found()?;
        let edited = poll.edit(&moderator, &renamed).await.expect_ok()?;
        poll.check_counts(&edited, &[0, 1], 1)
    }

    /// Before the first vote, the author can change the question. Afterwards only moderators can; a different question
    /// from the author is a conflict.
    async fn only_moderators_change_the_question_after_a_vote(suite: &Suite) -> TestResult {
        suite.require(Capability::ModeratorEdits)?;
        let poll = PollFixture::new(suite, new_poll()).await?;
        poll.edit(&poll.alice, &question_update("Which coffee?")).await.expect_ok()?;
        poll.vote(&poll.bob, &[1]).await.expect_ok()?;
        poll.edit(&poll.alice, &question_update("Which milk?")).await.expect_conflict()?;
        poll.edit(&poll.alice, &question_update("Which coffee?")).await.expect_ok()?;
        check_eq!(poll.fetch(&poll.bob).await?.question, "Which coffee?")?;
        let moderator = suite.moderator("mod", &poll.forum).await?;
        let edited = poll.edit(&moderator, &question_update("Which water?")).await.expect_ok()?;
        check_eq!(edited.question, "Which water?")?;
        poll.check_counts(&edited, &[0, 1, 0], 1)
    }

    /// If the author lowers `maxChoices` below the number of options of a vote, this is a conflict. A moderator can
    /// lower it, and the vote remains.
    async fn only_moderators_lower_max_choices_below_a_vote(suite: &Suite) -> TestResult {
        suite.require(Capability::ModeratorEdits)?;
        let poll = PollFixture::with_max_choices(suite, 3).await?;
        poll.vote(&poll.alice, &[1]).await.expect_ok()?;
        poll.vote(&poll.bob, &[0, 2]).await.expect_ok()?;
        poll.edit(&poll.alice, &max_choices_update(1)).await.expect_conflict()?;
        check_eq!(poll.fetch(&poll.alice).await?.max_choices, 3)?;
        poll.edit(&poll.alice, &max_choices_update(2)).await.expect_ok()?;
        let moderator = suite.moderator("mod", &poll.forum).await?;
        let edited = poll.edit(&moderator, &max_choices_update(1)).await.expect_ok()?;
        check_eq!(edited.max_choices, 1)?;
        poll.check_counts(&edited, &[1, 1, 1], 2)?;
        poll.edit(&poll.alice, &max_choices_update(1)).await.expect_ok()?;
        poll.edit(&poll.alice, &max_choices_update(2)).await.expect_ok()?;
        Ok(())
    }

    /// Removing an option removes its votes. A member without remaining options has no vote, and can vote again.
    async fn removing_an_option_removes_its_votes(suite: &Suite) -> TestResult {
        suite.require(Capability::ModeratorEdits)?;
        let poll = PollFixture::with_max_choices(suite, 2).await?;
        let [green, black, _] = &poll.options;
        let moderator = suite.moderator("mod", &poll.forum).await?;
        poll.vote(&poll.alice, &[0, 2]).await.expect_ok()?;
        poll.vote(&poll.bob, &[2]).await.expect_ok()?;
        let edit = options_update(&[(None, "Milk"), (Some(black), "Black"), (Some(green), "Oolong")]);
        let edited = poll.edit(&moderator, &edit).await.expect_ok()?;
        check_eq!(option_texts(&edited), ["Milk", "Black", "Oolong"])?;
        poll.check_counts(&edited, &[0, 0, 1], 1)?;
        check_eq!(poll.fetch(&poll.alice).await?.own_vote, Some(vec![green.clone()]))?;
        check_eq!(poll.fetch(&poll.bob).await?.own_vote, None)?;
        poll.vote(&poll.bob, &[2]).await.expect_not_found()?;
        let voted = poll.vote(&poll.bob, &[1]).await.expect_ok()?;
        poll.check_counts(&voted, &[0, 1, 1], 2)
    }

    /// An invalid `question`, `options` or `maxChoices`, or an `optionId` that is not found, changes nothing.
    async fn an_invalid_edit_changes_nothing(suite: &Suite) -> TestResult {
        let poll = PollFixture::new(suite, new_poll()).await?;
        let before = poll.fetch(&poll.alice).await?;
        let [green, black, _] = &poll.options;
        let two = options_update(&[(Some(green), "Green"), (Some(black), "Black")]);
        for (edit, field) in [
            (question_update(" "), "question"),
            (question_update(NOT_SINGLE_LINE[0]), "question"),
            (options_update(&[(Some(green), "Green"), (None, NOT_SINGLE_LINE[3])]), "options[1].text"),
            (options_update(&[]), "options"),
            (options_update(&[(Some(green), "Green")]), "options"),
            (options_update(&[(Some(green), "Tea"), (None, "Tea")]), "options"),
            (max_choices_update(0), "maxChoices"),
            (max_choices_update(4), "maxChoices"),
            (with(two, |edit| edit.max_choices = Some(3)), "maxChoices"),
        ] {
            poll.edit(&poll.alice, &edit).await.expect_validation_error(field)?;
        }
        for unknown in [OptionId::from(i64::MAX), OptionId::empty()] {
            let edit = options_update(&[(Some(green), "Green"), (Some(&unknown), "Black")]);
            poll.edit(&poll.alice, &edit).await.expect_not_found()?;
        }
        check_eq!(poll.fetch(&poll.alice).await?, before)
    }

    /// A `closesAt` in the past closes a poll immediately. A null `closesAt` opens it again.
    async fn closes_at_can_be_set_and_cleared(suite: &Suite) -> TestResult {
        let poll = PollFixture::new(suite, new_poll()).await?;
        let end = suite.now().saturating_sub(Duration::from_secs(60));
        for closes_at in [Some(end), None] {
            let edit = poll_update(|edit| edit.closes_at = closes_at.into());
            let edited = poll.edit(&poll.alice, &edit).await.expect_ok()?;
            check_eq!((edited.closes_at, edited.closed), (closes_at, closes_at.is_some()))?;
            poll.vote(&poll.bob, &[0]).await.expect_ok_if(closes_at.is_none())?;
        }
        Ok(())
    }

    /// An edit of an older version is a conflict with the reason `version_stale` and changes nothing. A vote does not
    /// change the version.
    async fn a_stale_edit_is_a_conflict(suite: &Suite) -> TestResult {
        suite.require(Capability::Versions)?;
        let poll = PollFixture::new(suite, new_poll()).await?;
        check_eq!(poll.fetch(&poll.alice).await?.version, 1)?;
        poll.vote(&poll.bob, &[0]).await.expect_ok()?;
        let first = PollUpdate { expected_version: Some(1), can_change_vote: Some(true), ..PollUpdate::default() };
        let edited = poll.edit(&poll.alice, &first).await.expect_ok()?;
        check_eq!(edited.version, 2)?;
        poll.edit(&poll.alice, &first).await.expect_stale_version()?;
        check_eq!(poll.fetch(&poll.alice).await?, edited)
    }
}
