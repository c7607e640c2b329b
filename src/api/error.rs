//! Both error tables (spec, Errors), and who may raise which.
//!
//! The library's own codes are lower-case. The upper-case ones come from the board's command, with the board's own
//! text. The library raises two of them itself, where a request repeats an `Idempotency-Key`: `CONFLICT`, and
//! `NOT_FOUND` when the caller can no longer see what the stored response is about.

use std::borrow::Cow;
use std::time::Duration;

use super::Messages;
use crate::api::extract::error::Complaint;
use crate::host::{BoxError, Fault, Overloaded, Refusal};
use crate::scope::Surface;
use crate::task::PanicError;

macro_rules! codes {
    ($($name:ident $status:literal $code:literal $surface:ident $meaning:literal)+) => {
        /// A row of the error tables.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Code {
            $(#[doc = $meaning] $name,)+
        }

        impl Code {
            pub(crate) const EVERY: &'static [Self] = &[$(Self::$name,)+];

            pub(crate) const fn status(self) -> u16 {
                match self { $(Self::$name => $status,)+ }
            }

            pub(crate) const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $code,)+ }
            }

            pub(crate) const fn meaning(self) -> &'static str {
                match self { $(Self::$name => $meaning,)+ }
            }

            /// The smallest surface whose error table lists it.
            const fn listed_on(self) -> Surface {
                match self { $(Self::$name => Surface::$surface,)+ }
            }
        }
    };
}

codes! {
    BadRequest 400 "bad_request" Compact "A query parameter, header or field was missing or unusable."
    Unauthenticated 401 "unauthenticated" Compact "No bearer token, or the token is not valid."
    MissingScope 403 "missing_scope" Compact "The token lacks the endpoint's scope."
    OwnerUnavailable 403 "owner_unavailable" Compact "The token's owner account can no longer act."
    NoSuchRoute 404 "no_such_route" Compact "No such endpoint."
    NotFound 404 "not_found" Full "No such resource, or none this caller may see."
    RateLimited 429 "rate_limited" Compact "Over the window budget; retry-after is sent."
    InternalError 500 "internal_error" Compact "The board failed; its log knows why, under the request id."
    NotImplemented 501 "not_implemented" Compact "Declared, but not offered by this board yet."
    BoardOffline 503 "board_offline" Full "The board is offline and the caller may not see it."
    Forbidden 403 "FORBIDDEN" Full "The owner's permissions do not allow it, whatever the token carries."
    BoardNotFound 404 "NOT_FOUND" Full "The thing named in the request is not there."
    Conflict 409 "CONFLICT" Full "Something else changed underneath the request."
    Validation 422 "VALIDATION" Full "Posting rules refused the contents (too long, too soon, subject missing)."
    BoardRateLimited 429 "RATE_LIMITED" Full "Over one of the board's anti-flood limits, separate from the API budget."
}

impl Code {
    /// Those that the error table of `surface` lists.
    pub(crate) fn of(surface: Surface) -> impl Iterator<Item = Self> {
        let every = Self::EVERY.iter().copied();
        every.filter(move |code| code.on(surface))
    }

    fn on(self, surface: Surface) -> bool {
        surface == Surface::Full || self.listed_on() == Surface::Compact
    }

    /// Whether the board's own command raises it.
    pub(crate) fn is_the_boards(self) -> bool {
        self.as_str()
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || byte == b'_')
    }
}

/// Why a request was refused.
#[derive(Debug)]
pub(crate) enum Problem {
    BadRequest(Complaint),
    Unauthenticated(Unauthenticated),
    MissingScope,
    OwnerUnavailable,
    NoSuchRoute,
    NotFound,
    /// The command was carried out, and answered what this caller may not see.
    Withheld,
    /// Until the window ends.
    RateLimited(Duration),
    NotImplemented,
    BoardOffline,
    /// With its source, until that is in the log.
    Internal(Option<BoxError>),
    /// The backend refused to run the operation; the client can repeat the request after this time.
    Overloaded(Duration),
    /// From the board's command, in its own words.
    Board(Code, String, Option<Duration>),
    Key(KeyConflict),
    /// The caller can no longer see what the stored response is about, and the path does not name it.
    ReplayNotFound,
}

/// Why a caller is not authenticated: for the log alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unauthenticated {
    Absent,
    Malformed,
    Unknown,
    Revoked,
    Expired,
}

