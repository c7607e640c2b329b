//! Reads a row's columns one after the other, so that a query's columns and a type's fields stand in the same order.

use std::str::FromStr;

use forum_api::model::{Author, State, UserId};
use rusqlite::types::FromSql;
use tokio_postgres::types;

use super::{Error, Result};

/// The columns of a row that were not read yet.
#[derive(Debug)]
pub struct Columns<'a> {
    row: Row<'a>,
    next: usize,
}

#[derive(Clone, Copy, Debug)]
enum Row<'a> {
    Sqlite(&'a rusqlite::Row<'a>),
    Postgres(&'a tokio_postgres::Row),
}

impl<'a> Columns<'a> {
    /// All columns of SQLite's `row`.
    pub(super) const fn sqlite(row: &'a rusqlite::Row<'a>) -> Self {
        let row = Row::Sqlite(row);
        Self { row, next: 0 }
    }

    /// All columns of Postgres's `row`.
    pub(super) const fn postgres(row: &'a tokio_postgres::Row) -> Self {
        let row = Row::Postgres(row);
        Self { row, next: 0 }
    }

    /// The next column.
    pub fn value<T: FromSql + types::FromSql<'a>>(&mut self) -> Result<T> {
        let column = self.pass();
        match self.row {
            Row::Sqlite(row) => Ok(row.get(column)?),
            Row::Postgres(row) => Ok(row.try_get(column)?),
        }
    }

    /// The next column, a text or null.
    pub fn text(&mut self) -> Result<Option<&'a str>> {
        let column = self.pass();
        match self.row {
            Row::Sqlite(row) => Ok(row
                .get_ref(column)?
                .as_str_or_null()
                .map_err(rusqlite::Error::from)?),
            Row::Postgres(row) => Ok(row.try_get(column)?),
        }
    }

    fn pass(&mut self) -> usize {
        self.next += 1;
        self.next - 1
    }

    /// The next column, a text that means something, or null.
    pub fn parsed<T: FromStr>(&mut self) -> Result<Option<T>> {
        let meaning = |text: &str| text.parse().ok();
        let text = self.text()?;
        let wrong = Error::Wrong("a text is stored that means nothing");
        text.map(|text| meaning(text).ok_or(wrong)).transpose()
    }

    /// The next column, an id.
    pub fn id<T: From<i64>>(&mut self) -> Result<T> {
        self.value().map(|id: i64| T::from(id))
    }

    /// The next column, an id or null.
    pub fn maybe_id<T: From<i64>>(&mut self) -> Result<Option<T>> {
        let id: Option<i64> = self.value()?;
        Ok(id.map(T::from))
    }

    /// The next column, a count.
    pub fn count<T: TryFrom<i64>>(&mut self) -> Result<T> {
        let count: i64 = self.value()?;
        T::try_from(count).map_err(|_| Error::Wrong("a count is out of range"))
    }

    /// The next column, a thread's or post's state.
    pub fn state(&mut self) -> Result<State> {
        self.maybe_state()?.ok_or(Error::Wrong("a state is null"))
    }

    /// The next column, a state or null.
    pub fn maybe_state(&mut self) -> Result<Option<State>> {
        self.text()?.map(state).transpose()
    }

    /// The next three columns: a member's id, name and picture. All null where the account is gone.
    pub fn author(&mut self) -> Result<Option<Author>> {
        let user_id: Option<UserId> = self.maybe_id()?;
        let username: Option<String> = self.value()?;
        let avatar_url = self.value()?;
        Ok(user_id.zip(username).map(|(user_id, username)| Author {
            user_id,
            username,
            avatar_url,
        }))
    }
}

fn state(text: &str) -> Result<State> {
    let state = STATES.into_iter().find(|state| stored(*state) == text);
    state.ok_or(Error::Wrong("a state is stored that there is not"))
}

const STATES: [State; 3] = [State::Visible, State::AwaitingApproval, State::Deleted];

/// A state as it is stored.
pub const fn stored(state: State) -> &'static str {
    match state {
        State::Visible => "visible",
        State::AwaitingApproval => "awaiting_approval",
        State::Deleted => "deleted",
    }
}
