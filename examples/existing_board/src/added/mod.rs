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

use forum_api::host::{WebPage, WebUrls};
use forum_api::store::Stores;
use forum_api::{BuildError, Environment, ForumApi};

use crate::before::Club;

/// Public origin of the board.
const ORIGIN: &str = "https://club.example";

/// Returns the environment, which all services of the board share. It adds the scope and the topic of votes.
pub fn environment() -> Environment {
    // Entries of different topics can commit in another order than their times. A commit takes less than 30 s.
    Environment::default()
        .since_overlap(Duration::from_secs(30))
        .web_urls(&web_urls())
        .scope(votes::VOTES_WRITE)
        .topic(votes::POST_VOTED, "A member voted for a post.", &votes::PostVoted::example())
}

/// Returns the addresses of the board's pages.
pub fn web_urls() -> WebUrls {
    WebUrls::new(|page| match page {
        WebPage::Thread(topic) | WebPage::Post(topic, _) => {
            Some(format!("{ORIGIN}/topics/{topic}"))
        }
        _ => None,
    })
}

/// Returns the API, which is mounted at `/api/v1`. Tokens and idempotency keys are in the board's database. Rate limits
/// are in memory, which suits a single node.
pub fn api(club: &Club) -> Result<ForumApi, BuildError> {
    let board = Arc::new(club.clone());
    ForumApi::builder(board.clone(), Stores::in_postgres(&club.pool))
        .environment(&environment())
        .operation(votes::vote_post(&board))
        .axum_0_8()
        .build()
}
