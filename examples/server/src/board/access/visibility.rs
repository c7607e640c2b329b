//! Visibility of forums, threads and posts in SQL, and the forum of a visible thread or post.

use std::sync::LazyLock;

use forum_api::host::{self, BoardError, BoardResult};
use forum_api::model::ContentState;

use super::actor::Actor;
use super::permissions::ForumPermissions;
use crate::board::db::{Bound, Connection, bind};

/// Parameters of a query with the condition [`sees_thread`] or [`sees_post`].
#[derive(Clone, Debug)]
pub struct Visibility {
    /// Ids of the visible forums, each between two commas.
    sees: String,
    moderates: String,
    member: Option<i64>,
}

impl Visibility {
    pub fn of(actor: &Actor) -> Self {
        Self {
            sees: between_commas(actor.visible_forums()),
            moderates: between_commas(actor.moderated_forums()),
            member: actor.member,
        }
    }

    pub fn with<'a>(&'a self, others: &[Bound<'a>]) -> Vec<Bound<'a>> {
        let mut all: Vec<Bound<'a>> =
            vec![(":sees", &self.sees), (":moderates", &self.moderates), (":member", &self.member)];
        all.extend_from_slice(others);
        all
    }
}

/// Joins ids for `instr`.
pub fn between_commas(forums: impl Iterator<Item = i64>) -> String {
    let mut list = String::from(",");
    for forum in forums {
        list.push_str(&forum.to_string());
        list.push(',');
    }
    list
}

/// Returns an SQL condition: the caller sees the forum whose id is the expression `forum`.
fn sees_forum(forum: &str) -> String {
    format!("instr(:sees, ',' || {forum} || ',') > 0")
}

/// Returns an SQL condition: the caller moderates the forum whose id is the expression `forum`.
pub fn moderates(forum: &str) -> String {
    format!("instr(:moderates, ',' || {forum} || ',') > 0")
}

/// Returns an SQL condition: the caller sees the row `thread`.
pub fn sees_thread() -> String {
    format!("{} AND {}", sees_forum("thread.forum_id"), sees_state("thread"))
}

/// Returns an SQL condition: a caller who sees the row `thread` also sees the row `post`, a post of this thread.
pub fn sees_post(post: &str) -> String {
    sees_state(post)
}

/// Returns an SQL condition: the caller sees content of the forum in the state of the row. Authors and moderators see
/// content that awaits approval; moderators see deleted content.
fn sees_state(row: &str) -> String {
    format!(
        "({row}.state = 'visible'
            OR {row}.state = 'awaiting_approval' AND {row}.author_id = :member
            OR {})",
        moderates("thread.forum_id"),
    )
}

/// Conditions on the state of rows that the caller sees: all callers, authors, and moderators. In a subquery, Postgres does
/// not know the state, and cannot choose the indexes of rows in this state, which have another order.
pub const VISIBLE: &str = "state = 'visible'";
pub const OWN_WAITING: &str = "state = 'awaiting_approval' AND author_id = :member";
pub const WAITING: &str = "state = (SELECT 'awaiting_approval')";
pub const DELETED: &str = "state = (SELECT 'deleted')";

/// A query of threads or posts in the order of an index, which begins with a key and the state.
#[derive(Clone, Copy, Debug)]
pub struct OrderedRows {
    pub columns: &'static str,
    pub table: &'static str,
    /// The first column of the index.
    pub key: &'static str,
    /// The condition on the columns of the order.
    pub range: &'static str,
    pub order: &'static str,
    /// The maximum number of rows.
    pub limit: &'static str,
}

impl OrderedRows {
    /// Returns a query of the first rows of several parts, each of which is a value of the key and a condition on the state.
    /// The query merges ranges of the index, so that its cost does not grow with the rows in other states. A part whose
    /// value is null has no rows.
    pub fn of(&self, parts: &[(&str, &str)]) -> String {
        let queries: Vec<_> = parts.iter().map(|part| self.part(*part)).collect();
        self.first_of(&queries)
    }

    /// Returns the query [`of`](Self::of) for Postgres, which reads an index in its order only for a limited part, and
    /// otherwise reads and sorts all rows of a part for which it expects few.
    pub fn of_limited(&self, parts: &[(&str, &str)]) -> String {
        let Self { order, limit, .. } = self;
        let queries: Vec<_> = parts
            .iter()
            .map(|part| {
                let part = self.part(*part);
                format!("SELECT * FROM ({part} ORDER BY {order} LIMIT {limit}) AS part")
            })
            .collect();
        self.first_of(&queries)
    }

    fn part(&self, (value, state): (&str, &str)) -> String {
        let Self { columns, table, key, range, .. } = self;
        format!("SELECT {columns} FROM {table} WHERE {key} = {value} AND {state} AND {range}")
    }

    fn first_of(&self, queries: &[String]) -> String {
        format!("{} ORDER BY {} LIMIT {}", queries.join(" UNION ALL "), self.order, self.limit)
    }
}

/// Returns whether a caller with this access to the forum sees content in this state; `own` is content of the caller.
pub const fn is_visible(access: ForumPermissions, state: ContentState, own: bool) -> bool {
    access.read
        && match state {
            ContentState::Visible => true,
            ContentState::AwaitingApproval => own || access.moderate,
            _ => access.moderate,
        }
}

/// Content that a path names: a thread, a post of a thread, or a poll.
#[derive(Clone, Copy, Debug, Default)]
pub struct ContentRef {
    pub thread: Option<i64>,
    pub post: Option<i64>,
    pub poll: Option<i64>,
}

impl TryFrom<host::ResourceRef<'_>> for ContentRef {
    type Error = BoardError;

    fn try_from(resource: host::ResourceRef<'_>) -> BoardResult<Self> {
        let mut content = Self::default();
        match resource {
            host::ResourceRef::Thread(thread) => content.thread = Some(thread.to_i64()?),
            host::ResourceRef::Post(thread, post) => {
                content.thread = Some(thread.to_i64()?);
                content.post = Some(post.to_i64()?);
            }
            host::ResourceRef::Poll(poll) => content.poll = Some(poll.to_i64()?),
            _ => return Err(BoardError::NotImplemented),
        }
        Ok(content)
    }
}

/// Returns the forum of visible content.
pub async fn forum(
    connection: &Connection<'_>,
    actor: &Actor,
    content: ContentRef,
) -> BoardResult<i64> {
    static QUERY: LazyLock<String> = LazyLock::new(|| {
        format!(
            "SELECT thread.forum_id
            FROM thread
            LEFT JOIN post ON post.id = :post AND post.thread_id = thread.id AND {}
            WHERE thread.id = coalesce(:thread, (SELECT thread_id FROM poll WHERE id = :poll))
                AND {} AND post.id IS NOT DISTINCT FROM :post",
            sees_post("post"),
            sees_thread(),
        )
    });
    let visibility = Visibility::of(actor);
    let ContentRef { thread, post, poll } = content;
    let parameters = visibility.with(bind! { ":thread": thread, ":post": post, ":poll": poll });
    connection
        .first(&QUERY, &parameters, |row| row.value("forum_id"))
        .await?
        .ok_or(BoardError::PathNotFound)
}
