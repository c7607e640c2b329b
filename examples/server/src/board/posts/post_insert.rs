//! Inserts threads and posts, updates counters, and limits how often members post.

use std::sync::LazyLock;
use std::time::Duration;

use forum_api::host::{BackendError, BackendResult, BoardError, BoardResult};
use forum_api::model::{ContentState, Timestamp};

use crate::board::access::actor::Actor;
use crate::board::accounts::post_count;
use crate::board::db::{Bound, Dialects, LastChange, Row, Transaction, bind};
use crate::board::events::EventRecorder;
use crate::board::settings::{POST_INTERVAL, POSTS_PER_HOUR, Setting};
use crate::board::texts::Texts;
use crate::board::{forum_count, rules, search, subscriptions};

/// A valid post.
#[derive(Clone, Copy, Debug)]
pub struct PostInsert<'a> {
    pub author: Option<i64>,
    pub body: &'a str,
    pub html: &'a str,
    pub state: ContentState,
    /// Time of the clock. The time of creation can be later.
    pub at: Timestamp,
    /// `true` if the post counts on its author's profile while it is visible.
    pub counts: bool,
    /// The post in the same thread to which this post replies.
    pub in_reply_to: Option<i64>,
    /// `true` if the author subscribes to the thread.
    pub subscribe: bool,
}

const INSERT_POST: &str = "
    INSERT INTO post (
        id, thread_id, number, author_id, state, created_at, written_at, body, body_html, body_words,
        published, in_reply_to
    )
    VALUES (
        :post, :thread, :number, :author, :state, :at, :written_at, :body, :html, :words, :published, :in_reply_to
    )";

impl PostInsert<'_> {
    /// Inserts the post, runs `others`, and updates the counters of the author and of the forum. Commits with `events`.
    async fn insert(
        self,
        tx: &Transaction<'_>,
        forum: i64,
        slot: &PostSlot,
        threads: i64,
        others: &[&'static str],
        events: Option<&mut EventRecorder>,
    ) -> BoardResult<()> {
        let is_visible = self.state == ContentState::Visible;
        let created_at = slot.created_at(self.at);
        let parameters = bind! {
            ":post": slot.post, ":thread": slot.thread, ":number": slot.number, ":author": self.author,
            ":state": self.state.as_str(), ":at": created_at, ":written_at": self.at,
            ":body": self.body, ":html": self.html, ":words": search::body_words(self.body),
            ":published": is_visible, ":in_reply_to": self.in_reply_to,
            ":added": i64::from(is_visible), ":counted": i64::from(self.counts && is_visible), ":forum": forum,
            ":threads": if is_visible { threads } else { 0 }, ":posts": i64::from(is_visible),
            ":newest": created_at,
        };
        let subscription = self.subscribe.then_some(subscriptions::ADD_THREAD);
        let count = tx.on(&forum_count::ADD);
        let statements =
            [&[INSERT_POST], &post_count::ADD[..], others, subscription.as_slice(), &[count]]
                .concat();
        match events {
            Some(events) => {
                let insert = LastChange::Statements(&statements, parameters);
                events.commit_with(tx, Some(insert)).await
            }
            None => tx.execute_independent(&statements, parameters).await.map(drop),
        }
    }
}

/// Id of a new post, and its place in its thread.
#[derive(Clone, Copy, Debug)]
pub struct PostSlot {
    pub post: i64,
    pub thread: i64,
    number: i64,
    /// Lower bound of the time of creation. It is later than the clock if the clock of an earlier post's node was
    /// ahead.
    earliest: Timestamp,
}

impl PostSlot {
    /// The id of the new post, which [`read`](Self::read) expects.
    pub const POST_ID: Dialects<&str> = Dialects {
        sqlite: "(SELECT coalesce(max(seq), 0) + 1 FROM sqlite_sequence WHERE name = 'post') AS new_post",
        postgres: "nextval(pg_get_serial_sequence('post', 'id')) AS new_post",
    };

    /// The other columns that [`read`](Self::read) expects: the place after the last post of a thread.
    pub fn columns() -> String {
        format!(
            "thread.last_number + 1 AS new_number,
            thread.newest_at + 1 AS earliest,
            {} AS newest_in_forum",
            forum_count::newest("thread.forum_id"),
        )
    }

    pub fn read(row: &Row<'_>) -> BackendResult<Self> {
        Ok(Self {
            post: row.value("new_post")?,
            thread: row.value("thread_id")?,
            number: row.value("new_number")?,
            earliest: Timestamp::max(row.value("earliest")?, row.value("newest_in_forum")?),
        })
    }

    /// Returns the place after the last post of a thread. The command must have locked the row of the thread.
    pub async fn next(tx: &Transaction<'_>, thread: i64) -> BoardResult<Self> {
        static QUERIES: LazyLock<Dialects<String>> = LazyLock::new(|| {
            let columns = PostSlot::columns();
            PostSlot::POST_ID.map(|id| {
                format!("SELECT id AS thread_id, {id}, {columns} FROM thread WHERE id = ?1")
            })
        });
        tx.first(tx.on(&QUERIES), bind![thread], Self::read).await?.ok_or(BoardError::PathNotFound)
    }

    /// Returns the time of creation of a post, at least the clock's time `at`. It is later than the times of all posts
    /// of the thread, and not earlier than the times of the committed threads and replies of the forum.
    pub fn created_at(&self, at: Timestamp) -> Timestamp {
        at.max(self.earliest)
    }

