//! Where a thread or a post is, for a caller who sees it there.

use std::sync::LazyLock;

use forum_api::host::{self, Refusal, Result};
use forum_api::model::{State, Timestamp};

use super::actor::Actor;
use super::db::{Connection, bind};
use super::polls;
use super::sight::{Sight, sees_post, sees_thread};

/// What a path names, in numbers.
#[derive(Clone, Copy, Debug)]
pub enum Named {
    /// A thread.
    Thread(i64),
    /// A post of a thread.
    Post(i64, i64),
    /// A poll.
    Poll(i64),
}

impl TryFrom<host::Place<'_>> for Named {
    type Error = Refusal;

    fn try_from(place: host::Place<'_>) -> Result<Self> {
        Ok(match place {
            host::Place::Thread(thread) => Self::Thread(thread.number()?),
            host::Place::Post(thread, post) => Self::Post(thread.number()?, post.number()?),
            host::Place::Poll(poll) => Self::Poll(poll.number()?),
            _ => return Err(Refusal::NotImplemented),
        })
    }
}

/// The forum in which it is, for a caller who sees it there.
pub async fn forum(connection: &Connection<'_>, actor: &Actor, named: Named) -> Result<i64> {
    let (thread, post) = match named {
        Named::Thread(thread) => (thread, None),
        Named::Post(thread, post) => (thread, Some(post)),
        Named::Poll(poll) => return polls::forum(connection, actor, poll).await,
    };
    Ok(find(connection, actor, thread, post).await?.forum)
}

/// A thread, as far as the rules on replying go.
#[derive(Clone, Copy, Debug)]
pub struct Spot {
    /// The forum it is in.
    pub forum: i64,
    /// Whether it is there for everybody.
    pub state: State,
    /// Whether only moderators may post in it.
    pub locked: bool,
    /// Place of its last post in the order of posts, whatever the state of that post.
    pub last_ordered_at: Timestamp,
}

/// The thread, of which `post` has to be one if given; [`Refusal::Absent`] unless the caller sees both.
pub async fn find(
    connection: &Connection<'_>,
    actor: &Actor,
    thread: i64,
    post: Option<i64>,
) -> Result<Spot> {
    static QUERY: LazyLock<String> = LazyLock::new(|| {
        format!(
            "SELECT
                thread.forum_id, thread.state, thread.locked,
                (SELECT max(ordered_at) FROM post WHERE thread_id = thread.id)
            FROM thread
            LEFT JOIN post ON post.id = :post AND post.thread_id = thread.id AND {}
            WHERE thread.id = :thread AND {} AND post.id IS NOT DISTINCT FROM :post",
            sees_post("post"),
            sees_thread(),
        )
    });
    let sight = Sight::of(actor);
    let parameters = sight.with(bind! { ":thread": thread, ":post": post });
    let spot = connection.first(&QUERY, &parameters, |columns| {
        Ok(Spot {
            forum: columns.value()?,
            state: columns.state()?,
            locked: columns.value()?,
            last_ordered_at: columns.value()?,
        })
    });
    spot.await?.ok_or(Refusal::Absent)
}
