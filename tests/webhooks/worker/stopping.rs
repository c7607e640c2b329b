//! Stopping a worker.

use forum_api::test_util::Intervention;
use forum_api::webhook::DeliveryState::{Delivered, Queued};

use super::fixture::{HOUR, WorkerFixture, seconds};
use super::owners::OwnerAccess;
use super::transport::Reply::{Delayed, Hangs};

#[test]
fn an_idle_worker_stops_at_once() {
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
fn a_stopping_worker_completes_attempts_and_starts_no_others() {
    let fixture = WorkerFixture::new();
    fixture.queue_to_new("a", [Delayed(seconds(8), 204)], 10);
    let handle = fixture.start();
    fixture.advance(seconds(3));
    fixture.stop(&handle);
    assert!(!handle.health().stopped);
    fixture.advance(seconds(5));
    assert!(handle.health().stopped);
    assert_eq!(fixture.count(Delivered), 4);
    assert_eq!(fixture.count(Queued), 6);
    assert_eq!(fixture.sent().len(), 4);
}

#[test]
fn a_stopping_worker_releases_deliveries_without_an_attempt() {
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
    let deliveries = fixture.deliveries();
    assert_eq!(deliveries.len(), 3);
    for one in deliveries {
        assert_eq!((one.progress.state, one.progress.attempts), (Delivered, 1));
    }
}

#[test]
fn hanging_calls_delay_the_stop_by_at_most_a_step() {
    let prepare: [fn(&WorkerFixture); 4] = [
        |fixture| fixture.transport.set_replies("a", [Hangs]),
        |fixture| (1..=20).for_each(|owner| fixture.owners.set(owner, OwnerAccess::Hangs)),
        |fixture| fixture.fail(|_, _| true),
        |fixture| fixture.calls.on_call(|_, _| Intervention::Hang),
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
