//! The clock of Postgres decides leases, due times and ages.

use std::time::Duration;

use forum_api::runtime::{Clock, SystemClock};
use forum_api::store::{
    BeginOutcome, Completion, FanOut, Settlement, Stores, TokenUsage, UsageCounts, WebhookStores,
};
use forum_api::test_util::{attempt_record, audit_entry};
use forum_api::webhook::DeliveryState;

use super::tables;
use crate::fixture::{add, at, claim_all, ended, endpoint, event, fan_out, keyed_request, queue};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// A worker whose clock is a year ahead or behind sees the same leases as other workers.
#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_clock_does_not_end_leases_or_hide_deliveries() {
    let webhooks = WebhookStores::in_postgres(&tables().await);
    let deliveries = webhooks.deliveries();
    add(&webhooks, &[endpoint(1)]).await;
    let now = SystemClock.now();
    let ahead = now.saturating_add(YEAR);
    let behind = now.saturating_sub(YEAR);
    queue(&webhooks, [event(1)], &[endpoint(1)]).await;

    let claimed = claim_all(&webhooks, behind).await.deliveries;
    let until = behind.saturating_add(Duration::from_secs(60));
    assert_eq!((claimed.len(), claimed[0].lease_expires_at), (1, until));
    let batch = claim_all(&webhooks, ahead).await;
    assert_eq!(batch.deliveries, [], "the lease holds for a worker that is ahead");
    let due_in = batch.next_due_at.unwrap().saturating_duration_since(ahead);
    assert!((50..=60).contains(&due_in.as_secs()), "{due_in:?}");
    assert_eq!(deliveries.queue_stats(ahead).await.unwrap().depth, 0);
    let begun = deliveries.begin_sending(&claimed, ahead).await.unwrap();
    assert_eq!(begun.len(), 1);
    let id = &claimed[0].delivery.id;
    for now in [behind, ahead] {
        assert!(deliveries.is_sending(id, now).await.unwrap());
    }

    let mut retrying = ended(DeliveryState::Retrying);
    retrying.due_at = Some(ahead.saturating_add(Duration::from_secs(30)));
    let settlement = Settlement::new(&claimed[0], retrying, None, ahead);
    let settled = deliveries.settle(&[settlement], ahead).await.unwrap();
    assert_eq!(settled.len(), 1);
    let (delivery, _) = deliveries.find(id).await.unwrap().unwrap();
    let due_in = delivery.progress.due_at.unwrap().saturating_duration_since(now);
    assert!((25..=50).contains(&due_in.as_secs()), "{due_in:?}");
    assert!(deliveries.retry(id, at(0), &audit_entry()).await.unwrap());
    let claimed = claim_all(&webhooks, behind).await.deliveries;
    assert_eq!(claimed.len(), 1);
    deliveries.release(&claimed, Duration::ZERO, ahead).await.unwrap();
    assert_eq!(deliveries.queue_stats(behind).await.unwrap().depth, 1);
}

/// The id of a lease that a crash loses is not used again.
#[tokio::test(flavor = "multi_thread")]
async fn the_id_of_a_lease_is_at_least_the_time_in_microseconds() {
    let webhooks = WebhookStores::in_postgres(&tables().await);
    add(&webhooks, &[endpoint(1)]).await;
    queue(&webhooks, [event(1)], &[endpoint(1)]).await;
    let now = SystemClock.now();
    let claimed = claim_all(&webhooks, now).await.deliveries;
    let id = claimed[0].lease_id;
    // The clock of Postgres can be up to a minute behind.
    assert!(id >= (now.as_millis() - 60_000) * 1000, "{id}");
}

