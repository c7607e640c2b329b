//! Events: no change without one. What has none is in `silence`, and what they hold in `telling`.

use std::collections::BTreeSet;

use super::message_fixture::{message, three};
use super::poll_fixture::{Asking, tea, to_question};
use super::recorded_event::{of, silent, tells, tells_one, told};
use super::reputation::rate;
use super::sanitizing::{reply, start};
use super::thread_fixture::{Scene, edit};
use super::{Part, Role, Suite, Verdict, equal};
use crate::model::{NewPoll, PostAt, State};
use crate::webhook::Topic;

board_rules!(
    mod events;

    /// A thread is told of before its first post, and a reply by itself.
    async fn what_is_posted_is_told_of(suite: &Suite) -> Verdict {
        let (forum, alice) = suite.forum_and_member().await?;
        let thread = alice
            .start_thread(&forum, &start("Kettles", "Which one?"))
            .await?
            .granted()?;
        let first = [
            of(&Topic::THREAD_CREATED, &thread.thread_id),
            of(&Topic::POST_CREATED, &thread.first_post_id),
        ];
        tells(suite, &first).await?;
        let post = alice
            .reply(&thread.thread_id, &reply("The red one."))
            .await?
            .granted()?
            .it;
        tells_one(suite, &Topic::POST_CREATED, &post.post_id).await
    }

    /// An edit is told of, that of a first post too.
    async fn an_edit_is_told_of(suite: &Suite) -> Verdict {
        let Scene {
            otto,
            alice,
            first,
            at,
            ..
        } = scene(suite).await?;
        for (author, at) in [(otto, first), (alice, at)] {
            author
                .edit_post(&at, &edit("Better words"))
                .await?
                .granted()?;
            tells_one(suite, &Topic::POST_UPDATED, &at.post).await?;
        }
        Ok(())
    }

    /// An edit of what was approved has one event, `post.updated`: at once, or when it is approved again if it awaits that. The
    /// same holds for a first post.
    async fn an_edit_of_what_was_approved_is_told_of(suite: &Suite) -> Verdict {
        let Scene { forum, at, .. } = scene(suite).await?;
        let nora = suite.newcomer("nora").await?;
        let first = suite.thread(&nora, &forum).await?.at();
        let post = suite.post(&nora, &at.thread).await?;
        for at in [first, PostAt { post, ..at }] {
            suite.stage.approve(&at.post).await?;
            told(suite).await?;
            let edited = nora.edit_post(&at, &edit("Other words")).await?;
            if edited.granted()?.it.state == State::AwaitingApproval {
                silent(suite).await?;
                suite.stage.approve(&at.post).await?;
            }
            tells_one(suite, &Topic::POST_UPDATED, &at.post).await?;
        }
        Ok(())
    }

    /// That a reply is deleted is told of, and that it is there again.
    async fn a_deletion_is_told_of(suite: &Suite) -> Verdict {
        let Scene { alice, at, .. } = scene(suite).await?;
        alice.delete_post(&at).await?.granted()?;
        tells_one(suite, &Topic::POST_DELETED, &at.post).await?;
        suite.stage.restore(&at.post).await?;
        tells_one(suite, &Topic::POST_RESTORED, &at.post).await
    }

    /// What becomes of a first post is told of its thread alone, and what becomes of the replies meanwhile is not.
    async fn a_first_post_is_told_of_as_its_thread(suite: &Suite) -> Verdict {
        let Scene { first, at, .. } = scene(suite).await?;
        let ada = suite.join("ada", Role::Administrator).await?;
        ada.delete_post(&first).await?.granted()?;
        tells_one(suite, &Topic::THREAD_DELETED, &first.thread).await?;
        ada.delete_post(&at).await?.granted()?;
        suite.stage.restore(&at.post).await?;
        silent(suite).await?;
        suite.stage.restore(&first.post).await?;
        tells_one(suite, &Topic::THREAD_RESTORED, &first.thread).await
    }

    /// A vote is told of, and so is one that is changed.
    async fn a_vote_is_told_of(suite: &Suite) -> Verdict {
        let poll = poll(suite).await?;
        for places in [[0], [1]] {
            poll.cast(&poll.bob, &places).await?.granted()?;
            tells_one(suite, &Topic::POLL_VOTED, &poll.id).await?;
        }
        Ok(())
    }

    /// An edit of a poll is told of.
    async fn an_edit_of_a_poll_is_told_of(suite: &Suite) -> Verdict {
        let poll = poll(suite).await?;
        poll.edit(&poll.alice, &to_question("Which tea, then?"))
            .await?
            .granted()?;
        tells_one(suite, &Topic::POLL_UPDATED, &poll.id).await
    }

    /// A rating is told of, for a post or without one.
    async fn a_rating_is_told_of(suite: &Suite) -> Verdict {
        let Scene {
            otto, alice, at, ..
        } = scene(suite).await?;
        for post in [None, Some(&at.post)] {
            let rating = otto.rate(&alice.by_id(), &rate(1, post)).await?.granted()?;
            tells_one(suite, &Topic::MEMBER_RATED, &rating.rating_id).await?;
        }
        Ok(())
    }

    /// A message is told of once, however many get it.
    async fn a_message_is_told_of_once(suite: &Suite) -> Verdict {
        let (alice, bob, carol) = three(suite).await?;
        let new = message(suite, [bob.by_id(), carol.by_id()]);
        let sent = alice.send_message(&new).await?.granted()?.summary;
        tells_one(suite, &Topic::MESSAGE_SENT, &sent.message_id).await
    }

    /// Of replies that are written at once, each is told of once.
    async fn replies_at_once_are_each_told_of(suite: &Suite) -> Verdict {
        let Scene { at, .. } = scene(suite).await?;
        let mut replies = Vec::new();
        for name in ["ann", "ben", "cem", "dan", "eve", "fay"] {
            let (author, thread) = (suite.member(name).await?, at.thread.clone());
            replies.push(async move { author.reply(&thread, &reply("Now")).await?.granted() });
        }
        let (count, mut written) = (replies.len(), BTreeSet::new());
        for reply in suite.race(replies).await {
            written.insert(of(&Topic::POST_CREATED, reply?.it.post_id));
        }
        let told = told(suite).await?;
        let found: BTreeSet<_> = told.iter().map(|told| told.of.clone()).collect();
        equal("what is told", found, written)?;
        equal("how many events", told.len(), count)?;
        let ids: BTreeSet<_> = told.into_iter().map(|told| told.id).collect();
        equal("how many ids", ids.len(), count)
    }

    /// Of deletions of one post at once, the one that is made is told of.
    async fn of_deletions_at_once_one_is_told_of(suite: &Suite) -> Verdict {
        let Scene { alice, at, .. } = scene(suite).await?;
        let deletions = (0..16).map(|_| {
            let (alice, at) = (alice.clone(), at.clone());
            async move { alice.delete_post(&at).await }
        });
        for deletion in suite.race(deletions).await {
            deletion?.reply().1.ok();
        }
        tells_one(suite, &Topic::POST_DELETED, &at.post).await
    }

    /// Of votes of one member at once, the one that counts is told of.
    async fn of_votes_at_once_one_is_told_of(suite: &Suite) -> Verdict {
        let poll = Asking::new(suite, tea()).await?;
        told(suite).await?;
        let votes = (0..16).map(|number| {
            let (bob, id, vote) = (poll.bob.clone(), poll.id.clone(), poll.vote(&[number % 3]));
            async move { bob.vote(&id, &vote).await }
        });
        for vote in suite.race(votes).await {
            vote?.reply().1.ok();
        }
        tells_one(suite, &Topic::POLL_VOTED, &poll.id).await
    }
);

/// A thread with a reply, of which everybody was told.
pub(crate) async fn scene(suite: &Suite) -> Verdict<Scene> {
    suite.needs(Part::Events)?;
    let scene = Scene::set(suite).await?;
    told(suite).await.map(|_| scene)
}

/// A poll in which votes can be changed, of which everybody was told.
pub(crate) async fn poll(suite: &Suite) -> Verdict<Asking> {
    let terms = NewPoll {
        can_change_vote: true,
        ..tea()
    };
    let poll = Asking::new(suite, terms).await?;
    told(suite).await.map(|_| poll)
}
