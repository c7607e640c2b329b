//! Added: the API over the board that was there.

mod board;
pub mod events;
mod refused;
mod standing;
pub mod stores;
mod words;

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{ConnectInfo, OriginalUri};
use forum_api::ForumApi;
use forum_api::clock::TokioRuntime;
use forum_api::store::Stores;

use crate::before::Club;

/// The API, to be mounted at `/api/v1`. Budgets, and first answers by `Idempotency-Key`, are in memory: for one node.
pub fn api(club: &Club) -> ForumApi {
    let board = Arc::new(club.clone());
    let stores = Stores {
        tokens: Arc::new(stores::OwnTables(club.pool.clone())),
        ..Stores::in_memory()
    };
    ForumApi::builder(board.clone(), board, stores, TokioRuntime)
        .original_uri(|extensions| extensions.get::<OriginalUri>().map(|uri| &uri.0))
        .peer(|extensions| {
            let peer = extensions.get::<ConnectInfo<SocketAddr>>();
            peer.map(|info| info.0.ip())
        })
        .build()
}
