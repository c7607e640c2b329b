//! Counts, last posts and times of last activity: kept with what is there for everybody.

use rusqlite::{Result, Savepoint, named_params};

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

/// Counts a reply: in its thread, and beyond it if the thread is there for everybody.
pub fn reply(tx: &Savepoint<'_>, reply: Counted) -> Result<()> {
    let mut update = tx.prepare_cached(
        "UPDATE thread SET
            reply_count = reply_count + :by,
            (last_post_id, last_activity_at) = (
                SELECT id, created_at FROM post
                WHERE thread_id = thread.id AND (state = 'visible' OR id = thread.first_post_id)
                ORDER BY created_at DESC, id DESC LIMIT 1
            )
         WHERE id = :thread RETURNING forum_id, state = 'visible'",
    )?;
    let parameters = named_params! { ":thread": reply.thread, ":by": reply.by };
    let (of, there): (i64, bool) =
        update.query_row(parameters, |row| Ok((row.get(0)?, row.get(1)?)))?;
    if there {
        forum(tx, of, 0, reply.by)?;
    }
    if there && reply.on_profiles {
        profile(tx, reply)?;
    }
    Ok(())
}

/// Counts a thread with its `first` post and all replies that are there with it.
pub fn thread(tx: &Savepoint<'_>, first: Counted) -> Result<()> {
    let mut query = tx.prepare_cached("SELECT forum_id, reply_count FROM thread WHERE id = ?1")?;
    let (of, replies): (i64, i64) =
        query.query_row([first.thread], |row| Ok((row.get(0)?, row.get(1)?)))?;
    forum(tx, of, first.by, first.by * (1 + replies))?;
    if first.on_profiles {
        profile(tx, first)?;
    }
    if first.on_profiles && replies > 0 {
        profiles_of_replies(tx, first.thread, first.by)?;
    }
    Ok(())
}

fn forum(tx: &Savepoint<'_>, forum: i64, threads: i64, posts: i64) -> Result<()> {
    let mut update = tx.prepare_cached(
        "UPDATE forum SET
            thread_count = thread_count + :threads,
            post_count = post_count + :posts,
            last_activity_at = (
                SELECT last_activity_at FROM thread WHERE forum_id = forum.id AND state = 'visible'
                ORDER BY last_activity_at DESC LIMIT 1
            )
         WHERE id = :forum",
    )?;
    update.execute(named_params! { ":forum": forum, ":threads": threads, ":posts": posts })?;
    Ok(())
}

/// Counts a post on its author's profile.
fn profile(tx: &Savepoint<'_>, post: Counted) -> Result<()> {
    tx.prepare_cached("UPDATE member SET post_count = post_count + ?2 WHERE id = ?1")?
        .execute((post.author, post.by))?;
    Ok(())
}

/// Counts all replies of a thread on their authors' profiles, by an index alone: there may be very many.
fn profiles_of_replies(tx: &Savepoint<'_>, thread: i64, by: i64) -> Result<()> {
    let mut update = tx.prepare_cached(PROFILES_OF_REPLIES)?;
    update.execute(named_params! { ":thread": thread, ":by": by })?;
    Ok(())
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
