//! Counts, last posts and last activity after deletions and restorations.

use super::*;

board_rules! {
    mod counters, __rules_counters;

    /// The deletion and the restoration of a reply update the counts, the last post and the last activity immediately.
    async fn deleting_and_restoring_a_reply_updates_the_counts(suite: &Suite) -> TestResult {
        let ThreadFixture { alice, reply, .. } = ThreadFixture::new(suite).await?;
        let without = counts(&alice, &reply.thread_id).await?;
        let reply = suite.post(&alice, &reply.thread_id).await?;
        let with = counts(&alice, &reply.thread_id).await?;
        check!(without != with)?;
        alice.delete_post(&reply).await.expect_ok()?;
        let after = counts(&alice, &reply.thread_id).await?;
        check_eq!(after.posts, without.posts, "after it was deleted")?;
        if suite.require(Capability::VisibleActivity).is_ok() {
            check_eq!(after.times, without.times, "after it was deleted")?;
        }
        if suite.restore(&reply.post_id).await? {
            check_eq!(counts(&alice, &reply.thread_id).await?, with, "after it was restored")?;
        }
        Ok(())
    }

    /// The deletion of a post that is not the last one keeps the last activity.
    async fn deleting_an_older_post_keeps_the_last_activity(suite: &Suite) -> TestResult {
        let ThreadFixture { alice, reply, .. } = ThreadFixture::new(suite).await?;
        suite.post(&alice, &reply.thread_id).await?;
        let before = counts(&alice, &reply.thread_id).await?;
        alice.delete_post(&reply).await.expect_ok()?;
        let after = counts(&alice, &reply.thread_id).await?;
        check_eq!((after.times, after.posts.last), (before.times, before.posts.last))
    }

    /// A thread moves down in its forum's list when its last post is deleted.
    async fn deleting_the_last_post_moves_its_thread_down(suite: &Suite) -> TestResult {
        suite.require(Capability::VisibleActivity)?;
        let ThreadFixture { forum, otto, alice, reply, .. } = ThreadFixture::new(suite).await?;
        let other = suite.thread(&otto, &forum).await?.thread_id;
        let last = suite.post(&alice, &reply.thread_id).await?;
        check_eq!(otto.thread_ids(&forum).await?, [reply.thread_id.clone(), other.clone()])?;
        alice.delete_post(&last).await.expect_ok()?;
        check_eq!(otto.thread_ids(&forum).await?, [other, reply.thread_id])
    }

    /// The deletion and the restoration of a thread update the forum's counts by all its posts.
    async fn deleting_and_restoring_a_thread_updates_the_counts(suite: &Suite) -> TestResult {
        let (ThreadFixture { forum, otto, alice, first, .. }, mia) = ThreadFixture::with_moderator(suite).await?;
        let without = forum_counts(suite, &otto, &forum).await?;
        let other = suite.thread(&otto, &forum).await?;
        suite.post(&alice, &other.thread_id).await?;
        let with = forum_counts(suite, &otto, &forum).await?;
        check_eq!((with.0, with.1), (2, 4))?;
        mia.delete_post(&other).await.expect_ok()?;
        check_eq!(forum_counts(suite, &otto, &forum).await?, without, "after it was deleted")?;
        mia.delete_post(&first).await.expect_ok()?;
        let empty = (0, 0, without.2.and(Some(None)));
        check_eq!(forum_counts(suite, &otto, &forum).await?, empty, "after both were deleted")?;
        suite.restore(&first.post_id).await?;
        if suite.restore(&other.post_id).await? {
            check_eq!(forum_counts(suite, &otto, &forum).await?, with, "after both were restored")?;
            check_eq!(otto.fetch_posts(&other.thread_id).await?.len(), 2)?;
        }
        Ok(())
    }

    /// A reply that was deleted before its thread stays deleted when the thread is restored.
    async fn restoring_a_thread_does_not_restore_its_deleted_replies(suite: &Suite) -> TestResult {
        suite.require(Capability::SoftDeletion)?;
        let (ThreadFixture { alice, first, reply, .. }, mia) = ThreadFixture::with_moderator(suite).await?;
        alice.delete_post(&reply).await.expect_ok()?;
        let before = counts(&alice, &reply.thread_id).await?;
        mia.delete_post(&first).await.expect_ok()?;
        suite.restore(&first.post_id).await?;
        check_eq!(alice.post_state(&reply).await?, suite.deleted_state())?;
        check_eq!(counts(&alice, &reply.thread_id).await?, before)
    }

    /// A member's post count covers visible posts only.
    async fn a_members_post_count_covers_visible_posts(suite: &Suite) -> TestResult {
        suite.require(Capability::PublicPostCounts)?;
        let (ThreadFixture { otto, alice, first, reply, .. }, mia) = ThreadFixture::with_moderator(suite).await?;
        for (deleted, left) in [(&reply, [1, 0]), (&first, [0, 0])] {
            mia.delete_post(deleted).await.expect_ok()?;
            check_eq!(post_counts([&otto, &alice]).await?, left)?;
            if suite.restore(&deleted.post_id).await? {
                check_eq!(post_counts([&otto, &alice]).await?, [1, 1])?;
            }
        }
        Ok(())
    }

    /// Deleting and restoring posts of a forum that not every member sees does not change a post count.
    async fn a_members_post_count_omits_hidden_posts(suite: &Suite) -> TestResult {
        suite.require(Capability::PublicPostCounts)?;
        let hidden = suite.forum(Audience::Staff).await?;
        let sam = suite.staff("sam").await?;
        let mia = suite.moderator("mia", &hidden).await?;
        let first = suite.thread(&sam, &hidden).await?;
        let reply = suite.post(&sam, &first.thread_id).await?;
        for deleted in [&reply, &first] {
            mia.delete_post(deleted).await.expect_ok()?;
            check_eq!(post_counts([&sam, &mia]).await?, [0, 0], "after a deletion")?;
            suite.restore(&deleted.post_id).await?;
            check_eq!(post_counts([&sam, &mia]).await?, [0, 0], "after a restoration")?;
        }
        Ok(())
    }
}

