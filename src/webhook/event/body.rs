//! Body of an event: serialization, truncation, and the parties of messages and ratings
//! ([protocol](crate::guide::protocol), sections 13.2, 13.4 and 13.5).

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Map, Value};

use super::{Event, EventMeta};
use crate::model::{
    EventId, ForumId, MessageId, OptionId, PollId, PostId, RatingId, ThreadId, Timestamp, UserId,
};
use crate::webhook::Topic;

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Body<'a, T> {
    /// Id of the event, the same in all of its deliveries.
    event: &'a EventId,
    /// Topic of the event.
    topic: &'a str,
    /// Time of the event.
    occurred_at: Timestamp,
    /// Id of the API request that caused the event, as in its header `x-request-id`; null if no API request caused it.
    request_id: Option<&'a str>,
    /// Only in an example that an administrator sent: always true.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "bool", extend("const" = true))]
    example: Option<bool>,
    /// Only in a body that contains only ids, because it would be larger than 256 KiB: always true.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "bool", extend("const" = true))]
    truncated: Option<bool>,
    /// The resources in their state after the change.
    data: Data<T>,
}

/// The resources in their state after the change, or the ids of an event that would be larger than 256 KiB.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "{T}OrTruncated")]
enum Data<T> {
    Whole(T),
    Truncated(Truncated),
}

/// The ids of an event that would be larger than 256 KiB.
#[derive(Serialize, JsonSchema)]
#[serde(rename = "TruncatedEventData")]
struct Truncated {
    /// Always true.
    #[schemars(extend("const" = true))]
    truncated: bool,
    #[serde(flatten)]
    #[schemars(with = "EventIds")]
    ids: Map<String, Value>,
}

/// The ids of an event, at their paths.
#[derive(JsonSchema)]
#[schemars(transform = make_open)]
#[expect(dead_code, reason = "describes ids of any event")]
struct EventIds {
    /// Ids of the thread.
    thread: ResourceIds,
    /// Ids of the post.
    post: ResourceIds,
    /// Ids of the poll.
    poll: ResourceIds,
    /// Id of the forum.
    forum: ResourceIds,
    /// Ids of the rating.
    rating: ResourceIds,
    /// Id of the rated member.
    member: MemberIds,
    /// Ids of the message.
    message: ResourceIds,
    /// Id of the member who made the change.
    actor: MemberIds,
}

/// The ids of a resource in an event without its texts. It has only those ids that the resource has.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", transform = make_open)]
#[expect(dead_code, reason = "describes ids of any resource")]
struct ResourceIds {
    forum_id: ForumId,
    thread_id: ThreadId,
    /// Id of the thread's first post.
    first_post_id: PostId,
    /// Id of the poll; null if the thread has none.
    poll_id: Option<PollId>,
    post_id: PostId,
    /// Id of the post that the post replies to; null if it replies to the thread itself.
    in_reply_to: Option<PostId>,
    rating_id: RatingId,
    user_id: UserId,
    message_id: MessageId,
    /// Id of the sender.
    sender_id: UserId,
    /// Ids of the recipients.
    recipient_ids: Vec<UserId>,
    /// Id of the author.
    author: MemberIds,
    /// Id of the last editor.
    edited_by: MemberIds,
    /// Ids of the thread's last post.
    last_post: PartIds,
    /// Ids of the poll's options.
    options: Vec<PartIds>,
}

/// The ids of a part of a resource in an event without its texts.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", transform = make_open)]
#[expect(dead_code, reason = "describes the ids of any part")]
struct PartIds {
    post_id: PostId,
    option_id: OptionId,
    /// Id of the author.
    author: MemberIds,
}

/// The id of a member in an event without its texts.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes the id of any member")]
struct MemberIds {
    user_id: UserId,
}

/// Allows omitted and additional fields.
fn make_open(schema: &mut Schema) {
    schema.remove("required");
    schema.insert("additionalProperties".into(), true.into());
}

