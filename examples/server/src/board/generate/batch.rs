//! A batch of threads and posts that is inserted with few statements.

use forum_api::host::BoardResult;
use forum_api::model::Timestamp;
use serde::Serialize;

use crate::board::access::visibility::between_commas;
use crate::board::db::{Connection, Transaction, bind, json};
use crate::board::markdown;
use crate::board::search::{body_words, title_words};

/// Content to write.
#[derive(Debug)]
pub struct Batch {
    last_thread: i64,
    last_post: i64,
    threads: Vec<GeneratedThread>,
    posts: Vec<GeneratedPost>,
}

#[derive(Debug, Serialize)]
struct GeneratedThread {
    id: i64,
    forum: i64,
    title: String,
    words: String,
    author: Option<i64>,
    at: i64,
    first_post: i64,
}

#[derive(Debug, Serialize)]
struct GeneratedPost {
    id: i64,
    thread: i64,
    author: Option<i64>,
    at: i64,
    body: String,
    html: String,
    words: String,
}

impl Batch {
    /// Creates an empty batch whose ids follow the ids that the board has assigned.
    pub async fn begin(connection: &Connection<'_>) -> BoardResult<Self> {
        let find = connection.dialect(
            "SELECT
                (SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'thread') AS last_thread,
                (SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'post') AS last_post",
            "SELECT
                coalesce(pg_sequence_last_value(pg_get_serial_sequence('thread', 'id')::regclass), 0) AS last_thread,
                coalesce(pg_sequence_last_value(pg_get_serial_sequence('post', 'id')::regclass), 0) AS last_post",
        );
        connection
            .one(find, &[], |row| {
                Ok(Self {
                    last_thread: row.value("last_thread")?,
                    last_post: row.value("last_post")?,
                    threads: Vec::new(),
                    posts: Vec::new(),
                })
            })
            .await
    }

    /// Adds a thread without posts and returns its id.
    pub fn add_thread(
        &mut self,
        forum: i64,
        title: String,
        author: Option<i64>,
        at: Timestamp,
    ) -> i64 {
        let id = self.last_thread + self.threads.len() as i64 + 1;
        self.threads.push(GeneratedThread {
            id,
            forum,
            words: title_words(&title),
            title,
            author,
            at: at.as_millis(),
            first_post: self.next_post(),
        });
        id
    }

    pub fn add_post(&mut self, thread: i64, body: String, author: Option<i64>, at: Timestamp) {
        self.posts.push(GeneratedPost {
            id: self.next_post(),
            thread,
            author,
            at: at.as_millis(),
            html: markdown::render_blocking(&body),
            words: body_words(&body),
            body,
        });
    }

    fn next_post(&self) -> i64 {
        self.last_post + self.posts.len() as i64 + 1
    }

    /// Writes the batch. Posts in the forums `on_profiles` count on their authors' profiles.
    pub async fn write(self, tx: &Transaction<'_>, on_profiles: &[i64]) -> BoardResult<()> {
        tx.execute(INSERT_THREADS, bind![json(&self.threads)?]).await?;
        tx.execute(INSERT_POSTS, bind![json(&self.posts)?]).await?;
        advance_sequences(tx).await?;
        count_posts(tx, self.last_post, on_profiles).await
    }
}

const INSERT_THREADS: &str = "
    INSERT INTO thread (
        id, forum_id, title, title_words, author_id, state, created_at, last_activity_at, first_post_id
    )
    SELECT
        CAST(value ->> 'id' AS BIGINT), CAST(value ->> 'forum' AS BIGINT), value ->> 'title', value ->> 'words',
        CAST(value ->> 'author' AS BIGINT), 'visible', CAST(value ->> 'at' AS BIGINT), CAST(value ->> 'at' AS BIGINT),
        CAST(value ->> 'first_post' AS BIGINT)
    FROM json_each(?1)";

/// Inserts posts whose threads are inserted. Their numbers follow the last number of the thread.
const INSERT_POSTS: &str = "
    INSERT INTO post (
        id, thread_id, number, author_id, state, created_at, written_at, body, body_html, body_words
    )
    SELECT
        added.id, thread.id, thread.last_number + row_number() OVER (PARTITION BY thread.id ORDER BY added.id),
        added.author, 'visible', added.at, added.at, added.body, added.html, added.words
    FROM (
        SELECT
            CAST(value ->> 'id' AS BIGINT) AS id, CAST(value ->> 'thread' AS BIGINT) AS thread,
            CAST(value ->> 'author' AS BIGINT) AS author, CAST(value ->> 'at' AS BIGINT) AS at,
            value ->> 'body' AS body, value ->> 'html' AS html, value ->> 'words' AS words
        FROM json_each(?1)
    ) AS added
    JOIN thread ON thread.id = added.thread
    ORDER BY added.id";

