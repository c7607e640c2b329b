//! Errors of the reply command.

use std::time::Duration;

use axum::http::StatusCode;
use deadpool_postgres::PoolError;
use thiserror::Error;

/// The error of a reply. `Display` returns the text for the member.
#[derive(Debug, Error)]
pub enum ReplyError {
    /// The topic does not exist, or the member cannot see it.
    #[error("Topic not found.")]
    NoTopic,
    /// The account is banned.
    #[error("Your account is banned.")]
    Banned,
    /// Only administrators write in the topic.
    #[error("The topic is locked.")]
    Locked,
    /// The body is empty.
    #[error("The body is empty.")]
    Empty,
    /// The body is longer than 10,000 characters.
    #[error("The body is longer than 10,000 characters.")]
    TooLong,
    /// The member has to wait for this duration.
    #[error("Please wait for {} seconds.", .0.as_secs())]
    TooSoon(Duration),
    /// The database failed.
    #[error("Internal error.")]
    Failed(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl ReplyError {
    /// Returns the status of the error page.
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
