//! Added: which refusal of the form is which of the API.

use forum_api::host::{Fault, Refusal};

use crate::before::ReplyError;

impl From<ReplyError> for Refusal {
    fn from(error: ReplyError) -> Self {
        let text = error.to_string();
        match error {
            ReplyError::NoTopic => Self::Absent,
            ReplyError::Banned | ReplyError::Locked => Self::Forbidden(text),
            ReplyError::Empty | ReplyError::TooLong => Self::invalid("body", text),
            ReplyError::TooSoon(left) => Self::TooFast(text, Some(left)),
            ReplyError::Failed(source) => Self::Failed(source),
        }
    }
}

impl From<ReplyError> for Fault {
    fn from(error: ReplyError) -> Self {
        Self::new(error)
    }
}
