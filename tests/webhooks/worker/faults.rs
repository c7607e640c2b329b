//! Failing stores.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use forum_api::host::BackendError;
use forum_api::model::Timestamp;
use forum_api::store::Settlement;
use forum_api::test_util::Intervention;
use forum_api::webhook::DeliveryState::{self, Delivered, Queued, Retrying, Withheld};
use forum_api::webhook::TransportError;
use forum_test_support::thread_log;

use super::fixture::{WorkerFixture, seconds};
use super::owners::OwnerAccess;
use super::transport::Reply::Status;

#[test]
fn a_failing_store_is_called_with_backoff() {
    let fixture = WorkerFixture::with_replies([Status(204)]);
    fixture.fail(|_, _| true);
    let handle = fixture.start();
    fixture.advance(seconds(600));
    let counts = fixture.take_counts();
    assert_eq!((counts["outbox.pending"], counts["deliveries.claim"]), (26, 26));
    let health = handle.health();
    assert_eq!((health.consecutive_failures, health.last_poll_at), (26, None));
    (0..100).for_each(|_| fixture.wake(&handle));
    assert!(fixture.take_counts().is_empty(), "a wake does not shorten the delay");
    fixture.fail(|_, _| false);
    fixture.advance(seconds(31));
    assert_eq!(fixture.progress(), (Delivered, 1));
    assert_eq!(handle.health().consecutive_failures, 0);
}

#[test]
fn a_call_that_hangs_delays_the_worker_by_at_most_a_step() {
    for hanging in ["outbox.pending", "endpoints.list", "outbox.fan_out", "deliveries.claim"] {
        let fixture = WorkerFixture::with_replies([Status(204)]);
        let has_hung = AtomicBool::new(false);
        fixture.calls.on_call(move |method, _| {
            if method == hanging && !has_hung.swap(true, Ordering::SeqCst) {
                Intervention::Hang
            } else {
                Intervention::Proceed
            }
        });
        let handle = fixture.start();
        fixture.advance(seconds(14));
        assert!(fixture.sent().is_empty(), "{hanging}");
        fixture.advance(seconds(3));
        assert_eq!(fixture.progress(), (Delivered, 1), "{hanging}");
        assert_eq!(handle.health().consecutive_failures, 0);
    }
}

#[test]
fn recording_a_result_is_retried() {
    let fixture = WorkerFixture::with_replies([Status(204)]);
    fixture.fail(|method, calls| method == "deliveries.settle" && calls < 12);
    fixture.start();
    fixture.advance(seconds(15));
    assert_eq!(fixture.progress(), (Delivered, 1));
    assert_eq!(fixture.sent().len(), 1);
}

/// The store panics when the worker settles the batch, and twice when it settles the delivery separately.
#[test]
fn recording_a_result_is_retried_after_panics() {
    let fixture = WorkerFixture::with_replies([Status(204)]);
    let settled = AtomicU32::new(0);
    fixture.calls.on_call(move |method, _| {
        if method == "deliveries.settle" && settled.fetch_add(1, Ordering::SeqCst) < 3 {
            Intervention::Panic
        } else {
            Intervention::Proceed
        }
    });
    fixture.start();
    fixture.advance(seconds(15));
    assert_eq!(fixture.progress(), (Delivered, 1));
    assert_eq!(fixture.sent().len(), 1);
}

/// The attempt is repeated after a delay of 5 s. A step takes at most 15 s, and a lease ends after 60 s.
#[test]
fn an_attempt_whose_start_is_not_recorded_is_repeated_before_its_lease_ends() {
    let failures: [(fn() -> Intervention, u64); 4] = [
        (|| Intervention::Fail, 5),
        (|| Intervention::Panic, 5),
        (|| Intervention::LoseResult, 5),
        (|| Intervention::Hang, 15 + 5),
    ];
    for (failure, delay) in failures {
        let fixture = WorkerFixture::with_replies([Status(204)]);
        on_first_call(&fixture, "deliveries.begin_sending", failure);
        let sent_at = fixture.now().saturating_add(seconds(delay));
        fixture.start();
        assert_eq!(fixture.progress(), (Queued, 0));
        assert!(fixture.sent().is_empty());
        fixture.advance(seconds(30));
        assert_eq!(fixture.progress(), (Delivered, 1));
        assert_eq!(fixture.transport.send_times("a"), [sent_at]);
    }
}

