//! One of each thing that events hold, for the document.

use std::sync::LazyLock;

use super::{ForumName, Occasion, Surroundings};
use crate::model::{Author, EventId, MessageId, Poll, Post, Rating, State, Thread, UserId};

pub(super) static THREAD: LazyLock<Thread> = LazyLock::new(Thread::example);
pub(super) static POST: LazyLock<Post> = LazyLock::new(Post::example);
pub(super) static DELETED_POST: LazyLock<Post> = LazyLock::new(|| Post {
    number: 2,
    state: State::Deleted,
    ..Post::example()
});
pub(super) static POLL: LazyLock<Poll> = LazyLock::new(Poll::example);
pub(super) static RATING: LazyLock<Rating> = LazyLock::new(Rating::example);
pub(super) static AUTHOR: LazyLock<Author> = LazyLock::new(Author::example);
pub(super) static FORUM: LazyLock<ForumName> = LazyLock::new(|| around().forum());
pub(super) static MESSAGE: LazyLock<MessageId> = LazyLock::new(|| MessageId::from(9));
pub(super) static RECIPIENTS: LazyLock<Vec<UserId>> = LazyLock::new(|| vec![UserId::from(4)]);

pub(super) fn around() -> Surroundings<'static> {
    Surroundings {
        thread: &THREAD,
        forum_title: "General",
        actor: Some(&AUTHOR),
    }
}

pub(super) fn around_deleted() -> Surroundings<'static> {
    static THREAD: LazyLock<Thread> = LazyLock::new(|| Thread {
        state: State::Deleted,
        ..Thread::example()
    });
    Surroundings {
        thread: &THREAD,
        ..around()
    }
}

pub(super) fn occasion() -> Occasion {
    Occasion {
        id: EventId::new("evt_3kTMd0a9bYcQxZ7LpWvJ2e").unwrap_or_else(EventId::nothing),
        at: THREAD.created_at,
    }
}
