//! A worker that ends in order.

use forum_api::webhook::DeliveryState;

use super::fixture::{HOUR, WorkerFixture, seconds};
use super::owners::OwnerAccess;
use super::transport::Reply::{Delayed, Hangs};

#[test]
fn an_idle_worker_stops_at_once_and_does_nothing_more() {
    let fixture = WorkerFixture::new();
    fixture.add("a");
    let handle = fixture.start();
    fixture.runtime.block_on(handle.stop());
    assert!(handle.health().stopped);
    fixture.take_counts();
    fixture.insert_post_event();
    handle.wake();
    fixture.advance(HOUR);
    assert!(fixture.take_counts().is_empty());
    assert_eq!(fixture.runtime.next_timer(), None);
    fixture.runtime.block_on(handle.stop());
}

#[test]
fn attempts_in_progress_end_and_are_recorded_and_no_other_begins() {
    let fixture = WorkerFixture::new();
    fixture
        .transport
        .set_replies("a", [Delayed(seconds(8), 204)]);
    fixture.queue(&fixture.add("a"), 10);
    let handle = fixture.start();
    fixture.advance(seconds(3));
    fixture.stop(&handle);
    assert!(!handle.health().stopped);
    fixture.advance(seconds(5));
    assert!(handle.health().stopped);
    assert_eq!(fixture.count(DeliveryState::Delivered), 4);
    assert_eq!(fixture.count(DeliveryState::Queued), 6);
    assert_eq!(fixture.sent().len(), 4);
}

#[test]
fn deliveries_that_are_claimed_and_not_sent_are_returned_uncounted() {
    let fixture = WorkerFixture::new();
    fixture.owners.set(1, OwnerAccess::SeesAllAfter(seconds(5)));
    fixture.queue(&fixture.add("a"), 3);
    let handle = fixture.start();
    assert_eq!(handle.health().in_flight, 3);
    fixture.stop(&handle);
    fixture.advance(seconds(5));
    assert!(handle.health().stopped && fixture.sent().is_empty());
    fixture.start();
    fixture.advance(seconds(5));
    let delivered = |one: &forum_api::webhook::Delivery| {
        (one.progress.state, one.progress.attempts) == (DeliveryState::Delivered, 1)
    };
    assert!(
        fixture.deliveries().iter().all(delivered),
        "without waiting for a lease to expire"
    );
}

#[test]
fn what_hangs_or_fails_delays_the_end_by_a_step_at_most() {
    let prepare: [fn(&WorkerFixture); 3] = [
        |fixture| fixture.transport.set_replies("a", [Hangs]),
        |fixture| (1..=20).for_each(|owner| fixture.owners.set(owner, OwnerAccess::Hangs)),
        |fixture| fixture.fail(|_, _| true),
    ];
    for prepare in prepare {
        let fixture = WorkerFixture::new();
        fixture.queue(&fixture.add("a"), 1);
        (2..=20).for_each(|owner| drop(fixture.add_for_owner(owner, &format!("of-{owner}"))));
        fixture.insert_post_event();
        prepare(&fixture);
        let handle = fixture.start();
        fixture.stop(&handle);
        fixture.advance(seconds(15));
        assert!(handle.health().stopped);
    }
}
