//! Where queries and commands find the board.

use std::ops::Deref;

use rusqlite::params_from_iter;
use send_wrapper::SendWrapper;

use super::postgres::Postgres;
use super::{Bound, Columns, Error, Result};

/// One state of the board, to be looked at.
#[derive(Debug)]
pub enum Connection<'a> {
    /// In SQLite. It stays on the database's thread.
    Sqlite(SendWrapper<&'a rusqlite::Connection>),
    /// In Postgres.
    Postgres(Postgres<'a>),
}

/// What a command changes, all of it or nothing.
#[derive(Debug)]
pub struct Transaction<'a>(Connection<'a>);

impl Connection<'_> {
    /// Every row.
    pub async fn all<T>(
        &self,
        sql: &'static str,
        parameters: &[Bound<'_>],
        mut read: impl FnMut(&mut Columns<'_>) -> Result<T> + Send,
    ) -> Result<Vec<T>> {
        match self {
            Self::Sqlite(connection) => {
                let mut statement = connection.prepare_cached(sql)?;
                bind(&mut statement, parameters)?;
                let mut rows = statement.raw_query();
                let mut all = Vec::new();
                while let Some(row) = rows.next()? {
                    all.push(read(&mut Columns::sqlite(row))?);
                }
                Ok(all)
            }
            Self::Postgres(connection) => {
                let rows = connection.query(sql, parameters).await?;
                rows.iter()
                    .map(|row| read(&mut Columns::postgres(row)))
                    .collect()
            }
        }
    }

    /// The first row, if there is one.
    pub async fn first<T>(
        &self,
        sql: &'static str,
        parameters: &[Bound<'_>],
        mut read: impl FnMut(&mut Columns<'_>) -> Result<T> + Send,
    ) -> Result<Option<T>> {
        match self {
            Self::Sqlite(connection) => {
                let mut statement = connection.prepare_cached(sql)?;
                bind(&mut statement, parameters)?;
                let mut rows = statement.raw_query();
                let first = rows.next()?;
                first.map(|row| read(&mut Columns::sqlite(row))).transpose()
            }
            Self::Postgres(connection) => {
                let rows = connection.query(sql, parameters).await?;
                let first = rows.first();
                first
                    .map(|row| read(&mut Columns::postgres(row)))
                    .transpose()
            }
        }
    }

    /// The one row that there is.
    pub async fn one<T>(
        &self,
        sql: &'static str,
        parameters: &[Bound<'_>],
        read: impl FnMut(&mut Columns<'_>) -> Result<T> + Send,
    ) -> Result<T> {
        let first = self.first(sql, parameters, read).await?;
        first.ok_or(Error::Wrong("the query gave no row"))
    }

    /// Whether there is a row.
    pub async fn any(&self, sql: &'static str, parameters: &[Bound<'_>]) -> Result<bool> {
        Ok(self.first(sql, parameters, |_| Ok(())).await?.is_some())
    }
}

impl Connection<'_> {
    /// What is for SQLite, or what is for Postgres.
    pub const fn either<T: Copy>(&self, sqlite: T, postgres: T) -> T {
        match self {
            Self::Sqlite(_) => sqlite,
            Self::Postgres(_) => postgres,
        }
    }
}

impl<'a> Transaction<'a> {
    /// The transaction that this connection is in.
    pub(super) const fn of(connection: Connection<'a>) -> Self {
        Self(connection)
    }

    /// How many rows the statement changed, its triggers aside.
    pub async fn change(&self, sql: &'static str, parameters: &[Bound<'_>]) -> Result<u64> {
        match &self.0 {
            Connection::Sqlite(connection) => {
                let mut statement = connection.prepare_cached(sql)?;
                bind(&mut statement, parameters)?;
                Ok(statement.raw_execute()? as u64)
            }
            Connection::Postgres(connection) => connection.execute(sql, parameters).await,
        }
    }

    /// The id that the statement returns.
    pub async fn insert(&self, sql: &'static str, parameters: &[Bound<'_>]) -> Result<i64> {
        self.one(sql, parameters, |columns| columns.value()).await
    }

    /// Runs any number of statements without parameters.
    pub async fn run(&self, sql: &str) -> Result<()> {
        match &self.0 {
            Connection::Sqlite(connection) => Ok(connection.execute_batch(sql)?),
            Connection::Postgres(connection) => connection.run(sql).await,
        }
    }

    /// Runs a statement that takes texts alone, in order.
    pub async fn change_texts(&self, sql: &'static str, parameters: &[String]) -> Result<u64> {
        match &self.0 {
            Connection::Sqlite(connection) => {
                let mut statement = connection.prepare_cached(sql)?;
                Ok(statement.execute(params_from_iter(parameters))? as u64)
            }
            Connection::Postgres(connection) => connection.execute_texts(sql, parameters).await,
        }
    }
}

impl<'a> Deref for Transaction<'a> {
    type Target = Connection<'a>;

    fn deref(&self) -> &Connection<'a> {
        &self.0
    }
}

/// What the statement does not name is not bound.
fn bind(statement: &mut rusqlite::Statement<'_>, parameters: &[Bound<'_>]) -> rusqlite::Result<()> {
    for (name, value) in parameters {
        let place = statement.parameter_index(name)?;
        let place = place.ok_or_else(|| rusqlite::Error::InvalidParameterName((*name).into()))?;
        statement.raw_bind_parameter(place, value as &dyn rusqlite::ToSql)?;
    }
    Ok(())
}
