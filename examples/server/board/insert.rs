//! Puts threads and posts into their tables, and keeps the counts with them.

use forum_api::model::{State, Timestamp};
use rusqlite::{Result, Savepoint, named_params};

use super::counts::{self, Counted};
use super::markdown;
use super::row::stored;
use super::search;

/// A post that was found good.
#[derive(Clone, Copy, Debug)]
pub struct NewPost<'a> {
    /// Who wrote it.
    pub author: Option<i64>,
    /// Its source markup.
    pub body: &'a str,
    /// Whether it is there for everybody.
    pub state: State,
    /// When it was written.
    pub at: Timestamp,
    /// Whether it counts on its author's profile, once it is there for everybody.
    pub counts: bool,
}

impl NewPost<'_> {
    const fn counted(&self, thread: i64) -> Counted {
        Counted {
            thread,
            author: self.author,
            by: 1,
            on_profiles: self.counts,
        }
    }
}

/// Adds a thread with its first post, and gives both their ids.
pub fn thread(
    tx: &Savepoint<'_>,
    forum: i64,
    title: &str,
    first: NewPost<'_>,
) -> Result<(i64, i64)> {
    let mut insert = tx.prepare_cached(
        "INSERT INTO thread
            (forum_id, title, title_words, author_id, state, created_at, last_activity_at, last_number)
         VALUES (:forum, :title, :words, :author, :state, :at, :at, 1)",
    )?;
    let thread = insert.insert(named_params! {
        ":forum": forum,
        ":title": title,
        ":words": search::folded(title),
        ":author": first.author,
        ":state": stored(first.state),
        ":at": first.at,
    })?;
    let post = row(tx, (thread, 1), first)?;
    tx.prepare_cached("UPDATE thread SET first_post_id = ?2, last_post_id = ?2 WHERE id = ?1")?
        .execute([thread, post])?;
    if first.state == State::Visible {
        counts::thread(tx, first.counted(thread))?;
    }
    Ok((thread, post))
}

/// Adds a reply, and gives its id.
pub fn reply(tx: &Savepoint<'_>, thread: i64, reply: NewPost<'_>) -> Result<i64> {
    let mut next = tx.prepare_cached(
        "UPDATE thread SET last_number = last_number + 1 WHERE id = ?1 RETURNING last_number",
    )?;
    let number = next.query_row([thread], |row| row.get(0))?;
    let post = row(tx, (thread, number), reply)?;
    if reply.state == State::Visible {
        counts::reply(tx, reply.counted(thread))?;
    }
    Ok(post)
}

fn row(tx: &Savepoint<'_>, (thread, number): (i64, i64), post: NewPost<'_>) -> Result<i64> {
    let mut insert = tx.prepare_cached(
        "INSERT INTO post (thread_id, number, author_id, state, created_at, body, body_html, body_words)
         VALUES (:thread, :number, :author, :state, :at, :body, :html, :words)",
    )?;
    insert.insert(named_params! {
        ":thread": thread,
        ":number": number,
        ":author": post.author,
        ":state": stored(post.state),
        ":at": post.at,
        ":body": post.body,
        ":html": markdown::render(post.body),
        ":words": search::folded(post.body),
    })
}
