//! The clock of Postgres decides leases and due times.

use std::time::Duration;

use forum_api::runtime::{Clock, SystemClock};
use forum_api::store::{BeginOutcome, Completion, Settlement, Stores, WebhookStores};
use forum_api::test_util::audit_entry;
use forum_api::webhook::DeliveryState;

use super::tables;
use crate::fixture::{add, at, claim_all, ended, endpoint, event, keyed_request, queue};

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
