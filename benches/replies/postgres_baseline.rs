//! Baseline writers on Postgres: each connection takes queued replies and commits them one by one.

use std::collections::HashMap;
use std::sync::Arc;

use deadpool_postgres::{Client, Pool};
use futures_util::future::try_join_all;
use tokio::sync::Mutex;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::JoinSet;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Error, Statement, Transaction};

use crate::baseline::{Write, all_at_once};
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
    "UPDATE forum SET post_count = post_count + 1, last_activity_at = $2 WHERE id = $1";

/// Contents of a reply that the API wrote, and of its event.
struct Sample {
    /// The forum of each thread.
    forums: HashMap<i64, i64>,
    at: i64,
    body: String,
    html: String,
    words: String,
    event: String,
}

/// Writes copies of the last reply with this number of concurrent callers; returns replies per second.
pub async fn per_second(pool: &Pool, threads: &Arc<[i64]>) -> f64 {
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
    let per_second = all_at_once(&members, threads, move |write| queue.send(write).unwrap()).await;
    connections.join_all().await;
    per_second
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
        let Some(write) = next else {
            return;
        };
        let tx = client.transaction().await.unwrap();
        sample.write(&tx, &statements, &write).await.unwrap();
        tx.commit().await.unwrap();
        write.committed.send(()).unwrap();
    }
}

impl Sample {
    async fn of(client: &Client) -> Self {
        let query = "
            SELECT post.created_at, post.body, body_html, body_words, event.body
            FROM post
            CROSS JOIN (SELECT body FROM forum_api_events ORDER BY number DESC LIMIT 1) AS event
            ORDER BY post.id DESC LIMIT 1";
        let row = client.query_one(query, &[]).await.unwrap();
        let forums = client.query("SELECT id, forum_id FROM thread", &[]);
        let forums = forums.await.unwrap();
        Self {
            forums: forums.iter().map(|row| (row.get(0), row.get(1))).collect(),
            at: row.get(0),
            body: row.get(1),
            html: row.get(2),
            words: row.get(3),
            event: row.get(4),
        }
    }

    async fn write(
        &self,
        tx: &Transaction<'_>,
        [lock, post, thread, member, event, forum]: &[Statement; 6],
        write: &Write,
    ) -> Result<(), Error> {
        let (of, author, forum_of) = (write.thread, write.member, self.forums[&write.thread]);
        let last: i64 = tx.query_one(lock, &[&of]).await?.get(0);
        let number = last + 1;
        let at = self.at + number;
        let values: [&(dyn ToSql + Sync); 7] = [
            &of,
            &number,
            &author,
            &at,
            &self.body,
            &self.html,
            &self.words,
        ];
        let id: i64 = tx.query_one(post, &values).await?.get(0);
        let (event_id, forum_id) = (format!("evt_{id:022}"), forum_of.to_string());
        let values: [&(dyn ToSql + Sync); 4] = [&event_id, &at, &forum_id, &self.event];
        tokio::try_join!(
            async { tx.execute(thread, &[&of, &number, &id, &at]).await },
            async { tx.execute(member, &[&author]).await },
            async { tx.execute(event, &values).await },
        )?;
        tx.execute(forum, &[&forum_of, &at]).await?;
        Ok(())
    }
}
