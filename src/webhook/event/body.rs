//! Body of an event: serialization, truncation, and the parties of messages and ratings
//! ([protocol](crate::guide::protocol), sections 13.2, 13.4 and 13.5).

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Map, Value};

use super::{Event, EventMeta};
#[cfg(feature = "webhooks")]
use crate::model::UserId;
use crate::model::{DeliveryId, EventId, ForumId, Timestamp, first_paragraph};
use crate::webhook::Topic;

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Body<'a, T> {
    /// Id of the delivery, as in the header `x-forum-delivery`.
    ///
    /// The stored body does not have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "DeliveryId", transform = first_paragraph)]
    delivery: Option<&'a DeliveryId>,
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
    /// Only in a body without texts, because it would be larger than 256 KiB: always true. `body`, `bodyHtml`, `comment` and
    /// `extra` are then null. If the body would still be too large, titles, and the questions and options of polls, are
    /// shortened. If that does not suffice, `data` is `{}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "bool", extend("const" = true))]
    truncated: Option<bool>,
    /// The resources in their state after the change.
    data: T,
}

/// Fields that are null in a body that would be too large.
pub(super) const TEXT_FIELDS: [&str; 4] = ["body", "bodyHtml", "comment", "extra"];

/// Fields that are shortened in a body that would be too large without its texts: titles, and questions and options of polls.
const TITLE_FIELDS: [&str; 3] = ["title", "question", "text"];

/// Lengths of shortened fields in characters. The first length applies with which the body fits.
const SHORT_LENGTHS: [usize; 3] = [1000, 100, 10];

/// Returns the schema of the body of a topic's events.
pub(super) fn schema<T: JsonSchema>(topic: &Topic, generator: &mut SchemaGenerator) -> Schema {
    let mut schema = Body::<T>::json_schema(generator);
    let field = schema.pointer_mut("/properties/topic");
    if let Some(field) = field.and_then(Value::as_object_mut) {
        field.insert("const".into(), topic.as_str().into());
    }
    let required = schema.get_mut("required").and_then(Value::as_array_mut);
    if let Some(required) = required {
        required.retain(|name| name != "example" && name != "truncated" && name != "delivery");
        required.insert(0, "delivery".into());
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

/// Serializes the body. If the body is too large, its [texts](TEXT_FIELDS) are null. If it is too large nevertheless, its
/// [titles](TITLE_FIELDS) are shortened. If no length suffices, it contains no data.
pub(super) fn serialize(
    meta: &EventMeta,
    topic: &Topic,
    example: Option<bool>,
    data: &impl Serialize,
) -> String {
    let without_texts = || {
        let mut data = serde_json::to_value(data).ok()?;
        edit_fields(&mut data, &TEXT_FIELDS, &|text: &mut Value| *text = Value::Null);
        let body = try_serialize(meta, topic, example, Some(true), &data);
        body.or_else(|| {
            SHORT_LENGTHS.iter().find_map(|length| {
                edit_fields(&mut data, &TITLE_FIELDS, &|title: &mut Value| shorten(title, *length));
                try_serialize(meta, topic, example, Some(true), &data)
            })
        })
    };
    let without_data = || try_serialize(meta, topic, example, Some(true), &Map::new());
    let body = try_serialize(meta, topic, example, None, data)
        .or_else(without_texts)
        .or_else(without_data);
    body.unwrap_or_else(|| {
        tracing::error!(topic = topic.as_str(), "event cannot be serialized");
        String::new()
    })
}

/// Returns `None` for a body that is too large or cannot be serialized, for example because of a time outside of RFC 3339.
fn try_serialize(
    meta: &EventMeta,
    topic: &Topic,
    example: Option<bool>,
    truncated: Option<bool>,
    data: &impl Serialize,
) -> Option<String> {
    let content = Body {
        delivery: None,
        event: &meta.id,
        topic: topic.as_str(),
        occurred_at: meta.occurred_at,
        request_id: meta.request_id.as_deref(),
        example,
        truncated,
        data,
    };
    let body = serde_json::to_string(&content).ok();
    body.filter(|body| body.len() <= Event::MAX_STORED_LEN)
}

/// Edits all fields with one of these names, also in nested objects and in arrays.
fn edit_fields(value: &mut Value, names: &[&str], edit: &impl Fn(&mut Value)) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                if names.contains(&name.as_str()) {
                    edit(value);
                } else {
                    edit_fields(value, names, edit);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| edit_fields(item, names, edit)),
        _ => {}
    }
}

/// Shortens a string to at most `length` characters.
fn shorten(value: &mut Value, length: usize) {
    if let Value::String(text) = value
        && let Some((end, _)) = text.char_indices().nth(length)
    {
        text.truncate(end);
    }
}

