//! Posts and threads that are soft-deleted: by whom, and for whom they are there from then on.

use super::sanitizing::reply;
use super::thread_fixture::{self, Scene, edit, no_posts, post, state, threads};
use super::{Part, Role, Stop, Suite, Verdict, equal, holds};
use crate::host::{Place, Refusal};
use crate::model::{PostAt, State};

board_rules!(
    mod deletion;

    /// A deleted post is there for moderators alone: who deletes it again finds nothing, or that it is deleted.
    async fn a_deleted_post_is_for_moderators(suite: &Suite) -> Verdict {
        let Scene {
            forum, alice, at, ..
        } = Scene::set(suite).await?;
        let (bob, mia) = (
            suite.member("bob").await?,
            suite.moderator("mia", &forum).await?,
        );
        alice.delete_post(&at).await?.granted()?;
        for someone in [&alice, &bob] {
            let found = state(someone, &at).await?;
            equal(
                format_args!("what {} finds of it", someone.name()),
                found,
                None,
            )?;
            someone.delete_post(&at).await?.absent()?;
        }
        equal(
            "what a moderator finds of it",
            state(&mia, &at).await?,
            Some(State::Deleted),
        )?;
        mia.delete_post(&at).await?.conflict()
    }

    /// A reply is deleted by its author and by those who moderate its forum, and each is told whether they may.
    async fn authors_and_moderators_delete_replies(suite: &Suite) -> Verdict {
        let Scene {
            forum,
            alice,
            at,
            otto,
            ..
        } = Scene::set(suite).await?;
        let mia = suite.moderator("mia", &forum).await?;
        let ada = suite.join("ada", Role::Administrator).await?;
        for (someone, may) in [(otto, false), (mia, true), (ada, true), (alice, true)] {
            let told = post(&someone, &at).await?.can_delete;
            equal(
                format_args!("whether {} is told so", someone.name()),
                told,
                may,
            )?;
            someone.delete_post(&at).await?.granted_if(may)?;
            if may {
                suite.stage.restore(&at.post).await?;
            }
        }
        Ok(())
    }

    /// A thread is deleted with its first post, by moderators, and then is there for them alone.
    async fn moderators_delete_threads(suite: &Suite) -> Verdict {
        let Scene {
            forum,
            otto,
            alice,
            first,
            ..
        } = Scene::set(suite).await?;
        let mia = suite.moderator("mia", &forum).await?;
        let found = post(&otto, &first).await?.can_delete;
        equal("whether its author may", found, false)?;
        otto.delete_post(&first).await?.forbidden()?;
        let found = post(&mia, &first).await?.can_delete;
        equal("whether a moderator may", found, true)?;
        mia.delete_post(&first).await?.granted()?;
        for someone in [&otto, &alice] {
            someone.thread(&first.thread).await?.absent()?;
            no_posts(someone, &first.thread).await?;
            let listed = threads(someone, &forum).await?;
            equal("the threads that are listed", listed, [])?;
        }
        let seen = mia.thread(&first.thread).await?.granted()?;
        equal("what a moderator finds of it", seen.state, State::Deleted)?;
        mia.delete_post(&first).await?.conflict()
    }

    /// A deleted post or thread is in no forum for members: so the library refuses to repeat the response to its creation.
    async fn deleted_content_is_in_no_forum(suite: &Suite) -> Verdict {
        let Scene {
            forum,
            otto,
            alice,
            first,
            at,
        } = Scene::set(suite).await?;
        let mia = suite.moderator("mia", &forum).await?;
        let (post, thread) = (
            Place::Post(&at.thread, &at.post),
            Place::Thread(&first.thread),
        );
        let found = alice.forum_of(post).await?.granted()?;
        equal("the forum of a post", &found, &forum)?;
        alice.delete_post(&at).await?.granted()?;
        alice.forum_of(post).await?.absent()?;
        let found = otto.forum_of(thread).await?.granted()?;
        equal("the forum of a thread", &found, &forum)?;
        mia.delete_post(&first).await?.granted()?;
        otto.forum_of(thread).await?.absent()?;
        mia.forum_of(thread).await?.granted().map(drop)
    }

    /// Nobody replies in a deleted thread, not even a moderator.
    async fn nobody_replies_in_a_deleted_thread(suite: &Suite) -> Verdict {
        let Scene {
            forum,
            alice,
            first,
            ..
        } = Scene::set(suite).await?;
        let mia = suite.moderator("mia", &forum).await?;
        mia.delete_post(&first).await?.granted()?;
        let reply = reply("Still here?");
        alice.reply(&first.thread, &reply).await?.absent()?;
        mia.reply(&first.thread, &reply).await?.forbidden()
    }

    /// Nobody edits or deletes what they no longer see: a deleted post, or one in a deleted thread.
    async fn nobody_changes_what_is_deleted(suite: &Suite) -> Verdict {
        let Scene {
            forum,
            alice,
            first,
            at,
            ..
        } = Scene::set(suite).await?;
        let mia = suite.moderator("mia", &forum).await?;
        for deleted in [&at, &first] {
            mia.delete_post(deleted).await?.granted()?;
            alice.edit_post(&at, &edit("New words")).await?.absent()?;
            alice.delete_post(&at).await?.absent()?;
            suite.stage.restore(&deleted.post).await?;
        }
        let found = post(&alice, &at).await?.edited_at;
        equal("whether it was edited", found, None)
    }

    /// A deleted post leaves a gap: no other one takes its number.
    async fn numbers_stay(suite: &Suite) -> Verdict {
        suite.needs(Part::PostNumbers)?;
        let Scene { alice, at, .. } = Scene::set(suite).await?;
        let post = suite.post(&alice, &at.thread).await?;
        let last = PostAt { post, ..at.clone() };
        let before = thread_fixture::post(&alice, &last).await?.number;
        alice.delete_post(&at).await?.granted()?;
        let after = thread_fixture::post(&alice, &last).await?.number;
        equal("the number of the one that is left", after, before)?;
        alice.delete_post(&last).await?.granted()?;
        let post = suite.post(&alice, &at.thread).await?;
        let newest = thread_fixture::post(&alice, &PostAt { post, ..at })
            .await?
            .number;
        let what = format_args!("the number {newest} is above {before}, which was deleted");
        holds(what, newest > before)
    }

    /// Of many who delete a post at once, one does.
    async fn one_of_many_deletions_is_made(suite: &Suite) -> Verdict {
        let Scene { forum, at, .. } = Scene::set(suite).await?;
        let mia = suite.moderator("mia", &forum).await?;
        let deletions = (0..8).map(|_| {
            let (mia, at) = (mia.clone(), at.clone());
            async move { Ok(mia.delete_post(&at).await?.reply().1) }
        });
        let replies = suite.race(deletions).await.into_iter();
        let replies = replies.collect::<Result<Vec<_>, Stop>>()?;
        let conflicts = replies
            .iter()
            .filter(|reply| matches!(reply, Err(Refusal::Conflict(_))));
        equal("how many were too late", conflicts.count(), 7)?;
        let made = replies.iter().filter(|reply| reply.is_ok());
        equal("how many were made", made.count(), 1)
    }
);
