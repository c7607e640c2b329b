//! Events of threads and posts, and the data that they contain.

use std::sync::LazyLock;

use forum_api::host::{BackendResult, BoardError, BoardResult};
use forum_api::model::{Author, LastPost, Post, Thread};
use forum_api::webhook::{Event, EventContext, EventMeta};

use super::public_post::{self, PublicPost};
use crate::board::db::{Connection, Row, bind};
use crate::board::events::EventRecorder;
use crate::board::thread_row;

/// A thread with the title of its forum, and the member who changed it.
#[derive(Clone, Debug)]
pub struct EventScope {
    pub thread: Thread,
    pub forum_title: String,
    pub actor: Option<Author>,
}

impl EventScope {
    /// Columns of a scope, besides those of its thread.
    pub const COLUMNS: &str = "forum.title AS forum_title, actor.id AS actor_id,
        actor.username AS actor_name, actor.avatar_url AS actor_avatar";

    /// The joins that [`COLUMNS`](Self::COLUMNS) needs.
    pub const JOINS: &str = "
        JOIN forum ON forum.id = thread.forum_id
        LEFT JOIN member AS actor ON actor.id = :actor";

    /// Loads the scope in one statement.
    ///
    /// # Errors
    /// [`BoardError::PathNotFound`] if there is no such thread.
    pub async fn load(
        connection: &Connection<'_>,
        thread: i64,
        actor: Option<i64>,
    ) -> BoardResult<Self> {
        static QUERY: LazyLock<String> = LazyLock::new(|| {
            format!(
                "SELECT {}, {} FROM thread {} {} WHERE thread.id = :thread",
                thread_row::COLUMNS,
                EventScope::COLUMNS,
                thread_row::JOINS,
                EventScope::JOINS,
            )
        });
        let parameters = bind! { ":thread": thread, ":actor": actor };
        connection.first(&QUERY, parameters, Self::read).await?.ok_or(BoardError::PathNotFound)
    }

    /// Loads the scope and a post in one statement.
    ///
    /// # Errors
    /// [`BoardError::PathNotFound`] if there is no such thread or post.
    pub async fn load_with_post(
        connection: &Connection<'_>,
        thread: i64,
        post: i64,
        actor: Option<i64>,
    ) -> BoardResult<(Self, PublicPost)> {
        static QUERY: LazyLock<String> =
            LazyLock::new(|| format!("SELECT {}", EventScope::with_post()));
        let parameters = bind! {
            ":thread": thread, ":post": post, ":actor": actor, ":source": true, ":html": true,
        };
        connection
            .first(&QUERY, parameters, |row| Ok((Self::read(row)?, PublicPost::read(row)?)))
            .await?
            .ok_or(BoardError::PathNotFound)
    }

    /// Returns the end of a query of a scope with the post `:post`: the columns, the joins and the condition.
    pub fn with_post() -> String {
        format!(
            "{}, {}, {} FROM thread {} {} JOIN post ON post.id = :post {} WHERE thread.id = :thread",
            thread_row::COLUMNS,
            Self::COLUMNS,
            public_post::COLUMNS,
            thread_row::JOINS,
            Self::JOINS,
            public_post::JOINS,
        )
    }

    /// Reads the columns of a thread and of a scope.
    pub fn read(row: &Row<'_>) -> BackendResult<Self> {
        Ok(Self {
            thread: thread_row::read_thread(row)?,
            forum_title: row.value("forum_title")?,
            actor: row.author(["actor_id", "actor_name", "actor_avatar"])?,
        })
    }

    /// Adds a visible reply of the actor to a thread that was loaded before it.
    pub fn add_reply(&mut self, reply: &Post) {
        self.thread.reply_count += 1;
        self.thread.last_activity_at = reply.created_at;
        self.thread.last_post = Some(LastPost::from(reply));
    }

    pub fn context(&self) -> EventContext<'_> {
        EventContext::new(&self.thread, &self.forum_title).actor(self.actor.as_ref())
    }

    /// Records the events of a change to the thread or to `post`.
    pub fn record(
        &self,
        events: &mut EventRecorder,
        kinds: PostEvents,
        post: &Post,
    ) -> BoardResult<()> {
        let context = self.context();
        for kind in kinds {
            match kind {
                PostEventKind::Thread(event) => events.record(|meta| event(meta, context))?,
                PostEventKind::Post(event) => events.record(|meta| event(meta, post, context))?,
            }
        }
        Ok(())
    }
}

/// The events of a change to a post, in order.
pub type PostEvents = &'static [PostEventKind];

/// An event of a thread, or of a post in it.
#[derive(Clone, Copy, Debug)]
pub enum PostEventKind {
    Thread(fn(EventMeta, EventContext<'_>) -> Event),
    Post(fn(EventMeta, &Post, EventContext<'_>) -> Event),
}

pub const STARTED: PostEvents =
    &[PostEventKind::Thread(Event::thread_created), PostEventKind::Post(Event::post_created)];
pub const REPLIED: PostEvents = &[PostEventKind::Post(Event::post_created)];
pub const THREAD_UPDATED: PostEvents = &[PostEventKind::Thread(Event::thread_updated)];
pub const EDITED: PostEvents = &[PostEventKind::Post(Event::post_updated)];

/// The events of a change that both the first post of a thread and a reply can undergo.
#[derive(Clone, Copy, Debug)]
pub struct EventsByPlace {
    of_first: PostEvents,
    of_reply: PostEvents,
}

impl EventsByPlace {
    /// Returns the events of a first post or of a reply.
    pub const fn at(self, is_first: bool) -> PostEvents {
        if is_first { self.of_first } else { self.of_reply }
    }
}

pub const CREATED: EventsByPlace = EventsByPlace { of_first: STARTED, of_reply: REPLIED };
pub const DELETED: EventsByPlace = EventsByPlace {
    of_first: &[PostEventKind::Thread(Event::thread_deleted)],
    of_reply: &[PostEventKind::Post(Event::post_deleted)],
};
pub const RESTORED: EventsByPlace = EventsByPlace {
    of_first: &[PostEventKind::Thread(Event::thread_restored)],
    of_reply: &[PostEventKind::Post(Event::post_restored)],
};
