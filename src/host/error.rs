//! Errors of a board.

use std::borrow::Cow;
use std::time::Duration;

use http::StatusCode;
use thiserror::Error;

use super::rejection::Rejection;
use crate::error::{BackendError, BoxError, IntoBackendError, OverloadedError};
use crate::model::{ErrorCode, Expected, InvalidIdError, InvalidPageKeyError, error_reason};

/// Error of a [`Board`](super::Board) method ([protocol](crate::guide::protocol), section 5.3). Each variant has one
/// [code](Self::code).
///
/// The host writes the messages, in the board's language. The library sends them to the client. It never sends the
/// source of `Internal`. `?` converts the errors of ids, page keys, the random source and the supported database
/// drivers; [`or_internal`](super::OrInternal::or_internal) converts all others. A host can implement `From<HostError>
/// for BoardError` for its own error type.
///
/// The methods `with_…` add what a program needs: a [reason](Self::with_reason) where a client reacts differently to
/// errors of the same code, the [field](Self::with_field) that is the cause, and the
/// [time](Self::with_retry_after) until a retry. They change the errors that have a [`Rejection`], and nothing else.
///
/// # Examples
/// ```
/// use std::time::Duration;
///
/// use forum_api::host::BoardError;
/// use forum_api::model::ThreadId;
///
/// fn check(thread: &ThreadId, is_locked: bool, wait: Duration, body: &str) -> Result<i64, BoardError> {
///     let id = thread.to_i64()?; // PathNotFound for an id that is not a number
///     if is_locked {
///         return Err(BoardError::forbidden("The thread is locked.").with_reason("locked"));
///     }
///     if body.trim().is_empty() {
///         return Err(BoardError::validation("body", "The text is empty.").with_reason("required"));
///     }
///     if !wait.is_zero() {
///         let error = BoardError::invalid_content("15 seconds must pass between two posts.");
///         return Err(error.with_reason("too_soon").with_retry_after(wait));
///     }
///     Ok(id)
/// }
///
/// let thread = ThreadId::from(16);
/// assert!(matches!(check(&thread, false, Duration::ZERO, "Hello"), Ok(16)));
/// assert!(matches!(check(&thread, true, Duration::ZERO, "Hello"), Err(BoardError::Forbidden(_))));
/// let error = check(&thread, false, Duration::ZERO, " ").unwrap_err();
/// assert_eq!((error.status().as_u16(), error.message()), (422, Some("The text is empty.")));
/// assert_eq!(error.to_string(), "body: The text is empty.");
/// let error = check(&thread, false, Duration::from_secs(9), "Hello").unwrap_err();
/// assert_eq!((error.reason(), error.field()), (Some("too_soon"), None));
/// ```
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BoardError {
    /// A resource that the *path* names does not exist or is hidden from the caller: 404 `not_found` in both cases.
    #[error("the resource named by the path does not exist or is hidden from the caller")]
    PathNotFound,
    /// A query parameter has a value that only the board can reject: 400 `bad_request`. See
    /// [`BoardError::invalid_parameter`].
    #[error("{name}: expected {expected}")]
    #[non_exhaustive]
    InvalidParameter {
        /// Name of the parameter.
        name: &'static str,
        /// Description of the expected value, such as `a post of this thread`. The client receives this text;
        /// [`ErrorMessages`](crate::ErrorMessages) can translate it.
        expected: &'static str,
        /// Name of the reason for programs, as in a [`Rejection`].
        reason: Option<Cow<'static, str>>,
    },
    /// The caller can see the resource, but may not perform the command: 403 `FORBIDDEN`.
    #[error("{0}")]
    Forbidden(Rejection),
    /// A resource that the *body* names, or a subscription, does not exist or is hidden: 404 `NOT_FOUND`.
    #[error("{0}")]
    NotFound(Rejection),
    /// The command conflicts with the current state of the resource, for example because the resource was changed after
    /// the client read it, or because the member has already voted: 409 `CONFLICT`.
    #[error("{0}")]
    Conflict(Rejection),
    /// The content breaks a rule of the board: 422 `VALIDATION`. See [`BoardError::validation`].
    #[error("{0}")]
    Validation(Rejection),
    /// An anti-flood limit of the board, such as a maximum number of posts per hour, is exceeded: 429 `RATE_LIMITED`.
    #[error("{0}")]
    RateLimited(Rejection),
    /// The host has not implemented the method: 501 `not_implemented`.
    #[error("the board does not implement this method")]
    NotImplemented,
    /// The board's backend failed: 500 `internal_error`, or 503 if an [`OverloadedError`] is in the chain of sources. An error
    /// of [`containing_forum`](super::Board::containing_forum) or [`exists`](super::Board::exists) is always a 503. The library
    /// logs the source and never sends it to the client.
    #[error("{0}")]
    Internal(#[source] BoxError),
}

impl BoardError {
    /// Returns a [`BoardError::Forbidden`]: the caller can see the resource, but may not perform the command.
    pub fn forbidden(message: impl Into<String>) -> Self {
        Self::Forbidden(Rejection::new(message))
    }

    /// Returns a [`BoardError::NotFound`]: a resource in the body, or a subscription, does not exist or is hidden. For a
    /// resource in the path use [`BoardError::PathNotFound`].
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::NotFound(Rejection::new(message))
    }

    /// Returns a [`BoardError::Conflict`]: the command conflicts with the current state of the resource.
    pub fn conflict(message: impl Into<String>) -> Self {
        Self::Conflict(Rejection::new(message))
    }

    /// Returns a [`BoardError::Conflict`] with the reason `version_stale`: the `expectedVersion` of the request is not the
    /// version of the resource.
    pub fn stale_version(message: impl Into<String>) -> Self {
        Self::conflict(message).with_reason(error_reason::VERSION_STALE)
    }

    /// Returns a [`BoardError::Validation`] for a field of the body. `field` is its path, with enclosing objects and the
    /// indices of lists: `title`, `poll.options[1]`. A 400 of the library has the same path.
    pub fn validation(field: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self::invalid_content(message).with_field(field)
    }

    /// Returns a [`BoardError::Validation`] without a field: for a rule that does not concern a single field, such as a
    /// minimum time between two posts, and for an error type of the host that has no field.
    pub fn invalid_content(message: impl Into<String>) -> Self {
        Self::Validation(Rejection::new(message))
    }

    /// Returns a [`BoardError::RateLimited`]. Add [`with_retry_after`](Self::with_retry_after) if the board knows the
    /// time until the client can retry.
    pub fn rate_limited(message: impl Into<String>) -> Self {
        Self::RateLimited(Rejection::new(message))
    }

    /// Returns a [`BoardError::InvalidParameter`] for a query parameter.
    pub const fn invalid_parameter(name: &'static str, expected: &'static str) -> Self {
        Self::InvalidParameter { name, expected, reason: None }
    }

    /// Returns a [`BoardError::Internal`] with this source.
    pub fn internal(source: impl Into<BoxError>) -> Self {
        Self::Internal(source.into())
    }

    /// Sets the name of the reason for programs, such as `too_soon`: 1 to 64 characters of `[a-z0-9_]`. The
    /// [protocol](crate::guide::protocol), section 5.6, lists the names that boards share.
    ///
    /// Applies to errors with a [`Rejection`] and to [`InvalidParameter`](Self::InvalidParameter).
    #[must_use]
    pub fn with_reason(mut self, reason: impl Into<Cow<'static, str>>) -> Self {
        let slot = match &mut self {
            Self::InvalidParameter { reason, .. } => Some(reason),
            error => error.rejection_mut().map(|rejection| &mut rejection.reason),
        };
        if let Some(slot) = slot {
            *slot = Some(reason.into());
        }
        self
    }

    /// Sets the path of the field of the request body that is the cause, such as `to[0]`. The client receives
    /// `field: message`.
    ///
    /// Applies to errors with a [`Rejection`].
    #[must_use]
    pub fn with_field(mut self, field: impl Into<Cow<'static, str>>) -> Self {
        if let Some(rejection) = self.rejection_mut() {
            rejection.field = Some(field.into());
        }
        self
    }

    /// Sets the time until the client can retry, for the header `retry-after`.
    ///
    /// Applies to errors with a [`Rejection`].
    #[must_use]
    pub fn with_retry_after(mut self, retry_after: Duration) -> Self {
        if let Some(rejection) = self.rejection_mut() {
            rejection.retry_after = Some(retry_after);
        }
        self
    }

    /// Returns the error code of the response.
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::PathNotFound => ErrorCode::PathNotFound,
            Self::InvalidParameter { .. } => ErrorCode::BadRequest,
            Self::Forbidden(_) => ErrorCode::Forbidden,
            Self::NotFound(_) => ErrorCode::NotFound,
            Self::Conflict(_) => ErrorCode::Conflict,
            Self::Validation(_) => ErrorCode::Validation,
            Self::RateLimited(_) => ErrorCode::BoardRateLimited,
            Self::NotImplemented => ErrorCode::NotImplemented,
            Self::Internal(_) => ErrorCode::InternalError,
        }
    }

    /// Returns the status of the response to a command with this error: 503 if the backend is overloaded, otherwise the
    /// status of the [code](Self::code).
    pub fn status(&self) -> StatusCode {
        match self {
            Self::Internal(source) if OverloadedError::cause_of(&**source).is_some() => {
                StatusCode::SERVICE_UNAVAILABLE
            }
            _ => self.code().status(),
        }
    }

    /// Returns the board's message, for a web form that runs the same command. It belongs beside the
    /// [field](Self::field), if the error has one.
    ///
    /// `None` for [`PathNotFound`](Self::PathNotFound), [`InvalidParameter`](Self::InvalidParameter),
    /// [`NotImplemented`](Self::NotImplemented) and [`Internal`](Self::Internal), which have no message of the board.
    pub fn message(&self) -> Option<&str> {
        self.rejection().map(|rejection| &*rejection.message)
    }

    /// Returns the name of the reason for programs; `None` if the error has none.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::InvalidParameter { reason, .. } => reason.as_deref(),
            _ => self.rejection()?.reason.as_deref(),
        }
    }

    /// Returns the field or the query parameter that is the cause; `None` if the error has none.
    pub fn field(&self) -> Option<&str> {
        match self {
            Self::InvalidParameter { name, .. } => Some(*name),
            _ => self.rejection()?.field.as_deref(),
        }
    }

    /// Returns the time until the client can retry: of a [`Rejection`], and of an overloaded backend. `None` if it is
    /// unknown.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Internal(source) => {
                OverloadedError::cause_of(&**source).map(|overloaded| overloaded.retry_after)
            }
            _ => self.rejection()?.retry_after,
        }
    }

    const fn rejection(&self) -> Option<&Rejection> {
        match self {
            Self::Forbidden(rejection)
            | Self::NotFound(rejection)
            | Self::Conflict(rejection)
            | Self::Validation(rejection)
            | Self::RateLimited(rejection) => Some(rejection),
            Self::PathNotFound
            | Self::InvalidParameter { .. }
            | Self::NotImplemented
            | Self::Internal(_) => None,
        }
    }

    const fn rejection_mut(&mut self) -> Option<&mut Rejection> {
        match self {
            Self::Forbidden(rejection)
            | Self::NotFound(rejection)
            | Self::Conflict(rejection)
            | Self::Validation(rejection)
            | Self::RateLimited(rejection) => Some(rejection),
            Self::PathNotFound
            | Self::InvalidParameter { .. }
            | Self::NotImplemented
            | Self::Internal(_) => None,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_error_has_its_code_status_and_texts() {
        type MakeRejection = fn(&'static str) -> BoardError;
        let rejections: [(MakeRejection, ErrorCode, u16); 5] = [
            (BoardError::forbidden, ErrorCode::Forbidden, 403),
            (BoardError::not_found, ErrorCode::NotFound, 404),
            (BoardError::conflict, ErrorCode::Conflict, 409),
            (BoardError::invalid_content, ErrorCode::Validation, 422),
            (BoardError::rate_limited, ErrorCode::BoardRateLimited, 429),
        ];
        let wait = Duration::from_secs(7);
        for (new, code, status) in rejections {
            let error = new("No.");
            assert_eq!((error.code(), error.status().as_u16()), (code, status));
            assert_eq!((error.message(), error.to_string().as_str()), (Some("No."), "No."));
            assert_eq!((error.reason(), error.field(), error.retry_after()), (None, None, None));
            let error = error.with_reason("locked").with_field("body").with_retry_after(wait);
            let found = (error.reason(), error.field(), error.retry_after());
            assert_eq!(found, (Some("locked"), Some("body"), Some(wait)));
            assert_eq!((error.message(), error.to_string().as_str()), (Some("No."), "body: No."));
        }
        let invalid = BoardError::invalid_parameter("from", "a post").with_reason("expired");
        let no_path = "the resource named by the path does not exist or is hidden from the caller";
        for (error, status, text) in [
            (BoardError::PathNotFound, 404, no_path),
            (BoardError::NotImplemented, 501, "the board does not implement this method"),
            (BoardError::internal("disk full"), 500, "disk full"),
            (BoardError::internal(OverloadedError::new(wait)), 503, "the operation was not run"),
            (invalid, 400, "from: expected a post"),
        ] {
            // These errors have no rejection to which a field or a time could be added.
            let error = error.with_field("body").with_retry_after(Duration::ZERO);
            assert_eq!((error.status().as_u16(), error.to_string().as_str()), (status, text));
            assert_eq!(error.message(), None, "{text}");
            assert_eq!(error.retry_after(), (status == 503).then_some(wait), "{text}");
            assert_eq!(error.field(), (status == 400).then_some("from"), "{text}");
            assert_eq!(error.reason(), (status == 400).then_some("expired"), "{text}");
        }
    }
}
