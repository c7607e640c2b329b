//! Errors of a board.

use std::time::Duration;

use http::StatusCode;
use thiserror::Error;

use crate::error::{BackendError, BoxError, IntoBackendError, OverloadedError};
use crate::model::{ErrorCode, Expected, InvalidIdError, InvalidPageKeyError};

/// Error of a [`Board`](super::Board) method ([protocol](crate::guide::protocol), section 5.3). Each variant has one
/// [code](Self::code).
///
/// The host writes the messages, in the board's language. The library sends them to the client. It never sends the
/// source of `Internal`. `?` converts the errors of ids, page keys, the random source and the supported database
/// drivers; [`or_internal`](super::OrInternal::or_internal) converts all others. A host can implement `From<HostError>
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
///         return Err(BoardError::forbidden("The thread is locked."));
///     }
///     if body.trim().is_empty() {
///         return Err(BoardError::validation("body", "The text is empty."));
///     }
///     Ok(id)
/// }
///
/// let thread = ThreadId::from(16);
/// assert!(matches!(check(&thread, false, "Hello"), Ok(16)));
/// assert!(matches!(check(&thread, true, "Hello"), Err(BoardError::Forbidden(_))));
/// let error = check(&thread, false, " ").unwrap_err();
/// assert_eq!((error.status().as_u16(), error.message()), (422, Some("The text is empty.")));
/// assert_eq!(error.to_string(), "body: The text is empty.");
/// ```
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BoardError {
    /// A resource that the *path* names does not exist or is hidden from the caller: 404 `not_found` in both cases.
    #[error("the resource named by the path does not exist or is hidden from the caller")]
    PathNotFound,
    /// A query parameter has a value that only the board can reject: 400 `bad_request`.
    #[error("{name}: expected {expected}")]
    InvalidParameter {
        /// Name of the parameter.
        name: &'static str,
        /// Description of the expected value, such as `a post of this thread`. The client receives this text;
        /// [`ErrorMessages`](crate::ErrorMessages) can translate it.
        expected: &'static str,
    },
    /// The caller can see the resource, but may not perform the command: 403 `FORBIDDEN`.
    #[error("{0}")]
    Forbidden(String),
    /// A resource that the *body* names, or a subscription, does not exist or is hidden: 404 `NOT_FOUND`.
    #[error("{0}")]
    NotFound(String),
    /// The command conflicts with the current state of the resource, for example because the resource was changed after
    /// the client read it, or because the member has already voted: 409 `CONFLICT`.
    #[error("{0}")]
    Conflict(String),
    /// A field of the body breaks a rule of the board: 422 `VALIDATION`. See [`BoardError::validation`].
    ///
    /// The client receives `field: message`.
    #[error("{field}: {message}")]
    Validation {
        /// Name of the field in the request body, without enclosing objects: `options`, not `poll.options`.
        field: &'static str,
        /// The rule that the field breaks, in the board's language.
        message: String,
    },
    /// An anti-flood limit of the board, such as a maximum number of posts per hour, is exceeded: 429 `RATE_LIMITED`.
    #[error("{message}")]
    RateLimited {
        /// The limit, in the board's language.
        message: String,
        /// Time until the client can retry, for the header `retry-after`; `None` if it is unknown.
        retry_after: Option<Duration>,
    },
    /// The host has not implemented the method: 501 `not_implemented`.
    #[error("the board does not implement this method")]
    NotImplemented,
    /// The board's backend failed: 500 `internal_error`, or 503 if an [`OverloadedError`] is in the chain of sources. The
    /// library logs the source of a 500. It never sends the source to the client.
    #[error("{0}")]
    Internal(#[source] BoxError),
}

impl BoardError {
    /// Returns a [`BoardError::Forbidden`]: the caller can see the resource, but may not perform the command.
    pub fn forbidden(message: impl Into<String>) -> Self {
        Self::Forbidden(message.into())
    }

    /// Returns a [`BoardError::NotFound`]: a resource in the body, or a subscription, does not exist or is hidden. For a
    /// resource in the path use [`BoardError::PathNotFound`].
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::NotFound(message.into())
    }

    /// Returns a [`BoardError::Conflict`]: the command conflicts with the current state of the resource.
    pub fn conflict(message: impl Into<String>) -> Self {
        Self::Conflict(message.into())
    }

    /// Returns a [`BoardError::Validation`] for a field of the body. For a rule that does not concern a single field,
    /// such as a minimum interval between two posts, use the field `body`.
    pub fn validation(field: &'static str, message: impl Into<String>) -> Self {
        let message = message.into();
        Self::Validation { field, message }
    }

    /// Returns a [`BoardError::RateLimited`]. `retry_after` is the time until the client can retry; `None` if it is
    /// unknown.
    pub fn rate_limited(message: impl Into<String>, retry_after: Option<Duration>) -> Self {
        Self::RateLimited { message: message.into(), retry_after }
    }

    /// Returns a [`BoardError::InvalidParameter`] for a query parameter.
    pub const fn invalid_parameter(name: &'static str, expected: &'static str) -> Self {
        Self::InvalidParameter { name, expected }
    }

    /// Returns a [`BoardError::Internal`] with this source.
    pub fn internal(source: impl Into<BoxError>) -> Self {
        Self::Internal(source.into())
    }

    /// Returns the error code of the response.
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::PathNotFound => ErrorCode::PathNotFound,
            Self::InvalidParameter { .. } => ErrorCode::BadRequest,
            Self::Forbidden(_) => ErrorCode::Forbidden,
            Self::NotFound(_) => ErrorCode::NotFound,
            Self::Conflict(_) => ErrorCode::Conflict,
            Self::Validation { .. } => ErrorCode::Validation,
            Self::RateLimited { .. } => ErrorCode::BoardRateLimited,
            Self::NotImplemented => ErrorCode::NotImplemented,
            Self::Internal(_) => ErrorCode::InternalError,
        }
    }

    /// Returns the status of the response: 503 if the backend is overloaded, otherwise the status of the
    /// [code](Self::code).
    pub fn status(&self) -> StatusCode {
        match self {
            Self::Internal(source) if OverloadedError::cause_of(&**source).is_some() => {
                StatusCode::SERVICE_UNAVAILABLE
            }
            _ => self.code().status(),
        }
    }

    /// Returns the board's message, for a web form that runs the same command. The message of a
    /// [`Validation`](Self::Validation) belongs beside its [field](Self::field).
    ///
    /// `None` for [`PathNotFound`](Self::PathNotFound), [`InvalidParameter`](Self::InvalidParameter),
    /// [`NotImplemented`](Self::NotImplemented) and [`Internal`](Self::Internal), which have no message of the board.
    pub fn message(&self) -> Option<&str> {
        match self {
            Self::Forbidden(message)
            | Self::NotFound(message)
            | Self::Conflict(message)
            | Self::Validation { message, .. }
            | Self::RateLimited { message, .. } => Some(message),
            Self::PathNotFound
            | Self::InvalidParameter { .. }
            | Self::NotImplemented
            | Self::Internal(_) => None,
        }
    }

    /// Returns the field of a [`Validation`](Self::Validation); `None` for other errors.
    pub const fn field(&self) -> Option<&'static str> {
        match self {
            Self::Validation { field, .. } => Some(*field),
            _ => None,
        }
    }

    /// Returns the time until the client can retry: for [`RateLimited`](Self::RateLimited), and for an overloaded backend.
    /// `None` if it is unknown, and for other errors.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimited { retry_after, .. } => *retry_after,
            Self::Internal(source) => {
                OverloadedError::cause_of(&**source).map(|overloaded| overloaded.retry_after)
            }
            _ => None,
        }
    }
}

