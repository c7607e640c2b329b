//! The types of `forum_api::model` in a client: each example of the OpenAPI document is parsed and written again.

use std::collections::BTreeSet;

use forum_api::host::*;
use forum_api::model::*;
use forum_api::rate_limit::{Budget, RateLimitDecision, RateLimitKey, WindowState};
use forum_api::scope::{Scope, Surface};
use forum_api::store::{Stores, WebhookStores};
use forum_api::token::{IssueError, PlainToken, TokenRecord, TokenRequest};
use forum_api::webhook::{Delivery, Endpoint, Event, Topic, TopicSet};
use forum_api::webhook_admin::{WebhookAdmin, WebhookAdminError};
use forum_api::worker::{Worker, WorkerHandle};
use forum_api::{ApiSettings, Environment, ForumApi, ForumApiBuilder};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::openapi::document;

fn round_trip<T: Serialize + DeserializeOwned>(example: &Value) -> Value {
    let parsed: T = serde_json::from_value(example.clone()).unwrap();
    serde_json::to_value(parsed).unwrap()
}

type RoundTrip = fn(&Value) -> Value;

#[rustfmt::skip]
const TYPES: &[(&str, RoundTrip)] = &[
    ("Author", round_trip::<Author>), ("Forum", round_trip::<Forum>), ("Me", round_trip::<Me>),
    ("Member", round_trip::<Member>), ("Message", round_trip::<Message>),
    ("MessageSummary", round_trip::<MessageSummary>), ("NewMessage", round_trip::<NewMessage>),
    ("NewPost", round_trip::<NewPost>), ("NewRating", round_trip::<NewRating>),
    ("NewSubscription", round_trip::<NewSubscription>), ("NewThread", round_trip::<NewThread>),
    ("NewVote", round_trip::<NewVote>), ("Poll", round_trip::<Poll>), ("PollUpdate", round_trip::<PollUpdate>),
    ("Post", round_trip::<Post>), ("PostUpdate", round_trip::<PostUpdate>), ("Rating", round_trip::<Rating>),
    ("SearchHit", round_trip::<SearchHit>), ("Subscription", round_trip::<Subscription>),
    ("Thread", round_trip::<Thread>),
];

/// Checks that `written` has the fields of `example`. Omitted fields of a request are written with their defaults.
fn assert_contains(written: &Value, example: &Value, name: &str) {
    for (field, value) in example.as_object().unwrap() {
        assert_eq!(written.get(field), Some(value), "{name}: {field}");
    }
}

#[test]
fn every_example_is_parsed_and_written_again() {
    let document = document(Surface::Full);
    let mut seen = BTreeSet::new();
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        let examples = schema.get("examples").and_then(Value::as_array);
        // Snapshots in events omit the fields that depend on the reader.
        for example in examples
            .into_iter()
            .flatten()
            .filter(|_| !name.ends_with("Snapshot"))
        {
            let (known, round_trip) = TYPES.iter().find(|(known, _)| known == name).expect(name);
            assert_contains(&round_trip(example), example, name);
            seen.insert(*known);
        }
    }
    assert_eq!(seen, TYPES.iter().map(|(name, _)| *name).collect());
}

#[test]
fn every_error_example_has_a_known_code() {
    let document = document(Surface::Full);
    let mut count = 0;
    for response in document["components"]["responses"]
        .as_object()
        .unwrap()
        .values()
    {
        let examples = &response["content"]["application/json"]["examples"];
        for example in examples.as_object().into_iter().flat_map(Map::values) {
            let body: ErrorBody = serde_json::from_value(example["value"].clone()).unwrap();
            assert!(body.error.code.parse::<ErrorCode>().is_ok(), "{body:?}");
            assert_eq!(&serde_json::to_value(body).unwrap(), &example["value"]);
            count += 1;
        }
    }
    assert!(count > 0);
}

#[test]
fn a_page_is_parsed_with_its_cursor() {
    let document = document(Surface::Full);
    let author = &document["components"]["schemas"]["Author"]["examples"][0];
    let page = serde_json::json!({ "items": [author], "next": "AAAA" });
    let parsed: CursorPage<Author> = serde_json::from_value(page.clone()).unwrap();
    assert_eq!(parsed.next, Some("AAAA".parse().unwrap()));
    assert_eq!(serde_json::to_value(parsed).unwrap(), page);
}

macro_rules! assert_send_sync {
    ($($type:ty)+) => {
        const fn is_send_and_sync<T: Send + Sync>() {}
        const _: () = { $(is_send_and_sync::<$type>();)+ };
    };
}

assert_send_sync! {
    Access ApiSettings BackendError BoardError Budget Caller Delivery Endpoint Environment Event Forum ForumApi
    ForumApiBuilder InForum<Page<Post>> IssueError Me Member MemberCaller Message NewThread OverloadedError
    Page<Thread> ParseError PlainToken Poll Post RateLimitDecision RateLimitKey Rating RequestInfo Scope SearchHit
    SearchParams Stores Subscription Thread TokenRecord TokenRequest<'static> Topic TopicSet VisibleForums
    WebhookAdmin WebhookAdminError WebhookStores WindowState Worker WorkerHandle
    Box<dyn AdminAuth> Box<dyn Authorizer> Box<dyn Board>
}
