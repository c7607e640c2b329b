//! Threads and posts that are written together.

use std::collections::HashMap;

use forum_api::model::{State, Timestamp};
use tokio_postgres::types::Type;

use super::super::db::{Connection, Result, Table, Transaction, Value, bind, stored};
use super::super::markdown;
use super::super::search::{folded, json};
use super::counts;

/// What is to be written.
#[derive(Debug)]
pub struct Batch {
    last_thread: i64,
    last_post: i64,
    threads: Vec<Thread>,
    posts: Vec<Post>,
}

/// A thread to be.
#[derive(Debug)]
struct Thread {
    id: i64,
    forum: i64,
    title: String,
    words: String,
    author: Option<i64>,
    at: Timestamp,
    first_post: i64,
}

/// A post to be.
#[derive(Debug)]
struct Post {
    id: i64,
    thread: i64,
    number: i64,
    author: Option<i64>,
    at: Timestamp,
    ordered_at: Timestamp,
    body: String,
    html: String,
    words: String,
}

impl Batch {
    /// An empty one, after all that is there.
    pub async fn begin(connection: &Connection<'_>) -> Result<Self> {
        let find = "SELECT (SELECT coalesce(max(id), 0) FROM thread), (SELECT coalesce(max(id), 0) FROM post)";
        let begin = connection.one(find, &[], |columns| {
            Ok(Self {
                last_thread: columns.value()?,
                last_post: columns.value()?,
                threads: Vec::new(),
                posts: Vec::new(),
            })
        });
        begin.await
    }

    /// Puts a thread into it, which has no post yet, and gives its id.
    pub fn thread(&mut self, forum: i64, title: String, author: Option<i64>, at: Timestamp) -> i64 {
        let id = self.last_thread + self.threads.len() as i64 + 1;
        self.threads.push(Thread {
            id,
            forum,
            words: folded(&title),
            title,
            author,
            at,
            first_post: self.next_post(),
        });
        id
    }

    /// Puts a post into it.
    pub fn post(&mut self, thread: i64, body: String, author: Option<i64>, at: Timestamp) {
        self.posts.push(Post {
            id: self.next_post(),
            thread,
            number: 0,
            author,
            at,
            ordered_at: at,
            html: markdown::render(&body),
            words: folded(&body),
            body,
        });
    }

    fn next_post(&self) -> i64 {
        self.last_post + self.posts.len() as i64 + 1
    }

    /// Writes it. Posts in the forums `on_profiles` count on their authors' profiles.
    pub async fn write(mut self, tx: &Transaction<'_>, on_profiles: &[i64]) -> Result<()> {
        let visible = stored(State::Visible);
        let threads = self.threads.iter().map(|thread| thread.values(&visible));
        THREADS.add(tx, threads).await?;
        self.number(tx).await?;
        let posts = self.posts.iter().map(|post| post.values(&visible));
        POSTS.add(tx, posts).await?;
        pass_ids(tx).await?;
        counts::count(tx, self.last_post, on_profiles).await
    }

    /// Gives each post its number and its place in its thread.
    async fn number(&mut self, connection: &Connection<'_>) -> Result<()> {
        let threads: Vec<i64> = self.posts.iter().map(|post| post.thread).collect();
        let find = connection.either(
            "SELECT id, last_number, (SELECT max(ordered_at) FROM post WHERE thread_id = thread.id) FROM thread
             WHERE id IN (SELECT value FROM json_each(?1))",
            "SELECT id, last_number, (SELECT max(ordered_at) FROM post WHERE thread_id = thread.id) FROM thread
             WHERE id IN (SELECT CAST(value AS BIGINT) FROM jsonb_array_elements_text(CAST(?1 AS TEXT)::jsonb))",
        );
        let threads = bind![json(&threads)];
        let last = connection.all(find, threads, |columns| {
            let thread: i64 = columns.value()?;
            let (number, ordered_at): (i64, Option<Timestamp>) =
                (columns.value()?, columns.value()?);
            Ok((thread, (number, ordered_at)))
        });
        let mut last: HashMap<i64, (i64, Option<Timestamp>)> = last.await?.into_iter().collect();
        for post in &mut self.posts {
            let (number, ordered_at) = last.entry(post.thread).or_default();
            *number += 1;
            post.number = *number;
            post.ordered_at = ordered_at.map_or(post.at, |last| last.max(post.at));
            *ordered_at = Some(post.ordered_at);
        }
        Ok(())
    }
}

/// Lets the next thread and the next post that others write have other ids than those that were written with theirs.
async fn pass_ids(tx: &Transaction<'_>) -> Result<()> {
    let pass = "
        SELECT setval(pg_get_serial_sequence('thread', 'id'), max(id)) FROM thread;
        SELECT setval(pg_get_serial_sequence('post', 'id'), max(id)) FROM post";
    tx.run(tx.either("", pass)).await
}

const THREADS: Table = Table {
    name: "thread",
    columns: &[
        ("id", Type::INT8),
        ("forum_id", Type::INT8),
        ("title", Type::TEXT),
        ("title_words", Type::TEXT),
        ("author_id", Type::INT8),
        ("state", Type::TEXT),
        ("created_at", Type::INT8),
        ("last_activity_at", Type::INT8),
        ("first_post_id", Type::INT8),
    ],
};

impl Thread {
    fn values<'a>(&'a self, state: &'a &str) -> [&'a (dyn Value + Sync); 9] {
        [
            &self.id,
            &self.forum,
            &self.title,
            &self.words,
            &self.author,
            state,
            &self.at,
            &self.at,
            &self.first_post,
        ]
    }
}

const POSTS: Table = Table {
    name: "post",
    columns: &[
        ("id", Type::INT8),
        ("thread_id", Type::INT8),
        ("number", Type::INT8),
        ("author_id", Type::INT8),
        ("state", Type::TEXT),
        ("created_at", Type::INT8),
        ("ordered_at", Type::INT8),
        ("body", Type::TEXT),
        ("body_html", Type::TEXT),
        ("body_words", Type::TEXT),
    ],
};

impl Post {
    fn values<'a>(&'a self, state: &'a &str) -> [&'a (dyn Value + Sync); 10] {
        [
            &self.id,
            &self.thread,
            &self.number,
            &self.author,
            state,
            &self.at,
            &self.ordered_at,
            &self.body,
            &self.html,
            &self.words,
        ]
    }
}