/// Converts to [`BoardError::PathNotFound`]: on a board with numeric ids, a resource with any other id cannot exist.
///
/// This is correct for ids of the path. For an id of the body, return [`BoardError::NotFound`]:
///
/// ```
/// use forum_api::host::{BoardError, BoardResult};
/// use forum_api::model::NewPost;
///
/// fn answered_post(new: &NewPost) -> BoardResult<Option<i64>> {
///     let id = new.in_reply_to.as_ref().map(|id| id.to_i64()).transpose();
///     id.map_err(|_| BoardError::not_found("The answered post does not exist."))
/// }
/// # let mut new = NewPost::default();
/// # new.in_reply_to = Some("x".parse().unwrap());
/// # assert!(matches!(answered_post(&new), Err(BoardError::NotFound(_))));
/// ```
///
/// On endpoints that have a body but no path variable, such as `POST /messages`, the API also converts
/// [`BoardError::PathNotFound`] to 404 `NOT_FOUND`.
impl From<InvalidIdError> for BoardError {
    fn from(_: InvalidIdError) -> Self {
        Self::PathNotFound
    }
}

impl From<InvalidPageKeyError> for BoardError {
    fn from(_: InvalidPageKeyError) -> Self {
        Self::invalid_parameter("after", Expected::CURSOR.as_str())
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

/// With this conversion, an [`Authorizer`](super::Authorizer) can use `?` on the board's queries.
impl From<BoardError> for BackendError {
    fn from(error: BoardError) -> Self {
        match error {
            BoardError::Internal(source) => Self::new(source),
            other => Self::new(other),
        }
    }
}
