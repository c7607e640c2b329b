//! Attempts, backoff, secrets and sweeps (`docs/protocol.md`, sections 13.9 to 13.11 and 13.16).

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use forum_api::Environment;
use forum_api::audit::{AuditAction, AuditActor, AuditEntry};
use forum_api::host::BoxError;
use forum_api::model::{DeliveryId, EndpointId, ForumId, Timestamp};
use forum_api::runtime::TokioRuntime;
use forum_api::test_util::{StoreInterceptor, audit_entry, stores_in_memory};
use forum_api::webhook::DeliveryState::{Dead, Delivered, Gone, Retrying, Withheld};
use forum_api::webhook::{
    AllowedAddresses, DeliveryState, EncryptedSecret, KeyId, PlaintextCipher, Resolver,
    SecretCipher, TransportError, WebhookSecret,
};
use forum_api::worker::{Worker, WorkerSettings};
use forum_test_support::thread_log;
use tokio::sync::Notify;

use super::fixture::{FixedJitter, HOUR, SECRET, WorkerFixture, seconds};
use super::owners::FakeAuthorizer;
use super::transport::Reply::{ConnectError, Delayed, Hangs, NotSent, Panics, Status};
use crate::http::acceptor;
use crate::sample;
use crate::wire::{Behavior, FakeResolver, ROOT_CERTIFICATE, ScriptedReceiver};

#[test]
fn the_responses_determine_the_final_state() {
    let failed = Status(500);
    for (replies, state, attempts) in [
        (vec![Status(204)], Delivered, 1),
        (vec![failed, ConnectError, Status(204)], Delivered, 3),
        (vec![Panics, Status(204)], Delivered, 2),
        (vec![Hangs, Status(204)], Delivered, 2),
        (vec![Status(410)], Gone, 1),
        ([vec![failed; 5], vec![Status(410)]].concat(), Gone, 6),
        (vec![Status(302)], Dead, 6),
        (vec![ConnectError], Dead, 6),
        (vec![NotSent], Dead, 6),
        (vec![Panics], Dead, 6),
        (vec![Hangs], Dead, 6),
    ] {
        let mut fixture = WorkerFixture::with_replies(replies.clone());
        fixture.settings.poll_interval = HOUR;
        fixture.start();
        fixture.advance(HOUR);
        let (delivery, log) = fixture.only_delivery();
        assert_eq!(fixture.progress(), (state, attempts), "{replies:?}");
        assert_eq!(delivery.progress.due_at, None);
        let numbers: Vec<_> = log.iter().map(|attempt| attempt.attempt).collect();
        assert_eq!(numbers, Vec::from_iter(1..=attempts));
        let sent = fixture.sent();
        assert_eq!(sent.len(), log.len());
        for (sent, attempt) in sent.iter().zip(&log) {
            assert_eq!(sent.at, attempt.started_at);
            assert_eq!(sent.header("x-forum-delivery"), delivery.id.to_string());
            let id = &delivery.id;
            let body = format!(r#"{{"delivery":"{id}","event":"evt_0","topic":"post.created"}}"#);
            assert_eq!(sent.request.body, body);
            assert!(sent.is_signed(SECRET), "each attempt has its own signature");
        }
    }
}

#[test]
fn an_attempt_is_recorded_with_its_response_or_its_error() {
    let slow = Delayed(Duration::from_millis(120), 500);
    let fixture = WorkerFixture::with_replies([slow, ConnectError, NotSent, Hangs, Status(204)]);
    fixture.start();
    fixture.advance(HOUR);
    let log = fixture.only_delivery().1;
    let ends = log.iter().map(|one| (one.status, one.error.clone(), one.duration_ms));
    let expected = [
        (Some(500), None, 120),
        (None, Some(TransportError::new("connection\u{fffd}refused")), 0),
        (None, Some(TransportError::not_sent("no address")), 0),
        (None, Some(TransportError::new("the operation timed out")), 15_000),
        (Some(204), None, 0),
    ];
    assert_eq!(ends.collect::<Vec<_>>(), expected);
    let length = |text: &Option<String>| text.as_ref().map(String::len);
    assert_eq!(length(&log[0].response_headers), Some(2048));
    assert_eq!(length(&log[0].response_excerpt), Some(2048));
    for (text, beginning) in [
        (&log[0].response_headers, "server: \u{fffd}x"),
        (&log[0].response_excerpt, "\u{fffd}\t\n\rü"),
    ] {
        assert!(
            text.as_ref().unwrap().starts_with(beginning),
            "only tabs and line breaks stay: {text:?}"
        );
    }
    for (attempt, sent) in log.iter().zip(fixture.sent()) {
        if attempt.error.as_ref().is_some_and(|error| !error.sent) {
            assert_eq!(attempt.request_headers, None);
            continue;
        }
        let lines = attempt.request_headers.as_ref().unwrap().lines();
        let headers = sent.request.headers.iter();
        let written = headers.map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()));
        assert!(lines.eq(written), "{attempt:?}");
    }
    assert!(fixture.settings.lease_duration() > fixture.settings.step_timeout * 3);
}