/// Returns the schema of the body of a topic's events.
pub(super) fn schema<T: JsonSchema>(topic: &Topic, generator: &mut SchemaGenerator) -> Schema {
    let mut schema = Body::<T>::json_schema(generator);
    let field = schema.pointer_mut("/properties/topic");
    if let Some(field) = field.and_then(Value::as_object_mut) {
        field.insert("const".into(), topic.as_str().into());
    }
    let required = schema.get_mut("required").and_then(Value::as_array_mut);
    if let Some(required) = required {
        required.retain(|name| name != "example");
    }
    schema
}

impl Event {
    /// Creates an event of a host's own `topic`, which [`Environment::topic`](crate::Environment::topic) adds.
    ///
    /// The worker sends it to the subscribed endpoints whose owner can see the forum. If `forum_id` is `None`, the
    /// worker sends it to all subscribed endpoints whose owner has access:
    /// [`member_access`](crate::host::Authorizer::member_access) does not return `None`. All recipients receive the
    /// same `data`, so it must not contain fields that depend on the reader's permissions. For [`Topic::MESSAGE_SENT`]
    /// use [`message_sent`](Self::message_sent), and for [`Topic::MEMBER_RATED`]
    /// [`member_rated`](Self::member_rated): the worker reads the parties from `data`, and sends the event only to
    /// their endpoints.
    pub fn new(
        topic: Topic,
        meta: EventMeta,
        forum_id: Option<ForumId>,
        data: &impl Serialize,
    ) -> Self {
        Self::with_data(topic, meta, forum_id, data)
    }

    pub(super) fn with_data(
        topic: Topic,
        meta: EventMeta,
        forum_id: Option<ForumId>,
        data: impl Serialize,
    ) -> Self {
        let body = serialize(&meta, &topic, None, &data);
        Self::with_body(topic, meta, forum_id, body)
    }

    pub(super) fn with_body(
        topic: Topic,
        meta: EventMeta,
        forum_id: Option<ForumId>,
        body: String,
    ) -> Self {
        Self {
            id: meta.id,
            topic,
            occurred_at: meta.occurred_at,
            forum_id,
            request_id: meta.request_id,
            body,
        }
    }
}

/// Serializes the body. If the body is too large, it contains only the ids of `data`. If the ids are too large as well,
/// it contains no data.
pub(super) fn serialize(
    meta: &EventMeta,
    topic: &Topic,
    example: Option<bool>,
    data: &impl Serialize,
) -> String {
    let truncated = |ids| try_serialize::<()>(meta, topic, example, Data::Truncated(ids));
    let body = try_serialize(meta, topic, example, Data::Whole(data))
        .or_else(|| truncated(Truncated::from_data(data)))
        .or_else(|| truncated(Truncated::from_data(&())));
    body.unwrap_or_else(|| {
        tracing::error!(topic = topic.as_str(), "event cannot be serialized");
        String::new()
    })
}

/// Returns `None` for a body that is too large or cannot be serialized, for example because of a time outside of RFC 3339.
fn try_serialize<T: Serialize>(
    meta: &EventMeta,
    topic: &Topic,
    example: Option<bool>,
    data: Data<T>,
) -> Option<String> {
    let content = Body {
        event: &meta.id,
        topic: topic.as_str(),
        occurred_at: meta.occurred_at,
        request_id: meta.request_id.as_deref(),
        example,
        truncated: matches!(data, Data::Truncated(_)).then_some(true),
        data,
    };
    let body = serde_json::to_string(&content).ok();
    body.filter(|body| body.len() <= Event::MAX_BODY_LEN)
}

impl Truncated {
    fn from_data(data: &impl Serialize) -> Self {
        let ids = match serde_json::to_value(data).map(ids) {
            Ok(Some(Value::Object(ids))) => ids,
            _ => Map::new(),
        };
        Self { truncated: true, ids }
    }
}

/// Keeps only the ids of `value`, at their paths. `None` if it contains no ids.
fn ids(value: Value) -> Option<Value> {
    match value {
        Value::Object(fields) => {
            let fields: Map<_, _> = fields
                .into_iter()
                .filter_map(|(name, value)| {
                    let is_id =
                        name.ends_with("Id") || name.ends_with("Ids") || name == "inReplyTo";
                    let value = if is_id { Some(value) } else { ids(value) };
                    value.map(|value| (name, value))
                })
                .collect();
            (!fields.is_empty()).then(|| fields.into())
        }
        Value::Array(items) => {
            let items: Vec<_> = items.into_iter().filter_map(ids).collect();
            (!items.is_empty()).then(|| items.into())
        }
        _ => None,
    }
}

