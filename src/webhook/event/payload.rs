//! Data of the library's events: the resource under its name, with its context.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::ser::Error;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::body::TEXT_FIELDS;
use super::{Event, EventContext, ForumSummary};
use crate::host::{Linked, WebUrls};
use crate::model::{Author, MessageId, Poll, Post, Rating, Thread, UserId, first_paragraph};

/// Data of an event of the library.
pub(super) trait EventData: Serialize {
    /// Sets `webUrl` of the resources.
    fn link(&mut self, _: &WebUrls) {}
}

/// Data of a thread event.
///
/// [`PostEventData`] and [`PollEventData`] contain it as context.
#[derive(Serialize, JsonSchema)]
#[schemars(transform = first_paragraph)]
pub(super) struct ThreadEventData<'a> {
    /// The thread.
    pub(super) thread: PublicView<'a, Thread>,
    /// The forum of the thread.
    pub(super) forum: ForumSummary,
    /// The member who made the change; null if no member made it.
    pub(super) actor: Option<&'a Author>,
}

impl<'a> ThreadEventData<'a> {
    pub(super) fn new(context: EventContext<'a>) -> Self {
        Self {
            thread: PublicView(Cow::Borrowed(context.thread)),
            forum: context.forum(),
            actor: context.actor,
        }
    }
}

impl EventData for ThreadEventData<'_> {
    fn link(&mut self, web_urls: &WebUrls) {
        self.thread.link(web_urls);
    }
}

/// Data of a post event.
#[derive(Serialize, JsonSchema)]
pub(super) struct PostEventData<'a> {
    /// The post.
    pub(super) post: PublicView<'a, Post>,
    #[serde(flatten)]
    pub(super) context: ThreadEventData<'a>,
}

impl EventData for PostEventData<'_> {
    fn link(&mut self, web_urls: &WebUrls) {
        self.post.link(web_urls);
        self.context.link(web_urls);
    }
}

/// Data of a poll event.
#[derive(Serialize, JsonSchema)]
pub(super) struct PollEventData<'a> {
    /// The poll.
    pub(super) poll: PublicView<'a, Poll>,
    #[serde(flatten)]
    pub(super) context: ThreadEventData<'a>,
}

impl EventData for PollEventData<'_> {
    fn link(&mut self, web_urls: &WebUrls) {
        self.context.link(web_urls);
    }
}

/// Data of a vote event. It does not name the voter.
#[derive(Serialize, JsonSchema)]
pub(super) struct VoteEventData<'a> {
    /// The poll, with its totals.
    poll: PublicView<'a, Poll>,
    /// The thread.
    thread: PublicView<'a, Thread>,
    /// The forum of the thread.
    forum: ForumSummary,
    /// Always null.
    #[schemars(with = "Option<Author>")]
    actor: (),
}

impl<'a> VoteEventData<'a> {
    pub(super) fn new(poll: PublicView<'a, Poll>, context: EventContext<'a>) -> Self {
        Self {
            poll,
            thread: PublicView(Cow::Borrowed(context.thread)),
            forum: context.forum(),
            actor: (),
        }
    }
}

impl EventData for VoteEventData<'_> {
    fn link(&mut self, web_urls: &WebUrls) {
        self.thread.link(web_urls);
    }
}

/// Data of a rating event.
#[derive(Serialize, JsonSchema)]
pub(super) struct RatingEventData<'a> {
    /// The rating.
    pub(super) rating: PublicView<'a, Rating>,
    /// The rated member.
    pub(super) member: &'a Author,
    /// The forum of the rated post; null for a rating without a post.
    pub(super) forum: Option<&'a ForumSummary>,
    /// The member who gave the rating; null if the account no longer exists.
    pub(super) actor: Option<&'a Author>,
}

impl EventData for RatingEventData<'_> {}

/// Data of the erasure of a member.
#[derive(Serialize, JsonSchema)]
pub(super) struct ErasureEventData<'a> {
    /// Id of the member, without any other data.
    pub(super) member: ErasedMemberId<'a>,
}

impl EventData for ErasureEventData<'_> {}

/// Id of an erased member.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ErasedMemberId<'a> {
    /// Id of the member. It is not used again.
    pub(super) user_id: &'a UserId,
}

/// Data of a message event.
#[derive(Serialize, JsonSchema)]
pub(super) struct MessageEventData<'a> {
    /// Ids of the message, without its content.
    pub(super) message: MessageIds<'a>,
    /// Always null.
    #[schemars(with = "Option<Author>")]
    pub(super) actor: (),
}

impl EventData for MessageEventData<'_> {}

/// Ids of a message, its sender and its recipients.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct MessageIds<'a> {
    /// The id of the sender's copy, which only the sender can open.
    pub(super) message_id: &'a MessageId,
    /// Id of the sender.
    pub(super) sender_id: &'a UserId,
    /// Ids of the recipients.
    pub(super) recipient_ids: &'a [UserId],
}

/// Data of a ping: an empty object.
#[derive(Serialize, JsonSchema)]
pub(super) struct PingEventData {}

impl EventData for PingEventData {}

impl Event {
    /// Fields of resources that depend on the reader. Events omit them.
    #[rustfmt::skip]
    pub const READER_FIELDS: &'static [&'static str] = &["canEdit", "canDelete", "canReply", "canStartThread", "ownVote"];
}

/// A resource in its state after the change, without the fields that depend on the reader.
pub(super) struct PublicView<'a, T: Clone>(pub(super) Cow<'a, T>);

impl<T: Clone + Linked> PublicView<'_, T> {
    fn link(&mut self, web_urls: &WebUrls) {
        if web_urls.is_set() {
            web_urls.link(self.0.to_mut());
        }
    }
}

impl<T: Clone + Serialize> Serialize for PublicView<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut resource = serde_json::to_value(&self.0).map_err(S::Error::custom)?;
        strip_reader_fields(resource.as_object_mut());
        resource.serialize(serializer)
    }
}

impl<T: Clone + JsonSchema> JsonSchema for PublicView<'_, T> {
    fn schema_name() -> Cow<'static, str> {
        format!("{}Snapshot", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = T::json_schema(generator);
        for pointer in ["/properties", "/examples/0"] {
            strip_reader_fields(schema.pointer_mut(pointer).and_then(Value::as_object_mut));
        }
        let required = schema.pointer_mut("/required");
        if let Some(names) = required.and_then(Value::as_array_mut) {
            names.retain(|name| Event::READER_FIELDS.iter().all(|field| name != field));
        }
        for name in TEXT_FIELDS {
            let kind = schema.pointer_mut(&format!("/properties/{name}/type"));
            if let Some(kind) = kind.filter(|kind| *kind == "string") {
                *kind = json!(["string", "null"]);
            }
        }
        let description =
            "The resource in its state after the change, without fields that depend on the reader.";
        schema.insert("description".into(), description.into());
        schema
    }
}

fn strip_reader_fields(fields: Option<&mut Map<String, Value>>) {
    if let Some(fields) = fields {
        fields.retain(|name, _| !Event::READER_FIELDS.contains(&name.as_str()));
    }
}
