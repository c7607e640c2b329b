//! Error codes and errors of the API (`docs/protocol.md`, section 5).
//!
//! The library raises the lower-case codes. The board raises the upper-case codes, with its own messages. The library also
//! raises two of the board's codes for a repeated `Idempotency-Key`: `CONFLICT`, and `NOT_FOUND` if the caller can no
//! longer see the resource of the stored response.

use std::borrow::Cow;
use std::time::Duration;

use http::StatusCode;
use thiserror::Error;

use super::error_messages::ErrorMessages;
use super::extract::error::InputError;
use crate::host::{BackendError, BoardError, BoxError, OverloadedError};
use crate::scope::Surface;
use crate::task::PanicError;

macro_rules! codes {
    ($($name:ident $status:ident $code:literal [$($surface:ident),+] $meaning:literal)+) => {
        /// Error code of a response.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum ErrorCode {
            $(#[doc = $meaning] $name,)+
        }

        impl ErrorCode {
            pub(crate) const ALL: &'static [Self] = &[$(Self::$name,)+];

            pub(super) const fn status(self) -> StatusCode {
                match self { $(Self::$name => StatusCode::$status,)+ }
            }

            pub(crate) const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $code,)+ }
            }

            pub(super) const fn meaning(self) -> &'static str {
                match self { $(Self::$name => $meaning,)+ }
            }

            /// The surfaces that document the code.
            const fn surfaces(self) -> &'static [Surface] {
                match self { $(Self::$name => &[$(Surface::$surface),+],)+ }
            }
        }
    };
}

codes! {
    BadRequest BAD_REQUEST "bad_request" [Full, Compact] "A query parameter, header or field is missing or invalid."
    Unauthenticated UNAUTHORIZED "unauthenticated" [Full, Compact] "The bearer token is missing or not valid."
    MissingScope FORBIDDEN "missing_scope" [Full, Compact] "The token lacks the scope required by this endpoint."
    OwnerUnavailable FORBIDDEN "owner_unavailable" [Full, Compact] "The token owner's account can no longer be used."
    NoSuchRoute NOT_FOUND "no_such_route" [Full, Compact] "Unknown endpoint."
    NotFound NOT_FOUND "not_found" [Full] "The resource does not exist, or the caller may not see it."
    RateLimited TOO_MANY_REQUESTS "rate_limited" [Full, Compact] "Rate limit exceeded. Retry after `retry-after` seconds."
    InternalError INTERNAL_SERVER_ERROR "internal_error" [Full, Compact] "Internal error. The board's log contains the cause under the request id."
    NotImplemented NOT_IMPLEMENTED "not_implemented" [Full, Compact] "This board does not implement this endpoint."
    BoardOffline SERVICE_UNAVAILABLE "board_offline" [Full] "The board is offline for this caller."
    Forbidden FORBIDDEN "FORBIDDEN" [Full] "The owner's permissions or the board's rules do not allow the operation, for example a vote in a closed poll. More scopes do not help."
    BoardNotFound NOT_FOUND "NOT_FOUND" [Full] "A resource named in the request does not exist, or the caller may not see it."
    Conflict CONFLICT "CONFLICT" [Full] "The request conflicts with the current state of the resource."
    Validation UNPROCESSABLE_ENTITY "VALIDATION" [Full] "The board's rules reject the content, for example because it is too long, comes too soon after the last post, or has no subject."
    BoardRateLimited TOO_MANY_REQUESTS "RATE_LIMITED" [Full] "One of the board's anti-flood limits is exceeded. They are separate from the API's rate limit."
}

impl ErrorCode {
    /// Codes that the board raises.
    pub(super) const BOARD: &'static [Self] = &[
        Self::Forbidden,
        Self::BoardNotFound,
        Self::Conflict,
        Self::Validation,
        Self::BoardRateLimited,
    ];

    /// Returns the codes that `surface` documents.
    pub(super) fn of(surface: Surface) -> impl Iterator<Item = Self> {
        let all = Self::ALL.iter().copied();
        all.filter(move |code| code.surfaces().contains(&surface))
    }
}

