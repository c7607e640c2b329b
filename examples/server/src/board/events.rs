//! Events of a transaction: commands record them, and they are written to the outbox with the change.

use std::sync::LazyLock;

use forum_api::host::{BoardError, BoardResult};
use forum_api::model::{
    Author, LastPost, MessageId, Poll, Post, Rating, Thread, Timestamp, UserId,
};
use forum_api::runtime::OsRandom;
use forum_api::webhook::{Event, EventContext, EventMeta, ForumSummary};

use super::db::{Connection, DbResult, RowReader, Transaction, bind};
use super::posts::PublicPost;
use super::{posts, threads};

/// The time of one command, and its events, which are written at its end.
///
/// A command that locks rows sets the time after it has the locks, so that times follow the order of the posts of a
/// thread.
#[derive(Debug)]
pub struct EventRecorder {
    pub now: Timestamp,
    /// `None` for an operator.
    pub actor: Option<i64>,
    /// `true` if a webhook endpoint is enabled. If `false`, events are not recorded.
    pub has_endpoints: bool,
    recorded: Vec<DomainEvent>,
}

impl EventRecorder {
    pub const fn at(now: Timestamp) -> Self {
        Self {
            now,
            actor: None,
            has_endpoints: true,
            recorded: Vec::new(),
        }
    }

    /// Records an event that all callers who see the forum may receive.
    pub fn record(&mut self, event_source: DomainEvent) {
        if self.has_endpoints {
            self.recorded.push(event_source);
        }
    }

    /// Writes the recorded events to the outbox, with the data at the end of the command.
    pub async fn write(self, tx: &Transaction<'_>) -> BoardResult<Vec<Event>> {
        let mut events = Vec::new();
        for event_source in &self.recorded {
            let meta = || self.event_meta();
            events.extend(event_source.webhook_events(tx, self.actor, meta).await?);
        }
        for event in &events {
            tx.defer_texts(Event::INSERT_SQL, event.insert_parameters().into())?;
        }
        Ok(events)
    }

    fn event_meta(&self) -> BoardResult<EventMeta> {
        Ok(EventMeta::new(&OsRandom, self.now)?)
    }
}

/// A thread with the title of its forum, the member who changed it, and a post in it.
#[derive(Clone, Debug)]
pub struct EventScope {
    pub thread: Thread,
    forum_title: String,
    pub actor: Option<Author>,
    pub post: Option<PublicPost>,
}

impl EventScope {
    /// Columns of a scope without a post.
    pub const COLUMNS: &str = "forum.title, actor.id, actor.username, actor.avatar_url";

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
        post: Option<i64>,
        actor: Option<i64>,
    ) -> BoardResult<Self> {
        static QUERY: LazyLock<String> = LazyLock::new(|| {
            format!(
                "SELECT {}, {}, {}
                FROM thread {} {}
                LEFT JOIN post ON post.id = :post {}
                WHERE thread.id = :thread",
                threads::COLUMNS,
                EventScope::COLUMNS,
                posts::COLUMNS,
                threads::JOINS,
                EventScope::JOINS,
                posts::JOINS,
            )
        });
        let parameters = bind! {
            ":thread": thread, ":post": post, ":actor": actor, ":source": true, ":html": true,
        };
        connection
            .first(&QUERY, parameters, |row| {
                let scope = Self::read(row)?;
                let post = PublicPost::read(row)?;
                Ok(Self { post, ..scope })
            })
            .await?
            .ok_or(BoardError::PathNotFound)
    }

    /// Reads the columns of a thread and of a scope without a post.
    pub fn read(row: &mut RowReader<'_>) -> DbResult<Self> {
        Ok(Self {
            thread: threads::read_thread(row)?,
            forum_title: row.value()?,
            actor: row.author()?,
            post: None,
        })
    }

    /// Adds a visible reply of the actor to a thread that was loaded without a post.
    pub fn add_reply(&mut self, reply: PublicPost) {
        self.thread.reply_count += 1;
        self.thread.last_activity_at = reply.post.created_at;
        self.thread.last_post = Some(LastPost::from(&reply.post));
        self.post = Some(reply);
    }

    pub fn context(&self) -> EventContext<'_> {
        EventContext {
            thread: &self.thread,
            forum_title: &self.forum_title,
            actor: self.actor.as_ref(),
        }
    }
}

