//! Added: the API over the board that was there.

mod access;
mod board;
mod convert;
mod error;
pub mod events;
pub mod webhooks;

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{ConnectInfo, OriginalUri};
use forum_api::ForumApi;
use forum_api::runtime::TokioRuntime;
use forum_api::store::Stores;

use crate::before::Club;

/// The API, to be mounted at `/api/v1`. Tokens, and first answers by `Idempotency-Key`, are in the board's own database,
/// through its own pool; budgets are in memory: for one node.
pub fn api(club: &Club) -> ForumApi {
    let board = Arc::new(club.clone());
    let stores = Stores::in_postgres(&club.pool);
    ForumApi::builder(board.clone(), board, stores, TokioRuntime)
        .original_uri(|extensions| extensions.get::<OriginalUri>().map(|uri| &uri.0))
        .peer_ip(|extensions| {
            let peer = extensions.get::<ConnectInfo<SocketAddr>>();
            peer.map(|info| info.0.ip())
        })
        .build()
}
