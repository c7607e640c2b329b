//! Limits of concurrent attempts.

use std::time::Duration;

use forum_api::Environment;
use forum_api::test_util::Intervention;
use forum_api::webhook::DeliveryState::Delivered;
use forum_api::worker::{Worker, WorkerHandle, WorkerSettings};
use tokio::task::yield_now;

use super::fixture::{WorkerFixture, seconds};
use super::transport::Reply::{AfterYields, Delayed, Hangs};

#[test]
fn an_endpoint_has_at_most_four_concurrent_attempts() {
    let fixture = WorkerFixture::new();
    fixture.queue_to_new("a", [Delayed(seconds(1), 200)], 40);
    let handle = fixture.start();
    assert_eq!(handle.health().in_flight, 4);
    fixture.advance(seconds(10));
    assert_eq!(fixture.count(Delivered), 40);
    assert_eq!(fixture.transport.max_in_flight(), (4, 4));
    let times = fixture.transport.send_times("a");
    assert!(times.is_sorted() && times[39].saturating_duration_since(times[0]) == seconds(9));
}

#[test]
fn a_worker_has_at_most_256_or_the_configured_number_of_attempts() {
    for (limit, endpoints, each, most) in [(256, 100, 8, (4, 256)), (2, 20, 1, (1, 2))] {
        let mut fixture = WorkerFixture::with_hourly_poll();
        fixture.settings.max_in_flight = limit;
        for number in 0..endpoints {
            let name = format!("n{number}");
            fixture.queue_to_new(&name, [Delayed(seconds(1), 200)], each);
        }
        fixture.start();
        let all = endpoints * each;
        fixture.advance(seconds(u64::from(all.div_ceil(limit))));
        assert_eq!(fixture.count(Delivered), all as usize);
        assert_eq!(fixture.transport.max_in_flight(), most);
    }
}

#[test]
fn a_hanging_receiver_does_not_delay_other_endpoints() {
    let fixture = WorkerFixture::new();
    fixture.queue_to_new("hangs", [Hangs], 1000);
    let others: Vec<_> = (0..50).map(|number| format!("n{number}")).collect();
    for name in &others {
        fixture.queue(&fixture.add(name), 1);
    }
    let began = fixture.now();
    fixture.start();
    for name in &others {
        assert_eq!(fixture.transport.send_times(name), [began]);
    }
    assert_eq!(fixture.transport.send_times("hangs").len(), 4);
    fixture.take_counts();
    fixture.advance(seconds(14));
    let counts = fixture.take_counts();
    assert_eq!(counts["deliveries.claim"], 14, "one per second");
    assert_eq!(counts.get("deliveries.settle"), None);
}

/// Asserts that the deliveries of another endpoint are sent at once, and that the impaired ones use 8 of 16 slots.
fn assert_leaves_slots(fixture: &WorkerFixture, handle: &WorkerHandle) {
    assert_eq!(handle.health().in_flight, 8);
    let good = fixture.add("good");
    for _ in 0..30 {
        fixture.queue(&good, 4);
        let queued = fixture.now();
        fixture.wake(handle);
        assert_eq!(fixture.transport.send_times("good").last(), Some(&queued));
        fixture.advance(seconds(1));
        assert!(handle.health().in_flight <= 8);
    }
}

#[test]
fn endpoints_whose_last_attempt_failed_use_at_most_half_of_the_slots() {
    let mut fixture = WorkerFixture::new();
    fixture.settings.max_in_flight = 16;
    for name in ["a", "b", "c", "d", "e"] {
        fixture.queue_to_new(name, [Hangs], 20);
    }
    let handle = fixture.start();
    assert_eq!(handle.health().in_flight, 16, "no attempt has failed yet");
    // The attempts to the last endpoint fail later than the others, and its slots are used again.
    fixture.advance(seconds(15) * 2 + seconds(1));
    assert_leaves_slots(&fixture, &handle);
    assert_eq!(fixture.count(Delivered), 120);
    for name in ["a", "b", "c", "d", "e"] {
        let replies = [Delayed(seconds(1), 200)];
        fixture.transport.set_replies(name, replies);
    }
    fixture.advance(seconds(7200));
    assert_eq!(fixture.count(Delivered), 220);
}

#[test]
fn slow_receivers_that_succeed_use_at_most_half_of_the_slots() {
    let mut fixture = WorkerFixture::new();
    fixture.settings.max_in_flight = 16;
    for name in ["a", "b", "c", "d", "e"] {
        fixture.queue_to_new(name, [Delayed(seconds(9), 200)], 100);
    }
    let handle = fixture.start();
    assert_eq!(handle.health().in_flight, 16, "no attempt has ended yet");
    fixture.advance(seconds(9) * 2 + seconds(1));
    assert_leaves_slots(&fixture, &handle);
}

#[test]
fn deliveries_are_not_claimed_without_a_free_slot() {
    let mut fixture = WorkerFixture::new();
    fixture.settings.max_in_flight = 4;
    fixture.queue_to_new("a", [Hangs], 10);
    fixture.start();
    fixture.take_counts();
    fixture.advance(seconds(14));
    assert_eq!(fixture.take_counts().get("deliveries.claim"), None);
}

#[test]
fn many_events_and_many_deliveries_do_not_wait_for_each_other() {
    let fixture = WorkerFixture::new();
    fixture.queue_to_new("busy", [Delayed(seconds(1), 200)], 100);
    fixture.add("quick");
    (0..1000).for_each(|_| drop(fixture.insert_post_event()));
    fixture.start();
    assert_eq!(fixture.transport.send_times("quick").len(), 1000);
    assert_eq!(fixture.transport.send_times("busy").len(), 4);
}

#[test]
fn a_slot_released_during_a_claim_is_used() {
    let fixture = WorkerFixture::with_hourly_poll();
    fixture.calls.on_call(|method, _| match method {
        "deliveries.claim" => Intervention::DelayResult(Box::pin(async {
            for _ in 0..8 {
                yield_now().await;
            }
        })),
        _ => Intervention::Proceed,
    });
    let replies = (0..40).map(|number| AfterYields(number * 5 % 12, 200));
    fixture.queue_to_new("a", replies, 40);
    fixture.start();
    assert_eq!(fixture.count(Delivered), 40);
}

#[test]
fn build_rejects_each_setting_out_of_bounds() {
    type Change = fn(&mut WorkerSettings);
    let changes: [(&str, Change); 9] = [
        ("initial_backoff", |it| it.initial_backoff = Duration::ZERO),
        ("max_backoff", |it| it.max_backoff = Duration::ZERO),
        ("max_in_flight", |it| it.max_in_flight = 0),
        ("max_in_flight_per_endpoint", |it| it.max_in_flight_per_endpoint = 0),
        ("poll_interval", |it| it.poll_interval = Duration::ZERO),
        ("step_timeout", |it| it.step_timeout = Duration::ZERO),
        ("sweep_interval", |it| it.sweep_interval = Duration::ZERO),
        ("attempt_timeout", |it| it.attempt_timeout = it.step_timeout),
        ("extra_roots_pem", |it| it.extra_roots_pem = "no certificate".into()),
    ];
    for (setting, change) in changes {
        let fixture = WorkerFixture::new();
        let mut settings = WorkerSettings::default();
        change(&mut settings);
        let owners = fixture.owners;
        let worker = Worker::builder(fixture.stores, owners, &Environment::default());
        let error = worker.settings(settings).build().unwrap_err();
        assert_eq!(error.setting(), setting);
    }
}
