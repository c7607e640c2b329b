//! Errors that hosts, stores and services share.

use std::time::Duration;

use thiserror::Error;

/// Any error of a host or a backend, as a source.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Result of a store operation.
pub type BackendResult<T> = Result<T, BackendError>;

/// Error of a store or another backend. The response is a 500 `internal_error`; the source is logged.
///
/// `?` converts the errors of database drivers ([`IntoBackendError`]).
#[derive(Debug, Error)]
#[error(transparent)]
pub struct BackendError(BoxError);

impl BackendError {
    /// Creates an error with this source.
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

/// Error of a database or its driver, which `?` converts to a [`BackendError`] and a
/// [`BoardError`](crate::host::BoardError).
pub trait IntoBackendError {
    /// Converts the error. The result prints as one sentence without values.
    fn into_backend_error(self) -> BackendError;
}

impl<E: IntoBackendError> From<E> for BackendError {
    fn from(error: E) -> Self {
        error.into_backend_error()
    }
}

/// Error of an operation that was rejected, and not run, because too many operations are waiting.
///
/// It can be a source of a [`BackendError`] or of [`BoardError::Internal`](crate::host::BoardError::Internal), at any
/// depth. The response is then a 503 `internal_error` with `retry-after` instead of a 500. The command has changed nothing:
/// the `Idempotency-Key` of the request stays usable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the backend is overloaded")]
pub struct Overloaded {
    /// Time after which the client can repeat the request.
    pub retry_after: Duration,
}
