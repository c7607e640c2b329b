//! Opens the database of `forum-api-sqlx-0-8` with the feature `sqlite`, and inserts another event with sqlx 0.9.
//!
//! The argument is the path of the database.

use std::error::Error;

use forum_api::model::Timestamp;
use forum_api::runtime::{Clock, OsRandom, SystemClock};
use forum_api::store::sqlite::{Database, DatabasePath};
use forum_api::store::{SchemaStatus, WebhookStores};
use forum_api::webhook::{Event, EventMeta, Topic};
use serde_json::json;
use sqlx::SqlitePool;
use sqlx::sqlite::SqliteConnectOptions;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

#[tokio::main]
async fn main() -> Result<()> {
    let path = std::env::args()
        .nth(1)
        .ok_or("usage: forum-api-sqlx-0-9 PATH")?;
    let pool = SqlitePool::connect_with(SqliteConnectOptions::new().filename(&path)).await?;
    insert_event(&pool, SystemClock.now()).await?;

    let database = Database::open_unmigrated(&DatabasePath::File {
        path: path.into(),
        create: false,
    })?;
    assert_eq!(database.schema_status().await?, SchemaStatus::UpToDate);
    let webhooks = WebhookStores::in_sqlite(&database);
    let events = webhooks.outbox.pending(10).await?;
    let topics: Vec<_> = events.iter().map(|event| event.topic.as_str()).collect();
    assert_eq!(topics, ["post.greeted", "post.read"]);
    database.close().await;
    pool.close().await;
    Ok(())
}

async fn insert_event(pool: &SqlitePool, now: Timestamp) -> Result<()> {
    let topic = Topic::parse("post.read")?;
    let event = Event::new(topic, EventMeta::new(&OsRandom, now)?, None, &json!({}));
    let mut insert = sqlx::query(Event::INSERT_SQL);
    for parameter in event.insert_parameters() {
        insert = insert.bind(parameter);
    }
    let mut transaction = pool.begin().await?;
    insert.execute(&mut *transaction).await?;
    transaction.commit().await?;
    Ok(())
}
