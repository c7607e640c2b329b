//! Columns of rows, and values of parameters.

use std::error::Error;

use bytes::BytesMut;
use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, accepts, to_sql_checked};

use crate::driver_error::ColumnError;
use crate::driver_error::tokio_postgres::describe;
use crate::store::postgres::Parameter;
use crate::store::sql::{ColumnResult, Columns};

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
}

fn read<'a, T: FromSql<'a>>(row: &'a Row, name: &str) -> ColumnResult<T> {
    row.try_get(name).map_err(|error| ColumnError::new(name, describe(&error)))
}

/// An integer of any width.
#[derive(Debug)]
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

impl ToSql for Integer {
    fn to_sql(
        &self,
        kind: &Type,
        column: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match *kind {
            Type::INT2 => i16::try_from(self.0)?.to_sql(kind, column),
            Type::INT4 => i32::try_from(self.0)?.to_sql(kind, column),
            _ => self.0.to_sql(kind, column),
        }
    }

    accepts!(INT2, INT4, INT8);
    to_sql_checked!();
}

/// Returns the parameters as the driver accepts them. An integer is written in the width that the statement expects.
pub(super) fn to_driver(parameters: &[Parameter]) -> Vec<Box<dyn ToSql + Sync + Send + '_>> {
    let integer = |number: &Option<i64>| number.map(Integer);
    parameters
        .iter()
        .map(|parameter| -> Box<dyn ToSql + Sync + Send + '_> {
            match parameter {
                Parameter::Integer(number) => Box::new(integer(number)),
                Parameter::Boolean(value) => Box::new(value),
                Parameter::Text(text) => Box::new(text),
                Parameter::Bytes(bytes) => Box::new(bytes),
                Parameter::Integers(numbers) => {
                    Box::new(numbers.iter().map(integer).collect::<Vec<_>>())
                }
                Parameter::Booleans(values) => Box::new(values),
                Parameter::Texts(texts) => Box::new(texts),
                Parameter::ByteStrings(strings) => Box::new(strings),
            }
        })
        .collect()
}
