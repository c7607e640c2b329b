//! Columns of the rows of Postgres, and values of its parameters.

use std::error::Error;

use bytes::BytesMut;
use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, accepts, to_sql_checked};

use super::PostgresError;
use crate::store::sql::{self, ColumnError, ColumnResult, Columns, Value};
use crate::token::TokenRecord;

/// Decodes a token from the columns `lookup`, `digest`, `owner`, `label`, `scopes`, `created_at`, `expires_at`,
/// `revoked_at` and `last_used_at` of the table `forum_api_tokens`, which it finds by name.
///
/// [`Authorizer::load_token`](crate::host::Authorizer::load_token) calls it for the row of its query. No earlier column
/// of the row may have one of these names.
///
/// # Errors
/// [`PostgresError`] if a column is missing or cannot be decoded.
pub fn read_token(row: &Row) -> Result<TokenRecord, PostgresError> {
    Ok(sql::read_token(row)?)
}

impl Columns for Row {
    fn integer(&self, name: &str) -> ColumnResult<Option<i64>> {
        let number: Option<Integer> = read(self, name)?;
        Ok(number.map(|number| number.0))
    }

    fn boolean(&self, name: &str) -> ColumnResult<Option<bool>> {
        read(self, name)
    }

    fn text(&self, name: &str) -> ColumnResult<Option<&str>> {
        read(self, name)
    }

    fn bytes(&self, name: &str) -> ColumnResult<Option<&[u8]>> {
        read(self, name)
    }

    fn lossy_text(&self, name: &str) -> ColumnResult<String> {
        read(self, name)
    }
}

fn read<'a, T: FromSql<'a>>(row: &'a Row, name: &str) -> ColumnResult<T> {
    row.try_get(name).map_err(|error| ColumnError::new(name, PostgresError::from(error)))
}

/// Columns whose names begin with a prefix.
pub(super) struct Prefixed<'a> {
    pub(super) columns: &'a dyn Columns,
    pub(super) prefix: &'static str,
}

impl Prefixed<'_> {
    fn full(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }
}

impl Columns for Prefixed<'_> {
    fn integer(&self, name: &str) -> ColumnResult<Option<i64>> {
        self.columns.integer(&self.full(name))
    }

    fn boolean(&self, name: &str) -> ColumnResult<Option<bool>> {
        self.columns.boolean(&self.full(name))
    }

    fn text(&self, name: &str) -> ColumnResult<Option<&str>> {
        self.columns.text(&self.full(name))
    }

    fn bytes(&self, name: &str) -> ColumnResult<Option<&[u8]>> {
        self.columns.bytes(&self.full(name))
    }

    fn lossy_text(&self, name: &str) -> ColumnResult<String> {
        self.columns.lossy_text(&self.full(name))
    }
}

/// An integer of any width.
struct Integer(i64);

impl FromSql<'_> for Integer {
    fn from_sql(kind: &Type, column: &[u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(match *kind {
            Type::INT2 => i16::from_sql(kind, column)?.into(),
            Type::INT4 => i32::from_sql(kind, column)?.into(),
            _ => i64::from_sql(kind, column)?,
        }))
    }

    accepts!(INT2, INT4, INT8);
}

impl ToSql for Value {
    fn to_sql(
        &self,
        kind: &Type,
        column: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Integer(number) => match *kind {
                Type::INT2 => i16::try_from(*number)?.to_sql(kind, column),
                Type::INT4 => i32::try_from(*number)?.to_sql(kind, column),
                _ => number.to_sql(kind, column),
            },
            Self::Boolean(value) => value.to_sql(kind, column),
            Self::Text(text) => text.to_sql(kind, column),
            Self::Bytes(bytes) => bytes.to_sql(kind, column),
        }
    }

    accepts!(INT2, INT4, INT8, BOOL, TEXT, BYTEA);
    to_sql_checked!();
}
