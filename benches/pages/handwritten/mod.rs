//! Handwritten server: one axum handler for each page, without features that the page does not need. Paths below
//! [`WITH_TOKEN`] return the same pages after a query for the token and its owner in the same visit to the database.

mod query;
mod row;
mod token_lookup;

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use deadpool_postgres::{Client, Pool};
use forum_api::store::{postgres, sqlite};
use http::header::CONTENT_TYPE;
use http::{HeaderMap, Uri};
use rusqlite::{Connection, ToSql};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio_postgres::types;

use crate::board::db::named_params;
use query::{Forums, Posts, Query, Thread, Threads};
use row::Row;
use token_lookup::Token;

/// Prefix of the paths that look up the token.
pub const WITH_TOKEN: &str = "/with-token";

/// Number of connections, as in the server.
pub const CONNECTIONS: usize = 16;

#[derive(Clone)]
enum Database {
    Sqlite(sqlite::Database),
    Postgres(Pool),
}

#[derive(Clone)]
struct Site {
    database: Database,
    /// True if requests look up their token.
    looks_up_token: bool,
}

/// The token to look up, if any.
type TokenLookup = Option<Token>;

/// Serves the board until the process ends; returns the origin.
pub fn start(url: &str) -> String {
    let runtime = Box::leak(Box::new(Runtime::new().unwrap()));
    let database = match url.strip_prefix("sqlite:") {
        Some(path) => Database::Sqlite(opened(path)),
        None => Database::Postgres(postgres::connect(url, CONNECTIONS).unwrap()),
    };
    let any: SocketAddr = ([127, 0, 0, 1], 0).into();
    let listener = runtime.block_on(TcpListener::bind(any)).unwrap();
    let address = listener.local_addr().unwrap();
    let [plain, with_lookup] =
        [false, true].map(|looks_up_token| router(database.clone(), looks_up_token));
    let both = plain.nest(WITH_TOKEN, with_lookup);
    runtime.spawn(async move { axum::serve(listener, both).await });
    format!("http://{address}")
}

fn opened(path: &str) -> sqlite::Database {
    let location = sqlite::DatabasePath::File {
        path: path.into(),
        create: false,
    };
    sqlite::Database::open(&location).unwrap()
}

fn router(database: Database, looks_up_token: bool) -> Router {
    Router::new()
        .route("/api/v1/forums", get(forums))
        .route("/api/v1/forums/{forum}/threads", get(threads))
        .route("/api/v1/threads/{thread}", get(thread))
        .route("/api/v1/threads/{thread}/posts", get(posts))
        .with_state(Arc::new(Site {
            database,
            looks_up_token,
        }))
}

async fn forums(State(site): State<Arc<Site>>, headers: HeaderMap) -> Response {
    let depth_first = matches!(site.database, Database::Sqlite(_));
    site.answer(&headers, Forums { depth_first }).await
}

async fn threads(
    State(site): State<Arc<Site>>,
    Path(forum): Path<i64>,
    headers: HeaderMap,
    uri: Uri,
) -> Response {
    let rows = limit(&uri) + 1;
    site.answer(&headers, Threads { forum, rows }).await
}

async fn thread(
    State(site): State<Arc<Site>>,
    Path(thread): Path<i64>,
    headers: HeaderMap,
) -> Response {
    site.answer(&headers, Thread { thread }).await
}

async fn posts(
    State(site): State<Arc<Site>>,
    Path(thread): Path<i64>,
    headers: HeaderMap,
    uri: Uri,
) -> Response {
    let rows = limit(&uri) + 1;
    site.answer(&headers, Posts { thread, rows }).await
}

fn limit(uri: &Uri) -> i64 {
    let limit = uri.query().and_then(|query| query.strip_prefix("limit="));
    limit.map_or(20, |limit| limit.parse().unwrap())
}

impl Site {
    async fn answer<Q: Query>(&self, headers: &HeaderMap, query: Q) -> Response {
        let is_postgres = matches!(self.database, Database::Postgres(_));
        let token_lookup = self.looks_up_token.then(|| Token::of(headers, is_postgres));
        let wire = match &self.database {
            Database::Sqlite(database) => in_sqlite(database, token_lookup, query).await,
            Database::Postgres(pool) => in_postgres(pool, token_lookup, query).await,
        };
        let json = serde_json::to_vec(&wire).unwrap();
        ([(CONTENT_TYPE, "application/json")], json).into_response()
    }
}

async fn in_sqlite<Q: Query>(
    database: &sqlite::Database,
    token_lookup: TokenLookup,
    query: Q,
) -> Q::Wire {
    let read = database.read::<_, sqlite::SqliteError>(move |connection| {
        if let Some(token) = token_lookup {
            token.wire(rows(connection, &token)?);
        }
        Ok(query.wire(rows(connection, &query)?))
    });
    read.await.unwrap()
}

fn rows<Q: Query>(connection: &Connection, query: &Q) -> rusqlite::Result<Vec<Q::Item>> {
    let mut statement = connection.prepare_cached(query.sql())?;
    let bound = query.bound();
    let bound: Vec<_> = bound
        .iter()
        .map(|(name, value)| (*name, *value as &dyn ToSql))
        .collect();
    let items = statement.query_map(&*bound, |row| Ok(Q::read(row)))?;
    items.collect()
}

async fn in_postgres<Q: Query>(pool: &Pool, token_lookup: TokenLookup, query: Q) -> Q::Wire {
    let client = pool.get().await.unwrap();
    if let Some(token) = token_lookup {
        token.wire(fetched(&client, &token).await);
    }
    query.wire(fetched(&client, &query).await)
}

async fn fetched<Q: Query>(client: &Client, query: &Q) -> Vec<Q::Item> {
    let statement_text = named_params(&[query.sql()]);
    let statement = client.prepare_cached(&statement_text.sql).await.unwrap();
    let bound = query.bound();
    let value = |name: &String| bound.iter().find(|(bound, _)| bound == name).unwrap().1;
    let values = statement_text.names.iter().map(value);
    let values: Vec<_> = values
        .map(|value| value as &(dyn types::ToSql + Sync))
        .collect();
    let rows = client.query(&statement, &values).await.unwrap();
    rows.iter().map(Q::read::<tokio_postgres::Row>).collect()
}
