//! The result of a rule.

use std::fmt::{self, Debug, Display};

use super::Capability;
use crate::host::{BackendError, BoxError};

/// The result of a rule or of a step of it. `?` ends the rule at the first failure.
pub type TestResult<T = ()> = Result<T, TestFailure>;

/// The reason why a rule ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TestFailure {
    /// The rule is about something that the host lacks.
    Unsupported(Capability),
    /// The rule is broken. The text names the call, what was found, and what was expected.
    Failed(String),
}

impl TestFailure {
    /// Adds a `note` on the rule's fixture.
    pub(crate) fn noting(self, note: impl Display) -> Self {
        match self {
            Self::Failed(text) => Self::Failed(format!("{text} ({note})")),
            Self::Unsupported(_) => self,
        }
    }

    /// `what` gave `found` instead of `expected`.
    pub fn mismatch(what: impl Display, found: impl Display, expected: impl Display) -> Self {
        Self::Failed(format!("{what}: expected {expected}, found {found}"))
    }
}

impl Display for TestFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsupported(part) => write!(f, "the host does not support {part}"),
            Self::Failed(text) => f.write_str(text),
        }
    }
}

impl From<BoxError> for TestFailure {
    fn from(error: BoxError) -> Self {
        Self::Failed(format!("the fixture failed: {error}"))
    }
}

impl From<BackendError> for TestFailure {
    fn from(fault: BackendError) -> Self {
        Self::Failed(format!("the backend failed: {fault}"))
    }
}

/// Checks that `found` equals `expected`.
///
/// # Errors
/// [`TestFailure::Failed`] with both values.
pub fn check_eq<T: PartialEq<U> + Debug, U: Debug>(
    what: impl Display,
    found: T,
    expected: U,
) -> TestResult {
    match found == expected {
        true => Ok(()),
        false => Err(TestFailure::mismatch(
            what,
            format_args!("{found:?}"),
            format_args!("{expected:?}"),
        )),
    }
}

/// Checks a condition, which `what` describes.
///
/// # Errors
/// [`TestFailure::Failed`] with the description.
pub fn check(what: impl Display, condition: bool) -> TestResult {
    match condition {
        true => Ok(()),
        false => Err(TestFailure::Failed(format!("check failed: {what}"))),
    }
}
