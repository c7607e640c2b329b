//! [`Rejection`]: the reason for which a board rejects a command.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

/// Reason for which a board rejects a command: a message for people, and data for programs.
///
/// The constructors of [`BoardError`](super::BoardError), such as [`conflict`](super::BoardError::conflict), create it.
///
/// ```
/// use forum_api::host::BoardError;
///
/// let error = BoardError::validation("poll.options[1]", "All options must be different.").with_reason("duplicate");
/// let BoardError::Validation(rejection) = error else { unreachable!() };
/// assert_eq!(rejection.message, "All options must be different.");
/// assert_eq!(rejection.to_string(), "poll.options[1]: All options must be different.");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rejection {
    /// Text for people, in the board's language. The client receives `field: message` if the rejection has a field.
    pub message: String,
    /// Name of the reason for programs, such as `too_soon`: 1 to 64 characters of `[a-z0-9_]`. The client receives it in
    /// the header `x-error-reason`. Another text is not sent.
    pub reason: Option<Cow<'static, str>>,
    /// Path of the field of the request body that causes the rejection, such as `title` or `poll.options[1]`. The client
    /// receives it in the header `x-error-field`.
    pub field: Option<Cow<'static, str>>,
    /// Time until the client can retry, for the header `retry-after`.
    pub retry_after: Option<Duration>,
}

impl Rejection {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), reason: None, field: None, retry_after: None }
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.field {
            Some(field) => write!(f, "{field}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}
