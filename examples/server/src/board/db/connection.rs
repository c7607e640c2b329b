//! Connections and transactions of both databases.

use std::any::type_name;
use std::ops::ControlFlow::{Break, Continue};
use std::ops::Deref;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};

use forum_api::host::{BackendResult, BoardError, BoardResult};
use forum_api::model::{List, Page, PageKey};
use rusqlite::params_from_iter;
use send_wrapper::SendWrapper;

use super::Row;
use super::dialects::Dialects;
use super::last_change::LastChange;
use super::named_params::{Bound, mismatch};
use super::postgres_transaction::Postgres;
use super::row::{ReadRow, SqliteRow};

/// Future of a query or a command.
pub type TransactionFuture<'a, T> = Pin<Box<dyn Future<Output = BoardResult<T>> + Send + 'a>>;

pub trait Query<T>: for<'a> FnOnce(&'a Connection<'a>) -> TransactionFuture<'a, T> + Send {}

impl<T, F> Query<T> for F where
    F: for<'a> FnOnce(&'a Connection<'a>) -> TransactionFuture<'a, T> + Send
{
}

pub trait Change<T>:
    for<'a> FnOnce(&'a Transaction<'a>) -> TransactionFuture<'a, T> + Send
{
}

impl<T, F> Change<T> for F where
    F: for<'a> FnOnce(&'a Transaction<'a>) -> TransactionFuture<'a, T> + Send
{
}

/// A change that can run several times. Its type depends only on the type of the result, so that the compiler instantiates the
/// functions that run transactions once for each type of result.
pub struct RepeatableChange<T> {
    /// Name of the type of the change.
    pub kind: &'static str,
    copy: Box<dyn FnMut() -> Box<dyn Change<T>> + Send>,
}

impl<T> RepeatableChange<T> {
    pub fn new<C: Change<T> + Clone + 'static>(change: C) -> Self {
        Self { kind: type_name::<C>(), copy: Box::new(move || Box::new(change.clone())) }
    }

    /// Returns a copy that runs once.
    pub fn copy(&mut self) -> Box<dyn Change<T>> {
        (self.copy)()
    }
}

#[derive(Debug)]
pub struct Connection<'a> {
    pub driver: Driver<'a>,
    /// True after the only statement of a read; `None` if the number of statements is not limited.
    is_spent: Option<AtomicBool>,
}

#[derive(Debug)]
pub enum Driver<'a> {
    /// Valid only on the thread of the database.
    Sqlite(SendWrapper<&'a rusqlite::Connection>),
    Postgres(Postgres<'a>),
}

#[derive(Debug)]
pub struct Transaction<'a>(Connection<'a>);

impl<'a> Connection<'a> {
    pub fn sqlite(connection: &'a rusqlite::Connection) -> Self {
        Self::of(Driver::Sqlite(SendWrapper::new(connection)))
    }

    pub(super) const fn postgres(connection: Postgres<'a>) -> Self {
        Self::of(Driver::Postgres(connection))
    }

    const fn of(driver: Driver<'a>) -> Self {
        Self { driver, is_spent: None }
    }

    /// Returns the connection for a read of one statement. A second statement fails, because on Postgres it would see
    /// the changes that were committed after the first.
    pub(super) fn for_one_statement(self) -> Self {
        Self { is_spent: Some(AtomicBool::new(false)), ..self }
    }

