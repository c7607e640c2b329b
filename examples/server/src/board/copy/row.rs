//! Rows of a copy and their checksum.

use std::error::Error;
use std::fmt;
use std::mem;

use bytes::BytesMut;
use forum_api::host::{BackendError, BackendResult};
use rusqlite::types::{ToSqlOutput, ValueRef};
use sha2::{Digest, Sha256};
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

/// Size in bytes from which a batch is complete.
const BATCH_SIZE: usize = 256 * 1024;

/// The values of a row, in the order of the columns of its table.
pub type Row = Vec<Value>;

/// A value of either database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    Null,
    Boolean(bool),
    Integer(i64),
    Text(String),
    Bytes(Vec<u8>),
}

impl Value {
    /// Returns the value of a column that has the type `column` in Postgres.
    pub fn from_sqlite(value: ValueRef<'_>, column: &Type) -> BackendResult<Self> {
        match (value, column) {
            (ValueRef::Null, _) => Ok(Self::Null),
            (ValueRef::Integer(number @ 0..=1), &Type::BOOL) => Ok(Self::Boolean(number == 1)),
            (ValueRef::Integer(number), &Type::INT4 | &Type::INT8) => Ok(Self::Integer(number)),
            (ValueRef::Text(_), &Type::TEXT) => {
                let text =
                    value.as_str().map_err(|_| BackendError::new("a text is not valid UTF-8"))?;
                Ok(Self::Text(text.into()))
            }
            (ValueRef::Blob(bytes), &Type::BYTEA) => Ok(Self::Bytes(bytes.into())),
            _ => Err(BackendError::new("a value does not have the type of its column")),
        }
    }

    /// Returns the size of the value in memory, in bytes.
    fn size(&self) -> usize {
        let content = match self {
            Self::Text(text) => text.len(),
            Self::Bytes(bytes) => bytes.len(),
            Self::Null | Self::Boolean(_) | Self::Integer(_) => 0,
        };
        size_of::<Self>() + content
    }

    fn hash(&self, hash: &mut Sha256) {
        let mut add_bytes = |kind: u8, bytes: &[u8]| {
            hash.update([kind]);
            hash.update((bytes.len() as u64).to_be_bytes());
            hash.update(bytes);
        };
        match self {
            Self::Null => add_bytes(0, &[]),
            Self::Boolean(value) => add_bytes(1, &[u8::from(*value)]),
            Self::Integer(number) => add_bytes(2, &number.to_be_bytes()),
            Self::Text(text) => add_bytes(3, text.as_bytes()),
            Self::Bytes(bytes) => add_bytes(4, bytes),
        }
    }
}

impl rusqlite::ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Boolean(value) => ValueRef::Integer((*value).into()),
            Self::Integer(number) => ValueRef::Integer(*number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

impl ToSql for Value {
    fn to_sql(
        &self,
        column: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Boolean(value) => value.to_sql(column, out),
            Self::Integer(number) if *column == Type::INT4 => {
                i32::try_from(*number)?.to_sql(column, out)
            }
            Self::Integer(number) => number.to_sql(column, out),
            Self::Text(text) => text.to_sql(column, out),
            Self::Bytes(bytes) => bytes.to_sql(column, out),
        }
    }

    fn accepts(column: &Type) -> bool {
        is_supported(column)
    }

    to_sql_checked!();
}

impl<'a> FromSql<'a> for Value {
    fn from_sql(column: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(match *column {
            Type::BOOL => Self::Boolean(FromSql::from_sql(column, raw)?),
            Type::INT4 => Self::Integer(i32::from_sql(column, raw)?.into()),
            Type::INT8 => Self::Integer(FromSql::from_sql(column, raw)?),
            Type::TEXT => Self::Text(FromSql::from_sql(column, raw)?),
            _ => Self::Bytes(FromSql::from_sql(column, raw)?),
        })
    }

    fn from_sql_null(_: &Type) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self::Null)
    }

    fn accepts(column: &Type) -> bool {
        is_supported(column)
    }
}

/// Returns whether values of this type of Postgres can be copied.
pub fn is_supported(column: &Type) -> bool {
    matches!(*column, Type::BOOL | Type::INT4 | Type::INT8 | Type::TEXT | Type::BYTEA)
}

