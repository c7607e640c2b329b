//! Columns of the rows of SQLite.

use std::cell::Cell;

use rusqlite::types::{FromSqlResult, ValueRef};
use rusqlite::{Error, Result, Row};

use crate::driver_error::ColumnError;
use crate::store::sql::{self, ColumnResult, Columns};
use crate::token::TokenRecord;

/// Decodes a token from the columns `lookup`, `digest`, `owner`, `label`, `scopes`, `created_at`, `expires_at`,
/// `revoked_at` and `last_used_at` of the table `forum_api_tokens`, which it finds by name.
///
/// [`Authorizer::load_token`](crate::host::Authorizer::load_token) calls it for the row of its query. No earlier column
/// of the row may have one of these names.
///
/// # Errors
/// [`rusqlite::Error`] if a column is missing or cannot be decoded.
pub fn read_token(row: &Row<'_>) -> Result<TokenRecord> {
    sql::read_token(&NamedColumns::of(row)).map_err(|error| {
        let index = row.as_ref().column_index(&error.column);
        let value = row.get_ref(&*error.column);
        let kind = value.map_or(rusqlite::types::Type::Null, |value| value.data_type());
        Error::FromSqlConversionFailure(index.unwrap_or_default(), kind, error.into())
    })
}

/// Columns of a row. Most decoders read them in the order of the query, so that the search for a name begins after the
/// column that was read last.
pub(super) struct NamedColumns<'a> {
    row: &'a Row<'a>,
    next: Cell<usize>,
}

impl<'a> NamedColumns<'a> {
    pub(super) const fn of(row: &'a Row<'a>) -> Self {
        let next = Cell::new(0);
        Self { row, next }
    }

    fn index(&self, name: &str) -> Result<usize> {
        let columns = self.row.as_ref();
        let next = self.next.get();
        let is_next = columns.column_name(next).is_ok_and(|found| found == name);
        let index = if is_next { next } else { columns.column_index(name)? };
        self.next.set(index + 1);
        Ok(index)
    }

    fn read<T>(
        &self,
        name: &str,
        convert: impl FnOnce(ValueRef<'a>) -> FromSqlResult<T>,
    ) -> ColumnResult<T> {
        let value = self
            .index(name)
            .and_then(|index| self.row.get_ref(index))
            .map_err(|error| ColumnError::new(name, error))?;
        convert(value).map_err(|error| ColumnError::new(name, error))
    }
}

impl Columns for NamedColumns<'_> {
    fn integer(&self, name: &str) -> ColumnResult<Option<i64>> {
        self.read(name, |value| value.as_i64_or_null())
    }

    fn boolean(&self, name: &str) -> ColumnResult<Option<bool>> {
        Ok(self.integer(name)?.map(|value| value != 0))
    }

    fn text(&self, name: &str) -> ColumnResult<Option<&str>> {
        self.read(name, |value| value.as_str_or_null())
    }

    /// Returns the bytes of a text as well: a text can be malformed.
    fn bytes(&self, name: &str) -> ColumnResult<Option<&[u8]>> {
        self.read(name, |value| value.as_bytes_or_null())
    }

    fn lossy_text(&self, name: &str) -> ColumnResult<String> {
        let bytes = self.read(name, |value| value.as_bytes())?;
        Ok(String::from_utf8_lossy(bytes).into_owned())
    }
}
