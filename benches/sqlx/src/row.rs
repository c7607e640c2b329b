//! Values of rows, in both databases.

use forum_api::model::{Author, ContentState, Forum, LastPost, Post, Thread, Timestamp, UserId};
use sqlx::Row as _;
use sqlx::postgres::PgRow;
use sqlx::sqlite::SqliteRow;

/// A row with columns by index.
pub trait Columns {
    fn number(&self, column: usize) -> i64;
    fn optional_number(&self, column: usize) -> Option<i64>;
    fn text(&self, column: usize) -> String;
    fn optional_text(&self, column: usize) -> Option<String>;
    fn flag(&self, column: usize) -> bool;

    fn id<T: From<i64>>(&self, column: usize) -> T {
        self.number(column).into()
    }

    fn optional_id<T: From<i64>>(&self, column: usize) -> Option<T> {
        self.optional_number(column).map(T::from)
    }

    fn count<T: TryFrom<i64>>(&self, column: usize) -> T {
        T::try_from(self.number(column)).ok().unwrap()
    }

    fn time(&self, column: usize) -> Timestamp {
        Timestamp::from_millis(self.number(column))
    }

    fn optional_time(&self, column: usize) -> Option<Timestamp> {
        self.optional_number(column).map(Timestamp::from_millis)
    }

    fn state(&self, column: usize) -> ContentState {
        match &*self.text(column) {
            "visible" => ContentState::Visible,
            "awaiting_approval" => ContentState::AwaitingApproval,
            _ => ContentState::Deleted,
        }
    }

    /// Reads a member from three columns.
    fn author(&self, column: usize) -> Option<Author> {
        let user_id: UserId = self.optional_id(column)?;
        Some(Author {
            user_id,
            username: self.text(column + 1),
            avatar_url: self.optional_text(column + 2),
        })
    }
}

macro_rules! columns {
    ($row:ty) => {
        impl Columns for $row {
            fn number(&self, column: usize) -> i64 {
                self.get_unchecked(column)
            }

            fn optional_number(&self, column: usize) -> Option<i64> {
                self.get_unchecked(column)
            }

            fn text(&self, column: usize) -> String {
                self.get_unchecked(column)
            }

            fn optional_text(&self, column: usize) -> Option<String> {
                self.get_unchecked(column)
            }

            fn flag(&self, column: usize) -> bool {
                self.get_unchecked(column)
            }
        }
    };
}

columns!(SqliteRow);
columns!(PgRow);

/// A value of one row.
pub trait Item {
    fn read<R: Columns>(row: &R) -> Self;
}

/// A token without its secret.
pub struct Token {
    pub owner: i64,
    pub scopes: String,
}

impl Item for Token {
    fn read<R: Columns>(row: &R) -> Self {
        Self {
            owner: row.text(0).parse().unwrap(),
            scopes: row.text(1),
        }
    }
}

/// The owner of a token in one forum.
pub struct Owner {
    pub groups: Option<String>,
    pub forum: Option<i64>,
}

impl Item for Owner {
    fn read<R: Columns>(row: &R) -> Self {
        Self {
            groups: row.optional_text(0),
            forum: row.optional_number(4),
        }
    }
}

impl Item for Forum {
    fn read<R: Columns>(row: &R) -> Self {
        Self {
            forum_id: row.id(0),
            parent_id: row.optional_id(1),
            title: row.text(2),
            description: row.text(3),
            position: row.count(4),
            thread_count: row.count(5),
            post_count: row.count(6),
            last_activity_at: row.optional_time(7),
            can_start_thread: false,
            extra: None,
        }
    }
}

impl Item for Thread {
    fn read<R: Columns>(row: &R) -> Self {
        let last_post: Option<_> = row.optional_id(9);
        Self {
            forum_id: row.id(0),
            thread_id: row.id(1),
            title: row.text(2),
            author: row.author(3),
            state: row.state(6),
            created_at: row.time(7),
            last_activity_at: row.time(8),
            last_post: last_post.map(|post_id| LastPost {
                post_id,
                author: row.author(10),
                created_at: row.time(13),
            }),
            reply_count: row.count(14),
            pinned: row.flag(15),
            locked: row.flag(16),
            first_post_id: row.id(17),
            poll_id: row.optional_id(18),
            version: row.number(19),
            can_reply: false,
            extra: None,
        }
    }
}

impl Item for Post {
    fn read<R: Columns>(row: &R) -> Self {
        Self {
            post_id: row.id(7),
            thread_id: row.id(8),
            number: row.count(9),
            in_reply_to: row.optional_id(22),
            author: row.author(10),
            state: row.state(13),
            created_at: row.time(14),
            edited_at: row.optional_time(15),
            edited_by: row.author(16),
            body: row.optional_text(19),
            body_html: row.optional_text(20),
            version: row.number(21),
            can_edit: false,
            can_delete: false,
            extra: None,
        }
    }
}