/// Returns the body of a delivery: the stored body of its event, with the id of the delivery as the first field. `None` if
/// the stored body is not a JSON object with fields.
pub(crate) fn delivery_body(stored: &str, id: &DeliveryId) -> Option<String> {
    let fields = stored.strip_prefix('{').filter(|fields| fields.starts_with('"'))?;
    Some(format!("{{\"delivery\":\"{id}\",{fields}"))
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
/// Returns `true` if `member` may receive the event, regardless of the event's forum. `message.sent` concerns only its sender
/// and its recipients, and `member.rated` only the rated member and the rater; every other topic concerns all members, and
/// so does an example.
///
/// The parties are read from the body. An event of these two topics without parties concerns no member.
pub(crate) fn concerns(topic: &Topic, body: &str, member: &UserId) -> bool {
    let is_example = || parse_part(body, "/example") == Some(true);
    if *topic == Topic::MESSAGE_SENT {
        let parties = parse_part::<MessageParties>(body, "/data/message");
        parties.is_some_and(|parties| {
            parties.sender_id == *member || parties.recipient_ids.contains(member)
        }) || is_example()
    } else if *topic == Topic::MEMBER_RATED {
        let parties = parse_part::<RatingParties>(body, "/data");
        parties.is_some_and(|parties| {
            let is_rater = |rater: RatingParty| rater.user_id == *member;
            parties.member.user_id == *member || parties.actor.is_some_and(is_rater)
        }) || is_example()
    } else {
        true
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

    use super::{Event, delivery_body};
    use crate::model::{DeliveryId, Timestamp};
    use crate::webhook::Topic;
    use crate::webhook::event::constructors::example_meta;

    fn serialize(data: &impl serde::Serialize) -> String {
        let meta = example_meta(&Topic::POST_CREATED);
        super::serialize(&meta, &Topic::POST_CREATED, None, data)
    }

    #[test]
    fn a_body_that_is_too_large_has_no_texts() {
        let long = "x".repeat(Event::MAX_STORED_LEN - serialize(&"").len());
        let too_long = format!("{long}x");
        let post = |body: Value| {
            json!({
                "post": { "postId": "40", "body": body, "bodyHtml": body, "extra": body, "author": { "username": "alice" } },
                "ratings": [{ "comment": body, "points": 1 }],
                "actor": null,
            })
        };
        for (data, expected, is_truncated) in [
            (json!(long), json!(long), false),
            (post(json!(&long[1..])), post(Value::Null), true),
            (post(json!("short")), post(json!("short")), false),
            (json!(too_long), json!({}), true),
            (json!({ "userIds": vec!["x"; Event::MAX_STORED_LEN] }), json!({}), true),
        ] {
            let text = serialize(&data);
            assert!(text.len() <= Event::MAX_STORED_LEN);
            let body: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(body["data"], expected);
            assert_eq!(body.get("truncated"), is_truncated.then_some(&json!(true)));
        }
        let no_calendar_date = serialize(&Timestamp::from_millis(i64::MAX));
        let body: Value = serde_json::from_str(&no_calendar_date).unwrap();
        assert_eq!(body["data"], json!({}), "a time that cannot be serialized");
    }

    #[test]
    fn titles_are_shortened_if_a_body_without_texts_is_too_large() {
        let thread = |title: &str, body: Value| {
            let post = json!({ "postId": "40", "body": body });
            json!({ "post": post, "thread": { "threadId": "7", "title": title } })
        };
        let poll = |options: usize, text: &str| {
            let option = |id| json!({ "optionId": format!("{id}"), "text": text, "votes": 0 });
            let options: Vec<_> = (0..options).map(option).collect();
            json!({ "poll": { "question": "Tea?", "options": options } })
        };
        let quotes = "\"".repeat(400_000);
        for (data, expected) in [
            (thread(&quotes, json!("short")), thread(&quotes[..1000], Value::Null)),
            (poll(1000, &"\u{e9}".repeat(300)), poll(1000, &"\u{e9}".repeat(100))),
            (poll(2000, &"\u{1f600}".repeat(300)), poll(2000, &"\u{1f600}".repeat(10))),
            (poll(9000, &"x".repeat(300)), json!({})),
        ] {
            let text = serialize(&data);
            assert!(text.len() <= Event::MAX_STORED_LEN);
            let body: Value = serde_json::from_str(&text).unwrap();
            assert_eq!((&body["data"], &body["truncated"]), (&expected, &json!(true)));
        }
    }

    #[test]
    fn the_body_of_a_delivery_has_its_id_and_fits() {
        let id = DeliveryId::parse(&"d".repeat(64)).unwrap();
        let stored = serialize(&"x".repeat(Event::MAX_STORED_LEN - serialize(&"").len()));
        let body = delivery_body(&stored, &id).unwrap();
        assert_eq!((stored.len(), body.len()), (Event::MAX_STORED_LEN, Event::MAX_BODY_LEN));
        let body: Value = serde_json::from_str(&body).unwrap();
        assert_eq!((&body["delivery"], &body["topic"]), (&json!(id), &json!("post.created")));
        for malformed in ["", "{}", "[]", "text"] {
            assert_eq!(delivery_body(malformed, &id), None);
        }
    }
}
