//! The body of an event's deliveries.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Map, Value};

use super::{Event, Occasion};
use crate::model::{EventId, Timestamp};
use crate::webhook::Topic;

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Body<'a, T> {
    /// The event's id, the same in all of its deliveries.
    event: &'a EventId,
    /// What it is about.
    topic: &'a str,
    /// When it happened.
    occurred_at: Timestamp,
    /// What happened, as it was when the change was committed.
    data: Data<T>,
}

#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
enum Data<T> {
    Whole(T),
    Truncated(Truncated),
}

/// The ids of an event that would be larger than 256 KiB, in their places.
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
pub(super) fn text(on: &Occasion, topic: &Topic, data: &impl Serialize) -> String {
    let truncated = |ids| written::<()>(on, topic, Data::Truncated(ids));
    let body = written(on, topic, Data::Whole(data))
        .or_else(|| truncated(Truncated::to(data)))
        .or_else(|| truncated(Truncated::to(&())));
    body.unwrap_or_default()
}

/// `None` for what is too long, or cannot be written, as a time that no calendar knows.
fn written<T: Serialize>(on: &Occasion, topic: &Topic, data: Data<T>) -> Option<String> {
    let body = Body {
        event: &on.id,
        topic: topic.as_str(),
        occurred_at: on.at,
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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Event, text};
    use crate::model::Timestamp;
    use crate::webhook::Topic;
    use crate::webhook::event::examples;

    fn data(of: &Value) -> Value {
        let text = text(&examples::occasion(), &Topic::POST_CREATED, of);
        assert!(text.len() <= Event::MAX_BODY);
        let body: Value = serde_json::from_str(&text).unwrap();
        body["data"].clone()
    }

    #[test]
    fn what_is_too_large_keeps_its_ids() {
        let long = "x".repeat(Event::MAX_BODY);
        let of = json!({
            "post": { "postId": "40", "body": long, "author": { "userId": "3", "username": "alice" } },
            "poll": { "options": [{ "optionId": "1", "text": "Green" }], "tags": ["a"] },
            "recipientIds": ["4", "5"],
            "actor": null,
        });
        let kept = json!({
            "post": { "postId": "40", "author": { "userId": "3" } },
            "poll": { "options": [{ "optionId": "1" }] },
            "recipientIds": ["4", "5"],
            "truncated": true,
        });
        assert_eq!(data(&of), kept);
    }

    #[test]
    fn what_cannot_be_written_leaves_a_body() {
        let text = text(
            &examples::occasion(),
            &Topic::POLL_VOTED,
            &Timestamp::from_millis(i64::MAX),
        );
        let body: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(body["data"], json!({ "truncated": true }));
    }

    #[test]
    fn too_many_ids_are_none() {
        let ids = vec!["x"; Event::MAX_BODY];
        assert_eq!(
            data(&json!({ "userIds": ids })),
            json!({ "truncated": true })
        );
    }

    #[test]
    fn what_just_fits_is_whole() {
        let frame = text(&examples::occasion(), &Topic::POST_CREATED, &"").len();
        let fits = Value::from("x".repeat(Event::MAX_BODY - frame));
        assert_eq!(data(&fits), fits);
        let larger = Value::from("x".repeat(Event::MAX_BODY - frame + 1));
        assert_eq!(data(&larger), json!({ "truncated": true }));
    }
}