#[test]
fn the_next_attempt_follows_after_the_backoff() {
    for (spread, initial, poll, expected) in [
        (255, seconds(30), seconds(1), [35_999, 71_999, 143_999, 287_999, 575_999]),
        (0, Duration::from_millis(50), HOUR, [50, 100, 200, 400, 800]),
    ] {
        let mut fixture = WorkerFixture::with_replies([Status(500)]);
        fixture.jitter = FixedJitter(spread);
        fixture.settings.poll_interval = poll;
        fixture.settings.initial_backoff = initial;
        fixture.start();
        fixture.advance(HOUR);
        let times = fixture.transport.send_times("a");
        let pairs = times.windows(2);
        let waits = pairs.map(|pair| pair[1].saturating_duration_since(pair[0]).as_millis());
        assert!(waits.eq(expected), "{times:?}");
    }
}

#[test]
fn a_rotated_secret_signs_from_its_activation() {
    let fixture = WorkerFixture::with_replies([Status(500)]);
    let new = "whsec_the-one-after-it";
    let now = fixture.now();
    let id = EndpointId::parse("whe_a").unwrap();
    fixture.update(&id, |endpoint| {
        let secret = PlaintextCipher.encrypt(&WebhookSecret::parse(new).unwrap(), &endpoint.id);
        *endpoint = endpoint.clone().rotated(secret.unwrap(), now);
    });
    fixture.start();
    fixture.update(&id, |endpoint| *endpoint = endpoint.clone().activated(now).unwrap());
    fixture.advance(seconds(30));
    let sent = fixture.sent();
    assert!(sent.len() == 2 && sent[0].is_signed(SECRET) && sent[1].is_signed(new));
}

/// A cipher that has lost its key.
#[derive(Debug)]
pub(crate) struct LostKey;

impl SecretCipher for LostKey {
    fn key_id(&self) -> KeyId {
        KeyId::parse("lost").unwrap()
    }

    fn encrypt(&self, _: &WebhookSecret, _: &EndpointId) -> Result<EncryptedSecret, BoxError> {
        Err("no key".into())
    }

    fn decrypt(&self, _: &EncryptedSecret, _: &EndpointId) -> Result<WebhookSecret, BoxError> {
        Err("no key".into())
    }
}

#[test]
fn deliveries_with_an_undecryptable_secret_wait_uncounted_with_growing_delays() {
    let mut fixture = WorkerFixture::with_replies([Status(204)]);
    fixture.settings.poll_interval = HOUR;
    fixture.secrets = Arc::new(LostKey);
    let handle = fixture.start();
    let log = fixture.only_delivery().1;
    assert_eq!(log[0].error, Some(TransportError::not_sent("no key")));
    fixture.advance(HOUR);
    let (delivery, log) = fixture.only_delivery();
    let ages: Vec<_> = log
        .iter()
        .map(|one| one.started_at.saturating_duration_since(delivery.created_at))
        .map(|age| age.as_secs())
        .collect();
    assert_eq!(ages, [0, 30, 60, 120, 240, 480, 960, 1536, 2112, 2688, 3264]);
    assert_eq!(fixture.progress(), (Retrying, 0));
    assert!(fixture.sent().is_empty());
    fixture.runtime.block_on(handle.stop());
    fixture.secrets = Arc::new(PlaintextCipher);
    fixture.start();
    fixture.advance(HOUR);
    assert_eq!(fixture.progress(), (Delivered, 1));
}

#[test]
fn an_undecryptable_secret_does_not_delay_other_endpoints() {
    let fixture = WorkerFixture::new();
    let unreadable = fixture.add_with("unreadable", |endpoint| {
        endpoint.secret = EncryptedSecret::new(vec![0xff; 64]);
    });
    fixture.queue(&unreadable, 1);
    fixture.queue(&fixture.add("other"), 3);
    fixture.start();
    assert_eq!(fixture.transport.send_times("other").len(), 3);
}

