//! Errors of a board.

use std::time::Duration;

use thiserror::Error;

use crate::error::{BackendError, BoxError, IntoBackendError, Overloaded};
use crate::model::{InvalidIdError, InvalidPageKeyError};

/// Error of a command (`docs/protocol.md`, section 5.3). The host supplies the texts, in the board's language.
///
/// A host writes one `From<ItsError> for BoardError`, and `?` does the rest.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BoardError {
    /// What the *path* names is not there, or not for this caller: 404 `not_found`, the same for both.
    #[error("the resource named by the path does not exist or is hidden from the caller")]
    PathNotFound,
    /// A query parameter that only the board can judge is unusable: 400 `bad_request`.
    ///
    /// Its name, and what was expected, as in `("from", "a post of this thread")`.
    #[error("{0}: expected {1}")]
    InvalidParameter(&'static str, &'static str),
    /// The caller sees the thing, but may not do this to it: 403 `FORBIDDEN`.
    #[error("{0}")]
    Forbidden(String),
    /// What the *body* names is not there, or a subscription is not: 404 `NOT_FOUND`.
    #[error("{0}")]
    NotFound(String),
    /// Something else changed underneath the request: 409 `CONFLICT`.
    #[error("{0}")]
    Conflict(String),
    /// A field of the body breaks a rule of the board: 422 `VALIDATION`. [`BoardError::invalid`] makes one.
    ///
    /// The client gets `field: message`. A rule about the whole post, such as a time to wait, names `body`.
    #[error("{field}: {message}")]
    Validation {
        /// The field's name in the request body, without the objects around it: `options`, not `poll.options`.
        field: &'static str,
        /// The rule that it breaks, in the board's language.
        message: String,
    },
    /// Over one of the board's anti-flood limits: 429 `RATE_LIMITED`, with `retry-after` when the board knows it.
    #[error("{0}")]
    RateLimited(String, Option<Duration>),
    /// The host has not written this command: 501 `not_implemented`.
    #[error("the board does not implement this method")]
    NotImplemented,
    /// The board's backend failed: 500 `internal_error`. The source goes to the log alone.
    #[error(transparent)]
    Internal(BoxError),
}

impl BoardError {
    /// Returns the refusal of a field that breaks a rule: [`BoardError::Invalid`].
    pub fn invalid(field: &'static str, message: impl Into<String>) -> Self {
        Self::Validation {
            field,
            message: message.into(),
        }
    }

    /// The board's backend failed with `source`.
    pub fn internal(source: impl Into<BoxError>) -> Self {
        Self::Internal(source.into())
    }
}

impl From<InvalidIdError> for BoardError {
    fn from(_: InvalidIdError) -> Self {
        Self::PathNotFound
    }
}

impl From<InvalidPageKeyError> for BoardError {
    fn from(_: InvalidPageKeyError) -> Self {
        Self::InvalidParameter("after", "a cursor returned by this list")
    }
}

impl From<BackendError> for BoardError {
    fn from(fault: BackendError) -> Self {
        Self::Internal(fault.into_inner())
    }
}

impl<E: IntoBackendError> From<E> for BoardError {
    fn from(error: E) -> Self {
        error.into_backend_error().into()
    }
}

/// So that an authority can ask the same queries as the board.
impl From<BoardError> for BackendError {
    fn from(refusal: BoardError) -> Self {
        match refusal {
            BoardError::Internal(source) => Self::new(source),
            other => Self::new(other),
        }
    }
}

impl Overloaded {
    /// Finds it in an error's chain of sources.
    pub(crate) fn cause_of(error: &(dyn std::error::Error + 'static)) -> Option<Self> {
        let mut chain = std::iter::successors(Some(error), |error| error.source());
        chain.find_map(|error| {
            if let Some(fault) = error.downcast_ref::<BackendError>() {
                return Self::cause_of(fault.as_source());
            }
            if let Some(BoardError::Internal(cause)) = error.downcast_ref() {
                return Self::cause_of(&**cause);
            }
            error.downcast_ref().copied()
        })
    }
}
