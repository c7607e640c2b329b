//! Reads the columns of a row one after the other, in the order of the query.

use std::str::FromStr;

use forum_api::model::{Author, ContentState};
use forum_api::store::{postgres, sqlite};
use forum_api::token::TokenRecord;
use rusqlite::types::FromSql;
use tokio_postgres::types;

use super::{DbError, DbResult};

/// The columns of a row that were not read yet.
#[derive(Debug)]
pub struct RowReader<'a> {
    row: Row<'a>,
    next: usize,
}

#[derive(Clone, Copy, Debug)]
enum Row<'a> {
    Sqlite(&'a rusqlite::Row<'a>),
    Postgres(&'a tokio_postgres::Row),
}

impl<'a> RowReader<'a> {
    pub(super) const fn sqlite(row: &'a rusqlite::Row<'a>) -> Self {
        let row = Row::Sqlite(row);
        Self { row, next: 0 }
    }

    pub(super) const fn postgres(row: &'a tokio_postgres::Row) -> Self {
        let row = Row::Postgres(row);
        Self { row, next: 0 }
    }

    pub fn value<T: FromSql + types::FromSql<'a>>(&mut self) -> DbResult<T> {
        let column = self.advance();
        match self.row {
            Row::Sqlite(row) => Ok(row.get(column)?),
            Row::Postgres(row) => Ok(row.try_get(column)?),
        }
    }

    pub fn text(&mut self) -> DbResult<Option<&'a str>> {
        let column = self.advance();
        match self.row {
            Row::Sqlite(row) => {
                let text = row.get_ref(column)?.as_str_or_null();
                Ok(text.map_err(rusqlite::Error::from)?)
            }
            Row::Postgres(row) => Ok(row.try_get(column)?),
        }
    }

    /// Reads a list of numbers of Postgres.
    pub fn numbers(&mut self) -> DbResult<Vec<i64>> {
        let column = self.advance();
        match self.row {
            Row::Sqlite(_) => Err(DbError::Invalid("SQLite has no lists")),
            Row::Postgres(row) => Ok(row.try_get(column)?),
        }
    }

    fn advance(&mut self) -> usize {
        self.next += 1;
        self.next - 1
    }

    /// Decodes the token in the first nine columns.
    pub fn token(&self) -> DbResult<TokenRecord> {
        match self.row {
            Row::Sqlite(row) => Ok(sqlite::read_token(row)?),
            Row::Postgres(row) => Ok(postgres::read_token(row)?),
        }
    }

    pub const fn skip(&mut self, columns: usize) {
        self.next += columns;
    }

    /// Reads and parses a text; `None` for null.
    pub fn parsed<T: FromStr>(&mut self) -> DbResult<Option<T>> {
        let parse = |text: &str| {
            text.parse()
                .map_err(|_| DbError::Invalid("a text is invalid"))
        };
        self.text()?.map(parse).transpose()
    }

    pub fn id<T: From<i64>>(&mut self) -> DbResult<T> {
        self.value().map(|id: i64| T::from(id))
    }

    pub fn maybe_id<T: From<i64>>(&mut self) -> DbResult<Option<T>> {
        let id: Option<i64> = self.value()?;
        Ok(id.map(T::from))
    }

    pub fn count<T: TryFrom<i64>>(&mut self) -> DbResult<T> {
        let count: i64 = self.value()?;
        T::try_from(count).map_err(|_| DbError::Invalid("a count is out of range"))
    }

    pub fn state(&mut self) -> DbResult<ContentState> {
        self.maybe_state()?
            .ok_or(DbError::Invalid("a state is null"))
    }

    pub fn maybe_state(&mut self) -> DbResult<Option<ContentState>> {
        self.text()?.map(state).transpose()
    }

    /// Reads three columns: a member's id, name and picture. All are null if the account is removed.
    pub fn author(&mut self) -> DbResult<Option<Author>> {
        let Some(user_id) = self.maybe_id()? else {
            self.skip(2);
            return Ok(None);
        };
        let mut author = Author::new(user_id, self.value::<String>()?);
        author.avatar_url = self.value()?;
        Ok(Some(author))
    }
}

fn state(text: &str) -> DbResult<ContentState> {
    let states = [
        ContentState::Visible,
        ContentState::AwaitingApproval,
        ContentState::Deleted,
    ];
    let state = states.into_iter().find(|state| stored(*state) == text);
    state.ok_or(DbError::Invalid("a state is unknown"))
}

/// Returns the text that the database stores for a state.
pub const fn stored(state: ContentState) -> &'static str {
    match state {
        ContentState::Visible => "visible",
        ContentState::AwaitingApproval => "awaiting_approval",
        ContentState::Deleted => "deleted",
    }
}
