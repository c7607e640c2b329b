//! Constructors of the library's own events, and their descriptions for the OpenAPI document.

use std::borrow::Cow;
use std::sync::LazyLock;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
#[cfg(feature = "webhooks")]
use serde_json::Value;

use super::payload::{
    ErasedMemberId, ErasureEventData, EventData as _, MessageEventData, MessageIds, PingEventData,
    PollEventData, PostEventData, PublicView, RatingEventData, ThreadEventData, VoteEventData,
};
use super::{Event, EventContext, EventMeta, ForumSummary, body};
use crate::host::WebUrls;
use crate::model::{
    Author, ContentState, DeliveryId, EventId, ForumId, LastPost, MessageId, Poll, Post, Rating,
    Thread, UserId,
};
use crate::webhook::Topic;

/// A kind of event, as the OpenAPI document describes it.
#[derive(Clone, Debug)]
pub(crate) struct EventKind {
    pub(crate) topic: Topic,
    pub(crate) description: &'static str,
    /// Returns the schema of the body.
    pub(crate) schema: fn(&Topic, &mut SchemaGenerator) -> Schema,
    pub(crate) example: Event,
}

impl EventKind {
    /// Returns the body of a delivery of the example.
    pub(crate) fn example_body(&self) -> String {
        let id = DeliveryId::from_valid_text("dlv_7fQ2xVb1mTzKc9RwLpYd0s".into());
        let body = &self.example.body;
        body::delivery_body(body, &id).unwrap_or_else(|| body.clone())
    }

    /// Creates an example event. It has no forum, and concerns every member.
    #[cfg(feature = "webhooks")]
    pub(crate) fn new_example(&self, meta: EventMeta) -> Event {
        let data = body::parse_part::<Value>(&self.example.body, "/data");
        let body = body::serialize(&meta, &self.topic, Some(true), &data);
        Event::with_body(self.topic.clone(), meta, None, body)
    }

    /// Describes the events of a host's own topic, given the data of one.
    pub(crate) fn own<D: Serialize + JsonSchema>(
        topic: Topic,
        description: &'static str,
        data: &D,
    ) -> Self {
        Self {
            example: Event::new(topic.clone(), example_meta(&topic), None, data),
            schema: body::schema::<D>,
            topic,
            description,
        }
    }
}

macro_rules! kinds {
    ($(
        $description:literal
        $topic:ident $name:ident($($argument:ident: $type:ty = $example:expr),*) in $forum:expr
            => $data:ident, $new:expr;
    )+) => {
        impl Event {$(
            #[doc = concat!("Creates an event of the topic [`", stringify!($topic), "`](Topic::", stringify!($topic), ").")]
            ///
            #[doc = $description]
            pub fn $name(meta: EventMeta, $($argument: $type),*) -> Self {
                let forum: Option<&ForumId> = $forum;
                let mut data = $new;
                data.link(&meta.web_urls);
                Self::with_data(Topic::$topic, meta, forum.cloned(), data)
            }
        )+}

        /// Describes the events of the library's own topics.
        pub(crate) fn event_kinds() -> &'static [EventKind] {
            // Serializes the examples once.
            static KINDS: LazyLock<Vec<EventKind>> = LazyLock::new(|| {
                vec![$(EventKind {
                    topic: Topic::$topic,
                    description: $description,
                    schema: body::schema::<$data>,
                    example: Event::$name(example_meta(&Topic::$topic), $($example),*),
                }),+]
            });
            &KINDS
        }
    };
}

