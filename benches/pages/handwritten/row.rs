//! Rows of both databases.

use forum_api::model::{Author, ContentState, UserId};
use rusqlite::types::FromSql;
use tokio_postgres::types;

/// A row with typed columns.
pub trait Row {
    /// Reads the column with this index.
    fn value<T: FromSql + for<'a> types::FromSql<'a>>(&self, place: usize) -> T;

    /// Reads a text without copying it.
    fn text<T>(&self, place: usize, read: impl FnOnce(&str) -> T) -> T;

    fn id<T: From<i64>>(&self, place: usize) -> T {
        T::from(self.value(place))
    }

    /// Reads an id or null.
    fn maybe_id<T: From<i64>>(&self, place: usize) -> Option<T> {
        let id: Option<i64> = self.value(place);
        id.map(T::from)
    }

    fn count<T: TryFrom<i64>>(&self, place: usize) -> T {
        T::try_from(self.value(place)).ok().unwrap()
    }

    fn state(&self, place: usize) -> ContentState {
        self.text(place, |state| match state {
            "visible" => ContentState::Visible,
            "awaiting_approval" => ContentState::AwaitingApproval,
            _ => ContentState::Deleted,
        })
    }

    /// Reads a member from three columns that start at this index.
    fn author(&self, place: usize) -> Option<Author> {
        let user_id: UserId = self.maybe_id(place)?;
        Some(Author {
            user_id,
            username: self.value(place + 1),
            avatar_url: self.value(place + 2),
        })
    }
}

impl Row for rusqlite::Row<'_> {
    fn value<T: FromSql + for<'a> types::FromSql<'a>>(&self, place: usize) -> T {
        self.get(place).unwrap()
    }

    fn text<T>(&self, place: usize, read: impl FnOnce(&str) -> T) -> T {
        read(self.get_ref(place).unwrap().as_str().unwrap())
    }
}

impl Row for tokio_postgres::Row {
    fn value<T: FromSql + for<'a> types::FromSql<'a>>(&self, place: usize) -> T {
        self.get(place)
    }

    fn text<T>(&self, place: usize, read: impl FnOnce(&str) -> T) -> T {
        read(self.get(place))
    }
}