#[test]
fn finished_deliveries_are_swept_after_a_week_except_dead_ones() {
    let fixture = WorkerFixture::with_hourly_poll();
    for (name, reply) in [("good", 204), ("gone", 410), ("dead", 500)] {
        fixture.add(name);
        fixture.transport.set_replies(name, [Status(reply)]);
    }
    let withheld = fixture.add_for_owner(2, "withheld");
    fixture.owners.set(2, super::owners::OwnerAccess::CannotAct);
    fixture.queue(&withheld, 1);
    fixture.insert_post_event();
    let handle = fixture.start();
    let day = HOUR * 24;
    let states = [Delivered, Gone, Withheld, Dead];
    fixture.advance(day * 6);
    assert_eq!(states.map(|state| fixture.count(state)), [1, 1, 1, 1]);
    fixture.advance(day * 2);
    assert_eq!(states.map(|state| fixture.count(state)), [0, 0, 0, 1]);
    fixture.transport.set_replies("dead", [Status(200)]);
    fixture.retry(&handle);
    assert_eq!(fixture.progress(), (Delivered, 1));
}

#[test]
fn sweeps_run_in_batches_at_the_start_and_each_hour() {
    let fixture = WorkerFixture::with_hourly_poll();
    fixture.queue(&fixture.add("a"), 1200);
    let handle = fixture.start();
    assert_eq!(fixture.count(Delivered), 1200);
    fixture.runtime.block_on(handle.stop());
    fixture.advance(HOUR * 24 * 8);
    fixture.start();
    assert_eq!(fixture.deliveries().len(), 700, "one batch at once");
    fixture.take_counts();
    for (millis, left) in [(49, 700), (1, 200), (950, 0)] {
        fixture.advance(Duration::from_millis(millis));
        assert_eq!(fixture.deliveries().len(), left, "the pause is 50 ms");
    }
    fixture.advance(HOUR * 24 - seconds(1));
    assert_eq!(fixture.take_counts()["deliveries.sweep"], 2 + 23);
}

#[test]
fn an_endpoint_whose_attempts_all_failed_for_five_days_is_disabled() {
    thread_log::record();
    let fixture = WorkerFixture::with_hourly_poll();
    let endpoint = fixture.add("a");
    let logged = Arc::new(Mutex::new(None));
    let entry = logged.clone();
    fixture.calls.on_arguments(
        "endpoints.disable_if_failing",
        move |(_, _, _, audit): &mut (EndpointId, Duration, Timestamp, AuditEntry)| {
            *entry.lock().unwrap() = Some(entry_parts(audit));
            Ok(())
        },
    );
    fixture.transport.set_replies("a", [Status(500)]);
    fixture.insert_post_event();
    let handle = fixture.start();
    let find = || {
        let find = fixture.stores.find_endpoint(&endpoint.id);
        fixture.runtime.block_on(find).unwrap().unwrap()
    };
    let began = fixture.now();
    assert_eq!(find().failing_since, Some(began));
    fixture.advance(seconds(5 * 86_400 - 100));
    fixture.insert_post_event();
    fixture.wake(&handle);
    fixture.advance(seconds(99));
    assert!(find().enabled, "the third attempt is within the five days");
    fixture.advance(HOUR);
    let disabled = find();
    assert!(!disabled.enabled && disabled.auto_disabled);
    assert_eq!(disabled.failing_since, Some(began));
    assert_eq!((fixture.count(Dead), fixture.count(Retrying)), (2, 0));
    let log = thread_log::take();
    let is_warning = |line: &&str| line.contains("endpoint disabled: all deliveries");
    let warnings: Vec<_> = log.lines().filter(is_warning).collect();
    let is_named = |line: &&str| line.contains(" WARN ") && line.contains(&endpoint.id.to_string());
    assert!(warnings.len() == 1 && warnings.iter().all(is_named), "{log}");
    let details = format!("all deliveries failed since {began}");
    let target = endpoint.id.to_string();
    let expected = (AuditActor::SYSTEM, AuditAction::ENDPOINT_DISABLED, target, details);
    assert_eq!(logged.lock().unwrap().take(), Some(expected));
}

/// Returns what the audit log has of an entry beside its id and its time.
fn entry_parts(entry: &AuditEntry) -> (AuditActor, AuditAction, String, String) {
    (entry.actor.clone(), entry.action.clone(), entry.target.clone(), entry.details.clone())
}