/// Number of the rows of a table, and a checksum that does not depend on their order: the sum of the first 128 bits of
/// the SHA-256 of each row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checksum {
    pub rows: u64,
    sum: u128,
}

impl Checksum {
    pub fn add(&mut self, row: &[Value]) {
        let mut hash = Sha256::new();
        row.iter().for_each(|value| value.hash(&mut hash));
        let digest = hash.finalize();
        let (first, _) = digest.split_at(size_of::<u128>());
        let number = first.iter().fold(0, |number: u128, byte| (number << 8) | u128::from(*byte));
        self.sum = self.sum.wrapping_add(number);
        self.rows += 1;
    }

    /// Returns the checksum of the rows as hexadecimal digits.
    pub fn digits(&self) -> String {
        format!("{:032x}", self.sum)
    }
}

impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} rows with the checksum {}", self.rows, self.digits())
    }
}

/// Divides the rows of a table into batches.
#[derive(Debug, Default)]
pub struct Batches {
    rows: Vec<Row>,
    size: usize,
    checksum: Checksum,
}

impl Batches {
    /// Adds a row. Returns a batch if it is complete.
    pub fn add(&mut self, row: Row) -> Option<Vec<Row>> {
        self.checksum.add(&row);
        self.size += row.iter().map(Value::size).sum::<usize>();
        self.rows.push(row);
        if self.size < BATCH_SIZE {
            return None;
        }
        self.size = 0;
        Some(mem::take(&mut self.rows))
    }

    /// Returns the last batch, and the checksum of all batches.
    pub fn finish(self) -> (Vec<Row>, Checksum) {
        (self.rows, self.checksum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checksum_depends_on_each_value_and_not_on_the_order_of_rows() {
        let checksum = |rows: &[&[Value]]| {
            let mut sum = Checksum::default();
            rows.iter().for_each(|row| sum.add(row));
            sum
        };
        let text = |text: &str| Value::Text(text.into());
        let row: &[Value] = &[Value::Integer(1), text("ab"), text("c")];
        let other: &[Value] = &[Value::Integer(2), Value::Null, text("")];
        assert_eq!(checksum(&[row, other]), checksum(&[other, row]));
        for different in [
            [Value::Integer(2), text("ab"), text("c")],
            [Value::Integer(1), text("a"), text("bc")],
            [Value::Integer(1), text("ab"), Value::Null],
            [Value::Integer(1), text("ab"), Value::Bytes(b"c".into())],
            [Value::Boolean(true), text("ab"), text("c")],
        ] {
            assert_ne!(checksum(&[row]), checksum(&[&different]), "{different:?}");
        }
        assert_ne!(checksum(&[row]), checksum(&[row, row]));
        assert_ne!(checksum(&[]), checksum(&[&[]]));
    }

    #[test]
    fn a_value_of_sqlite_has_the_type_of_its_column() {
        use ValueRef::{Blob, Integer, Null, Text};
        for (value, column, expected) in [
            (Null, Type::BOOL, Some(Value::Null)),
            (Integer(1), Type::BOOL, Some(Value::Boolean(true))),
            (Integer(2), Type::BOOL, None),
            (Integer(2), Type::INT8, Some(Value::Integer(2))),
            (Integer(2), Type::TEXT, None),
            (Text(b"a"), Type::TEXT, Some(Value::Text("a".into()))),
            (Text(b"\xff"), Type::TEXT, None),
            (Text(b"a"), Type::BYTEA, None),
            (Blob(b"a"), Type::BYTEA, Some(Value::Bytes(b"a".into()))),
        ] {
            assert_eq!(Value::from_sqlite(value, &column).ok(), expected, "{value:?} {column}");
        }
    }

    #[test]
    fn a_batch_has_a_limited_size() {
        let row = || vec![Value::Bytes(vec![0; BATCH_SIZE / 4])];
        let mut batches = Batches::default();
        let complete: Vec<usize> =
            (0..10).filter_map(|_| batches.add(row()).map(|batch| batch.len())).collect();
        let (last, checksum) = batches.finish();
        assert_eq!(complete, [4, 4]);
        assert_eq!((last.len(), checksum.rows), (2, 10));
    }
}