/// Advances the sequences past the written ids. The sequence of a table without new rows stays. It can be past the ids of all
/// rows.
async fn advance_sequences(tx: &Transaction<'_>) -> BoardResult<()> {
    let pass = "
        SELECT setval(pg_get_serial_sequence('thread', 'id'), max(id)) FROM thread
        HAVING max(id) > coalesce(pg_sequence_last_value(pg_get_serial_sequence('thread', 'id')::regclass), 0);
        SELECT setval(pg_get_serial_sequence('post', 'id'), max(id)) FROM post
        HAVING max(id) > coalesce(pg_sequence_last_value(pg_get_serial_sequence('post', 'id')::regclass), 0)";
    tx.execute_batch(tx.dialect("", pass)).await
}

/// Adds all posts with ids above `last` to the counters. These posts must be visible and newer than all other posts.
/// Posts in the forums `on_profiles` also count on profiles.
pub async fn count_posts(tx: &Transaction<'_>, last: i64, on_profiles: &[i64]) -> BoardResult<()> {
    tx.execute(COUNT_IN_THREADS, bind! { ":last": last }).await?;
    tx.execute(ADD_FORUM_COUNTS, &[]).await?;
    tx.execute(COUNT_IN_FORUMS, bind! { ":last": last }).await?;
    let forums = between_commas(on_profiles.iter().copied());
    let parameters = bind! { ":last": last, ":forums": forums };
    tx.execute(COUNT_OF_AUTHORS, parameters).await?;
    tx.execute(COUNT_ON_PROFILES, parameters).await?;
    Ok(())
}

const COUNT_IN_THREADS: &str = "
    UPDATE thread SET
        last_number = added.last_number,
        reply_count = reply_count + added.replies,
        last_post_id = added.last_post,
        last_author_id = (SELECT author_id FROM post WHERE id = added.last_post),
        last_activity_at = added.newest,
        newest_at = added.newest
    FROM (
        SELECT
            thread_id, max(number) AS last_number, sum(CASE WHEN number = 1 THEN 0 ELSE 1 END) AS replies,
            max(id) AS last_post, max(created_at) AS newest
        FROM post WHERE id > :last GROUP BY thread_id
    ) AS added
    WHERE thread.id = added.thread_id";

/// Gives each forum a row of counts.
const ADD_FORUM_COUNTS: &str = "
    INSERT INTO forum_count (forum_id, thread_count, post_count, newest_at)
    SELECT id, 0, 0, 0 FROM forum WHERE NOT EXISTS (SELECT 1 FROM forum_count WHERE forum_id = forum.id)";

const COUNT_IN_FORUMS: &str = "
    UPDATE forum_count SET
        thread_count = thread_count + added.threads,
        post_count = post_count + added.posts,
        newest_at = added.newest
    FROM (
        SELECT
            thread.forum_id, sum(CASE WHEN post.number = 1 THEN 1 ELSE 0 END) AS threads,
            count(*) AS posts, max(post.created_at) AS newest
        FROM post JOIN thread ON thread.id = post.thread_id
        WHERE post.id > :last AND thread.state = 'visible' GROUP BY thread.forum_id
    ) AS added
    WHERE forum_count.id = (SELECT min(id) FROM forum_count AS first WHERE first.forum_id = added.forum_id)";

const COUNT_OF_AUTHORS: &str = "
    INSERT INTO thread_author (thread_id, author_id, post_count, counted)
    SELECT
        thread.id, post.author_id, count(*),
        CASE
            WHEN thread.state = 'visible' AND instr(:forums, ',' || thread.forum_id || ',') > 0
            THEN count(*) ELSE 0
        END
    FROM post JOIN thread ON thread.id = post.thread_id
    WHERE post.id > :last AND post.author_id IS NOT NULL
    GROUP BY thread.id, post.author_id
    ON CONFLICT (thread_id, author_id) DO UPDATE SET
        post_count = thread_author.post_count + excluded.post_count,
        counted = thread_author.counted + excluded.counted";

const COUNT_ON_PROFILES: &str = "
    UPDATE member SET post_count = post_count + added.posts
    FROM (
        SELECT post.author_id, count(*) AS posts
        FROM post JOIN thread ON thread.id = post.thread_id
        WHERE post.id > :last AND thread.state = 'visible' AND instr(:forums, ',' || thread.forum_id || ',') > 0
        GROUP BY post.author_id
    ) AS added
    WHERE member.id = added.author_id";
