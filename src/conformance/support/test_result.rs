//! The result of a rule.

use std::fmt::{self, Debug, Display};

use super::Capability;
use crate::host::{BackendError, BoxError};
use crate::model::ParseError;

/// The result of a rule or of one of its steps. `?` ends the rule at the first failure.
pub type TestResult<T = ()> = Result<T, TestFailure>;

/// The reason why a rule did not pass.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TestFailure {
    /// The host does not support a capability that the rule needs. The rule is skipped.
    Unsupported(Capability),
    /// The rule failed, as [expected](super::BoardFactory::expected_differences) by the host.
    Expected {
        /// The reason that the host gives.
        reason: String,
        /// The text of the failure.
        text: String,
    },
    /// The rule failed. The text names the call, the actual and the expected result.
    Failed(String),
}

impl TestFailure {
    /// Appends a note about the rule's fixture to the text of a failure.
    pub(crate) fn with_note(self, note: impl Display) -> Self {
        match self {
            Self::Failed(text) => Self::Failed(format!("{text} ({note})")),
            other => other,
        }
    }

    /// Appends the last call of the rule to the text of a failure that does not name it.
    pub(crate) fn with_last_call(self, call: &str) -> Self {
        match self {
            Self::Failed(text) if text.contains(call) => Self::Failed(text),
            failure => failure.with_note(format_args!("after {call}")),
        }
    }

    /// Creates a failure of the rule: `subject` had the `actual` result or value instead of the `expected` one. Of long
    /// values, the text contains the part around the first difference.
    pub(crate) fn mismatch(
        subject: impl Display,
        actual: impl Display,
        expected: impl Display,
    ) -> Self {
        let actual = actual.to_string();
        let expected = expected.to_string();
        let pairs = actual.chars().zip(expected.chars());
        let common = pairs.take_while(|(actual, expected)| actual == expected);
        let start = common.count().saturating_sub(MAX_SHOWN / 4);
        let [actual, expected] = [actual, expected].map(|value| shorten(&value, start));
        Self::Failed(format!("{subject}: expected {expected}, found {actual}"))
    }
}

/// Maximum number of characters of a value in the text of a failure.
const MAX_SHOWN: usize = 800;

/// Returns a value of at most [`MAX_SHOWN`] characters whole, and of a longer one the part from about `start`.
fn shorten(value: &str, start: usize) -> String {
    let length = value.chars().count();
    if length <= MAX_SHOWN {
        return value.into();
    }
    let start = start.min(length - MAX_SHOWN);
    let shown: String = value.chars().skip(start).take(MAX_SHOWN).collect();
    let [before, after] =
        [start > 0, start + MAX_SHOWN < length].map(|is_cut| if is_cut { "…" } else { "" });
    format!("{before}{shown}{after}")
}

impl Display for TestFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsupported(capability) => write!(f, "the host does not support {capability}"),
            Self::Expected { reason, text } => write!(f, "{reason}; {text}"),
            Self::Failed(text) => f.write_str(text),
        }
    }
}

impl From<BoxError> for TestFailure {
    fn from(error: BoxError) -> Self {
        Self::Failed(format!("the fixture failed: {error}"))
    }
}

impl From<ParseError> for TestFailure {
    fn from(error: ParseError) -> Self {
        Self::Failed(format!("the rule is malformed: {error}"))
    }
}

impl From<BackendError> for TestFailure {
    fn from(error: BackendError) -> Self {
        Self::Failed(format!("the backend failed: {error}"))
    }
}

/// Checks that `actual` equals `expected`. `subject` names the compared value.
///
/// # Errors
/// [`TestFailure::Failed`] with both values if they differ.
pub(crate) fn check_eq<T: PartialEq<U> + Debug, U: Debug>(
    subject: impl Display,
    actual: T,
    expected: U,
) -> TestResult {
    if actual == expected {
        Ok(())
    } else {
        let actual = format!("{actual:?}");
        let expected = format!("{expected:?}");
        Err(TestFailure::mismatch(subject, actual, expected))
    }
}

/// Checks a condition.
///
/// # Errors
/// [`TestFailure::Failed`] with the description if the condition is false.
pub(crate) fn check(description: impl Display, condition: bool) -> TestResult {
    if condition {
        Ok(())
    } else {
        Err(TestFailure::Failed(format!("check failed: {description}")))
    }
}

/// Returns the only item.
pub(crate) fn only<T: Debug>(items: impl IntoIterator<Item = T>) -> TestResult<T> {
    let [item] = exactly(items)?;
    Ok(item)
}

/// Returns the items, whose number has to be `N`.
pub(crate) fn exactly<T: Debug, const N: usize>(
    items: impl IntoIterator<Item = T>,
) -> TestResult<[T; N]> {
    let items = <[T; N]>::try_from(Vec::from_iter(items));
    items.map_err(|items| {
        let actual = format!("{} items: {items:?}", items.len());
        TestFailure::mismatch("a list", actual, N)
    })
}
