//! Whether a rule holds.

use std::fmt::{self, Debug, Display};

use super::Part;
use crate::host::{BoxError, Fault};

/// What is found of a rule: it holds, or why not. `?` ends a case at the first thing that is wrong.
pub type Verdict<T = ()> = Result<T, Stop>;

/// Why a case went no further.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stop {
    /// The rule is about something that the host lacks.
    Lacks(Part),
    /// The rule is broken: what was asked, what was found, and what was expected.
    Broken(String),
}

impl Stop {
    /// The same, with a `note` on what the rule had set up.
    pub(crate) fn noting(self, note: impl Display) -> Self {
        match self {
            Self::Broken(text) => Self::Broken(format!("{text} ({note})")),
            Self::Lacks(_) => self,
        }
    }

    /// `what` was to give something else than it gave.
    pub fn broken(what: impl Display, found: impl Display, expected: impl Display) -> Self {
        Self::Broken(format!("{what}: expected {expected}, found {found}"))
    }
}

impl Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lacks(part) => write!(f, "the host lacks {part}"),
            Self::Broken(text) => f.write_str(text),
        }
    }
}

impl From<BoxError> for Stop {
    fn from(error: BoxError) -> Self {
        Self::Broken(format!("the stage could not be set: {error}"))
    }
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Broken(format!("the backend failed: {fault}"))
    }
}

/// `what` has to be as expected.
pub fn equal<T: PartialEq<U> + Debug, U: Debug>(
    what: impl Display,
    found: T,
    expected: U,
) -> Verdict {
    if found == expected {
        return Ok(());
    }
    Err(Stop::broken(
        what,
        format_args!("{found:?}"),
        format_args!("{expected:?}"),
    ))
}

/// `what` has to hold.
pub fn holds(what: impl Display, holds: bool) -> Verdict {
    holds
        .then_some(())
        .ok_or_else(|| Stop::Broken(format!("it does not hold that {what}")))
}
