//! Topics of endpoints and access of their owners (`docs/protocol.md`, section 13.5).

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use forum_api::host::RequestInfo;
use forum_api::model::{MessageId, UserId};
use forum_api::webhook::DeliveryState::{Delivered, Queued, Retrying, Withheld};
use forum_api::webhook::{Endpoint, Event, EventMeta, Topic};
use forum_test_support::thread_log;
use serde_json::json;

use super::fixture::{HOUR, WorkerFixture, seconds};
use super::owners::{Batch, OwnerAccess};
use super::transport::Reply::Status;

const MESSAGES: &str = "*,message.sent";

/// A private message between these members.
fn message(fixture: &WorkerFixture, sender: i64, recipients: &[i64]) -> Event {
    let recipients: Vec<_> = recipients.iter().map(|id| UserId::from(*id)).collect();
    Event::message_sent(meta(fixture), &MessageId::from(1), &sender.into(), &recipients)
}

fn meta(fixture: &WorkerFixture) -> EventMeta {
    let Event { id, occurred_at, .. } = fixture.event(&Topic::MESSAGE_SENT, None);
    let mut meta = RequestInfo::background(occurred_at).event(occurred_at).unwrap();
    meta.id = id;
    meta
}

/// Adds an endpoint of this owner that subscribes to these topics.
fn subscribe(fixture: &WorkerFixture, owner: i64, name: &str, topics: &str) -> Endpoint {
    fixture.add_with(name, |endpoint| {
        endpoint.owner = owner.into();
        endpoint.topics = topics.parse().unwrap();
    })
}

/// Returns the sorted names of the endpoints of all requests.
fn recipients(fixture: &WorkerFixture) -> Vec<String> {
    let sent = fixture.sent().into_iter();
    let mut urls: Vec<_> = sent.map(|sent| sent.request.url).collect();
    urls.sort_unstable();
    let name = |url: String| url["https://".len()..].replace(".example/", "");
    urls.into_iter().map(name).collect()
}

#[test]
fn an_endpoint_receives_the_topics_to_which_it_subscribes() {
    let fixture = WorkerFixture::new();
    for (name, topics) in
        [("a", "*"), ("b", "post.created"), ("c", "message.sent"), ("d", MESSAGES)]
    {
        subscribe(&fixture, 1, name, topics);
    }
    fixture.insert_post_event();
    fixture.insert_event(fixture.event(&Topic::from_static("garden.gate.opened"), None));
    fixture.insert_event(message(&fixture, 1, &[2]));
    fixture.start();
    assert_eq!(recipients(&fixture), ["a", "a", "b", "c", "d", "d", "d"]);
}

#[test]
fn an_endpoint_receives_no_event_from_before_its_registration() {
    let fixture = WorkerFixture::new();
    fixture.insert_post_event();
    fixture.advance(Duration::from_millis(1));
    fixture.add("a");
    let first = fixture.insert_post_event();
    fixture.start();
    fixture.advance(HOUR);
    let sent = fixture.sent();
    let (delivery, _) = fixture.only_delivery();
    assert_eq!((sent.len(), delivery.event_id), (1, first.id));
}

/// The clock was a day ahead when an administrator registered the endpoint.
#[test]
fn an_endpoint_that_was_registered_in_the_future_receives_events() {
    let fixture = WorkerFixture::new();
    let registered_at = |ahead| {
        let time = fixture.now().saturating_add(ahead);
        move |endpoint: &mut Endpoint| endpoint.created_at = time
    };
    fixture.add_with("a", registered_at(24 * HOUR));
    fixture.add_with("b", registered_at(seconds(60)));
    fixture.insert_post_event();
    fixture.start();
    assert_eq!(recipients(&fixture), ["a"]);
}

#[test]
fn events_are_queued_by_the_access_of_the_owner_at_fan_out() {
    for (access, expected) in [
        (OwnerAccess::Sees(vec![7]), vec![Some(7), None]),
        (OwnerAccess::Sees(vec![7, 8]), vec![Some(7), Some(8), None]),
        (OwnerAccess::Offline, vec![Some(7), Some(8), None]),
        (OwnerAccess::Sees(vec![]), vec![None]),
        (OwnerAccess::CannotAct, vec![]),
    ] {
        let fixture = WorkerFixture::with_hourly_poll();
        fixture.add("a");
        fixture.owners.set(1, access);
        for forum in [Some(7), Some(8), None] {
            fixture.insert_event(fixture.event(&Topic::POST_CREATED, forum));
        }
        fixture.start();
        assert_eq!(fixture.deliveries().len(), expected.len());
        fixture.owners.set(1, OwnerAccess::Sees(vec![7, 8]));
        fixture.advance(HOUR);
        let sent = fixture.sent().len();
        assert_eq!(sent, expected.len(), "other events are not queued later");
    }
}

