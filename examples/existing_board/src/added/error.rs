//! Added: converts the errors of the form to errors of the API.

use deadpool_postgres::PoolError;
use forum_api::host::{BackendError, BoardError};

use crate::before::ReplyError;

impl From<ReplyError> for BoardError {
    fn from(error: ReplyError) -> Self {
        let text = error.to_string();
        match error {
            ReplyError::NoTopic => Self::PathNotFound,
            ReplyError::Banned => Self::forbidden(text).with_reason("not_allowed"),
            ReplyError::Locked => Self::forbidden(text).with_reason("locked"),
            ReplyError::Empty => Self::validation("body", text).with_reason("required"),
            ReplyError::TooLong => Self::validation("body", text).with_reason("too_long"),
            ReplyError::TooSoon(left) => Self::rate_limited(text).with_retry_after(left),
            ReplyError::Failed(source) => match source.downcast::<PoolError>() {
                // Nothing ran: the API responds with a 503, and the client repeats the request.
                Ok(no_connection) => (*no_connection).into(),
                Err(source) => Self::Internal(source),
            },
        }
    }
}

impl From<ReplyError> for BackendError {
    fn from(error: ReplyError) -> Self {
        BoardError::from(error).into()
    }
}
