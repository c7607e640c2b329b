//! The webhooks of the OpenAPI document (`docs/protocol.md`, section 13.3).

use forum_api::Environment;
use forum_api::runtime::InlineRuntime;
use std::collections::BTreeSet;

use forum_api::scope::Surface;
use forum_api::webhook::{Event, Topic};
use forum_api::{ApiSettings, openapi_document};
use serde_json::{Value, json};

use crate::support::schema::{check, resolve_ref};

fn document(surface: Surface) -> Value {
    let environment = Environment::new(InlineRuntime).surface(surface);
    openapi_document(&ApiSettings::default(), &environment)
}

/// The topic and the operation of each webhook.
fn webhooks(document: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let webhooks = document["webhooks"].as_object().unwrap().iter();
    webhooks.map(|(topic, webhook)| (topic.as_str(), &webhook["post"]))
}

/// They are sent whichever surface is served.
#[test]
fn both_surfaces_list_every_topic() {
    let topics = Topic::STANDARD.into_iter().chain([Topic::PING]);
    let topics: BTreeSet<_> = topics.map(|topic| topic.to_string()).collect();
    for surface in [Surface::Full, Surface::Compact] {
        let document = document(surface);
        let listed: BTreeSet<_> = webhooks(&document)
            .map(|(topic, _)| topic.to_owned())
            .collect();
        assert_eq!(listed, topics);
        assert!(
            document["tags"]
                .as_array()
                .unwrap()
                .iter()
                .any(|tag| tag["name"] == "webhooks")
        );
    }
}

#[test]
fn each_has_the_four_headers_and_says_what_to_answer() {
    let document = document(Surface::Full);
    for (topic, operation) in webhooks(&document) {
        let parameters = operation["parameters"].as_array().unwrap().iter();
        let headers = parameters.map(|parameter| &resolve_ref(&document, parameter)["name"]);
        let expected = [
            "x-forum-event",
            "x-forum-delivery",
            "x-forum-timestamp",
            "x-forum-signature",
        ];
        assert_eq!(
            json!(headers.collect::<Vec<_>>()),
            json!(expected),
            "{topic}"
        );
        let answers = operation["responses"].as_object().unwrap().iter();
        let answers: Vec<_> = answers
            .filter(|(_, answer)| resolve_ref(&document, answer)["description"].is_string())
            .map(|(status, _)| status)
            .collect();
        assert_eq!(answers, ["2XX", "410", "default"], "{topic}");
    }
}

#[test]
fn examples_are_as_their_schemas_say() {
    let document = document(Surface::Full);
    for (topic, operation) in webhooks(&document) {
        let content = &operation["requestBody"]["content"]["application/json"];
        let (schema, example) = (&content["schema"], &content["example"]);
        assert_eq!(example["topic"], topic);
        check(&document, schema, example).unwrap_or_else(|reason| panic!("{topic}: {reason}"));
        let mut truncated = example.clone();
        truncated["data"] = json!({ "truncated": true, "thread": { "threadId": "17" } });
        check(&document, schema, &truncated).unwrap();
        truncated["topic"] = json!("thread.moved");
        check(&document, schema, &truncated).unwrap_err();
        truncated["data"] = json!({ "truncated": false });
        check(&document, schema, &truncated).unwrap_err();
    }
}

/// Whoever reads would get another event: schemas, examples and what they refer to know no such field.
#[test]
fn no_field_depends_on_a_reader() {
    let document = document(Surface::Full);
    let mut parts: Vec<&Value> = webhooks(&document)
        .map(|(_, operation)| &operation["requestBody"])
        .collect();
    while let Some(part) = parts.pop() {
        let part = resolve_ref(&document, part);
        if let Some(fields) = part.as_object() {
            let found = Event::READER_FIELDS
                .iter()
                .find(|name| fields.contains_key(**name));
            assert_eq!(found, None, "{part}");
        }
        let (fields, items) = (part.as_object(), part.as_array());
        parts.extend(fields.into_iter().flat_map(|fields| fields.values()));
        parts.extend(items.into_iter().flatten());
    }
}
