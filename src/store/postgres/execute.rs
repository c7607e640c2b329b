//! Execution of statements: prepared once a connection, one at a time, each in a transaction of its own.

use deadpool_postgres::Client;
use tokio_postgres::types::{FromSql, ToSql};
use tokio_postgres::{Row, Statement};

use super::{PostgresError, PostgresStore};
use crate::store::report_unreadable;

pub(super) type Result<T> = std::result::Result<T, PostgresError>;

/// The parameters of a statement.
pub(super) type Parameters<'a> = &'a [&'a (dyn ToSql + Sync)];

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

    /// Decodes every row.
    pub(super) async fn all<T>(
        &self,
        sql: &str,
        parameters: Parameters<'_>,
        read: impl Fn(&mut Columns<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        let rows = self.query(sql, parameters).await?;
        rows.iter().map(|row| read(&mut Columns::of(row))).collect()
    }

    /// Decodes the first row, if there is one.
    pub(super) async fn first<T>(
        &self,
        sql: &str,
        parameters: Parameters<'_>,
        read: impl FnOnce(&mut Columns<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        let rows = self.query(sql, parameters).await?;
        let first = rows.first();
        first.map(|row| read(&mut Columns::of(row))).transpose()
    }

    /// Decodes the rows that can be decoded, and reports the others by the id in their first column.
    pub(super) async fn readable<T>(
        &self,
        table: &'static str,
        sql: &str,
        parameters: Parameters<'_>,
        read: impl Fn(&mut Columns<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        let rows = self.query(sql, parameters).await?;
        let mut readable = Vec::new();
        for row in &rows {
            match read(&mut Columns::of(row)) {
                Ok(value) => readable.push(value),
                Err(error) => report_unreadable(table, row.try_get(0)?, &error.to_string()),
            }
        }
        Ok(readable)
    }

    /// A connection that knows the statement. The log shows its text, without parameters.
    async fn prepare(&self, sql: &str) -> Result<(Client, Statement)> {
        tracing::trace!(sql, "executing statement");
        let client = self.pool.get().await?;
        let statement = client.prepare_cached(sql).await?;
        Ok((client, statement))
    }
}

/// Reads the columns of a row in their order.
pub(super) struct Columns<'a> {
    row: &'a Row,
    next: usize,
}

impl<'a> Columns<'a> {
    pub(super) const fn of(row: &'a Row) -> Self {
        Self { row, next: 0 }
    }

    /// Reads the next column.
    pub(super) fn value<T: FromSql<'a>>(&mut self) -> Result<T> {
        let index = self.next;
        self.next += 1;
        Ok(self.row.try_get(index)?)
    }

    /// Reads the next column, a `BIGINT`, as a number of another type.
    pub(super) fn number<T: TryFrom<i64>>(&mut self) -> Result<T> {
        let number: i64 = self.value()?;
        T::try_from(number).map_err(|_| PostgresError::malformed("a number is out of range"))
    }
}
