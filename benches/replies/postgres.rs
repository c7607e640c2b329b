//! Bare writers on Postgres: each connection takes queued replies and commits them one by one.

use std::sync::Arc;

use deadpool_postgres::Client;
use forum_api::store::postgres::tokio_postgres_0_7::connect;
use tokio::sync::Mutex;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::JoinSet;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Error, Statement, Transaction};

use crate::bare::{AUTHOR, EVENT, FORUM, MEMBER, POST, Sample, THREAD, Write};

/// Number of connections that the board uses for writes.
const CONNECTIONS: usize = 8;

const LOCK: &str = "SELECT last_number FROM thread WHERE id = $1 FOR NO KEY UPDATE";

/// Writes copies of the sample; returns replies per second.
pub async fn per_second(url: &str, sample: Sample) -> f64 {
    let pool = connect(url, CONNECTIONS).unwrap();
    let (queue, waiting) = unbounded_channel();
    let waiting = Arc::new(Mutex::new(waiting));
    let mut connections = JoinSet::new();
    for _ in 0..CONNECTIONS {
        let client = pool.get().await.unwrap();
        connections.spawn(work(client, waiting.clone(), sample.clone()));
    }
    let per_second = sample.per_second(move |write| queue.send(write).unwrap()).await;
    connections.join_all().await;
    per_second
}

async fn work(mut client: Client, waiting: Arc<Mutex<UnboundedReceiver<Write>>>, sample: Sample) {
    let mut statements = Vec::new();
    for sql in [LOCK, POST, THREAD, MEMBER, AUTHOR, EVENT, FORUM] {
        statements.push(client.prepare(sql).await.unwrap());
    }
    let statements: [Statement; 7] = statements.try_into().unwrap();
    loop {
        let next = waiting.lock().await.recv().await;
        let Some(write) = next else {
            return;
        };
        let tx = client.transaction().await.unwrap();
        insert(&sample, &tx, &statements, &write).await.unwrap();
        tx.commit().await.unwrap();
        write.committed.send(()).unwrap();
    }
}

async fn insert(
    sample: &Sample,
    tx: &Transaction<'_>,
    [lock, post, thread, member, author, event, forum]: &[Statement; 7],
    write: &Write,
) -> Result<(), Error> {
    let into = sample.threads[write.thread];
    let last: i64 = tx.query_one(lock, &[&into.id]).await?.get(0);
    let number = last + 1;
    let at = sample.at + number;
    let contents: [&(dyn ToSql + Sync); 7] =
        [&into.id, &number, &write.member, &at, &sample.body, &sample.html, &sample.words];
    let id: i64 = tx.query_one(post, &contents).await?.get(0);
    let event_id = format!("evt_{id:022}");
    let forum_id = into.forum.to_string();
    let of_thread: [&(dyn ToSql + Sync); 5] = [&number, &id, &write.member, &at, &into.id];
    let of_event: [&(dyn ToSql + Sync); 4] = [&event_id, &at, &forum_id, &sample.event];
    tokio::try_join!(
        async { tx.execute(thread, &of_thread).await },
        async { tx.execute(member, &[&write.member]).await },
        async { tx.execute(author, &[&into.id, &write.member]).await },
        async { tx.execute(event, &of_event).await },
    )?;
    tx.execute(forum, &[&at, &into.forum]).await?;
    Ok(())
}