/// Why an `Idempotency-Key` gives no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyConflict {
    Running,
    Unknown,
    OtherRequest,
}

impl Problem {
    pub(crate) fn internal(source: impl Into<BoxError>) -> Self {
        let source = source.into();
        let overloaded = Overloaded::cause_of(&*source);
        overloaded.map_or(Self::Internal(Some(source)), |overloaded| {
            Self::Overloaded(overloaded.retry_after)
        })
    }

    pub(crate) fn status(&self) -> u16 {
        match self {
            Self::Overloaded(_) => 503,
            other => other.code().status(),
        }
    }

    pub(crate) fn code(&self) -> Code {
        match self {
            Self::BadRequest(_) => Code::BadRequest,
            Self::Unauthenticated(_) => Code::Unauthenticated,
            Self::MissingScope => Code::MissingScope,
            Self::OwnerUnavailable => Code::OwnerUnavailable,
            Self::NoSuchRoute => Code::NoSuchRoute,
            Self::NotFound | Self::Withheld => Code::NotFound,
            Self::RateLimited(_) => Code::RateLimited,
            Self::NotImplemented => Code::NotImplemented,
            Self::BoardOffline => Code::BoardOffline,
            Self::Internal(_) | Self::Overloaded(_) => Code::InternalError,
            Self::Board(code, ..) => *code,
            Self::Key(_) => Code::Conflict,
            Self::ReplayNotFound => Code::BoardNotFound,
        }
    }

    pub(crate) fn message<'a>(&'a self, messages: &'a Messages) -> Cow<'a, str> {
        let text = match self {
            Self::BadRequest(complaint) => return messages.complain(complaint).into(),
            Self::Board(_, text, _) => text,
            Self::Unauthenticated(_) => &*messages.unauthenticated,
            Self::MissingScope => &messages.missing_scope,
            Self::OwnerUnavailable => &messages.owner_unavailable,
            Self::NoSuchRoute => &messages.no_such_route,
            Self::NotFound | Self::Withheld | Self::ReplayNotFound => &messages.not_found,
            Self::RateLimited(_) => &messages.rate_limited,
            Self::NotImplemented => &messages.not_implemented,
            Self::BoardOffline => &messages.board_offline,
            Self::Internal(_) | Self::Overloaded(_) => &messages.internal_error,
            Self::Key(KeyConflict::Running) => &messages.key_running,
            Self::Key(KeyConflict::Unknown) => &messages.key_unknown,
            Self::Key(KeyConflict::OtherRequest) => &messages.key_reused,
        };
        text.into()
    }
}

impl From<Complaint> for Problem {
    fn from(complaint: Complaint) -> Self {
        Self::BadRequest(complaint)
    }
}

impl From<PanicError> for Problem {
    fn from(panicked: PanicError) -> Self {
        Self::internal(panicked)
    }
}

impl From<Fault> for Problem {
    fn from(fault: Fault) -> Self {
        Self::internal(fault.into_source())
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Absent => Self::NotFound,
            Refusal::Unusable(name, phrase) => Self::BadRequest(Complaint::expected(name, phrase)),
            Refusal::Forbidden(text) => Self::Board(Code::Forbidden, text, None),
            Refusal::NotFound(text) => Self::Board(Code::BoardNotFound, text, None),
            Refusal::Conflict(text) => Self::Board(Code::Conflict, text, None),
            Refusal::Invalid { field, message } => {
                Self::Board(Code::Validation, format!("{field}: {message}"), None)
            }
            Refusal::TooFast(text, after) => Self::Board(Code::BoardRateLimited, text, after),
            Refusal::NotImplemented => Self::NotImplemented,
            Refusal::Failed(source) => Self::internal(source),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Code, Surface};

    #[test]
    fn the_smaller_surface_lists_fewer_codes() {
        let missing: Vec<_> = Code::EVERY
            .iter()
            .filter(|code| !code.on(Surface::Compact))
            .map(|code| code.as_str())
            .collect();
        assert_eq!(
            missing,
            [
                "not_found",
                "board_offline",
                "FORBIDDEN",
                "NOT_FOUND",
                "CONFLICT",
                "VALIDATION",
                "RATE_LIMITED"
            ]
        );
    }
}
