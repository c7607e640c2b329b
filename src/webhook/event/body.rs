//! The body of an event's deliveries, and the parties of a private message in it.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Map, Value};

use super::{Event, EventMeta};
#[cfg(feature = "webhooks")]
use crate::model::UserId;
use crate::model::{EventId, Timestamp};
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
    /// The resources, as of the commit of the change.
    data: Data<T>,
}

#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
enum Data<T> {
    Whole(T),
    Truncated(Truncated),
}

/// The ids of an event that would be larger than 256 KiB.
#[derive(Serialize, JsonSchema)]
#[serde(rename = "TruncatedEvent")]
struct Truncated {
    /// Always true.
    #[schemars(extend("const" = true))]
    truncated: bool,
    #[serde(flatten)]
    ids: Map<String, Value>,
}

/// The schema of the bodies of a topic's events.
pub(super) fn schema<T: JsonSchema>(topic: &Topic, generator: &mut SchemaGenerator) -> Schema {
    let mut schema = Body::<T>::json_schema(generator);
    let field = schema.pointer_mut("/properties/topic");
    if let Some(field) = field.and_then(Value::as_object_mut) {
        field.insert("const".into(), topic.as_str().into());
    }
    schema
}

/// The body with all of `data`, or with its ids alone, or with neither where even these are too many.
pub(super) fn text(on: &EventMeta, topic: &Topic, data: &impl Serialize) -> String {
    let truncated = |ids| written::<()>(on, topic, Data::Truncated(ids));
    let body = written(on, topic, Data::Whole(data))
        .or_else(|| truncated(Truncated::to(data)))
        .or_else(|| truncated(Truncated::to(&())));
    body.unwrap_or_default()
}

/// `None` for what is too long, or cannot be written, as a time that no calendar knows.
fn written<T: Serialize>(on: &EventMeta, topic: &Topic, data: Data<T>) -> Option<String> {
    let body = Body {
        event: &on.id,
        topic: topic.as_str(),
        occurred_at: on.occurred_at,
        data,
    };
    let written = serde_json::to_string(&body).ok();
    written.filter(|body| body.len() <= Event::MAX_BODY)
}

impl Truncated {
    fn to(data: &impl Serialize) -> Self {
        let ids = match serde_json::to_value(data).map(ids) {
            Ok(Some(Value::Object(ids))) => ids,
            _ => Map::new(),
        };
        Self {
            truncated: true,
            ids,
        }
    }
}

/// The ids in `value`, in their places; `None` where there are none.
fn ids(value: Value) -> Option<Value> {
    match value {
        Value::Object(fields) => {
            let kept = fields.into_iter().filter_map(|(name, value)| {
                let is_id = name.ends_with("Id") || name.ends_with("Ids");
                let value = if is_id { Some(value) } else { ids(value) };
                value.map(|value| (name, value))
            });
            let kept: Map<_, _> = kept.collect();
            (!kept.is_empty()).then(|| kept.into())
        }
        Value::Array(items) => {
            let kept: Vec<_> = items.into_iter().filter_map(ids).collect();
            (!kept.is_empty()).then(|| kept.into())
        }
        _ => None,
    }
}

#[cfg(feature = "webhooks")]
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct Parties {
    sender_id: UserId,
    recipient_ids: Vec<UserId>,
}

#[cfg(feature = "webhooks")]
impl Event {
    /// Checks that `member` may receive the event as far as it depends on the member alone. `message.sent` concerns its
    /// sender and its recipients; every other topic concerns everyone (`docs/protocol.md`, section 13.5).
    ///
    /// The parties are those that the body names. A `message.sent` without them concerns no member.
    pub(crate) fn concerns(&self, member: &UserId) -> bool {
        if self.topic != Topic::MESSAGE_SENT {
            return true;
        }
        let body: Option<Value> = serde_json::from_str(&self.body).ok();
        let message = body.and_then(|mut body| Some(body.pointer_mut("/data/message")?.take()));
        let parties: Option<Parties> =
            message.and_then(|message| serde_json::from_value(message).ok());
        parties.is_some_and(
            |Parties {
                 sender_id,
                 recipient_ids,
             }| { sender_id == *member || recipient_ids.contains(member) },
        )
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Event, text};
    use crate::model::Timestamp;
    use crate::webhook::Topic;
    use crate::webhook::event::constructors::example_occasion as occasion;

    #[test]
    fn a_body_that_is_too_large_keeps_its_ids() {
        let frame = text(&occasion(), &Topic::POST_CREATED, &"").len();
        let long = "x".repeat(Event::MAX_BODY - frame);
        let truncated = json!({ "truncated": true });
        for (data, expected) in [
            (json!(long), json!(long)),
            (json!(format!("{long}x")), truncated.clone()),
            (
                json!({ "userIds": vec!["x"; Event::MAX_BODY] }),
                truncated.clone(),
            ),
            (
                json!({
                    "post": { "postId": "40", "body": long, "author": { "userId": "3", "username": "alice" } },
                    "poll": { "options": [{ "optionId": "1", "text": "Green" }], "tags": ["a"] },
                    "recipientIds": ["4", "5"],
                    "actor": null,
                }),
                json!({
                    "post": { "postId": "40", "author": { "userId": "3" } },
                    "poll": { "options": [{ "optionId": "1" }] },
                    "recipientIds": ["4", "5"],
                    "truncated": true,
                }),
            ),
        ] {
            let text = text(&occasion(), &Topic::POST_CREATED, &data);
            assert!(text.len() <= Event::MAX_BODY);
            let body: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(body["data"], expected);
        }
        let no_calendar_date = Timestamp::from_millis(i64::MAX);
        let text = text(&occasion(), &Topic::POLL_VOTED, &no_calendar_date);
        let body: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(body["data"], truncated, "it cannot be written");
    }
}
