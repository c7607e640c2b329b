//! Baseline writer: one connection on a thread of its own, fed by a queue.

use std::iter;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Instant;

use rusqlite::{Connection, ToSql, params};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use crate::ROUND;
use crate::writers::WRITERS;

/// The database's own type.
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
#[derive(Clone)]
struct Sample {
    forum: i64,
    thread: i64,
    number: i64,
    at: i64,
    body: String,
    html: String,
    words: String,
    event: String,
    members: Vec<i64>,
}

/// The author of a reply to write, and the channel that reports its commit.
pub type Write = (i64, oneshot::Sender<()>);

/// Writes copies of the last reply with this number of concurrent callers; returns replies per second.
pub async fn per_second(path: &Path) -> f64 {
    let connection = Connection::open(path).unwrap();
    connection.execute_batch(PRAGMAS).unwrap();
    let sample = Sample::of(&connection);
    let members = sample.members.clone();
    let (queue, waiting) = channel();
    let writer = thread::spawn(move || work(&connection, &waiting, sample));
    let per_second = all_at_once(&members, move |write| queue.send(write).unwrap()).await;
    writer.join().unwrap();
    per_second
}

/// Sends replies of all members concurrently for one round; returns replies per second.
pub async fn all_at_once(members: &[i64], send: impl Fn(Write) + Clone + Send + 'static) -> f64 {
    let start = Instant::now();
    let mut writers = JoinSet::new();
    for member in members.iter().copied() {
        let send = send.clone();
        writers.spawn(async move {
            let mut written = 0;
            while start.elapsed() < ROUND {
                let (caller, committed) = oneshot::channel();
                send((member, caller));
                committed.await.unwrap();
                written += 1;
            }
            written
        });
    }
    let written: u32 = writers.join_all().await.into_iter().sum();
    f64::from(written) / start.elapsed().as_secs_f64()
}

fn work(connection: &Connection, queue: &Receiver<Write>, mut sample: Sample) {
    while let Ok(first) = queue.recv() {
        let group = iter::once(first).chain(queue.try_iter().take(WRITERS - 1));
        connection.execute_batch("BEGIN IMMEDIATE").unwrap();
        let callers: Vec<_> = group
            .map(|(member, caller)| {
                sample.write(connection, member).unwrap();
                caller
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
            SELECT thread.forum_id, thread_id, number, post.created_at, post.body, body_html, body_words, event.body
            FROM post JOIN thread ON thread.id = thread_id
            CROSS JOIN (SELECT body FROM forum_api_events ORDER BY number DESC LIMIT 1) AS event
            ORDER BY post.id DESC LIMIT 1";
        let mut members = connection
            .prepare("SELECT id FROM member ORDER BY id DESC LIMIT ?1")
            .unwrap();
        let members = members
            .query_map([WRITERS as i64], |row| row.get(0))
            .unwrap();
        let members = members.map(Result::unwrap).collect();
        let sample = connection.query_row(query, [], |row| {
            Ok(Self {
                forum: row.get(0)?,
                thread: row.get(1)?,
                number: row.get(2)?,
                at: row.get(3)?,
                body: row.get(4)?,
                html: row.get(5)?,
                words: row.get(6)?,
                event: row.get(7)?,
                members,
            })
        });
        sample.unwrap()
    }

    fn write(&mut self, connection: &Connection, member: i64) -> rusqlite::Result<()> {
        self.number += 1;
        self.at += 1;
        let (number, at) = (self.number, self.at);
        let run = |sql, values: &[&dyn ToSql]| connection.prepare_cached(sql)?.execute(values);
        let contents = params![
            self.thread,
            number,
            member,
            at,
            self.body,
            self.html,
            self.words
        ];
        run(POST, contents)?;
        let post = connection.last_insert_rowid();
        run(THREAD, params![self.thread, number, post, at])?;
        run(FORUM, params![self.forum, at])?;
        run(MEMBER, params![member])?;
        let (id, forum) = (format!("evt_{number:022}"), self.forum.to_string());
        run(EVENT, params![id, at, forum, self.event])?;
        Ok(())
    }
}
