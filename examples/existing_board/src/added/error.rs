//! Added: converts the errors of the form to errors of the API.

use forum_api::host::{BackendError, BoardError};

use crate::before::ReplyError;

impl From<ReplyError> for BoardError {
    fn from(error: ReplyError) -> Self {
        let text = error.to_string();
        match error {
            ReplyError::NoTopic => Self::PathNotFound,
            ReplyError::Banned | ReplyError::Locked => Self::forbidden(text),
            ReplyError::Empty | ReplyError::TooLong => Self::validation("body", text),
            ReplyError::TooSoon(left) => Self::rate_limited(text, Some(left)),
            ReplyError::Failed(source) => Self::Internal(source),
        }
    }
}

impl From<ReplyError> for BackendError {
    fn from(error: ReplyError) -> Self {
        Self::new(error)
    }
}
