//! Polling, wakes and the number of store calls.

use std::collections::BTreeMap;
use std::time::Duration;

use forum_api::model::Timestamp;
use forum_api::store::{ClaimBatch, ClaimRequest};
use forum_api::webhook::DeliveryState::Delivered;

use super::fixture::{WorkerFixture, seconds};
use super::transport::Reply::Status;

/// Returns this number of claims and of reads of the outbox.
fn polls(number: u32) -> BTreeMap<&'static str, u32> {
    BTreeMap::from([("deliveries.claim", number), ("outbox.pending", number)])
}

#[test]
fn an_event_is_delivered_at_a_wake_or_within_a_second() {
    let fixture = WorkerFixture::new();
    let endpoint = fixture.add("a");
    let handle = fixture.start();
    fixture.advance(Duration::from_millis(300));
    fixture.insert_post_event();
    fixture.wake(&handle);
    assert_eq!(fixture.transport.send_times("a"), [fixture.now()]);
    fixture.insert_post_event();
    fixture.advance(seconds(1));
    assert_eq!(fixture.count(Delivered), 2);
    fixture.queue(&endpoint, 1);
    fixture.advance(seconds(1));
    assert_eq!(fixture.count(Delivered), 3);
}

#[test]
fn a_worker_polls_once_a_second_even_while_a_delivery_waits_for_a_retry() {
    for reply in [Status(204), Status(500)] {
        let fixture = WorkerFixture::with_replies([reply]);
        let handle = fixture.start();
        fixture.take_counts();
        fixture.advance(seconds(29));
        assert_eq!(fixture.take_counts(), polls(29), "{reply:?}");
        let health = handle.health();
        assert_eq!(health.last_poll_at, Some(fixture.now()));
        assert!(health.consecutive_failures == 0 && health.in_flight == 0 && !health.stopped);
    }
}

#[test]
fn consecutive_wakes_are_coalesced() {
    let fixture = WorkerFixture::new();
    let handle = fixture.start();
    fixture.take_counts();
    (0..1000).for_each(|_| handle.wake());
    fixture.runtime.run_until_idle();
    let counts = fixture.take_counts();
    assert_eq!(counts, polls(2), "the current and the next poll");
}

#[test]
fn a_delivery_takes_seven_store_calls() {
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

/// The transactions of other writers wait for a step.
#[test]
fn the_deliveries_of_many_events_are_queued_in_steps() {
    let fixture = WorkerFixture::new();
    for name in ["a", "b", "c"] {
        fixture.add(name);
    }
    (0..100).for_each(|_| drop(fixture.insert_post_event()));
    fixture.start();
    assert_eq!(fixture.deliveries().len(), 300);
    assert_eq!(fixture.take_counts()["outbox.fan_out"], 3, "34 events in one call");
}

#[test]
fn times_are_corrected_every_10_s_and_the_queue_is_measured_every_5_s() {
    for (poll_interval, corrections, measurements) in [(1, 6, 12), (20, 3, 3)] {
        let mut fixture = WorkerFixture::new();
        fixture.settings.poll_interval = seconds(poll_interval);
        fixture.start();
        fixture.calls.take_counts();
        fixture.advance(seconds(60));
        let counts = fixture.calls.take_counts();
        let calls = (counts["deliveries.correct_times"], counts["deliveries.queue_stats"]);
        assert_eq!(calls, (corrections, measurements), "every {poll_interval} s");
    }
}

#[test]
fn due_deliveries_that_cannot_be_claimed_cause_no_busy_loop() {
    let fixture = WorkerFixture::new();
    let claimed = |(_, now): &(ClaimRequest, Timestamp), claims: &mut ClaimBatch| {
        claims.next_due_at = Some(*now)
    };
    let calls = &fixture.calls;
    calls.on_result_with_arguments("deliveries.claim", claimed);
    fixture.start();
    fixture.take_counts();
    fixture.advance(seconds(60));
    assert_eq!(fixture.take_counts()["deliveries.claim"], 60);
}
