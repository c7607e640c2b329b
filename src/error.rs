//! Errors that hosts, stores and services share.

use std::time::Duration;

use thiserror::Error;

/// Any error of a host or a backend, as a source.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Result of a store operation.
pub type BackendResult<T> = Result<T, BackendError>;

/// A store or another backend failed. The API answers 500 `internal_error` and writes one line to the log.
///
/// `?` makes it from the errors of the database drivers ([`IntoBackendError`]).
#[derive(Debug, Error)]
#[error(transparent)]
pub struct BackendError(BoxError);

impl BackendError {
    /// A failure because of `source`.
    pub fn new(source: impl Into<BoxError>) -> Self {
        Self(source.into())
    }

    /// Returns the reason.
    pub fn into_inner(self) -> BoxError {
        self.0
    }

    pub(crate) fn as_source(&self) -> &(dyn std::error::Error + 'static) {
        &*self.0
    }
}

/// An error of a database or its driver, which `?` turns into a [`Fault`] and a
/// [`BoardError`](crate::host::BoardError).
pub trait IntoBackendError {
    /// The failure that it causes. It prints as one sentence without values.
    fn into_backend_error(self) -> BackendError;
}

impl<E: IntoBackendError> From<E> for BackendError {
    fn from(error: E) -> Self {
        error.into_backend_error()
    }
}

/// The backend refused an operation because too many wait already. The operation was not run.
///
/// The source of a [`Fault`] or of [`BoardError::Failed`](crate::host::BoardError::Failed), at any depth. The API then answers
/// 503 `internal_error` with `retry-after` instead of 500. A command that returns it has changed nothing: the
/// `Idempotency-Key` of the request stays usable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the backend is overloaded")]
pub struct Overloaded {
    /// Time after which the client can repeat the request.
    pub retry_after: Duration,
}