/// Loads the rater and the forum of the rated post.
async fn rating_scope(
    connection: &Connection<'_>,
    actor: Option<i64>,
    forum: Option<i64>,
) -> BoardResult<(Option<Author>, Option<ForumSummary>)> {
    let query = "
        SELECT actor.id, actor.username, actor.avatar_url, forum.id, forum.title
        FROM (SELECT 1) AS alone
        LEFT JOIN member AS actor ON actor.id = :actor
        LEFT JOIN forum ON forum.id = :forum";
    let parameters = bind! { ":actor": actor, ":forum": forum };
    let found = connection
        .one(query, parameters, |row| {
            let actor = row.author()?;
            let forum_id = row.maybe_id()?;
            let title = row.value::<Option<String>>()?;
            let forum = forum_id.zip(title);
            Ok((
                actor,
                forum.map(|(forum_id, title)| ForumSummary { forum_id, title }),
            ))
        })
        .await;
    Ok(found?)
}

/// An event of the board.
#[derive(Clone, Debug)]
pub enum DomainEvent {
    Post(EventFn, Box<EventScope>),
    Poll(PollEventFn, Poll),
    /// With the forum of the rated post, if any.
    Rating(Rating, Author, Option<i64>),
    /// A message was sent. Receipts have no event.
    Message {
        copy: MessageId,
        sender: UserId,
        recipients: Vec<UserId>,
    },
}

pub type PollEventFn = fn(EventMeta, &Poll, EventContext<'_>) -> Event;

/// The events of a change to a post, in order.
pub type EventFn = &'static [PostEventKind];

/// An event of a thread, or of a post in it.
#[derive(Clone, Copy, Debug)]
pub enum PostEventKind {
    Thread(fn(EventMeta, EventContext<'_>) -> Event),
    Post(fn(EventMeta, &Post, EventContext<'_>) -> Event),
}

pub const STARTED: EventFn = &[
    PostEventKind::Thread(Event::thread_created),
    PostEventKind::Post(Event::post_created),
];
pub const REPLIED: EventFn = &[PostEventKind::Post(Event::post_created)];
pub const EDITED: EventFn = &[PostEventKind::Post(Event::post_updated)];
pub const THREAD_DELETED: EventFn = &[PostEventKind::Thread(Event::thread_deleted)];
pub const REPLY_DELETED: EventFn = &[PostEventKind::Post(Event::post_deleted)];
pub const THREAD_RESTORED: EventFn = &[PostEventKind::Thread(Event::thread_restored)];
pub const REPLY_RESTORED: EventFn = &[PostEventKind::Post(Event::post_restored)];

impl DomainEvent {
    /// Returns the webhook events with the current data of the board.
    pub(super) async fn webhook_events(
        &self,
        tx: &Transaction<'_>,
        actor: Option<i64>,
        on: impl Fn() -> BoardResult<EventMeta> + Send,
    ) -> BoardResult<Vec<Event>> {
        let event = match self {
            Self::Post(kinds, scope) => {
                let events = kinds.iter().map(|kind| kind.event(on()?, scope));
                return events.collect();
            }
            Self::Poll(event, poll) => {
                let scope = EventScope::load(tx, poll.thread_id.to_i64()?, None, actor).await?;
                event(on()?, poll, scope.context())
            }
            Self::Rating(rating, member, forum) => {
                let (actor, forum) = rating_scope(tx, actor, *forum).await?;
                Event::member_rated(on()?, rating, member, forum.as_ref(), actor.as_ref())
            }
            Self::Message {
                copy,
                sender,
                recipients,
            } => Event::message_sent(on()?, copy, sender, recipients),
        };
        Ok(vec![event])
    }
}

impl PostEventKind {
    fn event(self, on: EventMeta, scope: &EventScope) -> BoardResult<Event> {
        let context = scope.context();
        match self {
            Self::Thread(event) => Ok(event(on, context)),
            Self::Post(event) => {
                let post = scope.post.as_ref().ok_or(BoardError::PathNotFound)?;
                Ok(event(on, &post.post, context))
            }
        }
    }
}
