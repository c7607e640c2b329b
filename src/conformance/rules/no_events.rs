//! What no event tells of: what awaits approval, what is refused, and what is somebody's own affair.

use super::events::{poll, scene};
use super::message_fixture::{inbox, message, only, open, three};
use super::poll_fixture::{carrying, tea, to_question};
use super::recorded_event::{of, silent, tells, tells_one, told};
use super::reputation::rate;
use super::sanitizing::{reply, start};
use super::thread_fixture::{Scene, edit};
use super::{Audience, Suite, Verdict};
use crate::model::{PostAt, SendMessage, Target, UserRef, Vote};
use crate::webhook::Topic;

board_rules!(
    mod no_events;

    /// What awaits approval is told of when it is approved, and not before: neither its edits nor its deletion.
    async fn what_awaits_approval_is_silent(suite: &Suite) -> Verdict {
        let Scene { forum, at, .. } = scene(suite).await?;
        let nora = suite.newcomer("nora").await?;
        let waiting = suite.thread(&nora, &forum).await?;
        let first = PostAt {
            thread: waiting.thread,
            post: waiting.first,
        };
        nora.edit_post(&first, &edit("Better words"))
            .await?
            .granted()?;
        silent(suite).await?;
        suite.stage.approve(&first.post).await?;
        let created = [
            of(&Topic::THREAD_CREATED, &first.thread),
            of(&Topic::POST_CREATED, &first.post),
        ];
        tells(suite, &created).await?;
        let post = suite.post(&nora, &at.thread).await?;
        let other = suite.post(&nora, &at.thread).await?;
        nora.edit_post(
            &PostAt {
                post: post.clone(),
                ..at.clone()
            },
            &edit("Better words"),
        )
        .await?
        .granted()?;
        nora.delete_post(&PostAt { post: other, ..at })
            .await?
            .granted()?;
        silent(suite).await?;
        suite.stage.approve(&post).await?;
        tells_one(suite, &Topic::POST_CREATED, &post).await
    }

    /// A poll that awaits approval with its thread is silent as well.
    async fn a_poll_that_awaits_approval_is_silent(suite: &Suite) -> Verdict {
        let (forum, nora) = (
            suite.forum(Audience::Guests).await?,
            suite.newcomer("nora").await?,
        );
        let thread = nora
            .start_thread(&forum, &carrying(suite, tea())?)
            .await?
            .granted()?;
        let poll = nora.poll(&thread.thread_id).await?.granted()?.it;
        nora.edit_poll(&poll.poll_id, &to_question("Which tea, then?"))
            .await?
            .granted()?;
        let options = poll.options.into_iter().take(1);
        let vote = Vote {
            option_ids: options.map(|option| option.option_id).collect(),
        };
        nora.vote(&poll.poll_id, &vote).await?.granted()?;
        silent(suite).await
    }

    /// That a message is read is told to its sender at most, by the receipt.
    async fn reading_a_message_is_silent(suite: &Suite) -> Verdict {
        let (alice, bob, _) = three(suite).await?;
        let new = SendMessage {
            request_receipt: true,
            ..message(suite, [bob.by_id()])
        };
        alice.send_message(&new).await?.granted()?;
        told(suite).await?;
        open(&bob, &only(&inbox(&bob).await?)?.message_id).await?;
        silent(suite).await
    }

    /// What somebody follows is their own affair.
    async fn following_is_silent(suite: &Suite) -> Verdict {
        let Scene { otto, at, .. } = scene(suite).await?;
        let what = Target::Thread(at.thread);
        otto.follow(&what).await?.granted()?;
        otto.unfollow(&what).await?.granted()?;
        silent(suite).await
    }

    /// What is not written is not told of.
    async fn a_refused_post_is_silent(suite: &Suite) -> Verdict {
        let Scene {
            forum, alice, at, ..
        } = scene(suite).await?;
        alice
            .start_thread(&forum, &start("", "Words"))
            .await?
            .invalid("title")?;
        alice.reply(&at.thread, &reply("")).await?.invalid("body")?;
        silent(suite).await
    }

    /// What is not edited is not told of.
    async fn a_refused_edit_is_silent(suite: &Suite) -> Verdict {
        let Scene {
            otto, alice, at, ..
        } = scene(suite).await?;
        otto.edit_post(&at, &edit("Other words"))
            .await?
            .forbidden()?;
        alice.edit_post(&at, &edit("")).await?.invalid("body")?;
        silent(suite).await
    }

    /// What is not deleted is not told of.
    async fn a_refused_deletion_is_silent(suite: &Suite) -> Verdict {
        let Scene {
            otto,
            alice,
            first,
            at,
            ..
        } = scene(suite).await?;
        otto.delete_post(&at).await?.forbidden()?;
        alice.delete_post(&first).await?.forbidden()?;
        silent(suite).await
    }

    /// A vote that does not count, and an edit that is not made, are not told of.
    async fn a_refused_vote_is_silent(suite: &Suite) -> Verdict {
        let poll = poll(suite).await?;
        poll.cast(&poll.bob, &[]).await?.invalid("optionIds")?;
        poll.edit(&poll.bob, &to_question("Which?"))
            .await?
            .forbidden()?;
        silent(suite).await
    }

    /// A rating that is not given is not told of.
    async fn a_refused_rating_is_silent(suite: &Suite) -> Verdict {
        let (alice, bob, _) = three(suite).await?;
        alice
            .rate(&alice.by_id(), &rate(1, None))
            .await?
            .forbidden()?;
        alice
            .rate(&bob.by_id(), &rate(0, None))
            .await?
            .invalid("points")?;
        silent(suite).await
    }

    /// A message that one of its recipients does not get is not told of.
    async fn a_refused_message_is_silent(suite: &Suite) -> Verdict {
        let (alice, bob, _) = three(suite).await?;
        let nobody = UserRef::Name("nobody".into());
        let new = message(suite, [bob.by_id(), nobody]);
        alice.send_message(&new).await?.not_found()?;
        silent(suite).await
    }
);
