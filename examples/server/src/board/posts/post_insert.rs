//! Inserts threads and posts, updates counters, and limits how often members post.

use std::sync::LazyLock;
use std::time::Duration;

use forum_api::host::{BoardError, BoardResult};
use forum_api::model::{ContentState, Timestamp};

use crate::board::access::actor::Actor;
use crate::board::db::{
    Bound, Connection, DbError, DbResult, OwnedBound, Row, Transaction, bind, bind_owned, stored,
};
use crate::board::settings::{POST_INTERVAL, POSTS_PER_HOUR, SettingValues};
use crate::board::texts::Texts;
use crate::board::{locks, rules, search};

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
}

const POST: &str = "
    INSERT INTO post (
        id, thread_id, number, author_id, state, created_at, written_at, body, body_html, body_words,
        published, in_reply_to
    )
    VALUES (
        :post, :thread, :number, :author, :state, :at, :written_at, :body, :html, :words, :published, :in_reply_to
    )";

/// Counts posts on their author's profile.
const PROFILE: &str = "UPDATE member SET post_count = post_count + :by WHERE id = :author";

impl PostInsert<'_> {
    /// Returns the parameters of [`POST`], of [`PROFILE`], and of the statements in [`reply`].
    fn parameters(self, slot: &PostSlot) -> Vec<OwnedBound> {
        let is_counted = self.counts && self.state == ContentState::Visible;
        bind_owned! {
            ":post": slot.post, ":thread": slot.thread, ":number": slot.number, ":author": self.author,
            ":state": stored(self.state), ":at": slot.created_at(self.at), ":written_at": self.at,
            ":body": self.body.to_owned(), ":html": self.html.to_owned(), ":words": search::fold_words(self.body),
            ":published": self.state == ContentState::Visible, ":in_reply_to": self.in_reply_to,
            ":by": i64::from(is_counted),
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
    /// The id of the new post, which [`read`](Self::read) expects, in SQLite and in Postgres.
    pub const POST_ID: [&str; 2] = [
        "(SELECT coalesce(max(id), 0) + 1 FROM post) AS new_post",
        "nextval(pg_get_serial_sequence('post', 'id')) AS new_post",
    ];

    /// The other columns that [`read`](Self::read) expects: the place after the last post of a thread.
    pub const COLUMNS: &str = "thread.last_number + 1 AS new_number,
        (SELECT max(created_at) + 1 FROM post WHERE thread_id = thread.id) AS earliest";

    pub fn read(row: &Row<'_>) -> DbResult<Self> {
        Ok(Self {
            post: row.value("new_post")?,
            thread: row.value("thread_id")?,
            number: row.value("new_number")?,
            earliest: row.value("earliest")?,
        })
    }

    /// Returns the place after the last post of a thread. The command must have locked the row of the thread.
    pub async fn next(tx: &Transaction<'_>, thread: i64) -> BoardResult<Self> {
        static QUERIES: LazyLock<[String; 2]> = LazyLock::new(|| {
            let columns = PostSlot::COLUMNS;
            PostSlot::POST_ID.map(|id| {
                format!("SELECT id AS thread_id, {id}, {columns} FROM thread WHERE id = ?1")
            })
        });
        let [sqlite, postgres] = &*QUERIES;
        let query = tx.dialect(sqlite.as_str(), postgres.as_str());
        let slot = tx.first(query, bind![thread], Self::read).await?;
        let slot = slot.ok_or(BoardError::PathNotFound)?;
        Ok(slot.after(locks::newest_in_forum(tx, None, Some(thread)).await?))
    }

    /// Dates the post not before `newest`, the time of the newest thread or reply in the forum.
    pub fn after(self, newest: Option<Timestamp>) -> Self {
        let earliest = newest.map_or(self.earliest, |newest| newest.max(self.earliest));
        Self { earliest, ..self }
    }

    /// Returns the time of creation of a post, at least the clock's time `at`. It is later than the times of all posts
    /// of the thread, and not earlier than the times of the threads and replies of the forum.
    pub fn created_at(&self, at: Timestamp) -> Timestamp {
        at.max(self.earliest)
    }

    pub fn number(&self) -> DbResult<u64> {
        let number = u64::try_from(self.number);
        number.map_err(|_| DbError::Invalid("a number is negative"))
    }
}

/// Adds a thread with its first post and returns both ids.
pub async fn thread(
    tx: &Transaction<'_>,
    forum: i64,
    title: &str,
    first: PostInsert<'_>,
) -> DbResult<(i64, i64)> {
    let insert = tx.dialect(
        "INSERT INTO thread
            (forum_id, title, title_words, author_id, state, created_at, last_activity_at, last_number,
            first_post_id, last_post_id, last_author_id)
        SELECT :forum, :title, :words, :author, :state, :at, :at, 1, post, post, :author
        FROM (SELECT coalesce(max(id), 0) + 1 AS post FROM post) AS next
        RETURNING id, first_post_id",
        "INSERT INTO thread
            (forum_id, title, title_words, author_id, state, created_at, last_activity_at, last_number,
            first_post_id, last_post_id, last_author_id)
        SELECT :forum, :title, :words, :author, :state, :at, :at, 1, post, post, :author
        FROM nextval(pg_get_serial_sequence('post', 'id')) AS post
        RETURNING id, first_post_id",
    );
    let newest = locks::newest_in_forum(tx, Some(forum), None).await?;
    let at = newest.map_or(first.at, |newest| newest.max(first.at));
    let parameters = bind! {
        ":forum": forum, ":title": title, ":words": search::fold_words(title),
        ":author": first.author, ":state": stored(first.state), ":at": at,
    };
    let (thread, post) = tx
        .one(insert, parameters, |row| {
            Ok((row.value("id")?, row.value("first_post_id")?))
        })
        .await?;
    let slot = PostSlot {
        post,
        thread,
        number: 1,
        earliest: at,
    };
    tx.defer_all(&[POST, PROFILE], first.parameters(&slot))?;
    let counted = i64::from(first.state == ContentState::Visible);
    count_new(tx, forum, [counted, counted], at)?;
    Ok((thread, post))
}

/// Counts new threads and posts with the same time in their forum.
fn count_new(
    tx: &Transaction<'_>,
    forum: i64,
    [threads, posts]: [i64; 2],
    at: Timestamp,
) -> DbResult<()> {
    let update = "
        UPDATE forum SET
            thread_count = thread_count + :threads, post_count = post_count + :posts, newest_at = :at,
            last_activity_at = CASE :posts WHEN 0 THEN last_activity_at ELSE :at END
        WHERE id = :forum";
    let parameters =
        bind_owned! { ":forum": forum, ":threads": threads, ":posts": posts, ":at": at };
    tx.defer(update, parameters)
}

/// Adds a reply to a visible thread of `forum` as its last post.
pub fn reply(
    tx: &Transaction<'_>,
    forum: i64,
    slot: &PostSlot,
    reply: PostInsert<'_>,
) -> DbResult<()> {
    const NUMBER: &str = "UPDATE thread SET last_number = :number WHERE id = :thread";
    const VISIBLE: &str = "
        UPDATE thread SET
            last_number = :number, reply_count = reply_count + 1, last_post_id = :post, last_author_id = :author,
            last_activity_at = :at
        WHERE id = :thread";
    let statements = match reply.state {
        ContentState::Visible => &[POST, PROFILE, VISIBLE],
        _ => &[POST, PROFILE, NUMBER],
    };
    tx.defer_all(statements, reply.parameters(slot))?;
    let counted = i64::from(reply.state == ContentState::Visible);
    count_new(tx, forum, [0, counted], slot.created_at(reply.at))
}

/// The change of the counters when a post becomes visible or stops being visible.
#[derive(Clone, Copy, Debug)]
pub struct CounterDelta {
    pub thread: i64,
    pub author: Option<i64>,
    /// 1 if the post becomes visible, -1 if it stops being visible.
    pub by: i64,
    pub on_profiles: bool,
}

/// Counts a reply in its thread; if the thread is visible, also in the forum and on the profile.
pub async fn count_reply(tx: &Transaction<'_>, reply: CounterDelta) -> DbResult<()> {
    let update = "
        UPDATE thread SET
            reply_count = reply_count + :by,
            (last_post_id, last_author_id, last_activity_at) = (
                SELECT id, author_id, created_at FROM post
                WHERE thread_id = thread.id AND (state = 'visible' OR id = thread.first_post_id)
                ORDER BY created_at DESC, id DESC LIMIT 1
            )
        WHERE id = :thread RETURNING forum_id, state = 'visible' AS is_visible";
    let parameters = bind! { ":thread": reply.thread, ":by": reply.by };
    let (of, there) = tx
        .one(update, parameters, |row| {
            Ok((row.value("forum_id")?, row.value("is_visible")?))
        })
        .await?;
    if there && reply.on_profiles {
        count_on_profile(tx, reply.author, reply.by)?;
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
            |row| Ok((row.value("forum_id")?, row.value("reply_count")?)),
        )
        .await?;
    if first.on_profiles {
        count_on_profile(tx, first.author, first.by)?;
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
    let parameters = bind_owned! { ":forum": forum, ":threads": threads, ":posts": posts };
    locks::forum(tx, forum).await?;
    tx.defer(update, parameters)
}

/// Counts a post on its author's profile.
fn count_on_profile(tx: &Transaction<'_>, author: Option<i64>, by: i64) -> DbResult<()> {
    tx.defer(PROFILE, bind_owned! { ":author": author, ":by": by })
}

/// Counts all replies of a thread on profiles. Reads only an index, because there may be very many replies.
async fn count_replies_on_profiles(tx: &Transaction<'_>, thread: i64, by: i64) -> DbResult<()> {
    let parameters = bind! { ":thread": thread, ":by": by };
    locks::authors(tx, thread).await?;
    tx.execute(PROFILES_OF_REPLIES, parameters).await.map(drop)
}

const PROFILES_OF_REPLIES: &str = "
    UPDATE member SET post_count = post_count + :by * written.posts
    FROM (
        SELECT author_id, count(*) AS posts FROM post
        WHERE thread_id = :thread AND state = 'visible'
            AND id <> (SELECT first_post_id FROM thread WHERE id = :thread)
        GROUP BY author_id
    ) AS written
    WHERE member.id = written.author_id";

/// Maximum time from a command to the date of a post that counts in its limits. A command reads the clock before it
/// waits for the locks of concurrent commands, and the clocks of nodes differ. Longer than the time limit of a statement.
pub(super) const CLOCK_TOLERANCE: Duration = Duration::from_secs(15);

/// Times of a member's posts that limit how often the member posts. Refused posts, and posts dated more than
/// `CLOCK_TOLERANCE` in the future, are excluded.
#[derive(Clone, Copy, Debug)]
pub struct PostTimes {
    last: Option<Timestamp>,
    /// The oldest of the last N posts within an hour, where N is the hourly limit. `None` if there are fewer than N
    /// posts.
    oldest: Option<Timestamp>,
}

/// The parameters of the query of [`PostTimes`].
#[derive(Debug)]
pub struct TimesParams {
    member: Option<i64>,
    since: Timestamp,
    until: Timestamp,
    default: i64,
}

impl TimesParams {
    pub fn new(member: Option<i64>, now: Timestamp) -> Self {
        Self {
            member,
            since: now.saturating_sub(rules::HOUR),
            until: now.saturating_add(CLOCK_TOLERANCE),
            default: POSTS_PER_HOUR.default.into(),
        }
    }

    pub fn with<'a>(&'a self, others: &[Bound<'a>]) -> Vec<Bound<'a>> {
        let mut all: Vec<Bound<'a>> = vec![
            (":member", &self.member),
            (":since", &self.since),
            (":until", &self.until),
            (":key", &POSTS_PER_HOUR.key),
            (":default", &self.default),
        ];
        all.extend_from_slice(others);
        all
    }
}

/// Query of the columns of [`PostTimes`]. Reads at most as many posts as the hourly limit allows.
pub(super) const TIMES: &str = "
    SELECT
        (SELECT max(written_at) FROM post WHERE author_id = :member AND written_at <= :until)
            AS last_written_at,
        (SELECT written_at FROM post
         WHERE author_id = :member AND written_at > :since AND written_at <= :until
         ORDER BY written_at DESC LIMIT 1
         OFFSET coalesce((SELECT CAST(value AS BIGINT) FROM setting WHERE key = :key), :default) - 1)
            AS oldest_written_at";

impl PostTimes {
    pub async fn load(
        connection: &Connection<'_>,
        member: Option<i64>,
        now: Timestamp,
    ) -> DbResult<Self> {
        let parameters = TimesParams::new(member, now);
        connection
            .one(TIMES, &parameters.with(&[]), Self::read)
            .await
    }

    /// Reads a row of the query.
    pub fn read(row: &Row<'_>) -> DbResult<Self> {
        Ok(Self {
            last: row.value("last_written_at")?,
            oldest: row.value("oldest_written_at")?,
        })
    }

    /// Checks the interval and the hourly limit.
    pub fn check(
        &self,
        actor: &Actor,
        settings: &SettingValues,
        now: Timestamp,
        texts: &Texts,
    ) -> BoardResult<()> {
        let seconds = settings.of(&POST_INTERVAL);
        rules::check_interval(self.last, now, seconds, actor.groups, texts)?;
        let most = settings.of(&POSTS_PER_HOUR);
        rules::check_frequency(self.oldest, now, most, rules::HOUR, texts.too_many_posts)
    }
}
