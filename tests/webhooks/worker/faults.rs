//! A store that fails.

use forum_api::host::BackendError;
use forum_api::model::Timestamp;
use forum_api::store::Settlement;
use forum_api::webhook::DeliveryState;

use super::fixture::{HOUR, WorkerFixture, seconds};
use super::transport::Reply::{Delayed, Status};

#[test]
fn a_store_that_fails_now_and_then_loses_nothing() {
    let fixture = WorkerFixture::new();
    for name in ["a", "b", "c"] {
        fixture.add(name);
        fixture
            .transport
            .set_replies(name, [Status(500), Delayed(seconds(1), 204)]);
    }
    (0..200).for_each(|_| drop(fixture.insert_post_event()));
    fixture.fail(|_, calls| calls % 5 == 0);
    let handle = fixture.start();
    fixture.advance(HOUR);
    assert_eq!(fixture.count(DeliveryState::Delivered), 600);
    assert_eq!(fixture.sent().len(), 603, "nothing is sent twice");
    assert!(handle.health().consecutive_failures <= 1);
}

#[test]
fn a_store_that_fails_for_long_is_called_ever_less_often() {
    let fixture = WorkerFixture::with_replies([Status(204)]);
    fixture.fail(|_, _| true);
    let handle = fixture.start();
    fixture.advance(seconds(600));
    let counts = fixture.take_counts();
    assert_eq!(
        (counts["outbox.pending"], counts["deliveries.claim"]),
        (26, 26)
    );
    let health = handle.health();
    assert_eq!(
        (health.consecutive_failures, health.last_poll_at),
        (26, None)
    );
    (0..100).for_each(|_| fixture.wake(&handle));
    assert!(
        fixture.take_counts().is_empty(),
        "a wake does not hasten it"
    );
    fixture.fail(|_, _| false);
    fixture.advance(seconds(31));
    assert_eq!(fixture.progress(), (DeliveryState::Delivered, 1));
    assert_eq!(handle.health().consecutive_failures, 0);
}

#[test]
fn an_end_that_cannot_be_recorded_is_recorded_later() {
    let fixture = WorkerFixture::with_replies([Status(204)]);
    fixture.fail(|method, calls| method == "deliveries.settle" && calls < 12);
    fixture.start();
    fixture.advance(seconds(15));
    assert_eq!(fixture.progress(), (DeliveryState::Delivered, 1));
    assert_eq!(fixture.sent().len(), 1);
}

#[test]
fn an_end_that_cannot_be_recorded_affects_no_other() {
    let fixture = WorkerFixture::new();
    for name in ["a", "b", "c"] {
        fixture.add(name);
    }
    fixture.transport.set_replies("b", [Status(500)]);
    fixture.calls.on_arguments(
        "deliveries.settle",
        |(settlements, _): &mut (Vec<Settlement>, Timestamp)| {
            let is_failure = |one: &Settlement| one.progress.state == DeliveryState::Retrying;
            match settlements.iter().any(is_failure) {
                true => Err(BackendError::new("it cannot be stored")),
                false => Ok(()),
            }
        },
    );
    fixture.insert_post_event();
    fixture.start();
    assert_eq!(fixture.count(DeliveryState::Delivered), 2);
    assert_eq!(fixture.count(DeliveryState::Queued), 1);
    let counts = fixture.take_counts();
    assert!(
        counts["deliveries.settle"] > 1,
        "all at once, and then each alone"
    );
}

#[test]
fn an_end_that_is_never_recorded_counts_as_failed_when_the_lease_expires() {
    let fixture = WorkerFixture::with_replies([Status(204)]);
    fixture.fail(|method, _| method == "deliveries.settle");
    fixture.start();
    fixture.advance(seconds(59));
    assert_eq!(fixture.progress(), (DeliveryState::Queued, 0));
    fixture.fail(|_, _| false);
    fixture.advance(seconds(1));
    assert_eq!(fixture.progress(), (DeliveryState::Retrying, 1));
    fixture.advance(seconds(30));
    assert_eq!(fixture.progress(), (DeliveryState::Delivered, 2));
    let sent = fixture.sent();
    let id = |place: usize| sent[place].header("x-forum-delivery");
    assert!(
        sent.len() == 2 && id(0) == id(1),
        "at least once, with one id"
    );
}
