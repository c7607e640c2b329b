//! Expiry of leases.

use std::sync::atomic::{AtomicBool, Ordering};

use forum_api::store::ClaimedDelivery;
use forum_api::test_util::{Intervention, claim_request};
use forum_api::webhook::DeliveryState::Delivered;

use super::fixture::{WorkerFixture, seconds};
use super::owners::OwnerAccess;

/// Claims the only due delivery as another worker.
fn claim(fixture: &WorkerFixture) -> ClaimedDelivery {
    let request = claim_request(100);
    let claiming = fixture.stores.deliveries().claim(&request, fixture.now());
    let mut claims = fixture.runtime.block_on(claiming).unwrap();
    assert_eq!(claims.deliveries.len(), 1);
    claims.deliveries.remove(0)
}

/// The clock advances as if the worker's virtual machine were paused.
#[test]
fn an_attempt_is_sent_only_with_a_lease_that_covers_it() {
    for (pause, another) in [(45, false), (46, false), (61, true)] {
        let fixture = WorkerFixture::new();
        fixture.queue(&fixture.add("a"), 1);
        fixture.owners.set(1, OwnerAccess::SeesAllAfter(seconds(5)));
        fixture.start();
        fixture.clock.advance(seconds(pause));
        if another {
            claim(&fixture);
        }
        fixture.owners.set(1, OwnerAccess::Sees(vec![1]));
        fixture.take_counts();
        fixture.advance(seconds(5));
        let sent = fixture.sent().len();
        let released = fixture.take_counts().contains_key("deliveries.release");
        let covered = pause <= 45;
        assert_eq!(released, !covered, "after {pause} s");
        assert_eq!(sent, usize::from(!another), "after {pause} s");
        fixture.advance(seconds(60));
        assert_eq!(fixture.progress(), (Delivered, 1), "after {pause} s");
        assert_eq!(fixture.sent().len(), 1);
    }
}

#[test]
fn an_attempt_whose_start_took_most_of_the_lease_to_record_is_not_sent() {
    let fixture = WorkerFixture::new();
    fixture.queue(&fixture.add("a"), 1);
    let clock = fixture.clock.clone();
    let is_first = AtomicBool::new(true);
    fixture.calls.on_call(move |method, _| {
        if method == "deliveries.begin_sending" && is_first.swap(false, Ordering::SeqCst) {
            clock.advance(seconds(46));
        }
        Intervention::Proceed
    });
    fixture.start();
    assert_eq!(fixture.sent().len(), 1);
    assert_eq!(fixture.take_counts()["deliveries.begin_sending"], 2);
}

#[test]
fn the_starts_of_deliveries_claimed_together_are_recorded_together() {
    let fixture = WorkerFixture::new();
    for number in 0..60 {
        fixture.queue(&fixture.add(&format!("n{number}")), 1);
    }
    fixture.start();
    assert_eq!(fixture.count(Delivered), 60);
    let counts = fixture.take_counts();
    assert!(counts["deliveries.begin_sending"] <= 3, "{counts:?}");
}
