//! The event with its metadata, as it is stored in the outbox and sent.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::body;
use crate::model::{Author, EventId, ForumId, Thread, Timestamp};
use crate::runtime::{RandomError, RandomSource};
use crate::webhook::Topic;

/// Something that happened on the board, as it is stored in the outbox and sent.
///
/// There is a constructor for each of the library's topics, which takes what a command has at hand when it has made
/// its change, and a [general one](Self::new) for a host's own. None contains what depends on a reader. The guide's chapter
/// [outbox](crate::guide::outbox) shows how a host writes events.
///
/// A host sends the events of a post that awaits approval when it is approved, and the deletion of a first post only as
/// that of its thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its id.
    pub id: EventId,
    /// What it is about.
    pub topic: Topic,
    /// When it happened.
    pub occurred_at: Timestamp,
    /// The forum that an endpoint's owner has to see to receive it; `None` for an event outside of forums.
    pub forum: Option<ForumId>,
    /// The body of its deliveries, byte for byte: at most [`Event::MAX_BODY`].
    pub body: String,
}

/// The time of an event, and its id. Each event has one of its own.
#[derive(Debug, PartialEq, Eq)]
pub struct EventMeta {
    /// The id of the event.
    pub id: EventId,
    /// When it happened.
    pub occurred_at: Timestamp,
}

impl EventMeta {
    /// An occasion under a new id.
    ///
    /// # Errors
    /// When the source of randomness fails.
    pub fn new(entropy: &dyn RandomSource, at: Timestamp) -> Result<Self, RandomError> {
        let id = EventId::generate(entropy)?;
        Ok(Self {
            id,
            occurred_at: at,
        })
    }
}

/// The context of an event in a thread: it is sent with the event, so that receivers need no request for it.
#[derive(Clone, Copy, Debug)]
pub struct EventContext<'a> {
    /// The thread, as the change left it.
    pub thread: &'a Thread,
    /// The title of the forum that the thread is in.
    pub forum_title: &'a str,
    /// The member who did it, if one did.
    pub actor: Option<&'a Author>,
}

impl EventContext<'_> {
    /// The forum that the thread is in.
    pub(super) fn forum(&self) -> ForumSummary {
        ForumSummary {
            forum_id: self.thread.forum_id.clone(),
            title: self.forum_title.into(),
        }
    }
}

/// Id and title of a forum.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ForumSummary {
    /// The forum's id.
    pub forum_id: ForumId,
    /// Its title.
    pub title: String,
}

impl Event {
    /// The most bytes that a body has: 256 KiB. What would be larger keeps its ids alone, in their places (fields
    /// whose names end in `Id` or `Ids`), beside `"truncated":true`.
    pub const MAX_BODY: usize = 256 * 1024;

    /// Adds an event to the outbox, once however often it is run. SQLite and PostgreSQL both take it, with
    /// [`parameters`](Self::parameters) in their order.
    ///
    /// A host runs it in the transaction of the change that caused the event, with any driver. So there is no change
    /// without its event, and no event without its change ([example](crate::guide::outbox)).
    pub const INSERT: &'static str = "
        INSERT INTO forum_api_events (id, topic, occurred_at, forum, body)
        VALUES ($1, $2, CAST(CAST($3 AS TEXT) AS BIGINT), NULLIF($4, ''), $5)
        ON CONFLICT (id) DO NOTHING";

    /// The parameters `$1` to `$5` of [`INSERT`](Self::INSERT), as text.
    pub fn parameters(&self) -> [String; 5] {
        let forum = self.forum.as_ref();
        [
            self.id.to_string(),
            self.topic.to_string(),
            self.occurred_at.as_millis().to_string(),
            forum.map(ToString::to_string).unwrap_or_default(),
            self.body.clone(),
        ]
    }

    /// An event of a host's own `topic`, sent to endpoints whose owner sees `forum`, if there is one. `data` is sent
    /// as it is, and must contain nothing that depends on a reader. For [`Topic::MESSAGE_SENT`] use
    /// [`message_sent`](Self::message_sent): the worker reads the parties of a private message from its `data`.
    pub fn new(topic: Topic, on: EventMeta, forum: Option<ForumId>, data: &Value) -> Self {
        Self::with_data(topic, on, forum, data)
    }

    pub(super) fn with_data(
        topic: Topic,
        on: EventMeta,
        forum: Option<ForumId>,
        data: impl Serialize,
    ) -> Self {
        let body = body::text(&on, &topic, &data);
        let EventMeta {
            id,
            occurred_at: at,
        } = on;
        Self {
            id,
            topic,
            occurred_at: at,
            forum,
            body,
        }
    }
}
