//! Added: the API over the existing board.

mod access;
mod board;
mod convert;
mod error;
pub mod events;
pub mod votes;
pub mod webhooks;

use std::sync::Arc;

use forum_api::runtime::TokioRuntime;
use forum_api::store::Stores;
use forum_api::{BuildError, Environment, ForumApi};

use crate::before::Club;

/// Returns the stores in the board's database. The board loads tokens together with their owners.
pub fn stores(club: &Club) -> Stores {
    Stores {
        token_loader: Some(Arc::new(club.clone())),
        ..Stores::in_postgres(&club.pool)
    }
}

/// Returns the environment that all services of the board share: it adds the scope and the topic of votes.
pub fn environment() -> Environment {
    Environment::new(TokioRuntime)
        .scope(votes::VOTES_WRITE)
        .topic(
            votes::POST_VOTED,
            "A member voted for a post.",
            &votes::PostVoted::example(),
        )
}

/// Returns the API, which is mounted at `/api/v1`. Tokens and idempotency keys are in the board's database. Rate limits
/// are in memory, which suits a single node.
pub fn api(club: &Club) -> Result<ForumApi, BuildError> {
    let board = Arc::new(club.clone());
    ForumApi::builder(board.clone(), stores(club))
        .environment(environment())
        .operation(votes::vote_post(&board))
        .axum()
        .build()
}
