//! Counts, last posts and last activity: they follow what is deleted, and come back with it.

use super::thread_fixture::{Scene, forum, posts, state};
use super::threads::ids;
use super::{Someone, Suite, Verdict, equal, holds};
use crate::model::{ForumId, LastPost, PostAt, ThreadId, Timestamp};

board_rules!(
    mod counters;

    /// Counts, the last post and the last activity follow a deleted reply at once, and come back with it.
    async fn counts_follow_a_reply(suite: &Suite) -> Verdict {
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
    async fn an_older_post_takes_no_activity_along(suite: &Suite) -> Verdict {
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
    async fn a_thread_falls_back_with_its_last_post(suite: &Suite) -> Verdict {
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
        equal("the order before", ids(&otto, &forum).await?, risen)?;
        let (thread, fallen) = (at.thread.clone(), [other, at.thread]);
        let last = PostAt { thread, post };
        alice.delete_post(&last).await?.granted()?;
        equal("the order after", ids(&otto, &forum).await?, fallen)
    }

    /// A forum's counts follow a deleted thread with all its posts, and come back with it.
    async fn counts_follow_a_thread(suite: &Suite) -> Verdict {
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
        let other = thread.at();
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
    async fn a_restored_thread_brings_no_deleted_reply_back(suite: &Suite) -> Verdict {
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
        let found = state(&alice, &at).await?;
        equal("what its author finds of it", found, None)?;
        let after = Counts::of(&alice, &at_forum, &at.thread).await?;
        equal("what is counted", after, before)
    }

    /// A member's profile counts what is visible.
    async fn a_profile_counts_what_is_there(suite: &Suite) -> Verdict {
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
);

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
