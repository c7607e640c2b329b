//! What the library's events hold: the resource under its name, with its surroundings.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Serialize;

use super::public_view::Snapshot;
use super::{ForumName, Surroundings};
use crate::model::{Author, MessageId, Poll, Post, Rating, Thread, UserId};

/// Something happened to a thread, or to what is in it. `A` is who did it: a member if any, or nobody who is told.
#[derive(Serialize, JsonSchema)]
#[schemars(
    rename = "ThreadEvent",
    description = "Something happened to a thread."
)]
pub(super) struct ThreadEvent<'a, A = Option<&'a Author>> {
    /// The thread.
    thread: Snapshot<'a, Thread>,
    /// The forum that it is in.
    forum: ForumName,
    /// Who did it; null when no member did, and where nobody is told who.
    actor: A,
}

impl<'a> ThreadEvent<'a> {
    pub(super) fn new(around: Surroundings<'a>) -> Self {
        Self::by(around.actor, around)
    }
}

impl<'a, A> ThreadEvent<'a, A> {
    fn by(actor: A, around: Surroundings<'a>) -> Self {
        Self {
            thread: Snapshot(Cow::Borrowed(around.thread)),
            forum: around.forum(),
            actor,
        }
    }
}

/// Something happened to a post.
#[derive(Serialize, JsonSchema)]
pub(super) struct PostEvent<'a> {
    /// The post.
    post: Snapshot<'a, Post>,
    #[serde(flatten)]
    around: ThreadEvent<'a>,
}

impl<'a> PostEvent<'a> {
    pub(super) fn new(post: &'a Post, around: Surroundings<'a>) -> Self {
        Self {
            post: Snapshot(Cow::Borrowed(post)),
            around: ThreadEvent::new(around),
        }
    }

    pub(super) fn without_text(post: &'a Post, around: Surroundings<'a>) -> Self {
        let post = Post {
            body: None,
            body_html: None,
            ..post.clone()
        };
        Self {
            post: Snapshot(Cow::Owned(post)),
            around: ThreadEvent::new(around),
        }
    }
}

/// Something happened to a poll.
#[derive(Serialize, JsonSchema)]
pub(super) struct PollEvent<'a> {
    /// The poll.
    poll: Snapshot<'a, Poll>,
    #[serde(flatten)]
    around: ThreadEvent<'a>,
}

impl<'a> PollEvent<'a> {
    pub(super) fn new(poll: &'a Poll, around: Surroundings<'a>) -> Self {
        Self {
            poll: Snapshot(Cow::Borrowed(poll)),
            around: ThreadEvent::new(around),
        }
    }
}

/// Somebody voted.
#[derive(Serialize, JsonSchema)]
pub(super) struct VoteEvent<'a> {
    /// The poll, with its totals.
    poll: Snapshot<'a, Poll>,
    #[serde(flatten)]
    around: ThreadEvent<'a, ()>,
}

impl<'a> VoteEvent<'a> {
    pub(super) fn new(poll: &'a Poll, around: Surroundings<'a>) -> Self {
        Self {
            poll: Snapshot(Cow::Borrowed(poll)),
            around: ThreadEvent::by((), around),
        }
    }
}

/// A member was rated.
#[derive(Serialize, JsonSchema)]
pub(super) struct RatingEvent<'a> {
    /// The rating.
    rating: &'a Rating,
    /// Who was rated.
    member: &'a Author,
    /// The forum of the post that it is about, if any.
    forum: Option<&'a ForumName>,
    /// Who rated; null when the account is gone.
    actor: Option<&'a Author>,
}

impl<'a> RatingEvent<'a> {
    pub(super) fn new(
        rating: &'a Rating,
        member: &'a Author,
        forum: Option<&'a ForumName>,
        actor: Option<&'a Author>,
    ) -> Self {
        Self {
            rating,
            member,
            forum,
            actor,
        }
    }
}

/// A private message was sent.
#[derive(Serialize, JsonSchema)]
pub(super) struct MessageEvent<'a> {
    /// The message's ids, and nothing else of it.
    message: MessageIds<'a>,
    /// Always null.
    actor: (),
}

/// Which message, from whom and to whom.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct MessageIds<'a> {
    /// The id of the sender's copy.
    message_id: &'a MessageId,
    /// Who sent it.
    sender_id: &'a UserId,
    /// To whom it was sent.
    recipient_ids: &'a [UserId],
}

impl<'a> MessageEvent<'a> {
    pub(super) fn new(message: &'a MessageId, sender: &'a UserId, to: &'a [UserId]) -> Self {
        let message = MessageIds {
            message_id: message,
            sender_id: sender,
            recipient_ids: to,
        };
        Self { message, actor: () }
    }
}

/// Nothing happened: an endpoint is tried.
#[derive(Serialize, JsonSchema)]
pub(super) struct PingEvent {}

impl PingEvent {
    pub(super) fn new() -> Self {
        Self {}
    }
}
