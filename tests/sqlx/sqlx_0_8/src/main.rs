//! Stores the tokens, the idempotency keys and the outbox of a board in its own SQLite pool of sqlx 0.8.
//!
//! The argument is the path of a new database. The program checks its stores with the conformance rules. It then creates
//! the database, issues a token, and writes a post with its event in one transaction.

mod idempotency_store;
mod migrations;
mod token_store;

use std::error::Error;
use std::sync::Arc;

use forum_api::async_trait;
use forum_api::conformance::FixtureResult;
use forum_api::conformance::stores::{CASES, StoreFactory, StoreFixture};
use forum_api::model::UserId;
use forum_api::runtime::{Clock, OsRandom, Runtime, SystemClock, TokioRuntime};
use forum_api::scope::{Scope, Surface};
use forum_api::store::{Stores, WebhookStores};
use forum_api::token::{TokenRequest, issue_token};
use forum_api::webhook::{Event, EventMeta, Topic};
use serde_json::json;
use sqlx::SqlitePool;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions};

use idempotency_store::SqlxIdempotencyStore;
use migrations::migrate;
use token_store::SqlxTokenStore;

type Result<T, E = Box<dyn Error + Send + Sync>> = std::result::Result<T, E>;

#[tokio::main]
async fn main() -> Result<()> {
    let path = std::env::args()
        .nth(1)
        .ok_or("usage: forum-api-sqlx-0-8 PATH")?;
    check_stores().await;

    let options = SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal);
    let pool = SqlitePool::connect_with(options).await?;
    for _ in 0..2 {
        migrate(&pool).await?;
    }
    let owner = UserId::from(7);
    let token = TokenRequest::new(&owner, &[Scope::FORUMS_READ]).label("sqlx 0.8");
    let now = SystemClock.now();
    let tokens = SqlxTokenStore(pool.clone());
    issue_token(&tokens, &OsRandom, Surface::Full, token, now).await?;
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

/// Runs the conformance rules of the stores in this program.
async fn check_stores() {
    let is_implemented =
        |name: &str| name.starts_with("tokens::") || name.starts_with("idempotency::");
    let mut checked = 0;
    for case in CASES.iter().filter(|case| is_implemented(case.name)) {
        case.run_or_panic(StoreFixture::new(&SqlxFactory)).await;
        checked += 1;
    }
    assert!(checked > 15, "{checked} rules");
}

struct SqlxFactory;

#[async_trait]
impl StoreFactory for SqlxFactory {
    async fn create(&self) -> FixtureResult<(Stores, WebhookStores)> {
        // Each connection to `sqlite::memory:` has its own database.
        let options = SqlitePoolOptions::new().max_connections(1);
        let pool = options.connect("sqlite::memory:").await?;
        migrate(&pool).await?;
        let stores = Stores {
            tokens: Arc::new(SqlxTokenStore(pool.clone())),
            idempotency: Arc::new(SqlxIdempotencyStore(pool)),
            ..Stores::in_memory()
        };
        Ok((stores, WebhookStores::in_memory()))
    }

    fn runtime(&self) -> Arc<dyn Runtime> {
        Arc::new(TokioRuntime)
    }
}
