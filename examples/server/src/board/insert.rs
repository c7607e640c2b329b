//! Puts threads and posts into their tables, and keeps the counts with them.

use forum_api::model::{State, Timestamp};

use super::counts::{self, Counted, Newest};
use super::db::{Result, Transaction, bind, stored};
use super::markdown;
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
pub async fn thread(
    tx: &Transaction<'_>,
    forum: i64,
    title: &str,
    first: NewPost<'_>,
) -> Result<(i64, i64)> {
    let insert = "
        INSERT INTO thread
            (forum_id, title, title_words, author_id, state, created_at, last_activity_at)
        VALUES (:forum, :title, :words, :author, :state, :at, :at) RETURNING id";
    let parameters = bind! {
        ":forum": forum,
        ":title": title,
        ":words": search::folded(title),
        ":author": first.author,
        ":state": stored(first.state),
        ":at": first.at,
    };
    let thread = tx.insert(insert, parameters).await?;
    let post = row(tx, thread, first, first.at).await?;
    let update = "
        UPDATE thread SET first_post_id = ?2, last_post_id = ?2, last_number = 1 WHERE id = ?1";
    tx.change(update, bind![thread, post]).await?;
    if first.state == State::Visible {
        counts::thread(tx, first.counted(thread)).await?;
    }
    Ok((thread, post))
}

/// Adds a reply at this place in the order of posts, and returns its id. Its thread is visible, and no post of the thread
/// is ordered later.
pub async fn reply(
    tx: &Transaction<'_>,
    (forum, thread): (i64, i64),
    reply: NewPost<'_>,
    ordered_at: Timestamp,
) -> Result<i64> {
    let post = row(tx, thread, reply, ordered_at).await?;
    if reply.state == State::Visible {
        let newest = Newest {
            forum,
            post,
            at: reply.at,
        };
        counts::newest(tx, newest, reply.counted(thread)).await?;
    } else {
        let update = "UPDATE thread SET last_number = last_number + 1 WHERE id = ?1";
        tx.change(update, bind![thread]).await?;
    }
    Ok(post)
}

async fn row(
    tx: &Transaction<'_>,
    thread: i64,
    post: NewPost<'_>,
    ordered_at: Timestamp,
) -> Result<i64> {
    let insert = "
        INSERT INTO post (
            thread_id, number, author_id, state, created_at, ordered_at, body, body_html, body_words, published
        )
        VALUES (
            :thread, (SELECT last_number + 1 FROM thread WHERE id = :thread),
            :author, :state, :at, :ordered_at, :body, :html, :words, :published
        ) RETURNING id";
    let parameters = bind! {
        ":thread": thread,
        ":author": post.author,
        ":state": stored(post.state),
        ":at": post.at,
        ":ordered_at": ordered_at,
        ":published": post.state == State::Visible,
        ":body": post.body,
        ":html": markdown::render(post.body),
        ":words": search::folded(post.body),
    };
    tx.insert(insert, parameters).await
}
