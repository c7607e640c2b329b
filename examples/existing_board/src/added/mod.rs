//! Added: the API over the existing board.

mod access;
mod board;
mod convert;
mod error;
pub mod events;
pub mod votes;
pub mod webhooks;

use std::sync::Arc;
use std::time::Duration;

use forum_api::runtime::TokioRuntime;
use forum_api::store::{Stores, WebhookStores};
use forum_api::{BuildError, Environment, ForumApi, Wiring};

use crate::before::Club;

/// Returns the stores in the board's database and the environment, which all services of the board share. The environment
/// adds the scope and the topic of votes.
pub fn wiring(club: &Club) -> Wiring {
    let stores = Stores::in_postgres(&club.pool);
    // Entries of different topics can commit in another order than their times. A commit takes less than 30 s.
    let environment = Environment::new(TokioRuntime)
        .since_overlap(Duration::from_secs(30))
        .scope(votes::VOTES_WRITE)
        .topic(
            votes::POST_VOTED,
            "A member voted for a post.",
            &votes::PostVoted::example(),
        );
    Wiring::new(stores, WebhookStores::in_postgres(&club.pool), environment)
}

/// Returns the API, which is mounted at `/api/v1`. Tokens and idempotency keys are in the board's database. Rate limits
/// are in memory, which suits a single node.
pub fn api(club: &Club) -> Result<ForumApi, BuildError> {
    let board = Arc::new(club.clone());
    wiring(club)
        .api(board.clone())
        .operation(votes::vote_post(&board))
        .axum()
        .build()
}
