//! When the worker wakes, and how few calls it makes while there is nothing to do.

use std::collections::BTreeMap;
use std::time::Duration;

use forum_api::model::Timestamp;
use forum_api::store::{ClaimBatch, ClaimRequest};
use forum_api::webhook::DeliveryState;

use super::fixture::{WorkerFixture, seconds};
use super::transport::Reply::Status;

/// The same number of claims and of reads of the outbox.
fn polls(number: u32) -> BTreeMap<&'static str, u32> {
    BTreeMap::from([("deliveries.claim", number), ("outbox.pending", number)])
}

#[test]
fn an_event_is_delivered_at_a_wake_and_otherwise_within_a_second() {
    let fixture = WorkerFixture::new();
    let endpoint = fixture.add("a");
    let handle = fixture.start();
    fixture.advance(Duration::from_millis(300));
    fixture.insert_post_event();
    fixture.wake(&handle);
    assert_eq!(fixture.transport.send_times("a"), [fixture.now()]);
    fixture.insert_post_event();
    fixture.advance(seconds(1));
    assert_eq!(fixture.count(DeliveryState::Delivered), 2);
    fixture.queue(&endpoint, 1);
    fixture.advance(seconds(1));
    assert_eq!(fixture.count(DeliveryState::Delivered), 3);
}

#[test]
fn a_worker_polls_once_a_second_also_while_a_delivery_waits_for_a_retry() {
    for reply in [Status(204), Status(500)] {
        let fixture = WorkerFixture::with_replies([reply]);
        fixture.start();
        fixture.take_counts();
        fixture.advance(seconds(29));
        assert_eq!(fixture.take_counts(), polls(29), "{reply:?}");
    }
}

#[test]
fn a_thousand_wakes_are_one() {
    let fixture = WorkerFixture::new();
    let handle = fixture.start();
    fixture.take_counts();
    (0..1000).for_each(|_| handle.wake());
    fixture.runtime.run_until_idle();
    assert_eq!(fixture.take_counts(), polls(2), "one now, and one after it");
}

#[test]
fn one_delivery_takes_a_handful_of_calls() {
    let fixture = WorkerFixture::new();
    fixture.add("a");
    let handle = fixture.start();
    fixture.take_counts();
    fixture.insert_post_event();
    fixture.wake(&handle);
    let expected = [
        ("deliveries.begin_sending", 1),
        ("deliveries.claim", 2),
        ("deliveries.settle", 1),
        ("endpoints.list", 1),
        ("outbox.fan_out", 1),
        ("outbox.pending", 1),
    ];
    assert_eq!(fixture.take_counts(), BTreeMap::from(expected));
}

#[test]
fn a_worker_that_polls_is_healthy() {
    let fixture = WorkerFixture::new();
    let handle = fixture.start();
    fixture.advance(seconds(600));
    let health = handle.health();
    assert_eq!(health.last_poll_at, Some(fixture.now()));
    assert_eq!(
        (
            health.consecutive_failures,
            health.in_flight,
            health.stopped
        ),
        (0, 0, false)
    );
}

#[test]
fn deliveries_that_another_worker_is_claiming_are_not_asked_for_at_once() {
    let fixture = WorkerFixture::new();
    fixture.calls.on_result_of(
        "deliveries.claim",
        |(_, now): &(ClaimRequest, Timestamp), claims: &mut ClaimBatch| {
            claims.next_due_at = Some(*now)
        },
    );
    fixture.start();
    fixture.take_counts();
    fixture.advance(seconds(60));
    assert_eq!(fixture.take_counts()["deliveries.claim"], 60);
}
