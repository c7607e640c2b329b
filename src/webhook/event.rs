//! What happened, as it is sent.

use super::Topic;
use crate::model::{EventId, ForumId, Timestamp};

/// Something that happened on the board, as it is kept in the outbox and sent.
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

impl Event {
    /// The most bytes that a body has: 256 KiB.
    pub const MAX_BODY: usize = 256 * 1024;
}
