//! Votes.

use super::*;

board_rules! {
    mod votes, __rules_votes;

    /// A vote is counted for its option. `ownVote` shows it only to its voter.
    async fn a_vote_is_counted_and_shown_only_to_its_voter(suite: &Suite) -> TestResult {
        let poll = PollFixture::new(suite, new_poll()).await?;
        let voted = poll.vote(&poll.bob, &[1]).await.expect_ok()?;
        poll.check_counts(&voted, &[0, 1, 0], 1)?;
        check_eq!(voted.own_vote, Some(poll.new_vote(&[1]).option_ids))?;
        check_eq!(poll.fetch(&poll.bob).await?, voted)?;
        let seen = poll.fetch(&poll.alice).await?;
        poll.check_counts(&seen, &[0, 1, 0], 1)?;
        check_eq!(seen.own_vote, None)
    }

    /// A vote for several options is counted for each of them, and once in `totalVotes`.
    async fn a_vote_for_several_options_counts_one_voter(suite: &Suite) -> TestResult {
        let poll = PollFixture::with_max_choices(suite, 2).await?;
        poll.vote(&poll.alice, &[2, 0]).await.expect_ok()?;
        let voted = poll.vote(&poll.bob, &[0]).await.expect_ok()?;
        poll.check_counts(&voted, &[2, 0, 1], 2)
    }

    /// A second vote is a conflict unless `canChangeVote` is true.
    async fn a_vote_is_final(suite: &Suite) -> TestResult {
        let poll = PollFixture::new(suite, new_poll()).await?;
        poll.vote(&poll.bob, &[1]).await.expect_ok()?;
        for indexes in [[0], [1]] {
            poll.vote(&poll.bob, &indexes).await.expect_conflict()?;
        }
        let seen = poll.fetch(&poll.bob).await?;
        poll.check_counts(&seen, &[0, 1, 0], 1)?;
        check_eq!(seen.own_vote, Some(poll.new_vote(&[1]).option_ids))
    }

    /// If `canChangeVote` is true, a second vote replaces the first.
    async fn a_vote_can_be_changed_if_the_poll_allows_it(suite: &Suite) -> TestResult {
        let new = NewPoll { can_change_vote: true, max_choices: 2, ..new_poll() };
        let poll = PollFixture::new(suite, new).await?;
        poll.vote(&poll.alice, &[0]).await.expect_ok()?;
        for (indexes, votes) in [(&[0, 1][..], [2, 1, 0]), (&[2], [1, 0, 1]), (&[2], [1, 0, 1])] {
            let voted = poll.vote(&poll.bob, indexes).await.expect_ok()?;
            poll.check_counts(&voted, &votes, 2)?;
            check_eq!(voted.own_vote, Some(poll.new_vote(indexes).option_ids))?;
        }
        Ok(())
    }

    /// A vote without an option, with a repeated option or with more than `maxChoices` options is invalid
    /// (`optionIds`). An id that is not an option of the poll is not found.
    async fn a_vote_names_valid_options(suite: &Suite) -> TestResult {
        let poll = PollFixture::with_max_choices(suite, 2).await?;
        for indexes in [&[][..], &[1, 1], &[0, 1, 2]] {
            poll.vote(&poll.bob, indexes).await.expect_validation_error("optionIds")?;
        }
        let alice = poll.alice.clone();
        let bob = poll.bob.clone();
        let forum = poll.forum.clone();
        let other = PollFixture::create(alice, bob, forum, &thread_with_poll(suite, new_poll())?).await?;
        let [elsewhere, ..] = other.options;
        for unknown in [elsewhere, OptionId::from(i64::MAX), OptionId::empty()] {
            let vote = with(poll.new_vote(&[0]), |vote| vote.option_ids.push(unknown));
            poll.bob.vote(&poll.id, &vote).await.expect_not_found()?;
        }
        poll.expect_counts(&poll.bob, [0, 0, 0], 0).await
    }

    /// Exactly one of several concurrent votes of a member is counted.
    async fn one_of_concurrent_votes_counts(suite: &Suite) -> TestResult {
        let poll = PollFixture::new(suite, new_poll()).await?;
        let voted = poll.race_to_vote(suite).await?;
        let chosen = voted.own_vote.clone().unwrap_or_default();
        let votes = poll.options.clone().map(|option| u64::from(chosen.contains(&option)));
        poll.check_counts(&voted, &votes, 1)?;
        check_eq!(poll.fetch(&poll.bob).await?, voted)
    }

    /// A locked thread takes votes.
    async fn a_locked_thread_takes_votes(suite: &Suite) -> TestResult {
        suite.require(Capability::Locking)?;
        let poll = PollFixture::new(suite, new_poll()).await?;
        suite.fixture.set_locked(&poll.thread, true).await?;
        poll.vote(&poll.bob, &[0]).await.expect_ok().map(drop)
    }

    /// A caller who sees a thread can vote in its poll, even without permission to write.
    async fn voting_requires_only_visibility(suite: &Suite) -> TestResult {
        let forum = suite.add_forum(None, Audience::Guests, Audience::Staff).await?;
        let sam = suite.staff("sam").await?;
        let bob = suite.member("bob").await?;
        let poll = PollFixture::create(sam, bob, forum, &thread_with_poll(suite, new_poll())?).await?;
        let voted = poll.vote(&poll.bob, &[0]).await.expect_ok()?;
        poll.check_counts(&voted, &[1, 0, 0], 1)
    }

    /// A vote checks visibility when it is counted: a thread that was hidden after the request began is not found.
    async fn a_vote_in_a_newly_hidden_thread_is_not_found(suite: &Suite) -> TestResult {
        suite.require(Capability::HiddenForums)?;
        let poll = PollFixture::new(suite, new_poll()).await?;
        let cached = poll.bob.cache_access().await?;
        suite.fixture.set_readers(&poll.forum, Audience::Staff).await?;
        poll.vote(&cached, &[0]).await.expect_path_not_found()?;
        suite.fixture.set_readers(&poll.forum, Audience::Guests).await?;
        poll.expect_counts(&poll.bob, [0, 0, 0], 0).await
    }

    /// A vote by a member who was banned after the request began is not counted.
    async fn a_banned_member_cannot_vote(suite: &Suite) -> TestResult {
        let poll = PollFixture::new(suite, new_poll()).await?;
        let cached = suite.ban_during_request(&poll.bob).await?;
        poll.vote(&cached, &[0]).await.expect_denied()?;
        poll.expect_counts(&poll.alice, [0, 0, 0], 0).await
    }

    /// A vote is still counted after its voter's account was removed.
    async fn a_vote_remains_when_its_voter_is_removed(suite: &Suite) -> TestResult {
        suite.require(Capability::AccountRemoval)?;
        let poll = PollFixture::new(suite, new_poll()).await?;
        poll.vote(&poll.bob, &[2]).await.expect_ok()?;
        suite.fixture.remove_account(&poll.bob.id()).await?;
        let seen = poll.fetch(&poll.alice).await?;
        poll.check_counts(&seen, &[0, 0, 1], 1)?;
        check_eq!(seen.own_vote, None)
    }
}
