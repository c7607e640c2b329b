//! Columns of a row, by name.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::str::FromStr;

use forum_api::host::{BackendError, BackendResult};
use forum_api::model::{Author, ContentState};
use forum_api::store::{postgres, sqlite};
use forum_api::token::TokenRecord;
use rusqlite::types::FromSql;
use tokio_postgres::types;

/// A row of either database.
#[derive(Debug)]
pub enum Row<'a> {
    Sqlite(SqliteRow<'a>),
    Postgres(&'a tokio_postgres::Row),
}

/// A row of SQLite with the names of its columns, which are read once for all rows of a query: SQLite returns a name as a
/// C string.
#[derive(Debug)]
pub struct SqliteRow<'a> {
    row: &'a rusqlite::Row<'a>,
    names: &'a [String],
    /// The column after the one that was read last. Most rows are read in the order of the query.
    next: Cell<usize>,
}

/// Function that reads a row, and returns `Break` if it needs no further one. It is dynamic so that the code that runs a
/// statement is compiled once, and not for each function.
pub(super) type ReadRow<'f> = dyn FnMut(&Row<'_>) -> BackendResult<ControlFlow<()>> + Send + 'f;

impl<'a> SqliteRow<'a> {
    pub(super) const fn new(row: &'a rusqlite::Row<'a>, names: &'a [String]) -> Self {
        let next = Cell::new(0);
        Self { row, names, next }
    }

    /// Returns the index of a column.
    fn index(&self, name: &str) -> rusqlite::Result<usize> {
        let next = self.next.get();
        let is_next = self.names.get(next).is_some_and(|found| found == name);
        let index = if is_next {
            next
        } else {
            self.names
                .iter()
                .position(|found| found == name)
                .ok_or_else(|| rusqlite::Error::InvalidColumnName(name.into()))?
        };
        self.next.set(index + 1);
        Ok(index)
    }
}

impl<'a> Row<'a> {
    pub fn value<T: FromSql + types::FromSql<'a>>(&self, name: &str) -> BackendResult<T> {
        match self {
            Self::Sqlite(found) => Ok(found.row.get(found.index(name)?)?),
            Self::Postgres(row) => Ok(row.try_get(name)?),
        }
    }

    pub fn text(&self, name: &str) -> BackendResult<Option<&'a str>> {
        match self {
            Self::Sqlite(found) => {
                let text = found.row.get_ref(found.index(name)?)?.as_str_or_null();
                Ok(text.map_err(rusqlite::Error::from)?)
            }
            Self::Postgres(row) => Ok(row.try_get(name)?),
        }
    }

    /// Reads a list of numbers of Postgres.
    pub fn numbers(&self, name: &str) -> BackendResult<Vec<i64>> {
        match self {
            Self::Sqlite(..) => Err(BackendError::new("SQLite has no lists")),
            Self::Postgres(row) => Ok(row.try_get(name)?),
        }
    }

    /// Decodes a token from the columns of its table.
    pub fn token(&self) -> BackendResult<TokenRecord> {
        match self {
            Self::Sqlite(found) => Ok(sqlite::read_token(found.row)?),
            Self::Postgres(row) => Ok(postgres::read_token(*row)?),
        }
    }

    /// Reads and parses a text; `None` for null.
    pub fn parsed<T: FromStr>(&self, name: &str) -> BackendResult<Option<T>> {
        let parse = |text: &str| text.parse().map_err(|_| BackendError::new("a text is invalid"));
        self.text(name)?.map(parse).transpose()
    }

    pub fn id<T: From<i64>>(&self, name: &str) -> BackendResult<T> {
        self.value(name).map(|id: i64| T::from(id))
    }

    pub fn maybe_id<T: From<i64>>(&self, name: &str) -> BackendResult<Option<T>> {
        let id: Option<i64> = self.value(name)?;
        Ok(id.map(T::from))
    }

    pub fn count<T: TryFrom<i64>>(&self, name: &str) -> BackendResult<T> {
        let count: i64 = self.value(name)?;
        T::try_from(count).map_err(|_| BackendError::new("a count is out of range"))
    }

    pub fn state(&self, name: &str) -> BackendResult<ContentState> {
        self.maybe_state(name)?.ok_or_else(|| BackendError::new("a state is null"))
    }

    pub fn maybe_state(&self, name: &str) -> BackendResult<Option<ContentState>> {
        self.text(name)?.map(parse_state).transpose()
    }

    /// Reads a member's id, name and picture. All are null if the account is removed.
    pub fn author(&self, [id, name, picture]: [&str; 3]) -> BackendResult<Option<Author>> {
        let Some(user_id) = self.maybe_id(id)? else {
            return Ok(None);
        };
        let mut author = Author::new(user_id, self.value::<String>(name)?);
        author.avatar_url = self.value(picture)?;
        Ok(Some(author))
    }
}

fn parse_state(text: &str) -> BackendResult<ContentState> {
    let states = [ContentState::Visible, ContentState::AwaitingApproval, ContentState::Deleted];
    states
        .into_iter()
        .find(|state| state.as_str() == text)
        .ok_or_else(|| BackendError::new("a state is unknown"))
}
