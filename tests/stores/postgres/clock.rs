//! Postgres's clock decides leases and due times.

use std::time::Duration;

use forum_api::runtime::{Clock, SystemClock};
use forum_api::store::{Settlement, WebhookStores};
use forum_api::webhook::{DeliveryProgress, DeliveryState};

use super::tables;
use crate::fixture::{add, at, claim, endpoint, event, queue};

const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// A worker whose clock is wrong by a year, in either direction, sees the same leases as one whose clock is right.
#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_clock_ends_no_lease_and_hides_no_delivery() {
    let webhooks = WebhookStores::in_postgres(&tables().await);
    let deliveries = &webhooks.deliveries;
    add(&webhooks, &[endpoint(1)]).await;
    let now = SystemClock.now();
    let (ahead, behind) = (now.saturating_add(YEAR), now.saturating_sub(YEAR));
    queue(&webhooks, [event(1)].into_iter(), &[endpoint(1)]).await;

    let claimed = deliveries
        .claim(&claim(9, 9), behind)
        .await
        .unwrap()
        .deliveries;
    let until = behind.saturating_add(Duration::from_secs(60));
    assert_eq!((claimed.len(), claimed[0].lease_until), (1, until));
    let claims = deliveries.claim(&claim(9, 9), ahead).await.unwrap();
    assert_eq!(
        claims.deliveries,
        [],
        "the lease holds for a worker that is ahead"
    );
    let wait = claims
        .next_due_at
        .unwrap()
        .saturating_duration_since(ahead)
        .as_secs();
    assert!((50..=60).contains(&wait), "{wait}");
    assert_eq!(deliveries.queue_stats(ahead).await.unwrap().depth, 0);
    let begun = deliveries.begin_sending(&claimed, ahead).await.unwrap();
    assert_eq!(begun.len(), 1);

    let retrying = DeliveryProgress {
        state: DeliveryState::Retrying,
        attempts: 1,
        due_at: Some(ahead.saturating_add(Duration::from_secs(30))),
    };
    let settlement = Settlement::new(&claimed[0], retrying, None);
    let settled = deliveries.settle(&[settlement], ahead).await.unwrap();
    assert_eq!(settled.len(), 1);
    let id = &claimed[0].delivery.id;
    let (delivery, _) = deliveries.find(id).await.unwrap().unwrap();
    let due = delivery
        .progress
        .due_at
        .unwrap()
        .saturating_duration_since(now)
        .as_secs();
    assert!((25..=50).contains(&due), "{due}");
    assert!(deliveries.retry(id, at(0)).await.unwrap());
    let claimed = deliveries
        .claim(&claim(9, 9), behind)
        .await
        .unwrap()
        .deliveries;
    assert_eq!(claimed.len(), 1);
    let released = deliveries.release(&claimed, Duration::ZERO, ahead);
    released.await.unwrap();
    assert_eq!(deliveries.queue_stats(behind).await.unwrap().depth, 1);
}
