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
pub fn sees_forum(forum: &str) -> String {
    format!("instr(:sees, ',' || {forum} || ',') > 0")
}

/// Returns an SQL condition: the caller sees the row `thread`.
pub fn sees_thread() -> String {
    sees_thread_of("thread.forum_id")
}

/// Returns the condition [`sees_thread`] for rows whose forum is the expression `forum`. A database evaluates the
/// condition on a parameter once, and not for each row.
pub fn sees_thread_of(forum: &str) -> String {
    let state = sees_state("thread", forum);
    format!("{} AND {state}", sees_forum(forum))
}

/// Returns an SQL condition: a caller who sees the row `thread` also sees the row `post`, a post of this thread.
pub fn sees_post(post: &str) -> String {
    sees_state(post, "thread.forum_id")
}

/// Returns an SQL condition: the caller sees content of the forum in the state of the row. Authors and moderators see
/// content that awaits approval; moderators see deleted content.
fn sees_state(row: &str, forum: &str) -> String {
    format!(
        "({row}.state = 'visible'
            OR {row}.state = 'awaiting_approval' AND {row}.author_id = :member
            OR instr(:moderates, ',' || {forum} || ',') > 0)"
    )
}

/// Returns whether a caller with this access to the forum sees content in this state; `own` is content of the caller.
pub const fn is_visible(access: ForumPermissions, state: ContentState, own: bool) -> bool {
    access.read
        && match state {
            ContentState::Visible => true,
            ContentState::AwaitingApproval => own || access.moderate,
            ContentState::Deleted => access.moderate,
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
