//! Counts, last posts and times of last activity: kept with what is there for everybody.

use forum_api::model::Timestamp;

use super::db::{Result, Transaction, bind};

/// A post that is there for everybody from now on, or no longer.
#[derive(Clone, Copy, Debug)]
pub struct Counted {
    /// The thread that it is in.
    pub thread: i64,
    /// Who wrote it.
    pub author: Option<i64>,
    /// 1 when it is there from now on, -1 when it no longer is.
    pub by: i64,
    /// Whether posts in its forum count on their authors' profiles.
    pub on_profiles: bool,
}

/// A reply that is ordered after all posts of its thread.
#[derive(Clone, Copy, Debug)]
pub struct Newest {
    /// The forum that its thread is in.
    pub forum: i64,
    /// Its id.
    pub post: i64,
    /// When it was written.
    pub at: Timestamp,
}

/// Counts and numbers a new reply, in a thread that is there for everybody. No statement waits for another.
pub async fn newest(tx: &Transaction<'_>, newest: Newest, reply: Counted) -> Result<()> {
    let thread = "
        UPDATE thread SET
            last_number = last_number + 1,
            reply_count = reply_count + 1,
            last_post_id = ?2,
            last_activity_at = ?3
        WHERE id = ?1";
    let forum = "
        UPDATE forum SET
            post_count = post_count + 1,
            last_activity_at = CASE
                WHEN last_activity_at > ?2 THEN (
                    SELECT last_activity_at FROM thread WHERE forum_id = forum.id AND state = 'visible'
                    ORDER BY last_activity_at DESC LIMIT 1
                )
                ELSE ?2
            END
        WHERE id = ?1";
    let in_thread = bind![reply.thread, newest.post, newest.at];
    let in_forum = bind![newest.forum, newest.at];
    let on_profile = async {
        match reply.on_profiles {
            true => profile(tx, reply).await,
            false => Ok(()),
        }
    };
    tokio::try_join!(
        tx.change(thread, in_thread),
        tx.change(forum, in_forum),
        on_profile,
    )?;
    Ok(())
}

/// Counts a reply: in its thread, and beyond it if the thread is there for everybody.
pub async fn reply(tx: &Transaction<'_>, reply: Counted) -> Result<()> {
    let update = "
        UPDATE thread SET
            reply_count = reply_count + :by,
            (last_post_id, last_activity_at) = (
                SELECT id, created_at FROM post
                WHERE thread_id = thread.id AND (state = 'visible' OR id = thread.first_post_id)
                ORDER BY ordered_at DESC, id DESC LIMIT 1
            )
        WHERE id = :thread RETURNING forum_id, state = 'visible'";
    let parameters = bind! { ":thread": reply.thread, ":by": reply.by };
    let (of, there) = tx
        .one(update, parameters, |columns| {
            Ok((columns.value()?, columns.value()?))
        })
        .await?;
    if there {
        forum(tx, of, 0, reply.by).await?;
    }
    if there && reply.on_profiles {
        profile(tx, reply).await?;
    }
    Ok(())
}

/// Counts a thread with its `first` post and all replies that are there with it.
pub async fn thread(tx: &Transaction<'_>, first: Counted) -> Result<()> {
    let (of, replies): (i64, i64) = tx
        .one(
            "SELECT forum_id, reply_count FROM thread WHERE id = ?1",
            bind![first.thread],
            |columns| Ok((columns.value()?, columns.value()?)),
        )
        .await?;
    forum(tx, of, first.by, first.by * (1 + replies)).await?;
    if first.on_profiles {
        profile(tx, first).await?;
    }
    if first.on_profiles && replies > 0 {
        profiles_of_replies(tx, first.thread, first.by).await?;
    }
    Ok(())
}

async fn forum(tx: &Transaction<'_>, forum: i64, threads: i64, posts: i64) -> Result<()> {
    let update = "
        UPDATE forum SET
            thread_count = thread_count + :threads,
            post_count = post_count + :posts,
            last_activity_at = (
                SELECT last_activity_at FROM thread WHERE forum_id = forum.id AND state = 'visible'
                ORDER BY last_activity_at DESC LIMIT 1
            )
        WHERE id = :forum";
    let parameters = bind! { ":forum": forum, ":threads": threads, ":posts": posts };
    tx.change(update, parameters).await.map(drop)
}

/// Counts a post on its author's profile.
async fn profile(tx: &Transaction<'_>, post: Counted) -> Result<()> {
    let update = "UPDATE member SET post_count = post_count + ?2 WHERE id = ?1";
    tx.change(update, bind![post.author, post.by])
        .await
        .map(drop)
}

/// Counts all replies of a thread on their authors' profiles, by an index alone: there may be very many.
async fn profiles_of_replies(tx: &Transaction<'_>, thread: i64, by: i64) -> Result<()> {
    let parameters = bind! { ":thread": thread, ":by": by };
    tx.change(PROFILES_OF_REPLIES, parameters).await.map(drop)
}

pub(super) const PROFILES_OF_REPLIES: &str = "
    UPDATE member SET post_count = post_count + :by * written.posts
    FROM (
        SELECT author_id, count(*) AS posts FROM post
        WHERE thread_id = :thread AND state = 'visible'
            AND id <> (SELECT first_post_id FROM thread WHERE id = :thread)
        GROUP BY author_id
    ) AS written
    WHERE member.id = written.author_id";
