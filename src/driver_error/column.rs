//! Errors of columns.

use crate::error::impl_into_backend_error;

/// A column that is missing, has another type, or contains a malformed value. The reason does not contain the value.
#[derive(Debug, thiserror::Error)]
#[error("column {column}: {reason}")]
pub struct ColumnError {
    pub(crate) column: String,
    reason: String,
}

impl ColumnError {
    /// Creates the error of the column named `column`. The log shows `reason`, which must not contain the value.
    pub fn new(column: &str, reason: impl ToString) -> Self {
        Self { column: column.into(), reason: reason.to_string() }
    }
}

impl_into_backend_error!(ColumnError: ColumnError);
