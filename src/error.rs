//! Errors shared by hosts, stores and services.

use std::time::Duration;

use serde::de::{self, Unexpected};
use thiserror::Error;

/// Error of any type, such as an error of a database driver, used as the source of another error.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Result of an operation of a store, an [`Authorizer`](crate::host::Authorizer) or an
/// [`AdminAuth`](crate::host::AdminAuth).
pub type BackendResult<T> = Result<T, BackendError>;

/// Error of a store or another backend. The API logs the source. If a call before the command fails, the API returns 503
/// `internal_error` with `retry-after`: the time of an [`OverloadedError`] in the chain of sources, otherwise 1 s. If the
/// command fails, it returns 500, or 503 if an [`OverloadedError`] is in the chain.
///
/// `?` converts errors of the supported database drivers ([`IntoBackendError`]). [`OrInternal`] converts all other
/// errors.
#[derive(Debug, Error)]
#[error("{0}")]
#[non_exhaustive]
pub struct BackendError(#[source] BoxError);

impl BackendError {
    /// Creates an error from its source.
    pub fn new(source: impl Into<BoxError>) -> Self {
        Self(source.into())
    }

    /// Returns the source as a value.
    pub fn into_inner(self) -> BoxError {
        self.0
    }
}

/// An error that `?` converts to a [`BackendError`] and to a [`BoardError`](crate::host::BoardError): an error of a
/// database or its driver, or a [`RandomError`](crate::runtime::RandomError).
pub trait IntoBackendError {
    /// Converts the error. The message of the result is one sentence, without the SQL statement and its parameters.
    fn into_backend_error(self) -> BackendError;
}

impl<E: IntoBackendError> From<E> for BackendError {
    fn from(error: E) -> Self {
        error.into_backend_error()
    }
}

/// Implements [`IntoBackendError`] for types that convert to `$error`, with an `$error` as the source of the result.
macro_rules! impl_into_backend_error {
    ($error:ty: $($type:ty),+) => {$(
        impl crate::error::IntoBackendError for $type {
            fn into_backend_error(self) -> crate::error::BackendError {
                crate::error::BackendError::new(<$error>::from(self))
            }
        }
    )+};
}

/// Converts any error to a [`BackendError`], for errors that `?` does not convert.
///
/// The text of the error and of its sources is logged. The text of a database error can quote content: convert it to an
/// error without values first. For those of sqlx, sea-orm and diesel, the files in [`guide::stores`](crate::guide::stores) have
/// functions that do so.
///
/// `?` converts a [`BackendError`] further to [`BoardError::Internal`](crate::host::BoardError::Internal), so
/// `or_internal()?` works in a [`Board`](crate::host::Board) and in an [`Authorizer`](crate::host::Authorizer).
///
/// ```
/// use forum_api::host::{BackendResult, BoardResult, OrInternal};
///
/// fn in_a_board(text: &str) -> BoardResult<i64> {
///     Ok(text.parse::<i64>().or_internal()?)
/// }
///
/// fn in_an_authorizer(text: &str) -> BackendResult<i64> {
///     text.parse::<i64>().or_internal()
/// }
///
/// assert_eq!(in_a_board("x").unwrap_err().status().as_u16(), 500);
/// assert_eq!(in_an_authorizer("7").unwrap(), 7);
/// ```
///
/// # Transactions
/// The closure of a transaction of diesel returns an error that implements `From<diesel::result::Error>`, such as
/// `CommandError` of `diesel.rs` ([`guide::existing_boards`](crate::guide::existing_boards)) and of `diesel_async.rs`
/// ([`guide::stores`](crate::guide::stores)).
///
/// With sea-orm the closure returns a [`BoardError`](crate::host::BoardError) itself, and calls
/// `map_err(without_values)` of `sea_orm.rs` before the `?` of each `DbErr`. Convert `TransactionError::Transaction(error)` to
/// `error`, and `TransactionError::Connection(error)` to `without_values(error).into()`.
pub trait OrInternal<T> {
    /// Wraps the error in a [`BackendError`]. Do not call this method on a [`BoardError`](crate::host::BoardError): the
    /// code of the response would always be `internal_error`. Use `?` without `or_internal` for a `BoardError`:
    /// it keeps the variant.
    ///
    /// # Errors
    /// [`BackendError`] with the error as its source.
    fn or_internal(self) -> BackendResult<T>;
}

impl<T, E: Into<BoxError>> OrInternal<T> for Result<T, E> {
    fn or_internal(self) -> BackendResult<T> {
        self.map_err(BackendError::new)
    }
}

/// Error of parsing a text, or converting a number, to a type of [`audit`](crate::audit), [`model`](crate::model),
/// [`scope`](crate::scope), [`store`](crate::store), [`token`](crate::token) or [`webhook`](crate::webhook). `Display` names
/// the expected format.
///
/// ```
/// use forum_api::model::Timestamp;
///
/// let error = "yesterday".parse::<Timestamp>().unwrap_err();
/// assert_eq!(error.to_string(), "expected an RFC 3339 time, for example 2026-01-31T12:00:00Z");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
#[error("expected {0}")]
#[non_exhaustive]
pub struct ParseError(&'static str);

impl ParseError {
    /// `expected` completes the sentence "expected …".
    pub(crate) const fn new(expected: &'static str) -> Self {
        Self(expected)
    }

    /// Returns an error of a deserializer.
    pub(crate) fn invalid_value<E: de::Error>(self) -> E {
        E::invalid_value(Unexpected::Other("another value"), &self.0)
    }
}

/// Implements `FromStr` and `TryFrom<&str>` by the type's `parse`.
macro_rules! impl_from_str {
    ($($type:ty)+) => {$(
        impl std::str::FromStr for $type {
            type Err = crate::error::ParseError;

            fn from_str(text: &str) -> Result<Self, crate::error::ParseError> {
                Self::parse(text)
            }
        }

        impl TryFrom<&str> for $type {
            type Error = crate::error::ParseError;

            fn try_from(text: &str) -> Result<Self, crate::error::ParseError> {
                Self::parse(text)
            }
        }
    )+};
}

/// Implements `Display` and `AsRef<str>` by the type's `as_str`.
macro_rules! impl_as_str {
    ($($type:ty)+) => {$(
        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl AsRef<str> for $type {
            fn as_ref(&self) -> &str {
                self.as_str()
            }
        }
    )+};
}

/// Implements `Serialize` and `Deserialize` by the type's `as_str` and `parse`.
macro_rules! impl_serde_str {
    ($($type:ty)+) => {$(
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <String as serde::Deserialize>::deserialize(deserializer)?;
                Self::parse(&text).map_err(|error| error.invalid_value())
            }
        }
    )+};
}

