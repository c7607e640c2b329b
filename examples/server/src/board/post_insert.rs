//! Inserts threads and posts, updates counters, and limits how often members post.

use forum_api::host;
use forum_api::model::{ContentState, Timestamp};

use super::actor::Actor;
use super::db::{Connection, DbResult, Transaction, bind, stored};
use super::settings::{POST_INTERVAL, POSTS_PER_HOUR, SettingValues};
use super::texts::Texts;
use super::{locks, markdown, rules, search};

/// A valid post.
#[derive(Clone, Copy, Debug)]
pub struct PostInsert<'a> {
    pub author: Option<i64>,
    pub body: &'a str,
    pub state: ContentState,
    pub at: Timestamp,
    /// Counts on its author's profile while it is visible.
    pub counts: bool,
    /// The post of the thread that it answers.
    pub in_reply_to: Option<i64>,
}

impl PostInsert<'_> {
    const fn counted(&self, thread: i64) -> CounterDelta {
        CounterDelta {
            thread,
            author: self.author,
            by: 1,
            on_profiles: self.counts,
        }
    }
}

/// Adds a thread with its first post and returns both ids.
pub async fn thread(
    tx: &Transaction<'_>,
    forum: i64,
    title: &str,
    first: PostInsert<'_>,
) -> DbResult<(i64, i64)> {
    let insert = "
        INSERT INTO thread
            (forum_id, title, title_words, author_id, state, created_at, last_activity_at)
        VALUES (:forum, :title, :words, :author, :state, :at, :at) RETURNING id";
    let parameters = bind! {
        ":forum": forum, ":title": title, ":words": search::fold_words(title),
        ":author": first.author, ":state": stored(first.state), ":at": first.at,
    };
    let thread = tx.insert(insert, parameters).await?;
    let post = row(tx, FIRST, thread, first).await?;
    let update = "
        UPDATE thread SET first_post_id = ?2, last_post_id = ?2, last_number = 1 WHERE id = ?1";
    tx.change(update, bind![thread, post]).await?;
    if first.state == ContentState::Visible {
        count_thread(tx, first.counted(thread)).await?;
    }
    Ok((thread, post))
}

/// Adds a reply to a visible thread as the last one in order, and returns its id. The caller counts it in the forum.
pub async fn reply(tx: &Transaction<'_>, thread: i64, reply: PostInsert<'_>) -> DbResult<i64> {
    let post = row(tx, LAST, thread, reply).await?;
    if reply.state == ContentState::Visible {
        count_new_reply(tx, post, reply, thread).await?;
    } else {
        let update = "UPDATE thread SET last_number = last_number + 1 WHERE id = ?1";
        tx.change(update, bind![thread]).await?;
    }
    Ok(post)
}

/// Inserts the first post of a thread.
const FIRST: &str = "
    INSERT INTO post (
        thread_id, number, author_id, state, created_at, ordered_at, body, body_html, body_words, published,
        in_reply_to
    )
    VALUES (:thread, 1, :author, :state, :at, :at, :body, :html, :words, :published, :in_reply_to)
    RETURNING id";

/// Inserts a post after the last one in order, even if the clock of that one's node was ahead.
const LAST: &str = "
    INSERT INTO post (
        thread_id, number, author_id, state, created_at, ordered_at, body, body_html, body_words, published,
        in_reply_to
    )
    SELECT
        :thread, last.number + 1, :author, :state, :at,
        CASE WHEN last.ordered_at > :at THEN last.ordered_at ELSE :at END,
        :body, :html, :words, :published, :in_reply_to
    FROM (
        SELECT number, ordered_at FROM post WHERE thread_id = :thread ORDER BY ordered_at DESC, id DESC LIMIT 1
    ) AS last
    RETURNING id";

async fn row(
    tx: &Transaction<'_>,
    insert: &'static str,
    thread: i64,
    post: PostInsert<'_>,
) -> DbResult<i64> {
    let parameters = bind! {
        ":thread": thread, ":author": post.author, ":state": stored(post.state), ":at": post.at,
        ":published": post.state == ContentState::Visible, ":body": post.body,
        ":html": markdown::render(post.body), ":words": search::fold_words(post.body),
        ":in_reply_to": post.in_reply_to,
    };
    tx.insert(insert, parameters).await
}

/// A post that becomes visible, or no longer is.
#[derive(Clone, Copy, Debug)]
pub struct CounterDelta {
    pub thread: i64,
    pub author: Option<i64>,
    /// 1 if the post becomes visible, -1 if it no longer is.
    pub by: i64,
    pub on_profiles: bool,
}