async fn post_counts(members: [&TestCaller; 2]) -> TestResult<Vec<u64>> {
    let mut counts = Vec::new();
    for member in members {
        counts.push(member.fetch_member(&member.id_ref()).await?.post_count);
    }
    Ok(counts)
}

/// The visible posts of a thread and its forum, and the times of their last activity.
#[derive(Debug, PartialEq)]
struct Counts {
    posts: VisiblePosts,
    times: (Timestamp, Option<Timestamp>),
}

#[derive(Debug, PartialEq)]
struct VisiblePosts {
    replies: u64,
    in_forum: u64,
    last: Option<LastPost>,
}

async fn counts(caller: &TestCaller, thread: &ThreadId) -> TestResult<Counts> {
    let thread = caller.fetch_thread(thread).await?;
    let forum = caller.fetch_forum(&thread.forum_id).await?;
    Ok(Counts {
        times: (thread.last_activity_at, forum.last_activity_at),
        posts: VisiblePosts {
            replies: thread.reply_count,
            in_forum: forum.post_count,
            last: thread.last_post,
        },
    })
}

/// Returns the numbers of threads and posts of a forum, and with [`Capability::VisibleActivity`] its last activity.
async fn forum_counts(
    suite: &Suite,
    caller: &TestCaller,
    forum: &ForumId,
) -> TestResult<(u64, u64, Option<Option<Timestamp>>)> {
    let forum = caller.fetch_forum(forum).await?;
    let activity = suite.require(Capability::VisibleActivity).ok().map(|()| forum.last_activity_at);
    Ok((forum.thread_count, forum.post_count, activity))
}