    pub fn number(&self) -> BackendResult<u64> {
        u64::try_from(self.number).map_err(|_| BackendError::new("a number is negative"))
    }
}

/// Adds a thread with its first post, and returns the place of the post.
pub async fn insert_thread(
    tx: &Transaction<'_>,
    forum: i64,
    title: &str,
    first: PostInsert<'_>,
) -> BoardResult<PostSlot> {
    static INSERTS: LazyLock<Dialects<String>> = LazyLock::new(|| {
        let Dialects { sqlite, postgres } = PostSlot::POST_ID;
        Dialects { sqlite: ("max", sqlite), postgres: ("greatest", postgres) }.map(|(later, post_id)| {
            let created_at = format!("{later}(:at, {})", forum_count::newest(":forum"));
            format!(
                "INSERT INTO thread (
                    forum_id, title, title_words, author_id, state, created_at, last_activity_at, newest_at,
                    last_number, first_post_id, last_post_id, last_author_id
                )
                SELECT
                    id, :title, :words, :author, :state, {created_at}, {created_at}, {created_at}, 1, new_post, new_post, :author
                FROM forum, (SELECT {post_id}) AS next WHERE id = :forum
                RETURNING id, first_post_id, created_at"
            )
        })
    });
    let parameters = bind! {
        ":forum": forum, ":title": title, ":words": search::title_words(title),
        ":author": first.author, ":state": first.state.as_str(), ":at": first.at,
    };
    let slot = tx
        .one(tx.on(&INSERTS), parameters, |row| {
            Ok(PostSlot {
                thread: row.value("id")?,
                post: row.value("first_post_id")?,
                number: 1,
                earliest: row.value("created_at")?,
            })
        })
        .await?;
    first.insert(tx, forum, &slot, 1, &[], None).await?;
    Ok(slot)
}

/// Adds a reply to a visible thread of `forum` as its last post. Commits with `events`, if a command passes them.
pub async fn insert_reply(
    tx: &Transaction<'_>,
    forum: i64,
    slot: &PostSlot,
    reply: PostInsert<'_>,
    events: Option<&mut EventRecorder>,
) -> BoardResult<()> {
    const NUMBER: &str =
        "UPDATE thread SET last_number = :number, newest_at = :at WHERE id = :thread";
    const VISIBLE: &str = "
        UPDATE thread SET
            last_number = :number, newest_at = :at, reply_count = reply_count + 1, last_post_id = :post, last_author_id = :author,
            last_activity_at = :at
        WHERE id = :thread";
    let update = match reply.state {
        ContentState::Visible => VISIBLE,
        _ => NUMBER,
    };
    reply.insert(tx, forum, slot, 0, &[update], events).await
}

/// Maximum time from a command to the date of a post that counts in its limits. A command reads the clock before it
/// waits for the locks of concurrent commands, and the clocks of nodes differ. Longer than the time limit of a statement.
const CLOCK_TOLERANCE: Duration = Duration::from_secs(15);

/// Times of a member's posts that limit how often the member posts. Refused posts, and posts dated more than
/// `CLOCK_TOLERANCE` in the future, are excluded.
#[derive(Clone, Copy, Debug)]
pub struct PostTimes {
    last: Option<Timestamp>,
    /// The oldest of the last N posts within an hour, where N is the hourly limit. `None` if there are fewer than N
    /// posts.
    oldest: Option<Timestamp>,
}

/// The parameters of a query of the times that an hourly limit counts.
#[derive(Debug)]
pub struct TimesParams {
    member: Option<i64>,
    since: Timestamp,
    until: Timestamp,
    /// One less than the limit.
    offset: i64,
}

impl TimesParams {
    pub fn new(actor: &Actor, limit: &Setting, now: Timestamp) -> Self {
        Self {
            member: actor.member,
            since: now.saturating_sub(rules::HOUR),
            until: now.saturating_add(CLOCK_TOLERANCE),
            offset: actor.settings.of(limit) - 1,
        }
    }

    pub fn with<'a>(&'a self, others: &[Bound<'a>]) -> Vec<Bound<'a>> {
        let mut all: Vec<Bound<'a>> = vec![
            (":member", &self.member),
            (":since", &self.since),
            (":until", &self.until),
            (":offset", &self.offset),
        ];
        all.extend_from_slice(others);
        all
    }
}

/// Query of the columns of [`PostTimes`]. Reads at most as many posts as the hourly limit allows.
pub const TIMES: &str = "
    SELECT
        (SELECT max(written_at) FROM post WHERE author_id = :member AND written_at <= :until)
            AS last_written_at,
        (SELECT written_at FROM post
         WHERE author_id = :member AND written_at > :since AND written_at <= :until
         ORDER BY written_at DESC LIMIT 1 OFFSET :offset)
            AS oldest_written_at";

impl PostTimes {
    /// Reads a row of the query.
    pub fn read(row: &Row<'_>) -> BackendResult<Self> {
        Ok(Self { last: row.value("last_written_at")?, oldest: row.value("oldest_written_at")? })
    }

    /// Checks the interval and the hourly limit.
    pub fn check(&self, actor: &Actor, now: Timestamp, texts: &Texts) -> BoardResult<()> {
        let seconds = actor.settings.of(&POST_INTERVAL);
        rules::check_interval(self.last, now, seconds, actor.groups, texts)?;
        let most = actor.settings.of(&POSTS_PER_HOUR);
        rules::check_frequency(self.oldest, now, most, rules::HOUR, texts.too_many_posts)
    }
}
