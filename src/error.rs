//! Errors shared by hosts, stores and services.

use std::time::Duration;

use thiserror::Error;

/// Error of any type, such as a database driver's, used as the source of another error.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Result of an operation of a store, an [`Authorizer`](crate::host::Authorizer) or an
/// [`AdminAuth`](crate::host::AdminAuth).
pub type BackendResult<T> = Result<T, BackendError>;

/// Error of a store or another backend. The API returns 500 `internal_error` and logs the source.
///
/// `?` converts errors of the database drivers ([`IntoBackendError`]).
#[derive(Debug, Error)]
#[error(transparent)]
pub struct BackendError(BoxError);

impl BackendError {
    /// Creates an error from its source.
    pub fn new(source: impl Into<BoxError>) -> Self {
        Self(source.into())
    }

    /// Returns the source.
    pub fn into_inner(self) -> BoxError {
        self.0
    }

    pub(crate) fn as_source(&self) -> &(dyn std::error::Error + 'static) {
        &*self.0
    }
}

/// An error of a database or its driver. `?` converts it to a [`BackendError`] and to a
/// [`BoardError`](crate::host::BoardError).
pub trait IntoBackendError {
    /// Converts the error. The result displays as one sentence without the values of the statement.
    fn into_backend_error(self) -> BackendError;
}

impl<E: IntoBackendError> From<E> for BackendError {
    fn from(error: E) -> Self {
        error.into_backend_error()
    }
}

/// The backend rejected an operation because its queue is full. The operation did not run.
///
/// The API looks for it in the sources of a [`BackendError`] and of
/// [`BoardError::Internal`](crate::host::BoardError::Internal), at any depth, and returns 503 `internal_error` with
/// `retry-after` instead of 500. The `Idempotency-Key` of the request stays usable, so a command that returns it must not
/// have changed anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the backend is overloaded")]
pub struct OverloadedError {
    /// Time to wait before a retry.
    pub retry_after: Duration,
}
