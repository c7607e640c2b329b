//! What happened on the board, noted by the transaction in which it does.

use forum_api::model::Timestamp;

/// A thread, and where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadAt {
    /// The forum.
    pub forum: i64,
    /// The thread.
    pub thread: i64,
}

/// A post, and where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PostAt {
    /// The forum.
    pub forum: i64,
    /// The thread.
    pub thread: i64,
    /// The post.
    pub post: i64,
}

impl PostAt {
    /// Its thread.
    pub const fn thread(self) -> ThreadAt {
        ThreadAt {
            forum: self.forum,
            thread: self.thread,
        }
    }
}

/// A poll, and where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PollAt {
    /// The forum.
    pub forum: i64,
    /// The poll.
    pub poll: i64,
}

/// Something that happened, by the ids of what it happened to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A thread is there; the event of its first post follows.
    ThreadCreated(ThreadAt),
    /// A thread was deleted with its posts.
    ThreadDeleted(ThreadAt),
    /// A thread is there again, with its posts.
    ThreadRestored(ThreadAt),
    /// A post is there.
    PostCreated(PostAt),
    /// A post was edited.
    PostUpdated(PostAt),
    /// A reply was deleted.
    PostDeleted(PostAt),
    /// A reply is there again.
    PostRestored(PostAt),
    /// Somebody voted, or changed the vote.
    PollVoted(PollAt),
    /// A poll was edited.
    PollUpdated(PollAt),
    /// A member was rated.
    MemberRated {
        /// The forum of the post that the rating is about, if any.
        forum: Option<i64>,
        /// The rating.
        rating: i64,
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

    /// What was noted, in its order.
    #[cfg(test)]
    pub fn noted(&self) -> &[Event] {
        &self.happened
    }

    /// Tells the log of what was committed.
    pub fn trace(&self) {
        for event in &self.happened {
            tracing::debug!(?event, "committed");
        }
    }
}