#[test]
fn a_removal_that_fails_does_not_prevent_the_others() {
    let removals = ["deliveries.sweep", "deliveries.purge", "feed.sweep"];
    for failing in removals {
        let mut fixture = WorkerFixture::with_hourly_poll();
        fixture.settings.dead_retention = Some(seconds(60));
        fixture.calls.on_call(move |method, _| {
            if method == failing { Intervention::Fail } else { Intervention::Proceed }
        });
        fixture.start();
        let counts = fixture.take_counts();
        assert_eq!(removals.map(|method| counts.get(method)), [Some(&1); 3], "{failing}");
    }
}

/// The first call of `method` has the result of `failure`.
fn on_first_call(fixture: &WorkerFixture, method: &'static str, failure: fn() -> Intervention) {
    let has_failed = AtomicBool::new(false);
    fixture.calls.on_call(move |called, _| {
        if called == method && !has_failed.swap(true, Ordering::SeqCst) {
            failure()
        } else {
            Intervention::Proceed
        }
    });
}

/// Starts a worker whose first call of `settle` records the result but has no response. The repeated call does not record the
/// result again, and one line is logged.
fn check_repeated_result(fixture: &WorkerFixture, progress: (DeliveryState, u32)) {
    on_first_call(fixture, "deliveries.settle", || Intervention::LoseResult);
    fixture.start();
    assert_eq!(fixture.progress(), progress);
    assert_eq!(fixture.take_counts()["deliveries.settle"], 2);
    let log = thread_log::take();
    let completed = log.matches("delivery attempt completed").count();
    assert!(completed == 1 && !log.contains("attempt result ignored"), "{log}");
}

#[test]
fn a_result_whose_call_failed_after_recording_it_is_logged() {
    for (replies, state) in [([Status(204)], Delivered), ([Status(500)], Retrying)] {
        thread_log::record();
        let fixture = WorkerFixture::with_replies(replies);
        check_repeated_result(&fixture, (state, 1));
    }
}

/// The delivery has no attempt that shows that the first call recorded the result.
#[test]
fn a_withheld_delivery_whose_call_failed_after_recording_it_is_logged() {
    thread_log::record();
    let fixture = WorkerFixture::new();
    fixture.queue(&fixture.add("a"), 1);
    fixture.owners.set(1, OwnerAccess::CannotAct);
    check_repeated_result(&fixture, (Withheld, 0));
}

#[test]
fn an_invalid_settlement_does_not_affect_others() {
    let fixture = WorkerFixture::new();
    for name in ["a", "b", "c"] {
        fixture.add(name);
    }
    fixture.transport.set_replies("b", [Status(500)]);
    fixture.calls.on_arguments(
        "deliveries.settle",
        |(settlements, _): &mut (Vec<Settlement>, Timestamp)| {
            let is_failure = |one: &Settlement| one.progress.state == Retrying;
            if settlements.iter().any(is_failure) {
                Err(BackendError::new("it cannot be stored"))
            } else {
                Ok(())
            }
        },
    );
    fixture.insert_post_event();
    fixture.start();
    assert_eq!(fixture.count(Delivered), 2);
    assert_eq!(fixture.count(Queued), 1);
    let calls = fixture.take_counts()["deliveries.settle"];
    assert!(calls > 1, "first as a batch, then each separately");
}

#[test]
fn an_unrecorded_result_counts_as_failed_when_the_lease_expires() {
    let fixture = WorkerFixture::with_replies([Status(204)]);
    fixture.fail(|method, _| method == "deliveries.settle");
    fixture.start();
    fixture.advance(seconds(59));
    assert_eq!(fixture.progress(), (Queued, 0));
    fixture.fail(|_, _| false);
    fixture.advance(seconds(1));
    assert_eq!(fixture.progress(), (Retrying, 1));
    let (_, attempts) = fixture.only_delivery();
    let error = "the lease expired and the worker reported no result";
    assert_eq!(attempts[0].error, Some(TransportError::new(error)));
    fixture.advance(seconds(29));
    assert_eq!(fixture.sent().len(), 1);
    fixture.advance(seconds(1));
    assert_eq!(fixture.progress(), (Delivered, 2));
    let sent = fixture.sent();
    let ids: Vec<_> = sent.iter().map(|sent| sent.header("x-forum-delivery")).collect();
    assert!(ids.len() == 2 && ids[0] == ids[1], "both attempts have the same id");
}