#[test]
fn an_example_is_sent_to_an_endpoint_of_any_owner() {
    let fixture = WorkerFixture::new();
    subscribe(&fixture, 4, "other", MESSAGES);
    fixture.insert_event(Event {
        body: json!({ "example": true, "data": {} }).to_string(),
        ..fixture.event(&Topic::MESSAGE_SENT, None)
    });
    fixture.start();
    assert_eq!(recipients(&fixture), ["other"]);
}

#[test]
fn a_private_message_is_sent_to_endpoints_of_its_parties_only() {
    let fixture = WorkerFixture::new();
    for (owner, name) in [(1, "sender"), (2, "recipient"), (3, "third"), (4, "other")] {
        subscribe(&fixture, owner, name, MESSAGES);
    }
    fixture.insert_event(message(&fixture, 1, &[2, 3]));
    let many: Vec<_> = (1..100_000).collect();
    fixture.insert_event(message(&fixture, 1, &many));
    for data in [
        json!({}),
        json!({ "message": { "messageId": "4", "recipientIds": ["1"] } }),
        json!({ "message": { "senderId": 1, "recipientIds": ["1"] } }),
        json!({ "senderId": "1", "recipientIds": ["1"] }),
    ] {
        let event = Event::new(Topic::MESSAGE_SENT, meta(&fixture), None, &data);
        fixture.insert_event(event);
    }
    fixture.start();
    assert_eq!(recipients(&fixture), ["recipient", "sender", "third"]);
    let count = fixture.deliveries().len();
    assert_eq!(count, 3, "a body without parties concerns no member");
}

#[test]
fn a_rating_is_sent_to_endpoints_of_the_rated_member_and_the_rater_only() {
    let fixture = WorkerFixture::new();
    for (owner, name) in [(1, "rater"), (2, "rated"), (3, "other")] {
        subscribe(&fixture, owner, name, "*");
    }
    fixture.owners.set(2, OwnerAccess::Sees(vec![7]));
    let author = |id: i64| json!({ "userId": id.to_string(), "username": "x" });
    for (data, forum) in [
        (json!({ "member": author(2), "actor": author(1) }), None),
        (json!({ "member": author(2), "actor": author(1) }), Some(8.into())),
        (json!({ "member": author(2), "actor": null }), None),
        (json!({ "actor": author(1) }), None),
        (json!({}), None),
    ] {
        let event = Event::new(Topic::MEMBER_RATED, meta(&fixture), forum, &data);
        fixture.insert_event(event);
    }
    fixture.start();
    assert_eq!(recipients(&fixture), ["rated", "rated", "rater", "rater"]);
}

#[test]
fn a_delivery_is_withheld_if_its_owner_loses_access_before_the_attempt() {
    type Change = fn(&WorkerFixture, Endpoint);
    let rows: [(bool, Change); 3] = [
        (false, |fixture, _| fixture.owners.set(1, OwnerAccess::CannotAct)),
        (false, |fixture, _| fixture.owners.set(1, OwnerAccess::Sees(vec![2]))),
        (true, |fixture, endpoint| {
            fixture.update(&endpoint.id, |endpoint| endpoint.owner = 3.into());
        }),
    ];
    for (is_message, change) in rows {
        let fixture = WorkerFixture::with_hourly_poll();
        let endpoint = subscribe(&fixture, 1, "a", MESSAGES);
        fixture.transport.set_replies("a", [Status(500)]);
        if is_message {
            fixture.insert_event(message(&fixture, 2, &[1]))
        } else {
            fixture.insert_post_event()
        };
        fixture.start();
        assert_eq!(fixture.progress(), (Retrying, 1));
        change(&fixture, endpoint);
        thread_log::record();
        fixture.advance(HOUR);
        let end = "attempt=2 state=\"withheld\" reason=\"the owner may not receive the event\"";
        let log = thread_log::take();
        assert!(log.lines().any(|line| line.contains("  INFO ") && line.ends_with(end)), "{log}");
        assert_eq!(fixture.progress(), (Withheld, 1));
        let attempts = fixture.only_delivery().1.len();
        assert_eq!((fixture.sent().len(), attempts), (1, 1));
    }
}

