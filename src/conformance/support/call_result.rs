//! The result of a call of the board, and its expected outcomes.

use std::fmt::Debug;

use super::{TestFailure, TestResult};
use crate::host::{BoardError, BoardResult};
use crate::model::error_reason::VERSION_STALE;

/// The result of a call of the board.
///
/// Each `expect_` method returns a [`TestFailure`] with the call and its result if the outcome is another one.
#[derive(Debug)]
#[must_use = "expect an outcome"]
pub(crate) struct CallResult<T> {
    pub(crate) call: String,
    pub(crate) result: TestResult<BoardResult<T>>,
}

impl<T: Debug> CallResult<T> {
    /// Expects success.
    pub(crate) fn expect_ok(self) -> TestResult<T> {
        let failed = |error| TestFailure::mismatch(self.call, format!("{error:?}"), "success");
        self.result?.map_err(failed)
    }

    /// Expects success if the caller is `permitted`, and [`BoardError::Forbidden`] otherwise.
    pub(crate) fn expect_ok_if(self, permitted: bool) -> TestResult {
        if permitted { self.expect_ok().map(drop) } else { self.expect_forbidden() }
    }

    /// Expects success if the resource of the path is `visible`, and [`BoardError::PathNotFound`] otherwise.
    pub(crate) fn expect_found_if(self, visible: bool) -> TestResult {
        if visible { self.expect_ok().map(drop) } else { self.expect_path_not_found() }
    }

    /// Expects [`BoardError::Validation`] of this field, or of one of its items.
    pub(crate) fn expect_validation_error(self, expected: &str) -> TestResult {
        self.expect_error(&format!("BoardError::Validation of `{expected}`"), |error| {
            let rest = error.field().and_then(|field| field.strip_prefix(expected));
            let is_expected = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('['));
            matches!(error, BoardError::Validation(_)) && is_expected
        })
    }

    /// Expects [`BoardError::InvalidParameter`] of this query parameter.
    pub(crate) fn expect_invalid_parameter(self, expected: &str) -> TestResult {
        self.expect_error(
            &format!("BoardError::InvalidParameter of `{expected}`"),
            |error| matches!(error, BoardError::InvalidParameter { name, .. } if *name == expected),
        )
    }

    /// Expects [`BoardError::Conflict`] with the reason `version_stale`.
    pub(crate) fn expect_stale_version(self) -> TestResult {
        let is_stale = |error: &BoardError| {
            matches!(error, BoardError::Conflict(_)) && error.reason() == Some(VERSION_STALE)
        };
        self.expect_error("BoardError::stale_version", is_stale)
    }

    /// Expects success, or [`BoardError::InvalidParameter`] of `after`, for a forged page key.
    pub(crate) fn expect_ok_or_invalid_parameter(self) -> TestResult {
        match self.result {
            Ok(Ok(_)) => Ok(()),
            _ => self.expect_invalid_parameter("after"),
        }
    }

    /// Expects success, or [`BoardError::Conflict`], for which it returns `None`.
    pub(crate) fn expect_ok_or_conflict(self) -> TestResult<Option<T>> {
        match self.result {
            Ok(Err(BoardError::Conflict(_))) => Ok(None),
            _ => self.expect_ok().map(Some),
        }
    }

    /// Returns the board's result, for a rule that permits several outcomes.
    ///
    /// # Errors
    /// If no rule permits the result (such as an internal error or content of a hidden forum), or the host does not
    /// support the call.
    pub(crate) fn into_result(self) -> TestResult<BoardResult<T>> {
        self.result
    }

    pub(crate) fn map<U>(self, map: impl FnOnce(T) -> U) -> CallResult<U> {
        let Self { call, result } = self;
        let result = result.map(|result| result.map(map));
        CallResult { call, result }
    }

    fn expect_error(self, expected: &str, is: impl FnOnce(&BoardError) -> bool) -> TestResult {
        match self.result? {
            Err(error) if is(&error) => Ok(()),
            other => {
                let actual = format!("{other:?}");
                Err(TestFailure::mismatch(self.call, actual, expected))
            }
        }
    }
}

macro_rules! expected_errors {
    ($($(#[$doc:meta])+ $name:ident($error:pat);)+) => {
        impl<T: Debug> CallResult<T> {$(
            $(#[$doc])+
            pub(crate) fn $name(self) -> TestResult {
                self.expect_error(stringify!($error), |error| matches!(error, $error))
            }
        )+}
    };
}

expected_errors! {
    /// Expects [`BoardError::PathNotFound`]: the caller cannot see the resource of the path.
    expect_path_not_found(BoardError::PathNotFound);
    /// Expects [`BoardError::Forbidden`]: the caller sees the resource and has no permission.
    expect_forbidden(BoardError::Forbidden(_));
    /// Expects [`BoardError::Forbidden`] or [`BoardError::PathNotFound`]: the caller's account lost its access.
    expect_denied(BoardError::Forbidden(_) | BoardError::PathNotFound);
    /// Expects [`BoardError::NotFound`]: a resource in the body, or the subscription, does not exist.
    expect_not_found(BoardError::NotFound(_));
    /// Expects [`BoardError::Conflict`]: the resource has changed, or the call was made before.
    expect_conflict(BoardError::Conflict(_));
}
