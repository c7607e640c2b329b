//! Texts of the errors of tokio-postgres, without values.

use std::error::Error;

use tokio_postgres::error::{DbError, Severity};
use tokio_postgres::types::{WasNull, WrongType};

use super::DatabaseError;

/// Returns the error as one sentence without values.
pub(crate) fn describe(error: &tokio_postgres::Error) -> String {
    let kind = kind(error);
    match (error.as_db_error(), error.source()) {
        (Some(error), _) => describe_reported(error),
        (None, Some(source)) if has_no_values(&kind, source) => format!("{kind}: {source}"),
        (None, _) => kind,
    }
}

/// Returns the error as one sentence without values.
pub(crate) fn describe_reported(error: &DbError) -> String {
    DatabaseError::from(error).to_string()
}

/// Returns whether the text of a driver error's source contains no values. If the conversion of a value fails, the
/// source can be an error of any type.
fn has_no_values(kind: &str, source: &(dyn Error + 'static)) -> bool {
    let is_conversion =
        kind.starts_with("error serializing") || kind.starts_with("error deserializing");
    !is_conversion || source.is::<WrongType>() || source.is::<WasNull>()
}

/// Returns the kind of an error as a text, because the driver does not expose it as a value.
fn kind(error: &tokio_postgres::Error) -> String {
    match &*error.to_string() {
        "error connecting to server" => "cannot connect to Postgres".into(),
        "invalid connection string" => "invalid Postgres URL".into(),
        other => other.into(),
    }
}

impl From<&DbError> for DatabaseError {
    fn from(error: &DbError) -> Self {
        let mut converted = Self::new(error.code().code(), error.message());
        converted.is_fatal = error.parsed_severity() != Some(Severity::Error);
        converted.table = error.table().map(Into::into);
        converted.column = error.column().map(Into::into);
        converted.constraint = error.constraint().map(Into::into);
        converted.routine = error.routine().map(Into::into);
        converted
    }
}
