//! Rows of both databases.

use forum_api::model::{Author, ContentState, UserId};
use rusqlite::types::FromSql;
use tokio_postgres::types;

/// A row with typed columns.
pub trait Row {
    /// Reads the column with this index.
    fn value<T: FromSql + for<'a> types::FromSql<'a>>(&self, index: usize) -> T;

    /// Reads a text without copying it.
    fn text<T>(&self, index: usize, read: impl FnOnce(&str) -> T) -> T;

    fn id<T: From<i64>>(&self, index: usize) -> T {
        T::from(self.value(index))
    }

    /// Reads an id or null.
    fn maybe_id<T: From<i64>>(&self, index: usize) -> Option<T> {
        let id: Option<i64> = self.value(index);
        id.map(T::from)
    }

    fn count<T: TryFrom<i64>>(&self, index: usize) -> T {
        T::try_from(self.value(index)).ok().unwrap()
    }

    fn state(&self, index: usize) -> ContentState {
        self.text(index, |state| match state {
            "visible" => ContentState::Visible,
            "awaiting_approval" => ContentState::AwaitingApproval,
            _ => ContentState::Deleted,
        })
    }

    /// Reads a member from three columns that start at this index.
    fn author(&self, index: usize) -> Option<Author> {
        let user_id: UserId = self.maybe_id(index)?;
        Some(Author {
            user_id,
            username: self.value(index + 1),
            avatar_url: self.value(index + 2),
        })
    }
}

impl Row for rusqlite::Row<'_> {
    fn value<T: FromSql + for<'a> types::FromSql<'a>>(&self, index: usize) -> T {
        self.get(index).unwrap()
    }

    fn text<T>(&self, index: usize, read: impl FnOnce(&str) -> T) -> T {
        read(self.get_ref(index).unwrap().as_str().unwrap())
    }
}

impl Row for tokio_postgres::Row {
    fn value<T: FromSql + for<'a> types::FromSql<'a>>(&self, index: usize) -> T {
        self.get(index)
    }

    fn text<T>(&self, index: usize, read: impl FnOnce(&str) -> T) -> T {
        read(self.get(index))
    }
}