    pub async fn all<T: Send>(
        &self,
        sql: &'static str,
        parameters: &[Bound<'_>],
        mut read: impl FnMut(&Row<'_>) -> BackendResult<T> + Send,
    ) -> BoardResult<Vec<T>> {
        let mut all = Vec::new();
        let mut read_each = |row: &Row<'_>| {
            all.push(read(row)?);
            Ok(Continue(()))
        };
        self.each_row(sql, parameters, &mut read_each).await?;
        Ok(all)
    }

    /// Reads a page from up to [`limit.plus_one()`](forum_api::model::PageLimit::plus_one) rows. `read` returns an item and the
    /// size of its texts in bytes: the page ends early once they exceed [`List::max_bytes`].
    pub async fn page<F: Sync, T: Send>(
        &self,
        sql: &'static str,
        parameters: &[Bound<'_>],
        list: &List<F>,
        mut read: impl FnMut(&Row<'_>) -> BackendResult<(T, usize)> + Send,
        key: impl FnOnce(&T) -> PageKey + Send,
    ) -> BoardResult<Page<T>> {
        let mut items: Vec<T> = Vec::with_capacity(list.limit.get());
        let mut bytes = 0_usize;
        let mut has_more = false;
        let mut read_item = |row: &Row<'_>| {
            if items.len() == list.limit.get() || bytes > list.max_bytes {
                has_more = true;
                return Ok(Break(()));
            }
            let (item, size) = read(row)?;
            items.push(item);
            bytes = bytes.saturating_add(size);
            Ok(Continue(()))
        };
        self.each_row(sql, parameters, &mut read_item).await?;
        let next = items.last().filter(|_| has_more).map(key);
        Ok(Page { items, next })
    }

    /// Reads the first row; `None` if the query returns no row.
    pub async fn first<T: Send>(
        &self,
        sql: &'static str,
        parameters: &[Bound<'_>],
        mut read: impl FnMut(&Row<'_>) -> BackendResult<T> + Send,
    ) -> BoardResult<Option<T>> {
        let mut first = None;
        let mut read_first = |row: &Row<'_>| {
            first = Some(read(row)?);
            Ok(Break(()))
        };
        self.each_row(sql, parameters, &mut read_first).await?;
        Ok(first)
    }

    /// Reads the first row of a query that always returns a row.
    pub async fn one<T: Send>(
        &self,
        sql: &'static str,
        parameters: &[Bound<'_>],
        read: impl FnMut(&Row<'_>) -> BackendResult<T> + Send,
    ) -> BoardResult<T> {
        self.first(sql, parameters, read)
            .await?
            .ok_or_else(|| BoardError::internal("the query returned no row"))
    }

    pub async fn any(&self, sql: &'static str, parameters: &[Bound<'_>]) -> BoardResult<bool> {
        Ok(self.first(sql, parameters, |_| Ok(())).await?.is_some())
    }

    /// Passes the rows to `read` until it returns `Break`.
    pub async fn each_row(
        &self,
        sql: &'static str,
        parameters: &[Bound<'_>],
        read: &mut ReadRow<'_>,
    ) -> BoardResult<()> {
        let spend = |spent: &AtomicBool| spent.swap(true, Ordering::Relaxed);
        if self.is_spent.as_ref().is_some_and(spend) {
            return Err(BoardError::internal("a read of several statements needs a snapshot"));
        }
        match &self.driver {
            Driver::Sqlite(connection) => {
                let mut statement = connection.prepare_cached(sql)?;
                bind_all(&mut statement, parameters)?;
                let names = (0..statement.column_count())
                    .map(|index| statement.column_name(index).map(str::to_owned))
                    .collect::<Result<Vec<_>, _>>()?;
                let mut rows = statement.raw_query();
                while let Some(row) = rows.next()?
                    && read(&Row::Sqlite(SqliteRow::new(row, &names)))?.is_continue()
                {
                }
                Ok(())
            }
            Driver::Postgres(connection) => Ok(connection.each_row(sql, parameters, read).await?),
        }
    }

    /// Selects the value for the connection's database.
    pub const fn dialect<T: Copy>(&self, sqlite: T, postgres: T) -> T {
        match self.driver {
            Driver::Sqlite(_) => sqlite,
            Driver::Postgres(_) => postgres,
        }
    }

    /// Selects the statement for the connection's database.
    pub fn on(&self, statements: &'static Dialects<String>) -> &'static str {
        self.dialect(&statements.sqlite, &statements.postgres)
    }
}

impl<'a> Transaction<'a> {
    pub(super) const fn of(connection: Connection<'a>) -> Self {
        Self(connection)
    }

    /// Runs a statement. Returns the number of rows that it changed, without the rows that its triggers changed.
    pub async fn execute(&self, sql: &'static str, parameters: &[Bound<'_>]) -> BoardResult<u64> {
        match &self.0.driver {
            Driver::Sqlite(connection) => {
                let mut statement = connection.prepare_cached(sql)?;
                bind_all(&mut statement, parameters)?;
                Ok(statement.raw_execute()? as u64)
            }
            Driver::Postgres(connection) => Ok(connection.execute(sql, parameters).await?),
        }
    }

    /// Runs several statements, each of which uses some of the parameters, and returns the last id that the last one returns.
    ///
    /// The statements must be independent: they change different rows, and none reads what another changes. Postgres runs
    /// them as one statement, whose parts do not see each other's changes. SQLite runs them in order. In a debug build, a
    /// SQLite database in memory runs them in reverse order, so that tests on both kinds of SQLite databases find a
    /// dependence.
    pub async fn execute_independent(
        &self,
        statements: &[&'static str],
        parameters: &[Bound<'_>],
    ) -> BoardResult<Option<i64>> {
        match &self.0.driver {
            Driver::Sqlite(connection) => {
                let mut ordered: Vec<_> = statements.iter().enumerate().collect();
                if cfg!(debug_assertions) && is_in_memory(connection) {
                    ordered.reverse();
                }
                let mut used = vec![false; parameters.len()];
                let mut id = None;
                for (index, sql) in ordered {
                    let returned = run_with_used(connection, sql, parameters, &mut used)?;
                    if index + 1 == statements.len() {
                        id = returned;
                    }
                }
                if used.contains(&false) { Err(mismatch().into()) } else { Ok(id) }
            }
            Driver::Postgres(connection) => {
                Ok(connection.execute_independent(statements, parameters).await?)
            }
        }
    }

    /// Runs a statement whose parameters are texts, in order.
    pub async fn execute_texts(&self, sql: &str, parameters: &[String]) -> BoardResult<u64> {
        match &self.0.driver {
            Driver::Sqlite(connection) => {
                let mut statement = connection.prepare_cached(sql)?;
                Ok(statement.execute(params_from_iter(parameters))? as u64)
            }
            Driver::Postgres(connection) => Ok(connection.execute_texts(sql, parameters).await?),
        }
    }

    /// Runs `changes` and commits. On Postgres this takes one round trip, so that the locks of the transaction end soon.
    /// No other statement can follow. On SQLite, the transaction is committed when the change returns.
    pub async fn commit_with(&self, changes: &[LastChange<'_>]) -> BoardResult<()> {
        if let Driver::Postgres(connection) = &self.0.driver {
            return Ok(connection.commit_with(changes).await?);
        }
        for change in changes {
            match change {
                LastChange::Statements(statements, parameters) => {
                    self.execute_independent(statements, parameters).await?;
                }
                LastChange::Texts(sql, parameters) => {
                    self.execute_texts(sql, parameters).await?;
                }
            }
        }
        Ok(())
    }

    /// Runs a statement that inserts a row, and returns the `id` that the statement returns.
    pub async fn insert(&self, sql: &'static str, parameters: &[Bound<'_>]) -> BoardResult<i64> {
        self.one(sql, parameters, |row| row.value("id")).await
    }

    /// Runs any number of statements without parameters.
    pub async fn execute_batch(&self, sql: &str) -> BoardResult<()> {
        match &self.0.driver {
            Driver::Sqlite(connection) => Ok(connection.execute_batch(sql)?),
            Driver::Postgres(connection) => Ok(connection.execute_batch(sql).await?),
        }
    }
}

impl<'a> Deref for Transaction<'a> {
    type Target = Connection<'a>;

    fn deref(&self) -> &Connection<'a> {
        &self.0
    }
}

/// Runs a statement with the parameters that it names, marks them in `used`, and returns the last id that it returns.
fn run_with_used(
    connection: &rusqlite::Connection,
    sql: &'static str,
    parameters: &[Bound<'_>],
    used: &mut [bool],
) -> BackendResult<Option<i64>> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut bound = 0;
    for ((name, value), used) in parameters.iter().zip(used) {
        if let Some(index) = statement.parameter_index(name)? {
            statement.raw_bind_parameter(index, value as &dyn rusqlite::ToSql)?;
            *used = true;
            bound += 1;
        }
    }
    if bound < statement.parameter_count() {
        return Err(mismatch());
    }
    let mut id = None;
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next()? {
        id = Some(row.get(0)?);
    }
    Ok(id)
}

fn is_in_memory(connection: &rusqlite::Connection) -> bool {
    connection.path().is_none_or(str::is_empty)
}

fn bind_all(
    statement: &mut rusqlite::Statement<'_>,
    parameters: &[Bound<'_>],
) -> BackendResult<()> {
    if parameters.len() != statement.parameter_count() {
        return Err(mismatch());
    }
    for (name, value) in parameters {
        let index = statement
            .parameter_index(name)?
            .ok_or_else(|| rusqlite::Error::InvalidParameterName((*name).into()))?;
        statement.raw_bind_parameter(index, value as &dyn rusqlite::ToSql)?;
    }
    Ok(())
}