/// The clock jumps six days ahead before the last attempt of a delivery fails.
#[test]
fn a_clock_that_jumps_ahead_disables_no_endpoint() {
    let fixture = WorkerFixture::with_hourly_poll();
    let endpoint = fixture.add("a");
    fixture.transport.set_replies("a", [Status(500)]);
    fixture.insert_post_event();
    let handle = fixture.start();
    while fixture.progress().1 < 5 {
        fixture.advance(seconds(10));
    }
    fixture.clock.advance(seconds(6 * 86_400));
    fixture.wake(&handle);
    assert_eq!(fixture.progress(), (Dead, 6));
    let found = fixture.stores.find_endpoint(&endpoint.id);
    assert!(fixture.runtime.block_on(found).unwrap().unwrap().enabled);
}

#[test]
fn an_unknown_result_disables_no_endpoint() {
    let fixture = WorkerFixture::with_hourly_poll();
    let endpoint = fixture.add("a");
    fixture.transport.set_replies("a", [Status(500)]);
    fixture.insert_post_event();
    let handle = fixture.start();
    fixture.advance(seconds(6 * 86_400));
    assert_eq!(fixture.count(Dead), 1);
    fixture.fail(|method, _| method == "deliveries.settle");
    fixture.insert_post_event();
    fixture.wake(&handle);
    for _ in 0..12 {
        fixture.fail(|_, _| false);
        fixture.advance(seconds(61));
        fixture.fail(|method, _| method == "deliveries.settle");
        fixture.advance(HOUR);
    }
    assert_eq!(fixture.count(Dead), 2);
    let found = fixture.stores.find_endpoint(&endpoint.id);
    assert!(fixture.runtime.block_on(found).unwrap().unwrap().enabled);
}

#[test]
fn dead_deliveries_are_removed_after_their_retention() {
    let mut fixture = WorkerFixture::with_replies([Status(500)]);
    fixture.settings.poll_interval = HOUR;
    fixture.settings.dead_retention = Some(seconds(86_400));
    type Purge = (DeliveryState, Duration, Timestamp, u32, AuditEntry);
    let logged = Arc::new(Mutex::new(None));
    let entry = logged.clone();
    fixture.calls.on_arguments("deliveries.purge", move |arguments: &mut Purge| {
        *entry.lock().unwrap() = Some((arguments.0, entry_parts(&arguments.4)));
        Ok(())
    });
    fixture.start();
    fixture.advance(seconds(86_400));
    assert_eq!(fixture.count(Dead), 1);
    fixture.advance(2 * HOUR);
    assert_eq!(fixture.count(Dead), 0);
    let expected =
        (AuditActor::SYSTEM, AuditAction::DELIVERY_PURGED, String::new(), "dead".to_owned());
    assert_eq!(logged.lock().unwrap().take(), Some((Dead, expected)));
}

#[tokio::test]
async fn the_default_transport_has_the_settings_and_the_resolver_of_the_worker() {
    let ok = Behavior::Respond(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
    let mut receiver = ScriptedReceiver::with_behaviors(vec![ok], Some(acceptor("receiver"))).await;
    let (_, stores) = stores_in_memory();
    let mut endpoint = sample::endpoint("A");
    endpoint.url = receiver.url("https://receiver.test");
    assert!(stores.endpoints().add(&endpoint, &audit_entry()).await.unwrap());
    let mut event = sample::event(r#"{"event":"evt_1"}"#);
    event.forum_id = Some(ForumId::from(1));
    let queued = stores.deliveries().enqueue(&event, &endpoint.id, sample::after(0)).await;
    let delivery = queued.unwrap().unwrap();

    let calls = StoreInterceptor::default();
    let settled = Arc::new(Notify::new());
    let notify = settled.clone();
    calls.on_result("deliveries.settle", move |_: &mut HashSet<DeliveryId>| notify.notify_one());
    let names = FakeResolver::resolving_to(&["127.0.0.1"]);
    let mut settings = WorkerSettings::default();
    settings.allowed_addresses = AllowedAddresses::Private;
    settings.extra_roots_pem = ROOT_CERTIFICATE.into();
    let owners = FakeAuthorizer::new(TokioRuntime);
    let worker = Worker::builder(calls.webhooks(&stores), owners, &Environment::default())
        .settings(settings)
        .resolver(names.clone() as Arc<dyn Resolver>)
        .build()
        .unwrap()
        .start();
    settled.notified().await;
    worker.stop().await;
    assert_eq!((receiver.wait_for_close().await.len(), names.calls()), (1, 1));
    let (delivery, attempts) = stores.find_delivery(&delivery).await.unwrap().unwrap();
    assert_eq!(delivery.progress.state, Delivered, "{attempts:?}");
}
