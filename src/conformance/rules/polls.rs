//! Polls belong to threads and share their visibility.

use std::time::Duration;

use super::*;
use crate::host::ResourceRef;

board_rules! {
    mod polls, __rules_polls;

    /// A poll belongs to the thread that was created with it, and to no other thread. The poll of a thread without one
    /// is not found.
    async fn a_poll_belongs_to_its_thread(suite: &Suite) -> TestResult {
        let poll = PollFixture::new(suite, new_poll()).await?;
        let thread = poll.bob.fetch_thread(&poll.thread).await?;
        check_eq!(thread.poll_id.as_ref(), Some(&poll.id))?;
        let seen = poll.fetch(&poll.bob).await?;
        check_eq!(option_texts(&seen), ["Green", "Black", "Herbs"])?;
        poll.check_counts(&seen, &[0, 0, 0], 0)?;
        check_eq!(seen.question, "Which tea?")?;
        check_eq!(seen.thread_id, poll.thread)?;
        check_eq!(author_id(&seen.author), Some(poll.alice.id()))?;
        check_eq!((seen.max_choices, seen.can_change_vote), (1, false))?;
        check_eq!((seen.closes_at, seen.closed), (None, false))?;
        let plain = suite.thread(&poll.alice, &poll.forum).await?.thread_id;
        check_eq!(poll.bob.fetch_thread(&plain).await?.poll_id, None)?;
        poll.bob.get_poll(&plain).await.expect_path_not_found()
    }

    /// A poll is in the forum of its thread.
    async fn a_poll_is_in_the_forum_of_its_thread(suite: &Suite) -> TestResult {
        suite.forum(Audience::Guests).await?;
        let poll = PollFixture::new(suite, new_poll()).await?;
        check_eq!(poll.bob.containing_forum(&ResourceRef::Poll(&poll.id)).await.expect_ok()?, poll.forum)
    }

    /// A poll is invalid if its `poll.question` is blank or has several lines, if it has fewer than 2 or repeated
    /// `poll.options` or an option of several lines (`poll.options[1]`), if `poll.maxChoices` is below 1 or above their
    /// number, or if `poll.closesAt` is not in the future. The board then writes no thread.
    async fn an_invalid_poll_creates_no_thread(suite: &Suite) -> TestResult {
        let (forum, alice) = suite.forum_and_member().await?;
        let options = |texts: &[&str]| {
            with(new_poll(), |poll| poll.options = texts.iter().map(ToString::to_string).collect())
        };
        let choices = |max_choices| with(new_poll(), |poll| poll.max_choices = max_choices);
        let question = |question: &str| with(new_poll(), |poll| poll.question = question.into());
        for (poll, field) in [
            (options(&[]), "poll.options"),
            (options(&["Green"]), "poll.options"),
            (options(&["Green", "Black", "Green"]), "poll.options"),
            (choices(0), "poll.maxChoices"),
            (choices(4), "poll.maxChoices"),
            (question(""), "poll.question"),
            (question(" \n"), "poll.question"),
            (question(NOT_SINGLE_LINE[0]), "poll.question"),
            (question(NOT_SINGLE_LINE[3]), "poll.question"),
            (options(&["Green", NOT_SINGLE_LINE[0]]), "poll.options[1]"),
            (with(new_poll(), |poll| poll.closes_at = Some(suite.now())), "poll.closesAt"),
        ] {
            let new = thread_with_poll(suite, poll)?;
            alice.create_thread(&forum, &new).await.expect_validation_error(field)?;
        }
        check_eq!(alice.fetch_threads(&forum).await?, [])
    }

    /// The poll of a hidden thread is not found by reads, votes and edits.
    async fn a_hidden_threads_poll_is_not_found(suite: &Suite) -> TestResult {
        let poll = PollFixture::new(suite, new_poll()).await?;
        poll.fetch(&poll.bob).await?;
        suite.require(Capability::HiddenForums)?;
        suite.fixture.set_readers(&poll.forum, Audience::Staff).await?;
        poll.bob.get_poll(&poll.thread).await.expect_path_not_found()?;
        poll.vote(&poll.bob, &[0]).await.expect_path_not_found()?;
        let edit = options_update(&[(None, "a"), (None, "b")]);
        for caller in [&poll.alice, &poll.bob] {
            poll.edit(caller, &edit).await.expect_path_not_found()?;
        }
        poll.expect_counts(&suite.staff("sam").await?, [0, 0, 0], 0).await
    }

    /// A guest sees the poll of a visible thread, without a vote.
    async fn guests_see_polls(suite: &Suite) -> TestResult {
        let guest = suite.guest()?;
        let poll = PollFixture::new(suite, new_poll()).await?;
        poll.vote(&poll.alice, &[0]).await.expect_ok()?;
        let seen = poll.fetch(&guest).await?;
        poll.check_counts(&seen, &[1, 0, 0], 1)?;
        check_eq!(seen.own_vote, None)?;
        suite.require(Capability::HiddenForums)?;
        suite.fixture.set_readers(&poll.forum, Audience::Staff).await?;
        guest.get_poll(&poll.thread).await.expect_path_not_found()
    }

    /// An unknown poll is not found by any call.
    async fn an_unknown_poll_is_not_found(suite: &Suite) -> TestResult {
        let poll = PollFixture::new(suite, new_poll()).await?;
        let alice = &poll.alice;
        alice.get_poll(&ThreadId::from(i64::MAX)).await.expect_path_not_found()?;
        let unknown = i64::MAX.into();
        for vote in [poll.new_vote(&[0]), NewVote::default()] {
            alice.vote(&unknown, &vote).await.expect_path_not_found()?;
        }
        let edit = options_update(&[(None, "a"), (None, "b")]);
        alice.update_poll(&unknown, &edit).await.expect_path_not_found()
    }

    /// Only callers who see a thread that awaits approval see its poll, and can vote.
    async fn a_poll_awaits_approval_with_its_thread(suite: &Suite) -> TestResult {
        let (forum, bob) = suite.forum_and_member().await?;
        let nora = suite.newcomer("nora").await?;
        let poll = PollFixture::create(nora, bob, forum, &thread_with_poll(suite, new_poll())?).await?;
        poll.vote(&poll.alice, &[0]).await.expect_ok()?;
        poll.bob.get_poll(&poll.thread).await.expect_path_not_found()?;
        poll.vote(&poll.bob, &[0]).await.expect_path_not_found()?;
        let moderator = suite.moderator("mod", &poll.forum).await?;
        poll.expect_counts(&moderator, [1, 0, 0], 1).await
    }

    /// Moderators see the poll of a deleted thread, but their votes and edits are forbidden. Other callers do not find
    /// the poll.
    async fn a_poll_is_deleted_with_its_thread(suite: &Suite) -> TestResult {
        let poll = PollFixture::new(suite, new_poll()).await?;
        let moderator = suite.moderator("mod", &poll.forum).await?;
        let post = poll.alice.fetch_thread(&poll.thread).await?.first_post_id;
        let first = PostPath::new(poll.thread.clone(), post);
        moderator.delete_post(&first).await.expect_ok()?;
        for caller in [&poll.alice, &poll.bob] {
            caller.get_poll(&poll.thread).await.expect_path_not_found()?;
            poll.vote(caller, &[0]).await.expect_path_not_found()?;
        }
        if suite.require(Capability::SoftDeletion).is_err() {
            return moderator.get_poll(&poll.thread).await.expect_path_not_found();
        }
        poll.fetch(&moderator).await?;
        poll.vote(&moderator, &[0]).await.expect_forbidden()?;
        let edit = poll_update(|edit| edit.can_change_vote = Some(true));
        poll.edit(&moderator, &edit).await.expect_forbidden()?;
        poll.expect_counts(&moderator, [0, 0, 0], 0).await
    }

    /// A poll is closed from its `closesAt` on. Votes are then forbidden.
    async fn a_poll_closes_at_its_closing_time(suite: &Suite) -> TestResult {
        suite.require(Capability::InjectedClock)?;
        let end = suite.now().saturating_add(Duration::from_secs(3600));
        let new = with(new_poll(), |poll| poll.closes_at = Some(end));
        let poll = PollFixture::new(suite, new).await?;
        poll.vote(&poll.alice, &[0]).await.expect_ok()?;
        let tick = Duration::from_millis(1);
        suite.advance(end.saturating_duration_since(suite.now()) - tick);
        for closed in [false, true] {
            let seen = poll.fetch(&poll.bob).await?;
            check_eq!((seen.closes_at, seen.closed), (Some(end), closed))?;
            suite.advance(tick);
        }
        poll.vote(&poll.bob, &[0]).await.expect_forbidden()?;
        poll.expect_counts(&poll.bob, [1, 0, 0], 1).await
    }
}
