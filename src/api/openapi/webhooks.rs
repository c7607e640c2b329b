//! Webhook objects, one for each topic, generated from the event types.

use schemars::Schema;
use serde_json::{Map, Value, json};

use super::schemas::Schemas;
use crate::model::ID_PATTERN;
use crate::operation::Tag;
use crate::webhook::signing::{DELIVERY, EVENT, SIGNATURE, TIMESTAMP};
use crate::webhook::{EventKind, Topic};

/// Tag of all webhooks, with its description.
pub(super) const TAG: Tag = Tag::new("webhooks", DESCRIPTION);

const DESCRIPTION: &str =
    concat!(include_str!("webhooks.md"), "\n", include_str!("../../guide/receivers.md"));

const SEE: &str =
    "[Receiving webhooks](#group-webhooks) describes signatures, retries and responses.";

/// Header of a delivery: name, parameter name, description, schema.
type Header = (&'static str, &'static str, &'static str, fn() -> Value);

#[rustfmt::skip]
const HEADERS: &[Header] = &[
    (EVENT, "Event", "Topic of the event, at most 64 characters.",
        || json!({ "type": "string", "maxLength": 64 })),
    (DELIVERY, "Delivery", "Id of the delivery, the same on each attempt: 1 to 64 characters of `A-Z`, `a-z`, `0-9`, `_` and `-`.",
        || json!({ "type": "string", "pattern": ID_PATTERN })),
    (TIMESTAMP, "Timestamp", "Time of this attempt as Unix time in whole seconds.",
        || json!({ "type": "integer", "format": "int64" })),
    (SIGNATURE, "Signature", "`sha256=` and 64 lower-case hexadecimal digits: the HMAC-SHA-256 of timestamp, dot and raw body, keyed with the endpoint's secret.",
        || json!({ "type": "string", "pattern": "^sha256=[0-9a-f]{64}$" })),
];

/// Response of a receiver: status, response name, description.
type ReceiverResponse = (&'static str, &'static str, &'static str);

#[rustfmt::skip]
const RESPONSES: &[ReceiverResponse] = &[
    ("2XX", "DeliveryAccepted", "The receiver accepted the delivery."),
    ("410", "DeliveryGone", "The receiver rejects the delivery permanently. The board does not retry it."),
    ("default", "DeliveryFailed", "Any other response is a failure. The board makes up to six attempts in total."),
];

/// Returns a webhook for each kind of event.
pub(super) fn webhooks(kinds: &[&EventKind], schemas: &mut Schemas) -> Map<String, Value> {
    // A body must not get the name of a schema that it refers to.
    let schema = |kind: &&EventKind| (kind.schema)(&kind.topic, &mut schemas.outputs);
    let bodies: Vec<_> = kinds.iter().map(schema).collect();
    let definitions = schemas.outputs.definitions_mut();
    let webhook = |(kind, mut body): (&&EventKind, Schema)| {
        let mut name = name(&kind.topic);
        while name.is_empty() || definitions.contains_key(&name) {
            name += "Event";
        }
        body.insert("description".into(), kind.description.into());
        let operation = operation(kind, &name);
        definitions.insert(name, body.into());
        (kind.topic.to_string(), json!({ "post": operation }))
    };
    kinds.iter().zip(bodies).map(webhook).collect()
}

fn operation(kind: &EventKind, name: &str) -> Value {
    let references = HEADERS.iter().map(|(_, name, ..)| reference("parameters", name));
    let responses = RESPONSES
        .iter()
        .map(|(status, name, _)| ((*status).to_owned(), reference("responses", name)));
    let example: Value = serde_json::from_str(&kind.example_body()).unwrap_or_default();
    let (summary, more) = match kind.description.split_once(". ") {
        Some((summary, more)) => (summary, format!("{more} {SEE}")),
        None => (kind.description.trim_end_matches('.'), SEE.into()),
    };
    json!({
        "operationId": format!("on{name}"),
        "summary": summary,
        "description": more,
        "tags": [TAG.name],
        "security": [],
        "parameters": references.collect::<Vec<_>>(),
        "requestBody": {
            "required": true,
            "content": { "application/json": { "schema": reference("schemas", name), "example": example } },
        },
        "responses": responses.collect::<Map<_, _>>(),
    })
}

/// Converts a topic to a schema name: `PostCreated` for `post.created`. The name of a topic without letters is empty.
fn name(topic: &Topic) -> String {
    let capitalized = |word: &str| {
        let (first, rest) = word.split_at_checked(1)?;
        Some(first.to_uppercase() + rest)
    };
    topic.as_str().split(['.', '_']).filter_map(capitalized).collect()
}

fn reference(kind: &str, name: &str) -> Value {
    json!({ "$ref": format!("#/components/{kind}/{name}") })
}

/// Returns the header parameters that all webhooks share.
pub(super) fn parameters() -> Map<String, Value> {
    let parameter = |(header, name, description, schema): &Header| {
        let parameter = json!({
            "name": header, "in": "header", "required": true, "description": description, "schema": schema(),
        });
        ((*name).to_owned(), parameter)
    };
    HEADERS.iter().map(parameter).collect()
}

/// Returns the responses that all webhooks share.
pub(super) fn responses() -> Map<String, Value> {
    let response = |(_, name, description): &ReceiverResponse| {
        ((*name).to_owned(), json!({ "description": description }))
    };
    RESPONSES.iter().map(response).collect()
}