/// A worker whose clock is a year ahead or behind removes no deliveries or events within their retention, and computes the
/// same ages as other workers.
#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_clock_does_not_end_retentions() {
    let webhooks = WebhookStores::in_postgres(&tables().await);
    let (deliveries, feed) = (webhooks.deliveries(), webhooks.feed());
    add(&webhooks, &[endpoint(1)]).await;
    let now = SystemClock.now();
    let clocks = [now.saturating_add(YEAR), now.saturating_sub(YEAR)];
    for (number, state) in [(1, DeliveryState::Delivered), (2, DeliveryState::Dead)] {
        let event = event(number);
        webhooks.insert_event(&event).await.unwrap();
        let in_feed = FanOut { stays_in_feed: true, ..fan_out(&event.id, &[endpoint(1)]) };
        webhooks.outbox().fan_out(&[in_feed], now).await.unwrap();
        let claimed = claim_all(&webhooks, now).await.deliveries;
        let settlement = Settlement::new(&claimed[0], ended(state), Some(attempt_record(1)), now);
        assert_eq!(deliveries.settle(&[settlement], now).await.unwrap().len(), 1);
    }
    queue(&webhooks, [event(3)], &[endpoint(1)]).await;
    let first = feed.find(&event(1).id, now).await.unwrap().unwrap();
    for clock in clocks {
        assert_eq!(feed.sweep(DAY, clock, 9).await.unwrap(), 0);
        assert_eq!(deliveries.sweep(DAY, clock, 9).await.unwrap(), 0);
        let purged = deliveries.purge(DeliveryState::Dead, DAY, clock, 9, &audit_entry()).await;
        assert_eq!(purged.unwrap(), 0);
    }
    for clock in clocks {
        let found = feed.find(&event(1).id, clock).await.unwrap().unwrap();
        assert_eq!(found.position, first.position);
        assert!(found.age.unwrap() < Duration::from_secs(50), "{found:?}");
        assert_eq!(feed.first_kept(DAY, clock).await.unwrap(), Some(first.position));
        let queue = deliveries.queue_stats(clock).await.unwrap();
        assert!(queue.depth == 1 && queue.oldest_age.unwrap() < Duration::from_secs(50));
        let counts = deliveries.delivery_stats(DAY, clock).await.unwrap();
        let by_hour: Vec<_> = counts.iter().map(|one| (one.hours_ago, one.count)).collect();
        assert_eq!(by_hour, [(0, 1); 3]);
        let results = &deliveries.endpoint_stats(DAY, clock).await.unwrap()[0];
        assert_eq!((results.delivered, results.failed), (1, 1));
    }
    tokio::time::sleep(Duration::from_millis(5)).await;
    assert_eq!(deliveries.sweep(Duration::ZERO, clocks[1], 9).await.unwrap(), 1);
}

/// A node whose clock is a year ahead or behind neither removes the usage of other nodes nor disables an endpoint.
#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_clock_does_not_remove_usage_or_disable_endpoints() {
    let pool = tables().await;
    let (usage, webhooks) = (Stores::in_postgres(&pool).usage, WebhookStores::in_postgres(&pool));
    let now = SystemClock.now();
    let counts = UsageCounts { requests: 14, ..UsageCounts::default() };
    let hour = TokenUsage::hour_of(now);
    let of_guests = TokenUsage { hour, token: None, operation: None, counts };
    usage.add_token_usage(&[of_guests]).await.unwrap();
    add(&webhooks, &[endpoint(1)]).await;
    queue(&webhooks, [event(1)], &[endpoint(1)]).await;
    let claimed = claim_all(&webhooks, now).await.deliveries;
    let dead = ended(DeliveryState::Dead);
    let settlement = Settlement::new(&claimed[0], dead, Some(attempt_record(6)), now);
    webhooks.deliveries().settle(&[settlement], now).await.unwrap();
    let endpoints = webhooks.endpoints();
    let id = &endpoint(1).id;
    for clock in [now.saturating_add(YEAR), now.saturating_sub(YEAR)] {
        assert_eq!(usage.sweep(DAY, clock, 9).await.unwrap(), 0);
        let disabled = endpoints.disable_if_failing(id, DAY, clock, &audit_entry()).await;
        assert!(!disabled.unwrap());
    }
    assert_eq!(usage.token_usage_by_hour(hour, None).await.unwrap(), [(hour, counts)]);
    let behind = now.saturating_sub(YEAR);
    let disabled = endpoints.disable_if_failing(id, Duration::ZERO, behind, &audit_entry()).await;
    assert!(disabled.unwrap());
}

/// A node whose clock is a year ahead neither forgets the keys of other nodes nor ends their runs.
#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_clock_does_not_end_idempotency_keys() {
    let store = Stores::in_postgres(&tables().await).idempotency;
    let now = SystemClock.now();
    let ahead = now.saturating_add(YEAR);
    let behind = now.saturating_sub(YEAR);
    let begun = store.begin(&keyed_request("first"), behind).await.unwrap();
    let BeginOutcome::Reserved(reservation) = begun else {
        panic!("{begun:?}");
    };
    let other = store.begin(&keyed_request("second"), ahead).await.unwrap();
    assert!(matches!(other, BeginOutcome::Reserved(_)), "{other:?}");
    for clock in [ahead, behind] {
        let repeated = store.begin(&keyed_request("first"), clock).await.unwrap();
        assert_eq!(repeated, BeginOutcome::InProgress);
    }
    let outcome = Completion::OutcomeUnknown;
    store.complete(&reservation, outcome).await.unwrap();
    let repeated = store.begin(&keyed_request("first"), ahead).await.unwrap();
    assert_eq!(repeated, BeginOutcome::OutcomeUnknown);
}