#[cfg(feature = "webhooks")]
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct MessageParties {
    sender_id: UserId,
    recipient_ids: Vec<UserId>,
}

#[cfg(feature = "webhooks")]
#[derive(serde::Deserialize)]
struct RatingParties {
    member: RatingParty,
    actor: Option<RatingParty>,
}

#[cfg(feature = "webhooks")]
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct RatingParty {
    user_id: UserId,
}

#[cfg(feature = "webhooks")]
impl Event {
    /// Returns `true` if `member` may receive the event, regardless of the event's forum. `message.sent` concerns only
    /// its sender and its recipients, and `member.rated` only the rated member and the rater; every other topic
    /// concerns all members, and so does an example.
    ///
    /// The parties are read from the body. An event of these two topics without parties concerns no member.
    pub(crate) fn concerns(&self, member: &UserId) -> bool {
        let body = &self.body;
        let is_example = || parse_part(body, "/example") == Some(true);
        if self.topic == Topic::MESSAGE_SENT {
            let parties = parse_part::<MessageParties>(body, "/data/message");
            parties.is_some_and(|parties| {
                parties.sender_id == *member || parties.recipient_ids.contains(member)
            }) || is_example()
        } else if self.topic == Topic::MEMBER_RATED {
            let parties = parse_part::<RatingParties>(body, "/data");
            parties.is_some_and(|parties| {
                let is_rater = |rater: RatingParty| rater.user_id == *member;
                parties.member.user_id == *member || parties.actor.is_some_and(is_rater)
            }) || is_example()
        } else {
            true
        }
    }
}

/// Reads the value at a JSON pointer of a body; `None` if it is missing or of another type.
#[cfg(feature = "webhooks")]
pub(super) fn parse_part<T: serde::de::DeserializeOwned>(body: &str, pointer: &str) -> Option<T> {
    let mut body: Value = serde_json::from_str(body).ok()?;
    serde_json::from_value(body.pointer_mut(pointer)?.take()).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Event;
    use crate::model::Timestamp;
    use crate::webhook::Topic;
    use crate::webhook::event::constructors::example_meta;

    fn serialize(data: &impl serde::Serialize) -> String {
        let meta = example_meta(&Topic::POST_CREATED);
        super::serialize(&meta, &Topic::POST_CREATED, None, data)
    }

    #[test]
    fn a_body_that_is_too_large_keeps_its_ids() {
        let long = "x".repeat(Event::MAX_BODY_LEN - serialize(&"").len());
        let truncated = json!({ "truncated": true });
        let ids = json!({ "userIds": vec!["x"; Event::MAX_BODY_LEN] });
        for (data, expected) in [
            (json!(long), json!(long)),
            (json!(format!("{long}x")), truncated.clone()),
            (ids, truncated.clone()),
            (
                json!({
                    "post": { "postId": "40", "inReplyTo": "39", "body": long, "author": { "userId": "3", "username": "alice" } },
                    "poll": { "options": [{ "optionId": "1", "text": "Green" }], "tags": ["a"] },
                    "recipientIds": ["4", "5"],
                    "actor": null,
                }),
                json!({
                    "post": { "postId": "40", "inReplyTo": "39", "author": { "userId": "3" } },
                    "poll": { "options": [{ "optionId": "1" }] },
                    "recipientIds": ["4", "5"],
                    "truncated": true,
                }),
            ),
        ] {
            let text = serialize(&data);
            assert!(text.len() <= Event::MAX_BODY_LEN);
            let body: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(body["data"], expected);
            assert_eq!(body.get("truncated"), expected.get("truncated"));
        }
        let no_calendar_date = serialize(&Timestamp::from_millis(i64::MAX));
        let body: Value = serde_json::from_str(&no_calendar_date).unwrap();
        assert_eq!(body["data"], truncated, "a time that cannot be serialized");
    }
}
