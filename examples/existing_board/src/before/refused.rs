//! What a member is told when a reply is not taken.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use axum::http::StatusCode;
use deadpool_postgres::PoolError;

/// Why an entry was not written.
#[derive(Debug)]
pub enum Refused {
    /// There is no such topic, or none for this member.
    NoTopic,
    /// The account can no longer write.
    Banned,
    /// The topic takes no more entries.
    Locked,
    /// Nothing was typed.
    Empty,
    /// More was typed than an entry holds.
    TooLong,
    /// The member has to wait for so long.
    TooSoon(Duration),
    /// The database failed.
    Failed(Box<dyn Error + Send + Sync>),
}

impl Refused {
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

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoTopic => "There is no such topic.",
            Self::Banned => "Your account is banned.",
            Self::Locked => "The topic is locked.",
            Self::Empty => "The body is empty.",
            Self::TooLong => "The body is longer than 10,000 characters.",
            Self::TooSoon(left) => return write!(f, "Please wait for {} seconds.", left.as_secs()),
            Self::Failed(_) => "Something is wrong with the board.",
        })
    }
}

impl Error for Refused {}

impl From<tokio_postgres::Error> for Refused {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Failed(error.into())
    }
}

impl From<PoolError> for Refused {
    fn from(error: PoolError) -> Self {
        Self::Failed(error.into())
    }
}
