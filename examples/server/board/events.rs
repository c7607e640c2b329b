//! What happened on the board, noted by the transaction in which it does.

use forum_api::model::Timestamp;

/// Something that happened, by the ids of what it happened to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A thread was started; the event of its first post follows.
    ThreadCreated {
        /// The forum.
        forum: i64,
        /// The thread.
        thread: i64,
    },
    /// A post was written.
    PostCreated {
        /// The forum.
        forum: i64,
        /// The thread.
        thread: i64,
        /// The post.
        post: i64,
    },
    /// A message was sent. A receipt is none: nobody sent it.
    MessageSent {
        /// The sender's copy.
        message: i64,
        /// The sender.
        sender: i64,
        /// The recipients.
        recipients: Vec<i64>,
    },
}

/// The time of one transaction, and what happened in it.
///
/// The time is taken where writes stand in line, so that it never runs against the order of ids.
#[derive(Debug)]
pub struct Events {
    /// When it happens.
    pub now: Timestamp,
    happened: Vec<Event>,
}

impl Events {
    /// Nothing yet.
    pub const fn at(now: Timestamp) -> Self {
        let happened = Vec::new();
        Self { now, happened }
    }

    /// Notes that `event` happened.
    pub fn note(&mut self, event: Event) {
        self.happened.push(event);
    }

    /// Tells the log of what was committed.
    pub fn trace(&self) {
        for event in &self.happened {
            tracing::debug!(?event, "committed");
        }
    }
}
