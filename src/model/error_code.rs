//! Error codes ([protocol](crate::guide::protocol), section 5).

use http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::serde_helpers::first_paragraph;
use crate::error::{ParseError, impl_as_str, impl_from_str, impl_serde_str};
use crate::scope::Surface;

macro_rules! codes {
    ($($name:ident $status:ident $code:literal [$($surface:ident),+] $meaning:literal)+) => {
        /// Code of an error response: the value of `error.code` in an [`ErrorBody`]. Clients use it to distinguish
        /// errors.
        ///
        /// The library writes the messages of the lower-case codes. The board raises the upper-case codes, with its own
        /// messages: `Forbidden`, `NotFound`, `Conflict`, `Validation` and `RateLimited` of
        /// [`BoardError`](crate::host::BoardError). `BoardError::RateLimited` has the code
        /// [`BoardRateLimited`](Self::BoardRateLimited).
        ///
        /// The library also raises `CONFLICT` if the first request with the same `Idempotency-Key` was different, is still
        /// in progress or has an unknown outcome. It raises `NOT_FOUND` if the caller can no longer see the resource of a
        /// stored response, or if the board returns `PathNotFound` for an endpoint that names its resources only in the
        /// body.
        ///
        /// Later versions can add codes, so the enum is non-exhaustive, and [`ErrorObject::code`] is a text. If a
        /// client receives an unknown code, it uses the status of the response instead.
        ///
        /// ```
        /// use forum_api::model::ErrorCode;
        ///
        /// let code: ErrorCode = "FORBIDDEN".parse().unwrap();
        /// assert_eq!((code, code.status().as_u16()), (ErrorCode::Forbidden, 403));
        /// assert_eq!(ErrorCode::PathNotFound.as_str(), "not_found");
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum ErrorCode {
            $(#[doc = concat!("`", $code, "`: ", $meaning)] $name,)+
        }

        impl ErrorCode {
            const ALL: &'static [Self] = &[$(Self::$name,)+];

            /// Returns the status of responses with this code. An `internal_error` of a request that was not run has the status
            /// 503 instead.
            pub const fn status(self) -> StatusCode {
                match self { $(Self::$name => StatusCode::$status,)+ }
            }

            /// Returns the text of the code.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $code,)+ }
            }

            /// Returns the meaning of a response with this code and `status`.
            pub(crate) const fn meaning(self, status: StatusCode) -> &'static str {
                match (self, status) {
                    (Self::InternalError, StatusCode::SERVICE_UNAVAILABLE) => NOT_RUN,
                    $((Self::$name, _) => $meaning,)+
                }
            }

            /// The surfaces that document the code.
            const fn surfaces(self) -> &'static [Surface] {
                match self { $(Self::$name => &[$(Surface::$surface),+],)+ }
            }
        }
    };
}

const NOT_RUN: &str = "The board did not run the request, for example because it was overloaded. Wait `retry-after` seconds, then try again.";

codes! {
    BadRequest BAD_REQUEST "bad_request" [Full, Compact] "A part of the request is missing or invalid: a query parameter, a header, the body or one of its fields."
    Unauthenticated UNAUTHORIZED "unauthenticated" [Full, Compact] "The bearer token is missing or not valid."
    MissingScope FORBIDDEN "missing_scope" [Full, Compact] "The token lacks the scope required by this endpoint."
    OwnerUnavailable FORBIDDEN "owner_unavailable" [Full, Compact] "The token owner's account can no longer be used."
    NoSuchRoute NOT_FOUND "no_such_route" [Full, Compact] "No operation has this path and method."
    PathNotFound NOT_FOUND "not_found" [Full] "The resource that the path names does not exist, or the caller may not see it."
    RateLimited TOO_MANY_REQUESTS "rate_limited" [Full, Compact] "Rate limit exceeded. Retry after `retry-after` seconds."
    InternalError INTERNAL_SERVER_ERROR "internal_error" [Full, Compact] "Internal error. The board's log contains the cause under the request id."
    NotImplemented NOT_IMPLEMENTED "not_implemented" [Full, Compact] "This board does not implement this endpoint."
    BoardOffline SERVICE_UNAVAILABLE "board_offline" [Full] "The board is offline for this caller."
    Forbidden FORBIDDEN "FORBIDDEN" [Full] "The owner's permissions or the board's rules do not allow the operation, for example a vote in a closed poll. More scopes do not help."
    NotFound NOT_FOUND "NOT_FOUND" [Full] "A resource that the body names does not exist, or the caller may not see it. Removing a subscription that does not exist is also a `NOT_FOUND`."
    Conflict CONFLICT "CONFLICT" [Full] "The request conflicts with the current state of the resource, or with an earlier request with the same `Idempotency-Key`."
    Validation UNPROCESSABLE_ENTITY "VALIDATION" [Full] "The board's rules reject the content, for example because it is too long, comes too soon after the last post, or has no subject."
    BoardRateLimited TOO_MANY_REQUESTS "RATE_LIMITED" [Full] "One of the board's anti-flood limits is exceeded, for example the number of posts per hour. These limits are separate from the API's rate limit."
}

impl ErrorCode {
    /// Codes that the board raises.
    pub(crate) const BOARD: &'static [Self] = &[
        Self::Forbidden,
        Self::NotFound,
        Self::Conflict,
        Self::Validation,
        Self::BoardRateLimited,
    ];

    /// Returns the codes that `surface` documents.
    pub(crate) fn of(surface: Surface) -> impl Iterator<Item = Self> {
        let all = Self::ALL.iter().copied();
        all.filter(move |code| code.surfaces().contains(&surface))
    }

    /// Parses a code.
    ///
    /// # Errors
    /// [`ParseError`] if this version of the library has no such code.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let mut codes = Self::ALL.iter().copied();
        let code = codes.find(|code| code.as_str() == text);
        code.ok_or(ParseError::new("an error code"))
    }
}

impl_from_str!(ErrorCode);
impl_as_str!(ErrorCode);
impl_serde_str!(ErrorCode);

/// Body of an error response.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct ErrorBody {
    /// Code, message and request id of the error.
    pub error: ErrorObject,
}

impl ErrorBody {
    pub(crate) fn new(code: ErrorCode, message: String, request_id: &str) -> Self {
        let error =
            ErrorObject { code: code.to_string(), message, request_id: request_id.to_owned() };
        Self { error }
    }
}

/// Code and message of an error.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ErrorObject {
    /// Stable, machine-readable code; see the table of errors.
    ///
    /// The text of an [`ErrorCode`], or a code of a later version.
    #[schemars(transform = first_paragraph)]
    pub code: String,
    /// Text for people, in the board's language.
    pub message: String,
    /// Id of the request in the board's log.
    pub request_id: String,
}
