//! Parts of both bare writers: the contents of a reply that the API wrote, and the rows of a copy of it.

use std::str::FromStr;
use std::time::{Duration, Instant};

use forum_test_support::program::ServerDirectory;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

/// Number of concurrent members.
pub const WRITERS: usize = 64;

/// Time of writing before a measurement, in which connections prepare their statements.
const WARM_UP: Duration = Duration::from_secs(1);

/// Duration of a measurement.
const ROUND: Duration = Duration::from_secs(2);

pub const POST: &str = "
    INSERT INTO post (thread_id, number, author_id, state, created_at, written_at, body, body_html, body_words)
    VALUES ($1, $2, $3, 'visible', $4, $4, $5, $6, $7) RETURNING id";

pub const THREAD: &str = "
    UPDATE thread SET
        last_number = $1, reply_count = reply_count + 1, last_post_id = $2, last_author_id = $3, last_activity_at = $4
    WHERE id = $5";

pub const MEMBER: &str = "UPDATE member SET post_count = post_count + 1 WHERE id = $1";

pub const AUTHOR: &str = "
    INSERT INTO thread_author (thread_id, author_id, post_count, counted) VALUES ($1, $2, 1, 1)
    ON CONFLICT (thread_id, author_id)
        DO UPDATE SET post_count = thread_author.post_count + 1, counted = thread_author.counted + 1";

pub const EVENT: &str = "
    INSERT INTO forum_api_events (id, topic, occurred_at, forum, body) VALUES ($1, 'post.created', $2, $3, $4)";

pub const FORUM: &str = "
    UPDATE forum_count SET post_count = post_count + 1, newest_at = $1
    WHERE id = (SELECT min(id) FROM forum_count WHERE forum_id = $2)";

/// A thread that receives replies.
#[derive(Clone, Copy)]
pub struct Thread {
    pub id: i64,
    pub forum: i64,
    pub last_number: i64,
}

/// Contents of a reply, and of its event.
#[derive(Clone)]
pub struct Sample {
    pub threads: Vec<Thread>,
    members: Vec<i64>,
    pub at: i64,
    pub body: String,
    pub html: String,
    pub words: String,
    pub event: String,
}

/// A reply to write.
pub struct Write {
    pub member: i64,
    /// Index of the thread in the sample.
    pub thread: usize,
    pub committed: oneshot::Sender<()>,
}

impl Sample {
    /// Reads the last reply.
    pub fn of(directory: &ServerDirectory) -> Self {
        let column = |name: &str, rest: &str| {
            let query = format!("SELECT CAST({name} AS TEXT) FROM {rest}");
            directory.query(&query)
        };
        let text = |name: &str, table: &str, order: &str| {
            let rest = format!("{table} ORDER BY {order} DESC LIMIT 1");
            column(name, &rest).remove(0)
        };
        let members = column("id", &format!("member ORDER BY id DESC LIMIT {WRITERS}"));
        let threads = ["id", "forum_id", "last_number"]
            .map(|name| numbers(&column(name, "thread ORDER BY id")));
        let [ids, forums, last_numbers] = &threads;
        let thread = |((id, forum), last_number): ((&i64, &i64), &i64)| Thread {
            id: *id,
            forum: *forum,
            last_number: *last_number,
        };
        let threads = ids.iter().zip(forums).zip(last_numbers);
        Self {
            threads: threads.map(thread).collect(),
            members: numbers(&members),
            at: text("created_at", "post", "id").parse().unwrap(),
            body: text("body", "post", "id"),
            html: text("body_html", "post", "id"),
            words: text("body_words", "post", "id"),
            event: text("body", "forum_api_events", "number"),
        }
    }

    /// Sends writes of all members concurrently; returns the committed replies per second.
    pub async fn per_second(&self, send: impl Fn(Write) + Clone + Send + 'static) -> f64 {
        let members = self.members.clone();
        let threads = self.threads.len();
        per_second(move |writer, number| {
            let (committed, is_committed) = oneshot::channel();
            send(Write { member: members[writer], thread: number % threads, committed });
            async { is_committed.await.unwrap() }
        })
        .await
    }
}

fn numbers(texts: &[String]) -> Vec<i64> {
    let numbers = texts.iter().map(|text| i64::from_str(text).unwrap());
    numbers.collect()
}

/// Writes replies with all writers for one round, after a warm-up; returns replies per second. `reply` gets the number
/// of the writer and that of the reply. A writer begins at its own number and continues with the next one.
pub async fn per_second<F: Future<Output = ()> + Send + 'static>(
    reply: impl Fn(usize, usize) -> F + Clone + Send + 'static,
) -> f64 {
    write_for(WARM_UP, &reply).await;
    write_for(ROUND, &reply).await
}

async fn write_for<F: Future<Output = ()> + Send + 'static>(
    time: Duration,
    reply: &(impl Fn(usize, usize) -> F + Clone + Send + 'static),
) -> f64 {
    let start = Instant::now();
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        let reply = reply.clone();
        writers.spawn(async move {
            let mut written = 0;
            while start.elapsed() < time {
                reply(writer, writer + written).await;
                written += 1;
            }
            written
        });
    }
    let written: usize = writers.join_all().await.into_iter().sum();
    written as f64 / start.elapsed().as_secs_f64()
}
