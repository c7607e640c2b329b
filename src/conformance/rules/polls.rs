//! Polls come with their threads, and are seen by whoever sees those.

use std::time::Duration;

use super::poll_fixture::{Asking, carrying, counted, tea, to_options};
use super::sanitizing::NOT_SINGLE_LINE;
use super::thread_fixture::threads;
use super::{Audience, Part, Role, Suite, Verdict, equal, holds};
use crate::model::{EditPoll, NewPoll, PostAt, ThreadId, Vote};

board_rules!(
    mod polls;

    /// A thread that was started with a poll carries it, and no other thread does.
    async fn a_poll_comes_with_its_thread(suite: &Suite) -> Verdict {
        let poll = Asking::new(suite, tea()).await?;
        let thread = poll.bob.thread(&poll.thread).await?.granted()?;
        equal("the thread's pollId", thread.poll_id, Some(poll.id.clone()))?;
        let seen = poll.seen(&poll.bob).await?;
        let texts = seen.options.iter().map(|option| option.text.as_str());
        let found = texts.collect::<Vec<_>>();
        equal("options", found, ["Green", "Black", "Herbs"])?;
        equal("counts", counted(&seen), (vec![0, 0, 0], 0))?;
        equal("its thread", &seen.thread_id, &poll.thread)?;
        equal("question", seen.question, "Which tea?")?;
        let author = seen.author.map(|author| author.user_id);
        equal("author", author, Some(poll.alice.id()))?;
        let terms = (
            seen.max_choices,
            seen.can_change_vote,
            seen.closes_at,
            seen.closed,
        );
        equal("terms", terms, (1, false, None, false))?;
        let plain = suite.thread(&poll.alice, &poll.forum).await?.thread;
        let thread = poll.bob.thread(&plain).await?.granted()?;
        equal("another thread's pollId", thread.poll_id, None)?;
        poll.bob.poll(&plain).await?.absent()
    }

    /// A poll that cannot be is refused with its thread: neither is there.
    async fn a_refused_poll_leaves_no_thread(suite: &Suite) -> Verdict {
        let forum = suite.forum(Audience::Guests).await?;
        let alice = suite.member("alice").await?;
        let options = |options: &[&str]| NewPoll {
            options: options.iter().map(ToString::to_string).collect(),
            ..tea()
        };
        let most = |max_choices| NewPoll {
            max_choices,
            ..tea()
        };
        let asking = |question: &str| NewPoll {
            question: question.into(),
            ..tea()
        };
        let over = NewPoll {
            closes_at: Some(suite.now()),
            ..tea()
        };
        for (poll, field) in [
            (options(&[]), "options"),
            (options(&["Green"]), "options"),
            (options(&["Green", "Black", "Green"]), "options"),
            (most(0), "maxChoices"),
            (most(4), "maxChoices"),
            (asking(""), "question"),
            (asking(" \n"), "question"),
            (asking(NOT_SINGLE_LINE[0]), "question"),
            (asking(NOT_SINGLE_LINE[3]), "question"),
            (options(&["Green", NOT_SINGLE_LINE[0]]), "options"),
            (over, "closesAt"),
        ] {
            alice
                .start_thread(&forum, &carrying(suite, poll)?)
                .await?
                .invalid(field)?;
        }
        let threads = threads(&alice, &forum).await?;
        holds("no thread was started", threads.is_empty())
    }

    /// Who does not see a thread finds no poll of it, and can neither vote in it nor edit it.
    async fn a_hidden_threads_poll_is_absent(suite: &Suite) -> Verdict {
        let poll = Asking::new(suite, tea()).await?;
        poll.seen(&poll.bob).await?;
        suite.needs(Part::HiddenForums)?;
        suite
            .stage
            .set_readers(&poll.forum, Audience::Staff)
            .await?;
        poll.bob.poll(&poll.thread).await?.absent()?;
        poll.cast(&poll.bob, &[0]).await?.absent()?;
        let edit = to_options([(None, "a"), (None, "b")]);
        for someone in [&poll.alice, &poll.bob] {
            poll.edit(someone, &edit).await?.absent()?;
        }
        let sam = suite.join("sam", Role::Staff).await?;
        let found = counted(&poll.seen(&sam).await?);
        equal("counts", found, (vec![0, 0, 0], 0))
    }

    /// The guest sees a poll as everybody does, and no vote as their own.
    async fn a_guest_sees_polls(suite: &Suite) -> Verdict {
        let guest = suite.guest()?;
        let poll = Asking::new(suite, tea()).await?;
        poll.cast(&poll.alice, &[0]).await?.granted()?;
        let seen = poll.seen(&guest).await?;
        equal("counts", counted(&seen), (vec![1, 0, 0], 1))?;
        equal("own vote", seen.own_vote, None)?;
        suite.needs(Part::HiddenForums)?;
        suite
            .stage
            .set_readers(&poll.forum, Audience::Members)
            .await?;
        guest.poll(&poll.thread).await?.absent()
    }

    /// A poll that is not there is absent, whatever is asked of it.
    async fn an_unknown_poll_is_absent(suite: &Suite) -> Verdict {
        let poll = Asking::new(suite, tea()).await?;
        poll.alice.poll(&ThreadId::from(i64::MAX)).await?.absent()?;
        let unknown = i64::MAX.into();
        poll.alice
            .vote(&unknown, &poll.vote(&[0]))
            .await?
            .absent()?;
        poll.alice
            .vote(&unknown, &Vote::default())
            .await?
            .absent()?;
        let edit = to_options([(None, "a"), (None, "b")]);
        poll.alice.edit_poll(&unknown, &edit).await?.absent()
    }

    /// The poll of a thread that awaits approval is there for whoever the thread is there for.
    async fn a_poll_awaits_approval_with_its_thread(suite: &Suite) -> Verdict {
        let forum = suite.forum(Audience::Guests).await?;
        let (newbie, alice) = (
            suite.newcomer("newbie").await?,
            suite.member("alice").await?,
        );
        let thread = newbie
            .start_thread(&forum, &carrying(suite, tea())?)
            .await?;
        let thread = thread.granted()?.thread_id;
        let poll = newbie.poll(&thread).await?.granted()?.it;
        let options = poll.options.iter().take(1);
        let vote = Vote {
            option_ids: options.map(|option| option.option_id.clone()).collect(),
        };
        newbie.vote(&poll.poll_id, &vote).await?.granted()?;
        alice.poll(&thread).await?.absent()?;
        alice.vote(&poll.poll_id, &vote).await?.absent()?;
        let moderator = suite.moderator("mod", &forum).await?;
        let seen = moderator.poll(&thread).await?.granted()?.it;
        equal("counts", counted(&seen), (vec![1, 0, 0], 1))
    }

    /// Moderators find the poll of a deleted thread, and neither vote in it nor edit it.
    async fn a_poll_is_deleted_with_its_thread(suite: &Suite) -> Verdict {
        let poll = Asking::new(suite, tea()).await?;
        let moderator = suite.moderator("mod", &poll.forum).await?;
        let thread = poll.alice.thread(&poll.thread).await?.granted()?;
        let first = PostAt {
            thread: poll.thread.clone(),
            post: thread.first_post_id,
        };
        moderator.delete_post(&first).await?.granted()?;
        for someone in [&poll.alice, &poll.bob] {
            someone.poll(&poll.thread).await?.absent()?;
            poll.cast(someone, &[0]).await?.absent()?;
        }
        poll.seen(&moderator).await?;
        poll.cast(&moderator, &[0]).await?.forbidden()?;
        let edit = EditPoll {
            can_change_vote: Some(true),
            ..EditPoll::default()
        };
        poll.edit(&moderator, &edit).await?.forbidden()?;
        let found = counted(&poll.seen(&moderator).await?);
        equal("counts", found, (vec![0, 0, 0], 0))
    }

    /// At the time that was set a poll is closed, and nobody votes any more.
    async fn a_poll_closes_by_itself(suite: &Suite) -> Verdict {
        suite.needs(Part::SuiteClock)?;
        let end = suite.now().plus(Duration::from_secs(3600));
        let closes_at = Some(end);
        let poll = Asking::new(suite, NewPoll { closes_at, ..tea() }).await?;
        poll.cast(&poll.alice, &[0]).await?.granted()?;
        let moment = Duration::from_millis(1);
        suite.wait(end.since(suite.now()) - moment);
        for closed in [false, true] {
            let seen = poll.seen(&poll.bob).await?;
            equal("end", (seen.closes_at, seen.closed), (closes_at, closed))?;
            suite.wait(moment);
        }
        poll.cast(&poll.bob, &[0]).await?.forbidden()?;
        let seen = poll.seen(&poll.bob).await?;
        equal("counts", counted(&seen), (vec![1, 0, 0], 1))
    }
);
