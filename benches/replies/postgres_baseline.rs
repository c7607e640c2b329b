//! Baseline writers on Postgres: two connections, each with a loop that commits the queued replies together.

use std::sync::Arc;
use std::time::Instant;

use deadpool_postgres::{Client, Pool};
use futures_util::future::{join_all, try_join_all};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{Mutex, oneshot};
use tokio::task::JoinSet;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Error, Statement, Transaction};

use crate::ROUND;
use crate::writers::WRITERS;

/// Number of connections that the board uses for writes.
const CONNECTIONS: usize = 8;

const LOCK: &str = "SELECT last_number FROM thread WHERE id = $1 FOR NO KEY UPDATE";

const POST: &str = "
    INSERT INTO post (thread_id, number, author_id, state, created_at, ordered_at, body, body_html, body_words)
    VALUES ($1, $2, $3, 'visible', $4, $4, $5, $6, $7) RETURNING id";

const THREAD: &str = "
    UPDATE thread SET last_number = $2, reply_count = reply_count + 1, last_post_id = $3, last_activity_at = $4
    WHERE id = $1";

const MEMBER: &str = "UPDATE member SET post_count = post_count + 1 WHERE id = $1";

const EVENT: &str = "
    INSERT INTO forum_api_events (id, topic, occurred_at, forum, body) VALUES ($1, 'post.created', $2, $3, $4)";

const FORUM: &str =
    "UPDATE forum SET post_count = post_count + $2, last_activity_at = $3 WHERE id = $1";

/// Contents of a reply that the API wrote, and of its event.
struct Sample {
    forum: i64,
    thread: i64,
    at: i64,
    body: String,
    html: String,
    words: String,
    event: String,
}

/// A reply to write, and the channel that reports its commit.
type Write = (i64, oneshot::Sender<()>);

/// Writes copies of the last reply with this number of concurrent callers; returns replies per second.
pub async fn per_second(pool: &Pool) -> f64 {
    let client = pool.get().await.unwrap();
    let sample = Arc::new(Sample::of(&client).await);
    let members = "SELECT id FROM member ORDER BY id DESC LIMIT $1";
    let members = client.query(members, &[&(WRITERS as i64)]).await.unwrap();
    let members: Vec<i64> = members.iter().map(|row| row.get(0)).collect();
    let (queue, waiting) = unbounded_channel();
    let waiting = Arc::new(Mutex::new(waiting));
    let mut connections = JoinSet::new();
    for _ in 0..CONNECTIONS {
        let client = pool.get().await.unwrap();
        connections.spawn(work(client, waiting.clone(), sample.clone()));
    }
    let per_second = all_at_once(&members, queue).await;
    connections.join_all().await;
    per_second
}

async fn all_at_once(members: &[i64], queue: UnboundedSender<Write>) -> f64 {
    let start = Instant::now();
    let mut writers = JoinSet::new();
    for member in members.iter().copied() {
        let queue = queue.clone();
        writers.spawn(async move {
            let mut written = 0;
            while start.elapsed() < ROUND {
                let (caller, committed) = oneshot::channel();
                queue.send((member, caller)).unwrap();
                committed.await.unwrap();
                written += 1;
            }
            written
        });
    }
    let written: u32 = writers.join_all().await.into_iter().sum();
    f64::from(written) / start.elapsed().as_secs_f64()
}

async fn work(
    mut client: Client,
    waiting: Arc<Mutex<UnboundedReceiver<Write>>>,
    sample: Arc<Sample>,
) {
    let statements = [LOCK, POST, THREAD, MEMBER, EVENT, FORUM];
    let statements = statements.map(|sql| client.prepare(sql));
    let statements: [Statement; 6] = try_join_all(statements).await.unwrap().try_into().unwrap();
    loop {
        let next = waiting.lock().await.recv().await;
        let Some((member, caller)) = next else {
            return;
        };
        let tx = client.transaction().await.unwrap();
        sample.write(&tx, &statements, &[member]).await.unwrap();
        tx.commit().await.unwrap();
        caller.send(()).unwrap();
    }
}

impl Sample {
    async fn of(client: &Client) -> Self {
        let query = "
            SELECT thread.forum_id, thread_id, post.created_at, post.body, body_html, body_words, event.body
            FROM post JOIN thread ON thread.id = thread_id
            CROSS JOIN (SELECT body FROM forum_api_events ORDER BY number DESC LIMIT 1) AS event
            ORDER BY post.id DESC LIMIT 1";
        let row = client.query_one(query, &[]).await.unwrap();
        Self {
            forum: row.get(0),
            thread: row.get(1),
            at: row.get(2),
            body: row.get(3),
            html: row.get(4),
            words: row.get(5),
            event: row.get(6),
        }
    }

    async fn write(
        &self,
        tx: &Transaction<'_>,
        [lock, post, thread, member, event, forum]: &[Statement; 6],
        members: &[i64],
    ) -> Result<(), Error> {
        let last: i64 = tx.query_one(lock, &[&self.thread]).await?.get(0);
        let numbers: Vec<i64> = (last + 1..).take(members.len()).collect();
        let posts = members.iter().zip(&numbers).map(async |(author, number)| {
            let at = self.at + number;
            let values: [&(dyn ToSql + Sync); 7] = [
                &self.thread,
                number,
                author,
                &at,
                &self.body,
                &self.html,
                &self.words,
            ];
            let row = tx.query_one(post, &values).await?;
            Ok::<i64, Error>(row.get(0))
        });
        let posts = try_join_all(posts).await?;
        let written = members.iter().zip(&numbers).zip(&posts);
        let counted = written.map(async |((author, number), id)| {
            let at = self.at + number;
            let (event_id, forum) = (format!("evt_{number:022}"), self.forum.to_string());
            tokio::try_join!(
                async { tx.execute(thread, &[&self.thread, number, id, &at]).await },
                async { tx.execute(member, &[author]).await },
                async {
                    tx.execute(event, &[&event_id, &at, &forum, &self.event])
                        .await
                },
            )
        });
        let counted: Result<Vec<_>, Error> = join_all(counted).await.into_iter().collect();
        counted?;
        let (count, at) = (members.len() as i64, self.at + last + members.len() as i64);
        tx.execute(forum, &[&self.forum, &count, &at]).await?;
        Ok(())
    }
}
