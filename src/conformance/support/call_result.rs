//! The result of a call of the board, and what a rule may expect of it.

use std::fmt::Debug;

use super::{TestFailure, TestResult};
use crate::host::{BoardError, BoardResult};

/// The result of a call of the board.
#[derive(Debug)]
#[must_use = "expect something of it"]
pub struct CallResult<T> {
    pub(crate) call: String,
    pub(crate) result: TestResult<BoardResult<T>>,
}

impl<T: Debug> CallResult<T> {
    /// The call succeeded.
    pub fn expect_ok(self) -> TestResult<T> {
        self.result?
            .map_err(|refusal| mismatch(self.call, refusal, "success"))
    }

    /// The call succeeded if the caller `may`, and was forbidden otherwise.
    pub(crate) fn expect_ok_if(self, may: bool) -> TestResult {
        match may {
            true => self.expect_ok().map(drop),
            false => self.expect_forbidden(),
        }
    }

    /// The call succeeded if the caller `sees` the path's resource, which does not exist for others.
    pub(crate) fn expect_found_if(self, sees: bool) -> TestResult {
        match sees {
            true => self.expect_ok().map(drop),
            false => self.expect_path_not_found(),
        }
    }

    /// The board refused the content of this `expected` field.
    pub fn expect_validation_error(self, expected: &str) -> TestResult {
        self.refused(
            &format!("BoardError::Validation of the field `{expected}`"),
            |it| matches!(it, BoardError::Validation { field, .. } if *field == expected),
        )
    }

    /// The board refused this query parameter.
    pub fn expect_invalid_parameter(self, expected: &str) -> TestResult {
        self.refused(
            &format!("BoardError::InvalidParameter of `{expected}`"),
            |it| matches!(it, BoardError::InvalidParameter(name, _) if *name == expected),
        )
    }

    /// The call succeeded, or the board refused `after`: a forged page key is not a failure.
    pub fn expect_ok_or_invalid_parameter(self) -> TestResult {
        match self.result {
            Ok(Ok(_)) => Ok(()),
            _ => self.expect_invalid_parameter("after"),
        }
    }

    /// The call succeeded, or came too late and is a conflict.
    pub(crate) fn expect_ok_or_conflict(self) -> TestResult<Option<T>> {
        match self.result? {
            Ok(value) => Ok(Some(value)),
            Err(BoardError::Conflict(_)) => Ok(None),
            Err(refusal) => Err(mismatch(
                self.call,
                refusal,
                "success or BoardError::Conflict",
            )),
        }
    }

    /// The board's result, for a rule that several results keep.
    ///
    /// # Errors
    /// When any rule is broken by it, or the host lacks the call.
    pub fn into_result(self) -> TestResult<BoardResult<T>> {
        self.result
    }

    pub(crate) fn map<U>(self, map: impl FnOnce(T) -> U) -> CallResult<U> {
        CallResult {
            call: self.call,
            result: self.result.map(|result| result.map(map)),
        }
    }

    fn refused(self, expected: &str, is: impl FnOnce(&BoardError) -> bool) -> TestResult {
        match self.result? {
            Err(refusal) if is(&refusal) => Ok(()),
            other => Err(mismatch(self.call, other, expected)),
        }
    }
}

macro_rules! expect_refusals {
    ($($(#[$doc:meta])+ $name:ident($refusal:pat);)+) => {
        impl<T: Debug> CallResult<T> {$(
            $(#[$doc])+
            pub fn $name(self) -> TestResult {
                self.refused(stringify!($refusal), |it| matches!(it, $refusal))
            }
        )+}
    };
}

expect_refusals! {
    /// The path's resource does not exist for the caller.
    expect_path_not_found(BoardError::PathNotFound);
    /// The caller sees the resource but has no permission.
    expect_forbidden(BoardError::Forbidden(_));
    /// The caller's account can no longer act: the call was forbidden, or its resource does not exist.
    expect_denied(BoardError::Forbidden(_) | BoardError::PathNotFound);
    /// A resource that the body names, or the subscription, does not exist.
    expect_not_found(BoardError::NotFound(_));
    /// The resource was changed meanwhile, or the call was made before.
    expect_conflict(BoardError::Conflict(_));
    /// The caller made too many calls at once.
    expect_rate_limited(BoardError::RateLimited(..));
}

fn mismatch(call: String, found: impl Debug, expected: &str) -> TestFailure {
    TestFailure::mismatch(call, format_args!("{found:?}"), expected)
}
