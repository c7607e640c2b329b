//! The server by hand: a handler a page, and nothing that is not in the page.

mod query;
mod row;

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use deadpool_postgres::Pool;
use forum_api::store::{postgres, sqlite};
use http::Uri;
use http::header::CONTENT_TYPE;
use rusqlite::ToSql;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio_postgres::types;

use crate::board::db::numbered::numbered;
use query::{Forums, Posts, Query, Thread, Threads};
use row::Row;

/// As many as the program has.
const CONNECTIONS: usize = 16;

#[derive(Clone)]
enum Database {
    Sqlite(sqlite::Database),
    Postgres(Pool),
}

/// Serves the board until the process ends; gives where it listens.
pub fn start(url: &str) -> String {
    let runtime = Box::leak(Box::new(Runtime::new().unwrap()));
    let database = match url.strip_prefix("sqlite:") {
        Some(path) => Database::Sqlite(opened(path)),
        None => Database::Postgres(postgres::connect(url, CONNECTIONS).unwrap()),
    };
    let any: SocketAddr = ([127, 0, 0, 1], 0).into();
    let listener = runtime.block_on(TcpListener::bind(any)).unwrap();
    let address = listener.local_addr().unwrap();
    runtime.spawn(async move { axum::serve(listener, router(database)).await });
    format!("http://{address}")
}

fn opened(path: &str) -> sqlite::Database {
    let location = sqlite::Location::File {
        path: path.into(),
        create: false,
    };
    sqlite::Database::open(&location).unwrap()
}

fn router(database: Database) -> Router {
    Router::new()
        .route("/api/v1/forums", get(forums))
        .route("/api/v1/forums/{forum}/threads", get(threads))
        .route("/api/v1/threads/{thread}", get(thread))
        .route("/api/v1/threads/{thread}/posts", get(posts))
        .with_state(Arc::new(database))
}

async fn forums(State(database): State<Arc<Database>>) -> Response {
    let depth_first = matches!(*database, Database::Sqlite(_));
    answer(&database, Forums { depth_first }).await
}

async fn threads(
    State(database): State<Arc<Database>>,
    Path(forum): Path<i64>,
    uri: Uri,
) -> Response {
    let rows = limit(&uri) + 1;
    answer(&database, Threads { forum, rows }).await
}

async fn thread(State(database): State<Arc<Database>>, Path(thread): Path<i64>) -> Response {
    answer(&database, Thread { thread }).await
}

async fn posts(
    State(database): State<Arc<Database>>,
    Path(thread): Path<i64>,
    uri: Uri,
) -> Response {
    let rows = limit(&uri) + 1;
    answer(&database, Posts { thread, rows }).await
}

fn limit(uri: &Uri) -> i64 {
    let limit = uri.query().and_then(|query| query.strip_prefix("limit="));
    limit.map_or(20, |limit| limit.parse().unwrap())
}

async fn answer<Q: Query>(database: &Database, query: Q) -> Response {
    let wire = match database {
        Database::Sqlite(database) => in_sqlite(database, query).await,
        Database::Postgres(pool) => in_postgres(pool, query).await,
    };
    let json = serde_json::to_vec(&wire).unwrap();
    ([(CONTENT_TYPE, "application/json")], json).into_response()
}

async fn in_sqlite<Q: Query>(database: &sqlite::Database, query: Q) -> Q::Wire {
    let read = database.read::<_, sqlite::SqliteError>(move |connection| {
        let mut statement = connection.prepare_cached(query.sql())?;
        let bound = query.bound();
        let bound: Vec<_> = bound
            .iter()
            .map(|(name, value)| (*name, *value as &dyn ToSql))
            .collect();
        let items = statement.query_map(&*bound, |row| Ok(Q::read(row)))?;
        let items = items.collect::<rusqlite::Result<_>>()?;
        Ok(query.wire(items))
    });
    read.await.unwrap()
}

async fn in_postgres<Q: Query>(pool: &Pool, query: Q) -> Q::Wire {
    let numbered = numbered(query.sql());
    let client = pool.get().await.unwrap();
    let statement = client.prepare_cached(&numbered.sql).await.unwrap();
    let bound = query.bound();
    let value = |name: &String| bound.iter().find(|(bound, _)| bound == name).unwrap().1;
    let values = numbered.names.iter().map(value);
    let values: Vec<_> = values
        .map(|value| value as &(dyn types::ToSql + Sync))
        .collect();
    let rows = client.query(&statement, &values).await.unwrap();
    let items = rows.iter().map(Q::read::<tokio_postgres::Row>).collect();
    query.wire(items)
}