kinds! {
    "A thread was created or approved. Its first post has an event of its own, `post.created`, which can arrive earlier."
    THREAD_CREATED thread_created(context: EventContext<'_> = example(&THREAD))
        in Some(&context.thread.forum_id) => ThreadEventData, ThreadEventData::new(context);

    "A thread has a new title or forum, or was locked, unlocked, pinned or unpinned."
    THREAD_UPDATED thread_updated(context: EventContext<'_> = example(&UPDATED_THREAD))
        in Some(&context.thread.forum_id) => ThreadEventData, ThreadEventData::new(context);

    "A thread was deleted with its posts."
    THREAD_DELETED thread_deleted(context: EventContext<'_> = example(&DELETED_THREAD))
        in Some(&context.thread.forum_id) => ThreadEventData, ThreadEventData::new(context);

    "A thread was restored with its posts."
    THREAD_RESTORED thread_restored(context: EventContext<'_> = example(&RESTORED_THREAD))
        in Some(&context.thread.forum_id) => ThreadEventData, ThreadEventData::new(context);

    "A post was created or approved: a reply, or the first post of a thread."
    POST_CREATED post_created(post: &Post = &Post::own_reply_example(), context: EventContext<'_> = example(&REPLIED_THREAD))
        in Some(&context.thread.forum_id) => PostEventData, PostEventData { post: public(post), context: ThreadEventData::new(context) };

    "A post was edited."
    POST_UPDATED post_updated(post: &Post = &Post::updated_example(), context: EventContext<'_> = example(&REPLIED_THREAD))
        in Some(&context.thread.forum_id) => PostEventData, PostEventData { post: public(post), context: ThreadEventData::new(context) };

    "A reply was deleted. The event does not contain its text."
    POST_DELETED post_deleted(post: &Post = &deleted_post(), context: EventContext<'_> = example(&THREAD))
        in Some(&context.thread.forum_id) => PostEventData, PostEventData { post: without_text(post), context: ThreadEventData::new(context) };

    "A reply was restored."
    POST_RESTORED post_restored(post: &Post = &restored_post(), context: EventContext<'_> = example(&REPLIED_THREAD))
        in Some(&context.thread.forum_id) => PostEventData, PostEventData { post: public(post), context: ThreadEventData::new(context) };

    "A member voted or changed a vote. The event does not name the voter."
    POLL_VOTED poll_voted(poll: &Poll = &Poll::example(), context: EventContext<'_> = example(&THREAD))
        in Some(&context.thread.forum_id) => VoteEventData, VoteEventData::new(public_poll(poll), context);

    "A poll was edited."
    POLL_UPDATED poll_updated(poll: &Poll = &Poll::updated_example(), context: EventContext<'_> = example(&THREAD))
        in Some(&context.thread.forum_id) => PollEventData, PollEventData { poll: public_poll(poll), context: ThreadEventData::new(context) };

    "A member was rated. `actor` rated `member`. For the rating of a post, `forum` is the post's forum; `postId` is null unless every caller who can see the forum can see the post. Only endpoints whose owner is one of the two members receive the event."
    MEMBER_RATED member_rated(
        rating: &Rating = &Rating::example(),
        member: &Author = &Author::other_example(),
        forum: Option<&ForumSummary> = Some(&example(&THREAD).forum()),
        actor: Option<&Author> = Some(&AUTHOR)
    ) in forum.map(|forum| &forum.forum_id) => RatingEventData, RatingEventData { rating: public(rating), member, forum, actor };

    "The account of a member was erased. The event contains the id only: remove what you have stored about the member. The member's posts stay without author, or have events of their deletion."
    MEMBER_ERASED member_erased(member: &UserId = &UserId::from(7))
        in None => ErasureEventData, ErasureEventData { member: ErasedMemberId { user_id: member } };

    "A private message was sent. The event contains ids only. Only endpoints whose owner is the sender or a recipient receive it. `messageId` is the id of the sender's copy. The copy of a recipient has another id: find it in the list of the inbox."
    MESSAGE_SENT message_sent(
        message: &MessageId = &MessageId::from(1),
        sender: &UserId = &AUTHOR.user_id,
        recipients: &[UserId] = &[UserId::from(4)]
    ) in None => MessageEventData, MessageEventData {
            message: MessageIds { message_id: message, sender_id: sender, recipient_ids: recipients },
            actor: (),
        };

    "An operator sent a ping to test the endpoint."
    PING ping() in None => PingEventData, PingEventData {};
}

/// Returns the example of an event of the library's own topics.
#[cfg(feature = "webhooks")]
pub(crate) fn example_event(topic: &Topic) -> Option<Event> {
    event_kinds().iter().find(|kind| kind.topic == *topic).map(|kind| kind.example.clone())
}

fn public<T: Clone>(resource: &T) -> PublicView<'_, T> {
    PublicView(Cow::Borrowed(resource))
}

fn without_text(post: &Post) -> PublicView<'_, Post> {
    PublicView(Cow::Owned(Post {
        body: None,
        body_html: None,
        extra: None,
        can_read_deleted: true,
        ..post.clone()
    }))
}

fn public_poll(poll: &Poll) -> PublicView<'_, Poll> {
    let mut poll = poll.clone();
    poll.hide_partial_totals();
    PublicView(Cow::Owned(poll))
}

static THREAD: LazyLock<Thread> = LazyLock::new(Thread::example);
static AUTHOR: LazyLock<Author> = LazyLock::new(Author::example);
static REPLIED_THREAD: LazyLock<Thread> = LazyLock::new(|| {
    let reply = Post::own_reply_example();
    Thread {
        last_activity_at: reply.created_at,
        last_post: Some(LastPost::from(&reply)),
        reply_count: 6,
        ..Thread::example()
    }
});
static UPDATED_THREAD: LazyLock<Thread> =
    LazyLock::new(|| Thread { locked: true, version: 2, ..Thread::example() });
static DELETED_THREAD: LazyLock<Thread> =
    LazyLock::new(|| Thread { state: ContentState::Deleted, version: 2, ..Thread::example() });
static RESTORED_THREAD: LazyLock<Thread> =
    LazyLock::new(|| Thread { version: 3, ..Thread::example() });

fn example(thread: &'static Thread) -> EventContext<'static> {
    EventContext::new(thread, "General").actor(&*AUTHOR)
}

fn deleted_post() -> Post {
    Post { state: ContentState::Deleted, version: 2, ..Post::own_reply_example() }
}

fn restored_post() -> Post {
    Post { version: 3, ..Post::own_reply_example() }
}

pub(super) fn example_meta(topic: &Topic) -> EventMeta {
    let after_all = Post::updated_example().edited_at;
    let occurred_at = match topic.as_str() {
        "thread.created" => THREAD.created_at,
        "post.created" => REPLIED_THREAD.last_activity_at,
        _ => after_all.unwrap_or(THREAD.created_at),
    };
    EventMeta {
        id: EventId::from_valid_text("evt_3kTMd0a9bYcQxZ7LpWvJ2e".into()),
        occurred_at,
        request_id: (*topic != Topic::PING).then(|| "019bc2d1b7a05f0ce6a4d8e1f3927b64".into()),
        web_urls: WebUrls::default(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::event_kinds;

    /// The worker and the feed give an event only to members who see its forum.
    #[test]
    fn an_event_belongs_to_the_forum_in_its_data() {
        for kind in event_kinds() {
            let body: Value = serde_json::from_str(&kind.example.body).unwrap();
            let named = body.pointer("/data/forum/forumId").and_then(Value::as_str);
            let forum = kind.example.forum_id.as_ref().map(ToString::to_string);
            assert_eq!(forum.as_deref(), named, "{}", kind.topic);
            let is_public =
                ["member.erased", "message.sent", "ping"].contains(&kind.topic.as_str());
            assert_eq!(forum.is_none(), is_public, "{}", kind.topic);
        }
    }
}
