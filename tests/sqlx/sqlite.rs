//! A host with a SQLite pool of sqlx, and the feature `sqlite` on the same database.
//!
//! The argument is the path of a new database. The program creates the tables, and writes a post and its event in one
//! transaction of sqlx. The library's stores then issue a token and read the event.

use std::error::Error;

use forum_api::Environment;
use forum_api::host::RequestInfo;
use forum_api::model::UserId;
use forum_api::runtime::{Clock, SystemClock};
use forum_api::scope::Scope;
use forum_api::store::sqlite::{Database, DatabasePath};
use forum_api::store::sqlite_schema::MIGRATIONS;
use forum_api::store::{SchemaStatus, Stores, WebhookStores};
use forum_api::token::TokenRequest;
use forum_api::webhook::{Event, Topic};
use serde_json::json;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode};
use sqlx::{Executor, Row, SqlitePool};

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

#[tokio::main]
async fn main() -> Result<()> {
    let path = std::env::args().nth(1).ok_or("usage: host PATH")?;
    let options = SqliteConnectOptions::new()
        .filename(&path)
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal);
    let pool = SqlitePool::connect_with(options).await?;
    for _ in 0..2 {
        migrate(&pool).await?;
    }
    let event = write_post(&pool, "Hello").await?;

    let database =
        Database::open_unmigrated(&DatabasePath::File { path: path.into(), create: false })?;
    assert_eq!(database.schema_status().await?, SchemaStatus::UpToDate);
    let stores = Stores::in_sqlite(&database);
    let owner = UserId::from(7);
    let scopes = [Scope::POSTS_READ];
    let request = TokenRequest::new(&owner, &scopes);
    let (_, token) = Environment::default().issue_token(&stores, request).await?;
    assert_eq!(stores.tokens.find(&token.lookup).await?, Some(token));
    let pending = WebhookStores::in_sqlite(&database).pending_events(10).await?;
    assert_eq!(pending, [event]);
    database.close().await;
    pool.close().await;
    Ok(())
}

/// Creates or migrates the library's tables.
async fn migrate(pool: &SqlitePool) -> Result<()> {
    let mut transaction = pool.begin_with("BEGIN IMMEDIATE").await?;
    // sqlx 0.9 accepts only `&'static str`.
    transaction.execute(&*MIGRATIONS.create_table_sql().leak()).await?;
    let rows = transaction.fetch_all(&*MIGRATIONS.applied_sql().leak()).await?;
    let applied: Vec<(String, String)> =
        rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect::<Result<_>>()?;
    transaction.execute(&*MIGRATIONS.pending_sql(&applied)?.leak()).await?;
    Ok(transaction.commit().await?)
}

/// Writes a post and its event in one transaction.
async fn write_post(pool: &SqlitePool, body: &str) -> Result<Event> {
    pool.execute("CREATE TABLE posts (id INTEGER PRIMARY KEY, body TEXT NOT NULL)").await?;
    let mut transaction = pool.begin_with("BEGIN IMMEDIATE").await?;
    let insert = sqlx::query("INSERT INTO posts (body) VALUES (?1)").bind(body);
    insert.execute(&mut *transaction).await?;

    let now = SystemClock.now();
    let meta = RequestInfo::background(now).event(now)?;
    let data = json!({ "body": body });
    let event = Event::new(Topic::from_static("post.greeted"), meta, None, &data);
    let mut insert = sqlx::query(Event::INSERT_SQL);
    for parameter in event.insert_parameters() {
        insert = insert.bind(parameter);
    }
    insert.execute(&mut *transaction).await?;
    transaction.commit().await?;
    Ok(event)
}
