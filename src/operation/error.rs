//! Errors of the API ([protocol](crate::guide::protocol), section 5).

use std::borrow::Cow;
use std::time::Duration;

use http::StatusCode;
use thiserror::Error;

use super::error_messages::{self as text, ErrorMessages};
use super::extract::error::InputError;
use crate::host::{BackendError, BoardError, BoxError, OverloadedError, Rejection};
use crate::model::ErrorCode;
use crate::model::error_reason::{self, valid_reason};
use crate::scope::Scope;

/// Value of `retry-after` if the first request with the same `Idempotency-Key` is still in progress.
const IN_PROGRESS_RETRY_AFTER: Duration = Duration::from_secs(1);

/// Value of `retry-after` if the error of a call before the command has no
/// [`OverloadedError`](crate::host::OverloadedError), which states a time.
const NOT_RUN_RETRY_AFTER: Duration = Duration::from_secs(1);

pub(crate) type ApiResult<T> = Result<T, ApiError>;

/// Reason why a request failed. [`ApiError::describe`] returns the code and message that the client receives.
#[derive(Debug, Error)]
#[error("{self:?}")]
pub(crate) enum ApiError {
    BadRequest(#[from] InputError),
    Unauthenticated(#[from] AuthFailure),
    MissingScope(Scope),
    OwnerUnavailable,
    NoSuchRoute,
    NotFound,
    /// The board returned a result that this caller may not see.
    HiddenResult,
    /// The budget is exhausted. Holds the time until the window ends.
    RateLimited(Duration),
    NotImplemented,
    /// The board is offline. Holds the time until it is expected to be online.
    BoardOffline(Option<Duration>),
    Internal(#[source] BoxError),
    /// The command was not run: a call before it failed, or the backend refused it. Holds the time to wait before a retry.
    NotRun(#[source] BoxError, Duration),
    /// An error of the board.
    Board(ErrorCode, Rejection),
    /// A request with the same idempotency key is in progress.
    KeyInProgress,
    /// The outcome of a request with the same idempotency key is unknown.
    KeyOutcomeUnknown,
    /// The idempotency key belongs to another request.
    KeyReused,
    /// A resource of the body or of a stored response does not exist, or the caller may not see it.
    BodyNotFound,
}

/// Request extension that marks a malformed request, for example a request with no `Host` header or with several. The
/// HTTP server in front of the API sets it.
///
/// The API answers 400 `bad_request` with its usual headers and charges one unit to the address budget of the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MalformedRequest {
    /// Lower-case name of the invalid header.
    pub header: &'static str,
    /// Expected value of the header, as an English phrase. [`ErrorMessages`] can translate it.
    pub expected: &'static str,
}

/// Reason of a 401. It is logged and not sent to the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{self:?}")]
pub(crate) enum AuthFailure {
    Absent,
    Malformed,
    Unknown,
    Revoked,
    Expired,
}

impl ApiError {
    pub(crate) fn internal(source: impl Into<BoxError>) -> Self {
        let source = source.into();
        match OverloadedError::cause_of(&*source) {
            Some(overloaded) => Self::NotRun(source, overloaded.retry_after),
            None => Self::Internal(source),
        }
    }

    /// Converts the error of a call before the command. A failure of the backend becomes [`NotRun`](Self::NotRun).
    pub(crate) fn before_command(error: impl Into<BoardError>) -> Self {
        match error.into().into() {
            Self::Internal(source) => Self::NotRun(source, NOT_RUN_RETRY_AFTER),
            error => error,
        }
    }

    pub(crate) fn status(&self, code: ErrorCode) -> StatusCode {
        match self {
            Self::NotRun(..) => StatusCode::SERVICE_UNAVAILABLE,
            _ => code.status(),
        }
    }

    pub(crate) fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimited(after) | Self::NotRun(_, after) => Some(*after),
            Self::BoardOffline(after) => *after,
            Self::Board(_, rejection) => rejection.retry_after,
            Self::KeyInProgress => Some(IN_PROGRESS_RETRY_AFTER),
            _ => None,
        }
    }

    /// Returns the name of the reason, for programs.
    pub(crate) fn reason(&self) -> Option<&str> {
        match self {
            Self::BadRequest(error) => valid_reason(error.reason.as_deref()?),
            Self::Board(_, rejection) => valid_reason(rejection.reason.as_deref()?),
            Self::NotRun(..) => Some(error_reason::NOT_RUN),
            Self::KeyInProgress => Some(error_reason::KEY_IN_PROGRESS),
            Self::KeyOutcomeUnknown => Some(error_reason::OUTCOME_UNKNOWN),
            Self::KeyReused => Some(error_reason::KEY_REUSED),
            _ => None,
        }
    }

    /// Returns the field, parameter or header that is the cause, as the message names it.
    pub(crate) fn field(&self) -> Option<&str> {
        match self {
            Self::BadRequest(error) => error.safe_name(),
            Self::Board(_, rejection) => rejection.field.as_deref(),
            _ => None,
        }
    }

    /// Returns the code and the message that the client receives.
    pub(crate) fn describe<'a>(&'a self, messages: &'a ErrorMessages) -> (ErrorCode, Cow<'a, str>) {
        let (code, text) = match self {
            Self::BadRequest(error) => {
                return (ErrorCode::BadRequest, messages.render(error).into());
            }
            Self::Board(code, rejection) => return (*code, rejection.to_string().into()),
            Self::Unauthenticated(_) => (ErrorCode::Unauthenticated, text::UNAUTHENTICATED),
            Self::MissingScope(scope) => {
                let text = messages.translate(text::MISSING_SCOPE);
                return (ErrorCode::MissingScope, format!("{text} {scope}").into());
            }
            Self::OwnerUnavailable => (ErrorCode::OwnerUnavailable, text::OWNER_UNAVAILABLE),
            Self::NoSuchRoute => (ErrorCode::NoSuchRoute, text::NO_SUCH_ROUTE),
            Self::NotFound | Self::HiddenResult => (ErrorCode::PathNotFound, text::NOT_FOUND),
            Self::BodyNotFound => (ErrorCode::NotFound, text::NOT_FOUND),
            Self::RateLimited(_) => (ErrorCode::RateLimited, text::RATE_LIMITED),
            Self::NotImplemented => (ErrorCode::NotImplemented, text::NOT_IMPLEMENTED),
            Self::BoardOffline(_) => (ErrorCode::BoardOffline, text::BOARD_OFFLINE),
            Self::Internal(_) | Self::NotRun(..) => {
                (ErrorCode::InternalError, text::INTERNAL_ERROR)
            }
            Self::KeyInProgress => (ErrorCode::Conflict, text::IN_PROGRESS),
            Self::KeyOutcomeUnknown => (ErrorCode::Conflict, text::OUTCOME_UNKNOWN),
            Self::KeyReused => (ErrorCode::Conflict, text::KEY_REUSED),
        };
        (code, messages.translate(text).into())
    }
}

/// Converts the error of a panic. [`before_command`](ApiError::before_command) converts errors of calls before the command.
impl From<BackendError> for ApiError {
    fn from(error: BackendError) -> Self {
        Self::internal(error.into_inner())
    }
}

impl From<BoardError> for ApiError {
    fn from(error: BoardError) -> Self {
        match error {
            BoardError::PathNotFound => Self::NotFound,
            BoardError::InvalidParameter { name, expected, reason } => {
                InputError { reason, ..InputError::expected(name, expected) }.into()
            }
            BoardError::Forbidden(rejection) => Self::Board(ErrorCode::Forbidden, rejection),
            BoardError::NotFound(rejection) => Self::Board(ErrorCode::NotFound, rejection),
            BoardError::Conflict(rejection) => Self::Board(ErrorCode::Conflict, rejection),
            BoardError::Validation(rejection) => Self::Board(ErrorCode::Validation, rejection),
            BoardError::RateLimited(rejection) => {
                Self::Board(ErrorCode::BoardRateLimited, rejection)
            }
            BoardError::NotImplemented => Self::NotImplemented,
            BoardError::Internal(source) => Self::internal(source),
        }
    }
}
