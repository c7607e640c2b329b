//! Posts and threads that are soft-deleted, and come back.

use super::scene::{Scene, forum, post, posts, state, threads};
use super::words::reply;
use super::{Someone, Stop, Suite, Verdict, equal, holds};
use crate::host::Refusal;
use crate::model::{ForumId, LastPost, ListPosts, PostAt, State, ThreadId, Timestamp};

/// A deleted post is there for moderators alone: who deletes it again finds nothing, or that it is deleted.
pub async fn a_deleted_post_is_for_moderators(suite: &Suite) -> Verdict {
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
pub async fn authors_and_moderators_delete_replies(suite: &Suite) -> Verdict {
    let Scene {
        forum,
        alice,
        at,
        otto,
        ..
    } = Scene::set(suite).await?;
    let mia = suite.moderator("mia", &forum).await?;
    for (someone, may) in [(otto, false), (mia, true), (alice, true)] {
        let told = post(&someone, &at).await?.can_delete;
        equal(
            format_args!("whether {} is told so", someone.name()),
            told,
            may,
        )?;
        let deleted = someone.delete_post(&at).await?;
        match may {
            true => deleted.granted()?,
            false => deleted.forbidden()?,
        }
        if may {
            suite.stage.restore(&at.post).await?;
        }
    }
    Ok(())
}

/// A thread is deleted with its first post, by moderators, and then is there for them alone.
pub async fn moderators_delete_threads(suite: &Suite) -> Verdict {
    let Scene {
        forum,
        otto,
        alice,
        first,
        ..
    } = Scene::set(suite).await?;
    let mia = suite.moderator("mia", &forum).await?;
    equal(
        "whether its author may",
        post(&otto, &first).await?.can_delete,
        false,
    )?;
    otto.delete_post(&first).await?.forbidden()?;
    equal(
        "whether a moderator may",
        post(&mia, &first).await?.can_delete,
        true,
    )?;
    mia.delete_post(&first).await?.granted()?;
    for someone in [&otto, &alice] {
        someone.thread(&first.thread).await?.absent()?;
        someone
            .posts(&first.thread, &ListPosts::default())
            .await?
            .absent()?;
        let listed = threads(someone, &forum).await?;
        equal("the threads that are listed", listed, [])?;
    }
    let seen = mia.thread(&first.thread).await?.granted()?;
    equal("what a moderator finds of it", seen.state, State::Deleted)?;
    mia.delete_post(&first).await?.conflict()
}

/// Nobody replies in a deleted thread, not even a moderator.
pub async fn nobody_replies_in_a_deleted_thread(suite: &Suite) -> Verdict {
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

/// Of many who delete a post at once, one does.
pub async fn one_of_many_deletions_is_made(suite: &Suite) -> Verdict {
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

/// Counts, the last post and the last activity follow a deleted reply at once, and come back with it.
pub async fn counts_follow_a_reply(suite: &Suite) -> Verdict {
    let Scene {
        forum, alice, at, ..
    } = Scene::set(suite).await?;
    let without = Counts::of(&alice, &forum, &at.thread).await?;
    let post = suite.post(&alice, &at.thread).await?;
    let with = Counts::of(&alice, &forum, &at.thread).await?;
    holds("a reply counts", without != with)?;
    let at = PostAt { post, ..at };
    alice.delete_post(&at).await?.granted()?;
    let after = Counts::of(&alice, &forum, &at.thread).await?;
    equal("after it was deleted", after, without)?;
    suite.stage.restore(&at.post).await?;
    let after = Counts::of(&alice, &forum, &at.thread).await?;
    equal("after it was restored", after, with)
}

/// The last activity of a thread does not go with a post that is not its last.
pub async fn an_older_post_takes_no_activity_along(suite: &Suite) -> Verdict {
    let Scene {
        forum, alice, at, ..
    } = Scene::set(suite).await?;
    suite.post(&alice, &at.thread).await?;
    let with = Counts::of(&alice, &forum, &at.thread).await?;
    alice.delete_post(&at).await?.granted()?;
    let expected = Counts {
        replies: 1,
        posts: 2,
        ..with
    };
    let after = Counts::of(&alice, &forum, &at.thread).await?;
    equal("after it was deleted", after, expected)
}

/// A thread falls back in its forum's list when its last post is deleted.
pub async fn a_thread_falls_back_with_its_last_post(suite: &Suite) -> Verdict {
    let Scene {
        forum,
        otto,
        alice,
        at,
        ..
    } = Scene::set(suite).await?;
    let other = suite.thread(&otto, &forum).await?.thread;
    let post = suite.post(&alice, &at.thread).await?;
    let risen = [at.thread.clone(), other.clone()];
    equal("the order before", order(&otto, &forum).await?, risen)?;
    let (thread, fallen) = (at.thread.clone(), [other, at.thread]);
    let last = PostAt { thread, post };
    alice.delete_post(&last).await?.granted()?;
    equal("the order after", order(&otto, &forum).await?, fallen)
}

async fn order(someone: &Someone, forum: &ForumId) -> Verdict<Vec<ThreadId>> {
    let listed = threads(someone, forum).await?.into_iter();
    Ok(listed.map(|thread| thread.thread_id).collect())
}

/// A forum's counts follow a deleted thread with all its posts, and come back with it.
pub async fn counts_follow_a_thread(suite: &Suite) -> Verdict {
    let Scene {
        forum: at,
        otto,
        alice,
        first,
        ..
    } = Scene::set(suite).await?;
    let mia = suite.moderator("mia", &at).await?;
    let without = forum(&otto, &at).await?;
    let thread = suite.thread(&otto, &at).await?;
    suite.post(&alice, &thread.thread).await?;
    let with = forum(&otto, &at).await?;
    let counts = (with.thread_count, with.post_count);
    equal("with another thread of two posts", counts, (2, 4))?;
    let other = PostAt {
        thread: thread.thread,
        post: thread.first,
    };
    mia.delete_post(&other).await?.granted()?;
    equal("after it was deleted", &forum(&otto, &at).await?, &without)?;
    mia.delete_post(&first).await?.granted()?;
    let empty = forum(&otto, &at).await?;
    let counts = (empty.thread_count, empty.post_count, empty.last_activity_at);
    equal("without any thread", counts, (0, 0, None))?;
    suite.stage.restore(&first.post).await?;
    suite.stage.restore(&other.post).await?;
    equal("after both were restored", forum(&otto, &at).await?, with)?;
    equal("its posts", posts(&otto, &other.thread).await?.len(), 2)
}

/// A reply that was deleted before its thread stays so when the thread is restored.
pub async fn a_restored_thread_brings_no_deleted_reply_back(suite: &Suite) -> Verdict {
    let Scene {
        forum: at_forum,
        alice,
        first,
        at,
        ..
    } = Scene::set(suite).await?;
    let mia = suite.moderator("mia", &at_forum).await?;
    alice.delete_post(&at).await?.granted()?;
    let before = Counts::of(&alice, &at_forum, &at.thread).await?;
    mia.delete_post(&first).await?.granted()?;
    suite.stage.restore(&first.post).await?;
    equal(
        "what its author finds of it",
        state(&alice, &at).await?,
        None,
    )?;
    let after = Counts::of(&alice, &at_forum, &at.thread).await?;
    equal("what is counted", after, before)
}

/// A member's profile counts what is visible.
pub async fn a_profile_counts_what_is_there(suite: &Suite) -> Verdict {
    let Scene {
        forum,
        alice,
        otto,
        first,
        at,
    } = Scene::set(suite).await?;
    let mia = suite.moderator("mia", &forum).await?;
    for (deleted, left) in [(&at, (1, 0)), (&first, (0, 0))] {
        mia.delete_post(deleted).await?.granted()?;
        let counts = (written(&otto).await?, written(&alice).await?);
        equal("what both have written", counts, left)?;
        suite.stage.restore(&deleted.post).await?;
        let counts = (written(&otto).await?, written(&alice).await?);
        equal("what both have written", counts, (1, 1))?;
    }
    Ok(())
}

async fn written(someone: &Someone) -> Verdict<u64> {
    let profile = someone.profile(&someone.by_id()).await?.granted()?;
    Ok(profile.post_count)
}

/// What is counted about a thread and its forum.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Counts {
    replies: u64,
    last: Option<LastPost>,
    active: Timestamp,
    posts: u64,
    forum_active: Option<Timestamp>,
}

impl Counts {
    async fn of(someone: &Someone, at: &ForumId, thread: &ThreadId) -> Verdict<Self> {
        let thread = someone.thread(thread).await?.granted()?;
        let forum = forum(someone, at).await?;
        Ok(Self {
            replies: thread.reply_count,
            last: thread.last_post,
            active: thread.last_activity_at,
            posts: forum.post_count,
            forum_active: forum.last_activity_at,
        })
    }
}
