//! What happened, as it is sent.

mod body;
mod constructors;
mod context;
mod data;
mod examples;
mod insert;
#[cfg(feature = "webhooks")]
mod parties;
mod public_view;

use serde::Serialize;
use serde_json::Value;

use super::Topic;
use crate::model::{EventId, ForumId, Timestamp};
use crate::runtime::{Entropy, NoEntropy};

pub(crate) use constructors::{KINDS, Kind};
pub use context::{ForumName, Surroundings};

/// Something that happened on the board, as it is kept in the outbox and sent.
///
/// There is a constructor for each of the library's topics, which takes what a command has at hand when it has made
/// its change, and a [general one](Self::new) for a host's own. None tells what depends on a reader:
///
/// ```
/// use forum_api::runtime::{NoEntropy, SystemEntropy};
/// use forum_api::model::{Author, Post, Thread, Timestamp};
/// use forum_api::webhook::{Event, Occasion, Surroundings};
///
/// fn replied(post: &Post, thread: &Thread, by: &Author, now: Timestamp) -> Result<Event, NoEntropy> {
///     let (forum_title, actor) = ("General", Some(by));
///     let around = Surroundings { thread, forum_title, actor };
///     Ok(Event::post_created(Occasion::new(&SystemEntropy, now)?, post, around))
/// }
/// ```
///
/// What awaits approval is told of when it is approved, and a first post's deletion as its thread's alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its id.
    pub id: EventId,
    /// What it is about.
    pub topic: Topic,
    /// When it happened.
    pub occurred_at: Timestamp,
    /// The forum that one has to see to be told of it; `None` for what is in none.
    pub forum: Option<ForumId>,
    /// The body of its deliveries, byte for byte: at most [`Event::MAX_BODY`].
    pub body: String,
}

/// When something happened, and the id under which it is told. Each event has one of its own.
#[derive(Debug, PartialEq, Eq)]
pub struct Occasion {
    /// The id of the event.
    pub id: EventId,
    /// When it happened.
    pub at: Timestamp,
}

impl Occasion {
    /// An occasion under a new id.
    ///
    /// # Errors
    /// When the source of randomness does not answer.
    pub fn new(entropy: &dyn Entropy, at: Timestamp) -> Result<Self, NoEntropy> {
        let id = EventId::mint(entropy)?;
        Ok(Self { id, at })
    }
}

impl Event {
    /// The most bytes that a body has: 256 KiB. What would be larger keeps its ids alone, in their places (fields
    /// whose names end in `Id` or `Ids`), beside `"truncated":true`.
    pub const MAX_BODY: usize = 256 * 1024;

    /// An event of a host's own `topic`, told to endpoints whose owner sees `forum`, if there is one. `data` is sent
    /// as it is: let it hold nothing that depends on a reader. For [`Topic::MESSAGE_SENT`] use
    /// [`message_sent`](Self::message_sent): the worker reads the parties of a private message from its `data`.
    pub fn new(topic: Topic, on: Occasion, forum: Option<ForumId>, data: &Value) -> Self {
        Self::about(topic, on, forum, data)
    }

    fn about(topic: Topic, on: Occasion, forum: Option<ForumId>, data: impl Serialize) -> Self {
        let body = body::text(&on, &topic, &data);
        let Occasion { id, at } = on;
        Self {
            id,
            topic,
            occurred_at: at,
            forum,
            body,
        }
    }
}