#[test]
fn each_owner_of_a_subscribed_endpoint_is_authorized_once_in_a_batch() {
    let fixture = WorkerFixture::new();
    for (owner, name) in [(0, "a"), (1, "b"), (0, "c"), (1, "d")] {
        fixture.add_for_owner(owner, name);
        fixture.owners.set(owner, OwnerAccess::CannotAct);
    }
    subscribe(&fixture, 8, "other-topic", "poll.voted");
    let disabled = fixture.add_for_owner(9, "disabled");
    fixture.update(&disabled.id, |endpoint| endpoint.enabled = false);
    (0..100).for_each(|_| drop(fixture.insert_post_event()));
    fixture.start();
    assert_eq!(fixture.owners.calls.load(Ordering::SeqCst), 2);
}

#[test]
fn an_authorizer_that_loads_several_owners_is_called_once_for_each_batch() {
    for (batch, batch_calls, calls) in [(Batch::Loads, 2, 0), (Batch::Fails, 2, 5)] {
        let fixture = WorkerFixture::new();
        *fixture.owners.batch.lock().unwrap() = batch;
        for owner in 1..=3 {
            fixture.add_for_owner(owner, &format!("endpoint-{owner}"));
        }
        fixture.owners.set(2, OwnerAccess::CannotAct);
        fixture.insert_post_event();
        fixture.start();
        fixture.advance(seconds(15));
        let mut recipients = recipients(&fixture);
        recipients.sort_unstable();
        assert_eq!(recipients, ["endpoint-1", "endpoint-3"]);
        assert_eq!(fixture.deliveries().len(), 2, "none for an owner who cannot act");
        let load = |count: &AtomicU32| count.load(Ordering::SeqCst);
        let owners = &fixture.owners;
        let counts = (load(&owners.batch_calls), load(&owners.calls));
        assert_eq!(counts, (batch_calls, calls));
    }
}

#[test]
fn while_the_authorizer_fails_deliveries_wait_and_other_owners_do_not() {
    for access in [OwnerAccess::Fails, OwnerAccess::Panics, OwnerAccess::Hangs] {
        for (later, state, attempts) in [
            (OwnerAccess::Sees(vec![1]), Delivered, 1),
            (OwnerAccess::Sees(vec![2]), Withheld, 0),
            (OwnerAccess::CannotAct, Withheld, 0),
        ] {
            let fixture = WorkerFixture::with_replies([Status(204)]);
            fixture.owners.set(1, access.clone());
            fixture.start();
            fixture.advance(seconds(600));
            assert_eq!(fixture.progress(), (Queued, 0));
            let calls = fixture.owners.calls.load(Ordering::SeqCst);
            assert!((20..150).contains(&calls), "{calls} calls in ten minutes");
            fixture.owners.set(1, later);
            fixture.advance(seconds(60));
            assert_eq!(fixture.progress(), (state, attempts));
            assert_eq!(fixture.sent().len(), attempts as usize);
        }
        let fixture = WorkerFixture::new();
        let stuck = fixture.add("stuck");
        let other = fixture.add_for_owner(2, "other");
        fixture.owners.set(1, access);
        for _ in 0..50 {
            fixture.queue(&stuck, 1);
            fixture.queue(&other, 1);
        }
        fixture.insert_post_event();
        fixture.start();
        fixture.advance(seconds(15));
        assert_eq!(recipients(&fixture), ["other"; 51]);
    }
}

#[test]
fn a_failing_authorizer_is_not_called_at_once_for_the_rest_of_the_queue() {
    let fixture = WorkerFixture::new();
    fixture.owners.set(1, OwnerAccess::Fails);
    fixture.queue(&fixture.add("a"), 1000);
    fixture.start();
    fixture.advance(seconds(59));
    let calls = fixture.owners.calls.load(Ordering::SeqCst);
    assert!((12..=4 * 12).contains(&calls), "{calls} calls");
}
