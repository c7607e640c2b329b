//! Votes: who casts them, and how they count.

use super::poll_fixture::{Asking, carrying, counted, tea};
use super::{Audience, Part, Role, Suite, Verdict, equal};
use crate::host::Refusal;
use crate::model::{NewPoll, OptionId, Vote};

board_rules!(
    mod votes;

    /// A vote counts for its option, and is told to its voter alone.
    async fn a_vote_counts_and_is_its_voters_own(suite: &Suite) -> Verdict {
        let poll = Asking::new(suite, tea()).await?;
        let voted = poll.cast(&poll.bob, &[1]).await?.granted()?.it;
        equal("counts", counted(&voted), (vec![0, 1, 0], 1))?;
        let found = &voted.own_vote;
        equal("own vote", found, &Some(poll.vote(&[1]).option_ids))?;
        equal("as read again", poll.seen(&poll.bob).await?, voted)?;
        let seen = poll.seen(&poll.alice).await?;
        equal("counts for another", counted(&seen), (vec![0, 1, 0], 1))?;
        equal("own vote of another", seen.own_vote, None)
    }

    /// Who chooses several options counts for each of them, and as one voter.
    async fn a_vote_for_several_is_one_voters(suite: &Suite) -> Verdict {
        let poll = Asking::with_max_choices(suite, 2).await?;
        poll.cast(&poll.alice, &[2, 0]).await?.granted()?;
        let voted = poll.cast(&poll.bob, &[0]).await?.granted()?.it;
        equal("counts", counted(&voted), (vec![2, 0, 1], 2))
    }

    /// A vote stands, unless the poll says otherwise: a second one is a conflict.
    async fn a_vote_stands(suite: &Suite) -> Verdict {
        let poll = Asking::new(suite, tea()).await?;
        poll.cast(&poll.bob, &[1]).await?.granted()?;
        for places in [[0], [1]] {
            poll.cast(&poll.bob, &places).await?.conflict()?;
        }
        let seen = poll.seen(&poll.bob).await?;
        equal("counts", counted(&seen), (vec![0, 1, 0], 1))?;
        equal("own vote", seen.own_vote, Some(poll.vote(&[1]).option_ids))
    }

    /// Where the poll says so, a second vote takes the place of the first.
    async fn a_vote_can_be_changed_where_the_poll_says_so(suite: &Suite) -> Verdict {
        let terms = NewPoll {
            can_change_vote: true,
            max_choices: 2,
            ..tea()
        };
        let poll = Asking::new(suite, terms).await?;
        poll.cast(&poll.alice, &[0]).await?.granted()?;
        for (places, votes) in [
            (&[0, 1][..], vec![2, 1, 0]),
            (&[2], vec![1, 0, 1]),
            (&[2], vec![1, 0, 1]),
        ] {
            let voted = poll.cast(&poll.bob, places).await?.granted()?.it;
            equal("counts", counted(&voted), (votes, 2))?;
            let found = voted.own_vote;
            equal("own vote", found, Some(poll.vote(places).option_ids))?;
        }
        Ok(())
    }

    /// A vote names one option to as many as can be chosen, each once, and all of this poll. What is refused is not counted.
    async fn a_vote_names_what_can_be_chosen(suite: &Suite) -> Verdict {
        let poll = Asking::with_max_choices(suite, 2).await?;
        for places in [&[][..], &[1, 1], &[0, 1, 2]] {
            poll.cast(&poll.bob, places).await?.invalid("optionIds")?;
        }
        let other = poll
            .alice
            .start_thread(&poll.forum, &carrying(suite, tea())?)
            .await?;
        let other = poll
            .alice
            .poll(&other.granted()?.thread_id)
            .await?
            .granted()?
            .it;
        let elsewhere = other.options.into_iter().map(|option| option.option_id);
        for stranger in elsewhere
            .take(1)
            .chain([OptionId::from(i64::MAX), OptionId::nothing()])
        {
            let Vote { mut option_ids } = poll.vote(&[0]);
            option_ids.push(stranger);
            let vote = Vote { option_ids };
            poll.bob.vote(&poll.id, &vote).await?.not_found()?;
        }
        let found = counted(&poll.seen(&poll.bob).await?);
        equal("counts", found, (vec![0, 0, 0], 0))
    }

    /// Of many votes of one member at once, one counts.
    async fn of_many_votes_at_once_one_counts(suite: &Suite) -> Verdict {
        let poll = Asking::new(suite, tea()).await?;
        let votes = (0..50).map(|number| {
            let (bob, id, vote) = (poll.bob.clone(), poll.id.clone(), poll.vote(&[number % 3]));
            async move { bob.vote(&id, &vote).await }
        });
        let mut counts = Vec::new();
        for voted in suite.race(votes).await {
            let (what, reply) = voted?.reply();
            match reply {
                Ok(voted) => counts.push(counted(&voted.it)),
                Err(refusal) => equal(what, matches!(refusal, Refusal::Conflict(_)), true)?,
            }
        }
        equal("votes that counted", counts.len(), 1)?;
        let seen = counted(&poll.seen(&poll.bob).await?);
        equal("counts", Some(seen), counts.pop())
    }

    /// A locked thread takes votes.
    async fn a_locked_thread_takes_votes(suite: &Suite) -> Verdict {
        suite.needs(Part::Locking)?;
        let poll = Asking::new(suite, tea()).await?;
        suite.stage.set_locked(&poll.thread, true).await?;
        poll.cast(&poll.bob, &[0]).await?.granted()?;
        Ok(())
    }

    /// Who sees a thread may vote in its poll, though they may write nothing there.
    async fn voting_takes_sight_alone(suite: &Suite) -> Verdict {
        let forum = suite
            .forum_of(None, Audience::Guests, Audience::Staff)
            .await?;
        let sam = suite.join("sam", Role::Staff).await?;
        let thread = sam.start_thread(&forum, &carrying(suite, tea())?).await?;
        let poll = sam.poll(&thread.granted()?.thread_id).await?.granted()?.it;
        let options = poll.options.into_iter().take(1);
        let vote = Vote {
            option_ids: options.map(|option| option.option_id).collect(),
        };
        let alice = suite.member("alice").await?;
        let voted = alice.vote(&poll.poll_id, &vote).await?.granted()?.it;
        equal("counts", counted(&voted), (vec![1, 0, 0], 1))
    }

    /// Who loses sight of a thread while their vote is under way does not vote.
    async fn a_vote_is_decided_when_it_is_counted(suite: &Suite) -> Verdict {
        suite.needs(Part::HiddenForums)?;
        let poll = Asking::new(suite, tea()).await?;
        let bob = poll.bob.hold().await?;
        suite
            .stage
            .set_readers(&poll.forum, Audience::Staff)
            .await?;
        poll.cast(&bob, &[0]).await?.absent()?;
        suite
            .stage
            .set_readers(&poll.forum, Audience::Guests)
            .await?;
        let found = counted(&poll.seen(&bob).await?);
        equal("counts", found, (vec![0, 0, 0], 0))
    }

    /// A vote of one who was banned since the request began does not count.
    async fn a_banned_member_votes_no_longer(suite: &Suite) -> Verdict {
        suite.needs(Part::Bans)?;
        let poll = Asking::new(suite, tea()).await?;
        let bob = poll.bob.hold().await?;
        suite.stage.set_banned(&bob.id(), true).await?;
        poll.cast(&bob, &[0]).await?.barred()?;
        let seen = poll.seen(&poll.alice).await?;
        equal("counts", counted(&seen), (vec![0, 0, 0], 0))
    }

    /// What a member voted still counts when the account is gone.
    async fn a_vote_outlives_its_account(suite: &Suite) -> Verdict {
        suite.needs(Part::Removal)?;
        let poll = Asking::new(suite, tea()).await?;
        poll.cast(&poll.bob, &[2]).await?.granted()?;
        suite.stage.remove_account(&poll.bob.id()).await?;
        let seen = poll.seen(&poll.alice).await?;
        equal("counts", counted(&seen), (vec![0, 0, 1], 1))?;
        equal("own vote", seen.own_vote, None)
    }
);
