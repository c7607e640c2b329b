//! Reads a row's columns one after the other, so that a query's columns and a type's fields stand in the same order.

use forum_api::model::{Author, State, UserId};
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ValueRef};
use rusqlite::{Error, Result, Row};

/// The columns of a row that were not read yet.
#[derive(Debug)]
pub struct Columns<'a> {
    row: &'a Row<'a>,
    next: usize,
}

impl<'a> Columns<'a> {
    /// All columns of `row`.
    pub fn of(row: &'a Row<'a>) -> Self {
        Self { row, next: 0 }
    }

    /// The next column.
    pub fn value<T: FromSql>(&mut self) -> Result<T> {
        let column = self.next;
        self.next += 1;
        self.row.get(column)
    }

    /// The next column, a text or null.
    pub fn text(&mut self) -> Result<Option<&'a str>> {
        let column = self.next;
        self.next += 1;
        Ok(self.row.get_ref(column)?.as_str_or_null()?)
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
    pub fn count(&mut self) -> Result<u64> {
        let count = self.value()?;
        u64::try_from(count).map_err(|_| Error::IntegralValueOutOfRange(self.next - 1, count))
    }

    /// The next column, a thread's or post's state.
    pub fn state(&mut self) -> Result<State> {
        self.value().map(|Stored(state)| state)
    }

    /// The next column, a state or null.
    pub fn maybe_state(&mut self) -> Result<Option<State>> {
        let state: Option<Stored> = self.value()?;
        Ok(state.map(|Stored(state)| state))
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

struct Stored(State);

impl FromSql for Stored {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let text = value.as_str()?;
        let state = STATES.into_iter().find(|state| stored(*state) == text);
        state.map(Self).ok_or(FromSqlError::InvalidType)
    }
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
