//! Mounts the API in a hyper server without a framework, and passes the peer's address to it as an extension.
//!
//! `cargo run --example hyper`, then `curl -i http://127.0.0.1:8080/api/v1/openapi.json`.

#![warn(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]

use std::sync::Arc;

use forum_api::host::{
    Access, Authorizer, BackendResult, Board, BoardError, BoardResult, Caller, RequestInfo,
    ResourceRef, VisibleForums,
};
use forum_api::model::{ForumId, UserId};
use forum_api::store::Stores;
use forum_api::{ForumApi, async_trait};
use hyper::Request;
use hyper::body::Incoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tower::ServiceExt;

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

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let board = Arc::new(EmptyBoard);
    let api = ForumApi::builder(board, Stores::in_memory()).build()?;
    let listener = TcpListener::bind("127.0.0.1:8080").await?;
    loop {
        // `accept` fails if the client has disconnected already.
        let Ok((stream, peer)) = listener.accept().await else {
            continue;
        };
        let with_peer = move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(peer);
            request
        };
        let service = TowerToHyperService::new(api.clone().map_request(with_peer));
        // Without a timer hyper waits indefinitely for the head of a request. By default, hyper buffers up to 400 KiB
        // of a head.
        let connection = hyper::server::conn::http1::Builder::new()
            .timer(TokioTimer::new())
            .max_buf_size(32 * 1024)
            .serve_connection(TokioIo::new(stream), service);
        tokio::spawn(connection);
    }
}
