//! The library's own events: a constructor for each, and what the document says of it.

use schemars::{Schema, SchemaGenerator};

use super::data::{
    MessageEvent, PingEvent, PollEvent, PostEvent, RatingEvent, ThreadEvent, VoteEvent,
};
use super::examples::{self, AUTHOR, DELETED_POST, FORUM, MESSAGE, POLL, POST, RATING, RECIPIENTS};
use super::{Event, ForumName, Occasion, Surroundings, body};
use crate::model::{Author, ForumId, MessageId, Poll, Post, Rating, UserId};
use crate::webhook::Topic;

/// A kind of event, as the document tells of it.
pub(crate) struct Kind {
    /// What it is about.
    pub(crate) topic: Topic,
    /// What happened.
    pub(crate) says: &'static str,
    /// The schema of its body.
    pub(crate) schema: fn(&mut SchemaGenerator) -> Schema,
    /// One of them.
    pub(crate) example: fn() -> Event,
}

macro_rules! kinds {
    ($(
        $says:literal
        $topic:ident $name:ident($($argument:ident: $type:ty = $example:expr),*) in $forum:expr
            => $data:ident::$new:ident;
    )+) => {
        impl Event {$(
            #[doc = $says]
            pub fn $name(on: Occasion, $($argument: $type),*) -> Self {
                let forum: Option<&ForumId> = $forum;
                Self::about(Topic::$topic, on, forum.cloned(), $data::$new($($argument),*))
            }
        )+}

        /// All of them.
        pub(crate) const KINDS: &[Kind] = &[$(Kind {
            topic: Topic::$topic,
            says: $says,
            schema: |generator| body::schema::<$data>(&Topic::$topic, generator),
            example: || Event::$name(examples::occasion(), $($example),*),
        }),+];
    };
}

kinds! {
    "A thread is there; the event of its first post follows."
    THREAD_CREATED thread_created(around: Surroundings<'_> = examples::around())
        in Some(&around.thread.forum_id) => ThreadEvent::new;

    "A thread was deleted with its posts."
    THREAD_DELETED thread_deleted(around: Surroundings<'_> = examples::around_deleted())
        in Some(&around.thread.forum_id) => ThreadEvent::new;

    "A thread is there again with its posts."
    THREAD_RESTORED thread_restored(around: Surroundings<'_> = examples::around())
        in Some(&around.thread.forum_id) => ThreadEvent::new;

    "A post is there: a reply, or the first post of a thread."
    POST_CREATED post_created(post: &Post = &POST, around: Surroundings<'_> = examples::around())
        in Some(&around.thread.forum_id) => PostEvent::new;

    "A post was edited."
    POST_UPDATED post_updated(post: &Post = &POST, around: Surroundings<'_> = examples::around())
        in Some(&around.thread.forum_id) => PostEvent::new;

    "A reply was deleted. Its text is not told again."
    POST_DELETED post_deleted(post: &Post = &DELETED_POST, around: Surroundings<'_> = examples::around())
        in Some(&around.thread.forum_id) => PostEvent::without_text;

    "A reply is there again."
    POST_RESTORED post_restored(post: &Post = &POST, around: Surroundings<'_> = examples::around())
        in Some(&around.thread.forum_id) => PostEvent::new;

    "Somebody voted, or changed the vote. Nobody is told who."
    POLL_VOTED poll_voted(poll: &Poll = &POLL, around: Surroundings<'_> = examples::around())
        in Some(&around.thread.forum_id) => VoteEvent::new;

    "A poll was edited."
    POLL_UPDATED poll_updated(poll: &Poll = &POLL, around: Surroundings<'_> = examples::around())
        in Some(&around.thread.forum_id) => PollEvent::new;

    "A member was rated, for a post in `forum` if it is given."
    MEMBER_RATED member_rated(
        rating: &Rating = &RATING,
        member: &Author = &AUTHOR,
        forum: Option<&ForumName> = Some(&FORUM),
        actor: Option<&Author> = Some(&AUTHOR)
    ) in forum.map(|forum| &forum.forum_id) => RatingEvent::new;

    "A private message was sent: its ids and nothing of its text."
    MESSAGE_SENT message_sent(
        message: &MessageId = &MESSAGE,
        sender: &UserId = &AUTHOR.user_id,
        recipients: &[UserId] = &RECIPIENTS
    ) in None => MessageEvent::new;

    "An operator tries an endpoint."
    PING ping() in None => PingEvent::new;
}
