//! Errors of a board.

use std::time::Duration;

use thiserror::Error;

use crate::error::{BackendError, BoxError, IntoBackendError, OverloadedError};
use crate::model::{InvalidIdError, InvalidPageKeyError};

/// Error of a [`Board`](super::Board) method (`docs/protocol.md`, section 5.3). The variant determines the status and the
/// code of the response.
///
/// The host writes the messages, in the board's language. The library sends them to the client, except the source of
/// `Internal`. `?` converts the errors of ids, page keys and database drivers. A host can implement `From<HostError>
/// for BoardError` for its own error type.
///
/// # Examples
/// ```
/// use forum_api::host::BoardError;
/// use forum_api::model::ThreadId;
///
/// fn check(thread: &ThreadId, is_locked: bool, body: &str) -> Result<i64, BoardError> {
///     let id = thread.to_i64()?; // PathNotFound for an id that is not a number
///     if is_locked {
///         return Err(BoardError::Forbidden("The thread is locked.".into()));
///     }
///     if body.trim().is_empty() {
///         return Err(BoardError::invalid("body", "The text is empty."));
///     }
///     Ok(id)
/// }
///
/// let thread = ThreadId::from(17);
/// assert!(matches!(check(&thread, false, "Hello"), Ok(17)));
/// assert!(matches!(check(&thread, true, "Hello"), Err(BoardError::Forbidden(_))));
/// assert_eq!(check(&thread, false, " ").unwrap_err().to_string(), "body: The text is empty.");
/// ```
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BoardError {
    /// A resource that the *path* names does not exist or is hidden from the caller: 404 `not_found` in both cases.
    #[error("the resource named by the path does not exist or is hidden from the caller")]
    PathNotFound,
    /// A query parameter has a value that only the board can reject: 400 `bad_request`.
    ///
    /// Holds the parameter's name and the expected value, such as `("from", "a post of this thread")`.
    #[error("{0}: expected {1}")]
    InvalidParameter(&'static str, &'static str),
    /// The caller can see the resource, but may not perform the command: 403 `FORBIDDEN`.
    #[error("{0}")]
    Forbidden(String),
    /// A resource that the *body* names, or a subscription, does not exist or is hidden: 404 `NOT_FOUND`.
    #[error("{0}")]
    NotFound(String),
    /// The command conflicts with the current state of the resource, for example because it was changed since the client
    /// read it, or because the member has already voted: 409 `CONFLICT`.
    #[error("{0}")]
    Conflict(String),
    /// A field of the body breaks a rule of the board: 422 `VALIDATION`. See [`BoardError::invalid`].
    ///
    /// The client receives `field: message`. A rule about the whole body, such as a minimum interval between posts, uses
    /// the field `body`.
    #[error("{field}: {message}")]
    Validation {
        /// Name of the field in the request body, without enclosing objects: `options`, not `poll.options`.
        field: &'static str,
        /// The rule that the field breaks, in the board's language.
        message: String,
    },
    /// An anti-flood limit of the board is exceeded: 429 `RATE_LIMITED`.
    ///
    /// Holds the message, and the time until the client can retry, which is sent as `retry-after`; `None` if it is
    /// unknown.
    #[error("{0}")]
    RateLimited(String, Option<Duration>),
    /// The host has not implemented the method: 501 `not_implemented`.
    #[error("the board does not implement this method")]
    NotImplemented,
    /// The board's backend failed: 500 `internal_error`, or 503 if the source is [`OverloadedError`]. The source is logged and
    /// not sent to the client.
    #[error(transparent)]
    Internal(BoxError),
}

impl BoardError {
    /// Returns the [`BoardError::Validation`] of a field that breaks a rule of the board.
    pub fn invalid(field: &'static str, message: impl Into<String>) -> Self {
        Self::Validation {
            field,
            message: message.into(),
        }
    }

    /// Returns a [`BoardError::Internal`] with this source.
    pub fn internal(source: impl Into<BoxError>) -> Self {
        Self::Internal(source.into())
    }
}

/// Converts to [`BoardError::PathNotFound`]: on a board with numeric ids, no resource has an id that is not a number.
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
    fn from(error: BackendError) -> Self {
        Self::Internal(error.into_inner())
    }
}

impl<E: IntoBackendError> From<E> for BoardError {
    fn from(error: E) -> Self {
        error.into_backend_error().into()
    }
}

/// Lets an [`Authorizer`](super::Authorizer) use `?` on the board's queries.
impl From<BoardError> for BackendError {
    fn from(error: BoardError) -> Self {
        match error {
            BoardError::Internal(source) => Self::new(source),
            other => Self::new(other),
        }
    }
}

impl OverloadedError {
    /// Returns the [`OverloadedError`] error in the chain of sources of `error`.
    pub(crate) fn cause_of(error: &(dyn std::error::Error + 'static)) -> Option<Self> {
        let mut chain = std::iter::successors(Some(error), |error| error.source());
        chain.find_map(|error| {
            if let Some(error) = error.downcast_ref::<BackendError>() {
                return Self::cause_of(error.as_source());
            }
            if let Some(BoardError::Internal(source)) = error.downcast_ref() {
                return Self::cause_of(&**source);
            }
            error.downcast_ref().copied()
        })
    }
}
