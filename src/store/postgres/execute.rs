//! Execution of statements: prepared once for each connection, each in its own transaction.

use deadpool_postgres::Client;
use tokio_postgres::types::{FromSql, ToSql};
use tokio_postgres::{Row, Statement};

use super::{PostgresError, PostgresStore};
use crate::store::report_unreadable;

pub(super) type Result<T> = std::result::Result<T, PostgresError>;

/// The parameters of a statement.
pub(super) type Parameters<'a> = &'a [&'a (dyn ToSql + Sync)];

/// Conditions of a list, each after an ` AND `, and the parameters of its statement.
pub(super) struct Conditions<'a> {
    pub(super) sql: String,
    pub(super) parameters: Vec<&'a (dyn ToSql + Sync)>,
}

impl<'a> Conditions<'a> {
    /// Begins without conditions, with the first parameters of the statement.
    pub(super) const fn new(parameters: Vec<&'a (dyn ToSql + Sync)>) -> Self {
        Self {
            sql: String::new(),
            parameters,
        }
    }

    /// Adds a parameter. Returns its number in the statement, such as `$3`.
    pub(super) fn bind(&mut self, value: &'a (dyn ToSql + Sync)) -> String {
        self.parameters.push(value);
        format!("${}", self.parameters.len())
    }

    /// Adds a comparison such as `owner =` with a value, if there is one.
    pub(super) fn and(&mut self, comparison: &str, value: Option<&'a (impl ToSql + Sync)>) {
        if let Some(value) = value {
            let value = self.bind(value);
            self.sql += &format!(" AND {comparison} {value}");
        }
    }
}

impl PostgresStore {
    /// Returns the number of rows that the statement changed.
    pub(super) async fn execute(&self, sql: &str, parameters: Parameters<'_>) -> Result<u64> {
        let (client, statement) = self.prepare(sql).await?;
        Ok(client.execute(&statement, parameters).await?)
    }

    pub(super) async fn query(&self, sql: &str, parameters: Parameters<'_>) -> Result<Vec<Row>> {
        let (client, statement) = self.prepare(sql).await?;
        Ok(client.query(&statement, parameters).await?)
    }

    /// Decodes all rows.
    pub(super) async fn all<T>(
        &self,
        sql: &str,
        parameters: Parameters<'_>,
        read: impl Fn(&mut RowReader<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        let rows = self.query(sql, parameters).await?;
        rows.iter()
            .map(|row| read(&mut RowReader::of(row)))
            .collect()
    }

    /// Decodes the first row, if there is one.
    pub(super) async fn first<T>(
        &self,
        sql: &str,
        parameters: Parameters<'_>,
        read: impl FnOnce(&mut RowReader<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        let rows = self.query(sql, parameters).await?;
        let first = rows.first();
        first.map(|row| read(&mut RowReader::of(row))).transpose()
    }

    /// Decodes the rows that can be decoded. Reports the others by the id in their first column.
    pub(super) async fn readable<T>(
        &self,
        table: &'static str,
        sql: &str,
        parameters: Parameters<'_>,
        read: impl Fn(&mut RowReader<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        let rows = self.query(sql, parameters).await?;
        let mut readable = Vec::new();
        for row in &rows {
            match read(&mut RowReader::of(row)) {
                Ok(value) => readable.push(value),
                Err(error) => report_unreadable(table, row.try_get(0)?, &error.to_string()),
            }
        }
        Ok(readable)
    }

    /// Prepares a statement on a connection of the pool, and logs its text.
    async fn prepare(&self, sql: &str) -> Result<(Client, Statement)> {
        tracing::trace!(sql, "executing statement");
        let client = self.pool.get().await?;
        let statement = client.prepare_cached(sql).await?;
        Ok((client, statement))
    }
}

/// Reader of the columns of a row, in order. Methods ignore the names of columns, which only make the calls readable.
pub(super) struct RowReader<'a> {
    row: &'a Row,
    next: usize,
}

impl<'a> RowReader<'a> {
    pub(super) const fn of(row: &'a Row) -> Self {
        Self { row, next: 0 }
    }

    pub(super) fn value<T: FromSql<'a>>(&mut self, _name: &str) -> Result<T> {
        let index = self.next;
        self.next += 1;
        Ok(self.row.try_get(index)?)
    }

    /// Converts a `BIGINT`.
    pub(super) fn number<T: TryFrom<i64>>(&mut self, name: &str) -> Result<T> {
        into_number(self.value(name)?)
    }

    /// Converts a nullable `BIGINT`.
    pub(super) fn optional_number<T: TryFrom<i64>>(&mut self, name: &str) -> Result<Option<T>> {
        let number: Option<i64> = self.value(name)?;
        number.map(into_number).transpose()
    }
}

fn into_number<T: TryFrom<i64>>(number: i64) -> Result<T> {
    T::try_from(number).map_err(|_| PostgresError::malformed("a number is out of range"))
}