/// Declares an enum whose variants have names. `$expected` completes the sentence "expected …" of the error for another
/// name.
macro_rules! named_variants {
    (
        $(#[$attribute:meta])*
        pub enum $type:ident: $expected:literal {
            $($(#[$doc:meta])+ $variant:ident = $name:literal,)+
        }
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $type {
            $($(#[$doc])+ #[doc = concat!("\n\nIts name is `", $name, "`.")] $variant,)+
        }

        impl $type {
            /// All variants.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Returns the name of the variant.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// Parses the name of a variant.
            ///
            /// # Errors
            /// [`ParseError`](crate::error::ParseError) if no variant has this name.
            pub fn parse(name: &str) -> Result<Self, crate::error::ParseError> {
                let variant = Self::ALL.iter().find(|variant| variant.as_str() == name);
                variant
                    .copied()
                    .ok_or(crate::error::ParseError::new($expected))
            }
        }

        crate::error::impl_from_str!($type);
        crate::error::impl_as_str!($type);
    };
}

pub(crate) use {
    impl_as_str, impl_from_str, impl_into_backend_error, impl_serde_str, named_variants,
};

/// Error of an operation that the backend did not run, and that the client can repeat. Examples of causes are a full
/// queue, a locked database, or a connection that could not be opened.
///
/// The API looks for this error in the chain of [`source`](std::error::Error::source) of a [`BackendError`] and of a
/// [`BoardError::Internal`](crate::host::BoardError::Internal). If the command fails with it, the API returns 503
/// `internal_error` with `retry-after` instead of 500. If a call before the command fails, the response is a 503 in any case,
/// and this error sets its `retry-after`. An error type that contains an `OverloadedError` must return it as its source. Do
/// not use `#[error(transparent)]` of thiserror for it: the API then does not find the `OverloadedError`. The
/// `Idempotency-Key` of the request stays usable, so a command that returns this error must not have changed anything.
///
/// The errors of [`sqlite::Database`](crate::store::sqlite::Database) and of the pool of
/// [`postgres::connect`](crate::store::postgres::tokio_postgres_0_7::connect) contain it where an operation did not run. If a
/// command has already changed something, it must not return such an error of a later operation as its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the operation was not run")]
#[non_exhaustive]
pub struct OverloadedError {
    /// Time to wait before a retry.
    pub retry_after: Duration,
}

impl OverloadedError {
    /// Creates an error with the time to wait before a retry.
    pub const fn new(retry_after: Duration) -> Self {
        Self { retry_after }
    }

    /// Returns the [`OverloadedError`] in the chain of sources of `error`.
    pub(crate) fn cause_of(error: &(dyn std::error::Error + 'static)) -> Option<Self> {
        let mut chain = std::iter::successors(Some(error), |error| error.source());
        chain.find_map(|error| error.downcast_ref().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::{BackendError, BoxError, Duration, Error, OverloadedError};
    use crate::host::BoardError;

    #[derive(Debug, Error)]
    #[error("failed to load the thread")]
    struct Context(#[source] BoxError);

    #[derive(Debug, Error)]
    #[error(transparent)]
    struct TransparentBackend(BackendError);

    #[derive(Debug, Error)]
    #[error(transparent)]
    struct TransparentBoard(BoardError);

    #[test]
    fn an_overloaded_error_is_found_in_all_errors_that_have_it_as_a_source() {
        let overloaded = OverloadedError::new(Duration::from_secs(7));
        let backend = || BackendError::new(overloaded);
        for error in [
            Box::new(overloaded) as BoxError,
            backend().into(),
            Context(backend().into()).into(),
            TransparentBackend(backend()).into(),
            TransparentBackend(BackendError::new(Context(overloaded.into()))).into(),
            TransparentBoard(backend().into()).into(),
            TransparentBoard(BoardError::internal(BackendError::new(backend()))).into(),
        ] {
            let found = OverloadedError::cause_of(&*error);
            assert_eq!(found, Some(overloaded), "{error:?}");
        }
        let other = BackendError::new("disk full");
        assert_eq!(OverloadedError::cause_of(&other), None);
    }
}
