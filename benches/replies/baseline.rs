//! Baseline writer: one connection on a thread of its own, fed by a queue.

use std::collections::HashMap;
use std::iter;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ToSql, params};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use crate::writers::{WRITERS, nth};
use crate::{ROUND, WARM_UP};

/// The pragmas that the library sets on its own connections.
const PRAGMAS: &str = "
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA mmap_size = 2147483648;
    PRAGMA cache_size = -32768;
    PRAGMA foreign_keys = ON;
    PRAGMA temp_store = MEMORY;
";

const POST: &str = "
    INSERT INTO post (thread_id, number, author_id, state, created_at, ordered_at, body, body_html, body_words)
    VALUES (?1, ?2, ?3, 'visible', ?4, ?4, ?5, ?6, ?7)";

const THREAD: &str = "
    UPDATE thread SET last_number = ?2, reply_count = reply_count + 1, last_post_id = ?3, last_activity_at = ?4
    WHERE id = ?1";

const FORUM: &str =
    "UPDATE forum SET post_count = post_count + 1, last_activity_at = ?2 WHERE id = ?1";

const MEMBER: &str = "UPDATE member SET post_count = post_count + 1 WHERE id = ?1";

const EVENT: &str = "
    INSERT INTO forum_api_events (id, topic, occurred_at, forum, body) VALUES (?1, 'post.created', ?2, ?3, ?4)";

/// Contents of a reply that the API wrote, and of its event.
struct Sample {
    /// The forum and the last number of each thread.
    threads: HashMap<i64, (i64, i64)>,
    at: i64,
    body: String,
    html: String,
    words: String,
    event: String,
    members: Vec<i64>,
}

/// A reply to write.
pub struct Write {
    pub member: i64,
    pub thread: i64,
    pub committed: oneshot::Sender<()>,
}

/// Writes copies of the last reply with this number of concurrent callers; returns replies per second.
pub async fn per_second(path: &Path, threads: &Arc<[i64]>) -> f64 {
    let connection = Connection::open(path).unwrap();
    connection.execute_batch(PRAGMAS).unwrap();
    let sample = Sample::of(&connection);
    let members = sample.members.clone();
    let (queue, waiting) = channel();
    let writer = thread::spawn(move || work(&connection, &waiting, sample));
    let per_second = all_at_once(&members, threads, move |write| queue.send(write).unwrap()).await;
    writer.join().unwrap();
    per_second
}

/// Sends replies of all members to the threads concurrently for one round, after a warm-up; returns replies per second.
pub async fn all_at_once(
    members: &[i64],
    threads: &Arc<[i64]>,
    send: impl Fn(Write) + Clone + Send + 'static,
) -> f64 {
    send_for(WARM_UP, members, threads, &send).await;
    send_for(ROUND, members, threads, &send).await
}

async fn send_for(
    time: Duration,
    members: &[i64],
    threads: &Arc<[i64]>,
    send: &(impl Fn(Write) + Clone + Send + 'static),
) -> f64 {
    let start = Instant::now();
    let mut writers = JoinSet::new();
    for (number, member) in members.iter().copied().enumerate() {
        let (send, threads) = (send.clone(), threads.clone());
        writers.spawn(async move {
            let mut written = 0;
            while start.elapsed() < time {
                let (committed, is_committed) = oneshot::channel();
                let thread = nth(&threads, number + written);
                send(Write {
                    member,
                    thread,
                    committed,
                });
                is_committed.await.unwrap();
                written += 1;
            }
            written
        });
    }
    let written: usize = writers.join_all().await.into_iter().sum();
    written as f64 / start.elapsed().as_secs_f64()
}

fn work(connection: &Connection, queue: &Receiver<Write>, mut sample: Sample) {
    while let Ok(first) = queue.recv() {
        let group = iter::once(first).chain(queue.try_iter().take(WRITERS - 1));
        connection.execute_batch("BEGIN IMMEDIATE").unwrap();
        let callers: Vec<_> = group
            .map(|write| {
                sample
                    .write(connection, write.thread, write.member)
                    .unwrap();
                write.committed
            })
            .collect();
        connection.execute_batch("COMMIT").unwrap();
        for caller in callers {
            caller.send(()).unwrap();
        }
    }
}

impl Sample {
    fn of(connection: &Connection) -> Self {
        let query = "
            SELECT post.created_at, post.body, body_html, body_words, event.body
            FROM post
            CROSS JOIN (SELECT body FROM forum_api_events ORDER BY number DESC LIMIT 1) AS event
            ORDER BY post.id DESC LIMIT 1";
        let mut members = connection
            .prepare("SELECT id FROM member ORDER BY id DESC LIMIT ?1")
            .unwrap();
        let members = members
            .query_map([WRITERS as i64], |row| row.get(0))
            .unwrap();
        let members = members.map(Result::unwrap).collect();
        let mut threads = connection
            .prepare("SELECT id, forum_id, last_number FROM thread")
            .unwrap();
        let threads = threads.query_map([], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))));
        let threads = threads.unwrap().map(Result::unwrap).collect();
        let sample = connection.query_row(query, [], |row| {
            Ok(Self {
                threads,
                at: row.get(0)?,
                body: row.get(1)?,
                html: row.get(2)?,
                words: row.get(3)?,
                event: row.get(4)?,
                members,
            })
        });
        sample.unwrap()
    }

    fn write(&mut self, connection: &Connection, thread: i64, member: i64) -> rusqlite::Result<()> {
        let (forum, last) = self.threads.get_mut(&thread).unwrap();
        *last += 1;
        self.at += 1;
        let (forum, number, at) = (*forum, *last, self.at);
        let run = |sql, values: &[&dyn ToSql]| connection.prepare_cached(sql)?.execute(values);
        let contents = params![thread, number, member, at, self.body, self.html, self.words];
        run(POST, contents)?;
        let post = connection.last_insert_rowid();
        run(THREAD, params![thread, number, post, at])?;
        run(FORUM, params![forum, at])?;
        run(MEMBER, params![member])?;
        let (id, forum) = (format!("evt_{post:022}"), forum.to_string());
        run(EVENT, params![id, at, forum, self.event])?;
        Ok(())
    }
}
