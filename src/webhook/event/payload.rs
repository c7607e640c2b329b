//! The data of the library's events: the resource under its name, with its context.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::ser::Error;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::{Event, EventContext, ForumSummary};
use crate::model::{Author, MessageId, Poll, Post, Rating, Thread, UserId};

/// Something happened to a thread, or to what is in it. `A` is the actor: a member if any, or none that is published.
#[derive(Serialize, JsonSchema)]
#[schemars(
    rename = "ThreadEvent",
    description = "Something happened to a thread."
)]
pub(super) struct ThreadEvent<'a, A = Option<&'a Author>> {
    /// The thread.
    pub(super) thread: PublicView<'a, Thread>,
    /// The forum that it is in.
    pub(super) forum: ForumSummary,
    /// Who did it; null when no member did, and where nobody is told who.
    pub(super) actor: A,
}

impl<'a> ThreadEvent<'a> {
    pub(super) fn new(around: EventContext<'a>) -> Self {
        Self::by(around.actor, around)
    }
}

impl<'a, A> ThreadEvent<'a, A> {
    pub(super) fn by(actor: A, around: EventContext<'a>) -> Self {
        Self {
            thread: PublicView(Cow::Borrowed(around.thread)),
            forum: around.forum(),
            actor,
        }
    }
}

/// Something happened to a post.
#[derive(Serialize, JsonSchema)]
pub(super) struct PostEvent<'a> {
    /// The post.
    pub(super) post: PublicView<'a, Post>,
    #[serde(flatten)]
    pub(super) around: ThreadEvent<'a>,
}

/// Something happened to a poll.
#[derive(Serialize, JsonSchema)]
pub(super) struct PollEvent<'a> {
    /// The poll.
    pub(super) poll: PublicView<'a, Poll>,
    #[serde(flatten)]
    pub(super) around: ThreadEvent<'a>,
}

/// Somebody voted.
#[derive(Serialize, JsonSchema)]
pub(super) struct VoteEvent<'a> {
    /// The poll, with its totals.
    pub(super) poll: PublicView<'a, Poll>,
    #[serde(flatten)]
    pub(super) around: ThreadEvent<'a, ()>,
}

/// A member was rated.
#[derive(Serialize, JsonSchema)]
pub(super) struct RatingEvent<'a> {
    /// The rating.
    pub(super) rating: &'a Rating,
    /// Who was rated.
    pub(super) member: &'a Author,
    /// The forum of the post that it is about, if any.
    pub(super) forum: Option<&'a ForumSummary>,
    /// Who rated; null when the account is gone.
    pub(super) actor: Option<&'a Author>,
}

/// A private message was sent.
#[derive(Serialize, JsonSchema)]
pub(super) struct MessageEvent<'a> {
    /// The message's ids, and nothing else of it.
    pub(super) message: MessageIds<'a>,
    /// Always null.
    pub(super) actor: (),
}

/// Which message, from whom and to whom.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct MessageIds<'a> {
    /// The id of the sender's copy.
    pub(super) message_id: &'a MessageId,
    /// Who sent it.
    pub(super) sender_id: &'a UserId,
    /// To whom it was sent.
    pub(super) recipient_ids: &'a [UserId],
}

/// Nothing happened: an endpoint is tried.
#[derive(Serialize, JsonSchema)]
pub(super) struct PingEvent {}

impl Event {
    /// The fields of resources that depend on the reader. No event has them.
    #[rustfmt::skip]
    pub const READER_FIELDS: [&str; 5] = ["canEdit", "canDelete", "canReply", "canStartThread", "ownVote"];
}

/// A resource as it was when the change was committed, without what depends on a reader.
pub(super) struct PublicView<'a, T: Clone>(pub(super) Cow<'a, T>);

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
        for part in ["/properties", "/examples/0"] {
            strip_reader_fields(schema.pointer_mut(part).and_then(Value::as_object_mut));
        }
        let required = schema.pointer_mut("/required");
        if let Some(names) = required.and_then(Value::as_array_mut) {
            names.retain(|name| Event::READER_FIELDS.iter().all(|field| name != field));
        }
        let says = "As it was when the change was committed, without what depends on a reader.";
        schema.insert("description".into(), says.into());
        schema
    }
}

fn strip_reader_fields(fields: Option<&mut Map<String, Value>>) {
    if let Some(fields) = fields {
        fields.retain(|name, _| !Event::READER_FIELDS.contains(&name.as_str()));
    }
}