/// Reason why a request failed. [`ApiError::describe`] returns the code and message that the client receives.
#[derive(Debug, Error)]
#[error("{self:?}")]
pub(super) enum ApiError {
    BadRequest(#[from] InputError),
    Unauthenticated(#[from] AuthFailure),
    MissingScope,
    OwnerUnavailable,
    NoSuchRoute,
    NotFound,
    /// The board returned a result that this caller may not see.
    HiddenResult,
    /// With the time until the window ends.
    RateLimited(Duration),
    NotImplemented,
    BoardOffline,
    Internal(#[source] BoxError),
    /// The backend did not run the operation. With the time to wait before a retry.
    Overloaded(Duration),
    /// An error of the board, with its message and the time to wait before a retry.
    Board(ErrorCode, String, Option<Duration>),
    Idempotency(IdempotencyConflict),
    /// The caller can no longer see the resource of a stored response, and the path does not name it.
    ReplayNotFound,
}

/// Request extension with which the HTTP server in front of the API marks a malformed request, for example one without
/// exactly one `Host` header.
///
/// The API answers 400 `bad_request` with its usual headers and does not charge the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MalformedRequest {
    /// Lower-case name of the invalid header.
    pub header: &'static str,
    /// Expected value of the header, as an English phrase. [`ErrorMessages::translations`] can translate it.
    pub expected: &'static str,
}

/// Reason of a 401. It is logged and not sent to the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{self:?}")]
pub(super) enum AuthFailure {
    Absent,
    Malformed,
    Unknown,
    Revoked,
    Expired,
}

/// Reason why a request with an `Idempotency-Key` is a 409.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IdempotencyConflict {
    InProgress,
    OutcomeUnknown,
    KeyReused,
}

impl ApiError {
    pub(super) fn internal(source: impl Into<BoxError>) -> Self {
        let source = source.into();
        match OverloadedError::cause_of(&*source) {
            Some(overloaded) => Self::Overloaded(overloaded.retry_after),
            None => Self::Internal(source),
        }
    }

    pub(super) fn status(&self, code: ErrorCode) -> StatusCode {
        match self {
            Self::Overloaded(_) => StatusCode::SERVICE_UNAVAILABLE,
            _ => code.status(),
        }
    }

    pub(super) fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimited(after) | Self::Overloaded(after) => Some(*after),
            Self::Board(_, _, after) => *after,
            Self::Idempotency(IdempotencyConflict::InProgress) => Some(Duration::from_secs(1)),
            _ => None,
        }
    }

    /// Returns the code and the message that the client receives.
    pub(super) fn describe<'a>(&'a self, messages: &'a ErrorMessages) -> (ErrorCode, Cow<'a, str>) {
        let (code, text) = match self {
            Self::BadRequest(error) => {
                return (ErrorCode::BadRequest, messages.render(error).into());
            }
            Self::Board(code, text, _) => (*code, text.as_str()),
            Self::Unauthenticated(_) => (ErrorCode::Unauthenticated, &*messages.unauthenticated),
            Self::MissingScope => (ErrorCode::MissingScope, &*messages.missing_scope),
            Self::OwnerUnavailable => (ErrorCode::OwnerUnavailable, &*messages.owner_unavailable),
            Self::NoSuchRoute => (ErrorCode::NoSuchRoute, &*messages.no_such_route),
            Self::NotFound | Self::HiddenResult => (ErrorCode::NotFound, &*messages.not_found),
            Self::ReplayNotFound => (ErrorCode::BoardNotFound, &*messages.not_found),
            Self::RateLimited(_) => (ErrorCode::RateLimited, &*messages.rate_limited),
            Self::NotImplemented => (ErrorCode::NotImplemented, &*messages.not_implemented),
            Self::BoardOffline => (ErrorCode::BoardOffline, &*messages.board_offline),
            Self::Internal(_) | Self::Overloaded(_) => {
                (ErrorCode::InternalError, &*messages.internal_error)
            }
            Self::Idempotency(conflict) => {
                let text = match conflict {
                    IdempotencyConflict::InProgress => &messages.idempotency_in_progress,
                    IdempotencyConflict::OutcomeUnknown => &messages.idempotency_outcome_unknown,
                    IdempotencyConflict::KeyReused => &messages.idempotency_key_reused,
                };
                (ErrorCode::Conflict, &**text)
            }
        };
        (code, text.into())
    }
}

impl From<PanicError> for ApiError {
    fn from(panic: PanicError) -> Self {
        Self::internal(panic)
    }
}

impl From<BackendError> for ApiError {
    fn from(error: BackendError) -> Self {
        Self::internal(error.into_inner())
    }
}

impl From<BoardError> for ApiError {
    fn from(error: BoardError) -> Self {
        match error {
            BoardError::PathNotFound => Self::NotFound,
            BoardError::InvalidParameter(name, phrase) => InputError::phrase(name, phrase).into(),
            BoardError::Forbidden(text) => Self::Board(ErrorCode::Forbidden, text, None),
            BoardError::NotFound(text) => Self::Board(ErrorCode::BoardNotFound, text, None),
            BoardError::Conflict(text) => Self::Board(ErrorCode::Conflict, text, None),
            BoardError::Validation { field, message } => {
                Self::Board(ErrorCode::Validation, format!("{field}: {message}"), None)
            }
            BoardError::RateLimited(text, after) => {
                Self::Board(ErrorCode::BoardRateLimited, text, after)
            }
            BoardError::NotImplemented => Self::NotImplemented,
            BoardError::Internal(source) => Self::internal(source),
        }
    }
}
