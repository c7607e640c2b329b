//! How the library's values are columns. A host that shares the database may bind and read them as well.

use rusqlite::Result;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};

use crate::model::Timestamp;
use crate::token::{Digest, Lookup};

/// An `INTEGER`: milliseconds since 1970-01-01T00:00:00Z.
impl ToSql for Timestamp {
    fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
        Ok(self.as_millis().into())
    }
}

/// As it was written.
impl FromSql for Timestamp {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        value.as_i64().map(Self::from_millis)
    }
}

/// A `TEXT` of 16 characters.
impl ToSql for Lookup {
    fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
        Ok(self.as_str().into())
    }
}

/// As it was written.
impl FromSql for Lookup {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Self::parse(value.as_str()?).ok_or(FromSqlError::InvalidType)
    }
}

/// A `BLOB` of 32 bytes.
impl ToSql for Digest {
    fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
        Ok(self.as_bytes().as_slice().into())
    }
}

/// As it was written.
impl FromSql for Digest {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        <[u8; 32]>::column_result(value).map(Self::new)
    }
}
