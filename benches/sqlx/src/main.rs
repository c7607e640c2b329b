//! Pages of the reference board on axum and sqlx, with one query each for token, owner and data, and without rate limits
//! and logs. The benchmark `pages` builds and runs it.
//!
//! Reads the URL of the database, the number of connections and the statements as JSON from standard input, prints its
//! origin, and serves until the process is killed.

mod row;

use std::collections::HashMap;
use std::error::Error;
use std::io;

use axum::extract::{Path, Query, State};
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use axum::routing::get;
use axum::{Json, Router};
use forum_api::model::{Forum, Post, Thread};
use serde::{Deserialize, Serialize};
use sqlx::postgres::PgPoolOptions;
use sqlx::sqlite::SqlitePoolOptions;
use sqlx::{PgPool, SqlitePool};
use tokio::net::TcpListener;

use row::{Item, Owner, Token};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The input of the program.
#[derive(Deserialize)]
struct Config {
    database: String,
    connections: u32,
    /// By name.
    statements: HashMap<String, Statement>,
}

/// A statement whose parameters are numbered, and their names.
#[derive(Deserialize)]
struct Statement {
    sql: String,
    names: Vec<String>,
}

enum Pool {
    Sqlite(SqlitePool),
    Postgres(PgPool),
}

struct Site {
    pool: Pool,
    statements: &'static HashMap<String, Statement>,
}

/// Values of the parameters that differ between requests.
#[derive(Clone, Copy, Default)]
struct Values<'a> {
    lookup: &'a str,
    member: Option<i64>,
    /// The thread or the forum.
    id: i64,
    /// The time and the id at which a list starts.
    start: i64,
    rows: i64,
}

/// Fetches the rows of a statement in one of the pools.
macro_rules! fetch {
    ($pool:expr, $statement:expr, $values:expr) => {{
        let mut query = sqlx::query($statement.sql.as_str());
        for name in &$statement.names {
            query = match name.as_str() {
                ":lookup" => query.bind($values.lookup),
                ":member" => query.bind($values.member),
                ":thread" | ":forum" => query.bind($values.id),
                ":time" | ":id" => query.bind($values.start),
                ":rows" => query.bind($values.rows),
                ":since" => query.bind(i64::MIN),
                ":from" => query.bind(None::<i64>),
                ":sees" => query.bind(",1,2,3,"),
                ":moderates" => query.bind(","),
                ":source" | ":html" => query.bind(true),
                ":window" => query.bind("post.edit_window_minutes"),
                other => panic!("no value of {other}"),
            };
        }
        let rows = query.fetch_all($pool).await.unwrap();
        rows.iter().map(Item::read).collect()
    }};
}

impl Site {
    async fn all<T: Item>(&self, statement: &str, values: Values<'_>) -> Vec<T> {
        let statement: &'static Statement = &self.statements[statement];
        match &self.pool {
            Pool::Sqlite(pool) => fetch!(pool, statement, values),
            Pool::Postgres(pool) => fetch!(pool, statement, values),
        }
    }

    /// Finds the token of the request and its owner.
    async fn authenticate(&self, headers: &HeaderMap) {
        let text = headers[AUTHORIZATION].to_str().unwrap();
        let lookup = &text["Bearer forum_pat_".len()..][..16];
        let values = Values {
            lookup,
            ..Values::default()
        };
        let token: Vec<Token> = self.all("token", values).await;
        assert!(token[0].scopes.contains("posts:read"));
        let values = Values {
            member: Some(token[0].owner),
            ..Values::default()
        };
        let owner: Vec<Owner> = self.all("owner", values).await;
        assert!(owner[0].groups.is_some() && owner[0].forum.is_some());
    }
}

type Shared = State<&'static Site>;

#[derive(Deserialize)]
struct ListParams {
    limit: Option<i64>,
}

impl ListParams {
    fn rows(&self) -> i64 {
        self.limit.unwrap_or(20) + 1
    }
}

#[derive(Serialize)]
struct List<T> {
    items: Vec<T>,
}

#[derive(Serialize)]
struct Page<T> {
    items: Vec<T>,
    next: Option<String>,
}

impl<T> Page<T> {
    /// Removes the extra row that signals a further page.
    fn new(mut items: Vec<T>, rows: i64, position: impl Fn(&T) -> String) -> Json<Self> {
        let more = items.len() == rows as usize;
        items.truncate(rows as usize - 1);
        let last = items.last().filter(|_| more);
        let next = last.map(position);
        Json(Self { items, next })
    }
}

async fn forums(State(site): Shared, headers: HeaderMap) -> Json<List<Forum>> {
    site.authenticate(&headers).await;
    let items = site.all("forums", Values::default()).await;
    Json(List { items })
}

async fn threads(
    State(site): Shared,
    Path(id): Path<i64>,
    Query(params): Query<ListParams>,
    headers: HeaderMap,
) -> Json<Page<Thread>> {
    site.authenticate(&headers).await;
    let (rows, start) = (params.rows(), i64::MAX);
    let values = Values {
        id,
        start,
        rows,
        ..Values::default()
    };
    let items: Vec<Thread> = site.all("threads", values).await;
    let position = |thread: &Thread| {
        let time = thread.last_activity_at.as_millis();
        format!("{time}.{}", thread.thread_id)
    };
    Page::new(items, rows, position)
}

async fn thread(State(site): Shared, Path(id): Path<i64>, headers: HeaderMap) -> Json<Thread> {
    site.authenticate(&headers).await;
    let values = Values {
        id,
        ..Values::default()
    };
    Json(site.all("thread", values).await.remove(0))
}

async fn posts(
    State(site): Shared,
    Path(id): Path<i64>,
    Query(params): Query<ListParams>,
    headers: HeaderMap,
) -> Json<Page<Post>> {
    site.authenticate(&headers).await;
    let (rows, start) = (params.rows(), i64::MIN);
    let values = Values {
        id,
        start,
        rows,
        ..Values::default()
    };
    let items: Vec<Post> = site.all("posts", values).await;
    let position = |post: &Post| format!("{}.{}", post.created_at.as_millis(), post.post_id);
    Page::new(items, rows, position)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let config: Config = serde_json::from_reader(io::stdin())?;
    let (url, connections) = (&config.database, config.connections);
    let pool = if url.starts_with("sqlite:") {
        let options = SqlitePoolOptions::new().max_connections(connections);
        Pool::Sqlite(options.connect(url).await?)
    } else {
        let options = PgPoolOptions::new().max_connections(connections);
        Pool::Postgres(options.connect(url).await?)
    };
    let site = Box::leak(Box::new(Site {
        pool,
        statements: Box::leak(Box::new(config.statements)),
    }));
    let router = Router::new()
        .route("/api/v1/forums", get(forums))
        .route("/api/v1/forums/{forum}/threads", get(threads))
        .route("/api/v1/threads/{thread}", get(thread))
        .route("/api/v1/threads/{thread}/posts", get(posts))
        .with_state(&*site);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}", listener.local_addr()?);
    Ok(axum::serve(listener, router).await?)
}
