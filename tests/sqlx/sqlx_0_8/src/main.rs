//! Writes the outbox of a board in its own SQLite pool of sqlx 0.8.
//!
//! The argument is the path of a new database. The program creates the database, and writes a post with its event in one
//! transaction.

mod migrations;

use std::error::Error;

use forum_api::runtime::{Clock, OsRandom, SystemClock};
use forum_api::webhook::{Event, EventMeta, Topic};
use serde_json::json;
use sqlx::SqlitePool;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode};

use migrations::migrate;

type Result<T, E = Box<dyn Error + Send + Sync>> = std::result::Result<T, E>;

#[tokio::main]
async fn main() -> Result<()> {
    let path = std::env::args()
        .nth(1)
        .ok_or("usage: forum-api-sqlx-0-8 PATH")?;
    let options = SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal);
    let pool = SqlitePool::connect_with(options).await?;
    for _ in 0..2 {
        migrate(&pool).await?;
    }
    write_post(&pool, "Hello").await?;
    pool.close().await;
    Ok(())
}

/// Writes a post and its event in one transaction.
async fn write_post(pool: &SqlitePool, body: &str) -> Result<()> {
    sqlx::query("CREATE TABLE posts (id INTEGER PRIMARY KEY, body TEXT NOT NULL)")
        .execute(pool)
        .await?;
    let mut transaction = pool.begin_with("BEGIN IMMEDIATE").await?;
    sqlx::query("INSERT INTO posts (body) VALUES (?1)")
        .bind(body)
        .execute(&mut *transaction)
        .await?;

    let meta = EventMeta::new(&OsRandom, SystemClock.now())?;
    let topic = Topic::parse("post.greeted")?;
    let event = Event::new(topic, meta, None, &json!({ "body": body }));
    let [id, topic, occurred_at, forum, body] = event.insert_parameters();
    sqlx::query(Event::INSERT_SQL)
        .bind(id)
        .bind(topic)
        .bind(occurred_at)
        .bind(forum)
        .bind(body)
        .execute(&mut *transaction)
        .await?;
    transaction.commit().await?;
    Ok(())
}
