//! Added: converts the errors of the form to errors of the API.

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
            ReplyError::Failed(source) => Self::Internal(source),
        }
    }
}

impl From<ReplyError> for BackendError {
    fn from(error: ReplyError) -> Self {
        Self::new(error)
    }
}