/// Counts and numbers a new reply, which is the last of its thread in order. The statements run concurrently.
async fn count_new_reply(
    tx: &Transaction<'_>,
    post: i64,
    reply: PostInsert<'_>,
    thread: i64,
) -> DbResult<()> {
    let update = "
        UPDATE thread SET
            last_number = last_number + 1,
            reply_count = reply_count + 1,
            last_post_id = ?2,
            last_activity_at = ?3
        WHERE id = ?1";
    let in_thread = bind![thread, post, reply.at];
    let on_profile = async {
        match reply.counts {
            true => count_on_profile(tx, reply.counted(thread)).await,
            false => Ok(()),
        }
    };
    tokio::try_join!(tx.change(update, in_thread), on_profile)?;
    Ok(())
}

/// Counts a new reply in its forum. Locks the forum until the transaction ends.
pub async fn count_reply_in_forum(tx: &Transaction<'_>, forum: i64, at: Timestamp) -> DbResult<()> {
    let update = "
        UPDATE forum SET
            post_count = post_count + 1,
            last_activity_at = CASE WHEN last_activity_at > :at THEN last_activity_at ELSE :at END
        WHERE id = :forum
        RETURNING last_activity_at > :at";
    let parameters = bind! { ":forum": forum, ":at": at };
    let is_older = tx.first(update, parameters, |row| row.value()).await?;
    // A thread whose last post was dated ahead may now be less active.
    if is_older == Some(true) {
        count_in_forum(tx, forum, 0, 0).await?;
    }
    Ok(())
}

/// Counts a reply in its thread; if the thread is visible, also in the forum and on the profile.
pub async fn count_reply(tx: &Transaction<'_>, reply: CounterDelta) -> DbResult<()> {
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
        .one(update, parameters, |row| Ok((row.value()?, row.value()?)))
        .await?;
    if there && reply.on_profiles {
        count_on_profile(tx, reply).await?;
    }
    if there {
        count_in_forum(tx, of, 0, reply.by).await?;
    }
    Ok(())
}

/// Counts a thread with its `first` post and all visible replies.
pub async fn count_thread(tx: &Transaction<'_>, first: CounterDelta) -> DbResult<()> {
    let (of, replies): (i64, i64) = tx
        .one(
            "SELECT forum_id, reply_count FROM thread WHERE id = ?1",
            bind![first.thread],
            |row| Ok((row.value()?, row.value()?)),
        )
        .await?;
    if first.on_profiles {
        count_on_profile(tx, first).await?;
    }
    if first.on_profiles && replies > 0 {
        count_replies_on_profiles(tx, first.thread, first.by).await?;
    }
    count_in_forum(tx, of, first.by, first.by * (1 + replies)).await
}

/// Changes the counters of a forum, and recomputes its last activity from its threads.
async fn count_in_forum(
    tx: &Transaction<'_>,
    forum: i64,
    threads: i64,
    posts: i64,
) -> DbResult<()> {
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
    locks::forum(tx, forum).await?;
    tx.change(update, parameters).await.map(drop)
}

/// Counts a post on its author's profile.
async fn count_on_profile(tx: &Transaction<'_>, post: CounterDelta) -> DbResult<()> {
    let update = "UPDATE member SET post_count = post_count + ?2 WHERE id = ?1";
    tx.change(update, bind![post.author, post.by])
        .await
        .map(drop)
}

/// Counts all replies of a thread on profiles, with an index only: there may be very many.
async fn count_replies_on_profiles(tx: &Transaction<'_>, thread: i64, by: i64) -> DbResult<()> {
    let parameters = bind! { ":thread": thread, ":by": by };
    locks::authors(tx, thread).await?;
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

/// Refuses a post of a member who has to wait. Refused posts and posts dated later than now do not count.
pub async fn check_pace(
    connection: &Connection<'_>,
    actor: &Actor,
    settings: &SettingValues,
    now: Timestamp,
    texts: &Texts,
) -> host::BoardResult<()> {
    let most = settings.of(&POSTS_PER_HOUR);
    let query = "
        SELECT
            (SELECT max(created_at) FROM post WHERE author_id = :member AND created_at <= :now),
            (SELECT created_at FROM post
             WHERE author_id = :member AND created_at > :since AND created_at <= :now
             ORDER BY created_at DESC LIMIT 1 OFFSET :others)";
    let parameters = bind! {
        ":member": actor.member, ":now": now, ":since": now.saturating_sub(rules::HOUR),
        ":others": i64::from(most) - 1,
    };
    let times = connection.one(query, parameters, |row| Ok((row.value()?, row.value()?)));
    let (last, oldest) = times.await?;
    let seconds = settings.of(&POST_INTERVAL);
    rules::interval(last, now, seconds, actor.groups, texts)?;
    rules::pace(oldest, now, most, rules::HOUR, texts.too_many_posts)
}
