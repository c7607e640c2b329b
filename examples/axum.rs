//! Mounts the API in an axum router next to the host's own routes, with a CORS layer around both, and adds an operation
//! that only this board has.
//!
//! `cargo run --example axum`, then `curl -i http://127.0.0.1:8080/api/v1/x/statistics`.

#![warn(clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::unwrap_used)]

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::http::{HeaderName, HeaderValue, Method};
use axum::routing::get;
use forum_api::host::{
    Access, Authorizer, BackendResult, Board, BoardError, BoardResult, Caller, RequestInfo,
    ResourceRef, VisibleForums,
};
use forum_api::model::{ForumId, UserId};
use forum_api::operation::{NoForum, Operation, Resource, Tag};
use forum_api::scope::Scope;
use forum_api::store::Stores;
use forum_api::{ForumApi, async_trait};
use schemars::JsonSchema;
use serde::Serialize;
use tower_http::cors::CorsLayer;

/// A board without content and without implemented methods.
struct EmptyBoard;

#[async_trait]
impl Authorizer for EmptyBoard {
    async fn guest_access(&self, _: &RequestInfo) -> BackendResult<Access> {
        Ok(Access::new(VisibleForums::none()))
    }

    async fn member_access(&self, _: &UserId, _: &RequestInfo) -> BackendResult<Option<Access>> {
        Ok(None)
    }
}

#[async_trait]
impl Board for EmptyBoard {
    async fn containing_forum(&self, _: &Caller, _: ResourceRef<'_>) -> BoardResult<ForumId> {
        Err(BoardError::NotImplemented)
    }
}

/// Number of members and posts of the board.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Statistics {
    member_count: u64,
    post_count: u64,
}

impl Resource for Statistics {}

impl EmptyBoard {
    async fn get_statistics(&self) -> BoardResult<NoForum<Statistics>> {
        Ok(NoForum(Statistics { member_count: 0, post_count: 0 }))
    }
}

/// Returns the operation `GET /x/statistics`, which guests can call.
fn get_statistics(board: &Arc<EmptyBoard>) -> Operation {
    Operation::get("/x/statistics", "getStatistics", Scope::FORUMS_READ)
        .tag(Tag::new("statistics", "Statistics of the board."))
        .summary("Returns the number of members and posts.")
        .ok(
            board,
            |board, _: &Caller, (), ()| Box::pin(board.get_statistics()),
            || Statistics { member_count: 25, post_count: 300 },
        )
}

/// The headers of requests that browsers may send.
const REQUEST_HEADERS: [&str; 4] =
    ["authorization", "content-type", "idempotency-key", "if-none-match"];

/// The headers of responses that scripts may read.
const RESPONSE_HEADERS: [&str; 13] = [
    "etag",
    "idempotency-replayed",
    "link",
    "location",
    "retry-after",
    "www-authenticate",
    "x-error-field",
    "x-error-reason",
    "x-ratelimit-cost",
    "x-ratelimit-limit",
    "x-ratelimit-remaining",
    "x-ratelimit-reset",
    "x-request-id",
];

/// Returns a layer that responds to `OPTIONS` itself, and lets browsers send and read the headers of the API.
fn cors(origin: HeaderValue) -> CorsLayer {
    CorsLayer::new()
        .allow_origin(origin)
        .allow_methods([Method::GET, Method::POST, Method::PATCH, Method::DELETE])
        .allow_headers(REQUEST_HEADERS.map(HeaderName::from_static))
        .expose_headers(RESPONSE_HEADERS.map(HeaderName::from_static))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let board = Arc::new(EmptyBoard);
    let statistics = get_statistics(&board);
    let api =
        ForumApi::builder(board, Stores::in_memory()).operation(statistics).axum_0_8().build()?;
    let app = Router::new()
        .route("/", get(|| async { "A board's own page" }))
        .nest_service("/api/v1", api)
        .layer(cors(HeaderValue::from_static("http://localhost:3000")));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:8080").await?;
    let service = app.into_make_service_with_connect_info::<SocketAddr>();
    Ok(axum::serve(listener, service).await?)
}
