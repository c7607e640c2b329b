//! Reasons for which an entry is not written.

use std::time::Duration;

use axum::http::StatusCode;
use deadpool_postgres::PoolError;
use thiserror::Error;

/// A reason for which an entry was not written. It prints as the member sees it.
#[derive(Debug, Error)]
pub enum ReplyError {
    /// There is no such topic, or none for this member.
    #[error("Topic not found.")]
    NoTopic,
    /// The account can no longer write.
    #[error("Your account is banned.")]
    Banned,
    /// The topic takes no more entries.
    #[error("The topic is locked.")]
    Locked,
    /// Nothing was typed.
    #[error("The body is empty.")]
    Empty,
    /// More was typed than an entry holds.
    #[error("The body is longer than 10,000 characters.")]
    TooLong,
    /// The member has to wait for so long.
    #[error("Please wait for {} seconds.", .0.as_secs())]
    TooSoon(Duration),
    /// The database failed.
    #[error("Internal error.")]
    Failed(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl ReplyError {
    /// The status of the page that says so.
    pub fn status(&self) -> StatusCode {
        match self {
            Self::NoTopic => StatusCode::NOT_FOUND,
            Self::Banned | Self::Locked => StatusCode::FORBIDDEN,
            Self::Empty | Self::TooLong => StatusCode::UNPROCESSABLE_ENTITY,
            Self::TooSoon(_) => StatusCode::TOO_MANY_REQUESTS,
            Self::Failed(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

impl From<tokio_postgres::Error> for ReplyError {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Failed(error.into())
    }
}

impl From<PoolError> for ReplyError {
    fn from(error: PoolError) -> Self {
        Self::Failed(error.into())
    }
}
