//! The types of `forum_api::model` in a client: each example of the OpenAPI document is parsed and written again.

use forum_api::ForumApiBuilder;
use forum_api::host::*;
use forum_api::model::*;
use forum_api::rate_limit::{Budget, RateLimitDecision, RateLimitKey, WindowState};
use forum_api::store::WebhookStores;
use forum_api::token::{IssueError, PlainToken, TokenRecord, TokenRequest};
use forum_api::webhook::{Delivery, Endpoint, Event, TopicSet};
use forum_api::webhook_admin::{WebhookAdmin, WebhookAdminError};
use forum_api::worker::{Worker, WorkerHandle};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Map;

use crate::openapi::{document, json_bodies};
use crate::support::*;

fn round_trip<T: Serialize + DeserializeOwned>(example: &Value) -> Value {
    let parsed: T = serde_json::from_value(example.clone()).unwrap();
    serde_json::to_value(parsed).unwrap()
}

type RoundTrip = fn(&Value) -> Value;

#[rustfmt::skip]
const TYPES: &[(&str, RoundTrip)] = &[
    ("ForumList", round_trip::<ForumList>), ("Me", round_trip::<Me>), ("Member", round_trip::<Member>),
    ("Message", round_trip::<Message>), ("MessageSummaryPage", round_trip::<CursorPage<MessageSummary>>),
    ("MessageInput", round_trip::<NewMessage>), ("PostInput", round_trip::<NewPost>), ("RatingInput", round_trip::<NewRating>),
    ("SubscriptionInput", round_trip::<NewSubscription>), ("ThreadInput", round_trip::<NewThread>),
    ("VoteInput", round_trip::<NewVote>), ("Poll", round_trip::<Poll>), ("PollUpdate", round_trip::<PollUpdate>),
    ("Post", round_trip::<Post>), ("PostPage", round_trip::<CursorPage<Post>>),
    ("PostUpdate", round_trip::<PostUpdate>), ("Rating", round_trip::<Rating>),
    ("SearchHitPage", round_trip::<CursorPage<SearchHit>>), ("Subscription", round_trip::<Subscription>),
    ("SubscriptionPage", round_trip::<CursorPage<Subscription>>), ("Thread", round_trip::<Thread>),
    ("ThreadPage", round_trip::<CursorPage<Thread>>),
];

#[test]
fn every_example_is_parsed_and_written_again() {
    let document = document(Surface::Full);
    let mut seen = BTreeSet::new();
    for (path, body) in json_bodies(&document) {
        if !path.starts_with("/paths/") {
            continue;
        }
        let schema = body["schema"]["$ref"].as_str().unwrap();
        let is_type = |(name, _): &&(&str, RoundTrip)| schema.rsplit('/').next() == Some(name);
        let (name, round_trip) = TYPES.iter().find(is_type).expect(schema);
        assert_eq!(round_trip(&body["example"]), body["example"], "{path}");
        seen.insert(*name);
    }
    assert_eq!(seen, TYPES.iter().map(|(name, _)| *name).collect());
}

#[test]
fn every_error_example_has_a_known_code() {
    let document = document(Surface::Full);
    let mut count = 0;
    let responses = document["components"]["responses"].as_object().unwrap();
    for response in responses.values() {
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
    List<SearchFilter> Stores Subscription Thread TokenRecord TokenRequest<'static> Topic TopicSet VisibleForums
    WebhookAdmin WebhookAdminError WebhookStores WindowState Worker WorkerHandle
    Box<dyn AdminAuth> Box<dyn Authorizer> Box<dyn Board>
}
