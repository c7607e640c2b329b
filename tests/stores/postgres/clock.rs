//! Postgres's own clock decides leases and due times.

use std::time::Duration;

use forum_api::runtime::{Clock, SystemClock};
use forum_api::store::{Settlement, Webhooks};
use forum_api::webhook::{Progress, State};

use super::database::try_in_postgres;
use super::{add, endpoint, event, queue, room, tables};
use crate::backend::at;

const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// A worker whose clock is wrong by a year, in either direction, sees the same leases as one whose clock is right.
#[test]
fn a_wrong_clock_ends_no_lease_and_hides_no_delivery() {
    try_in_postgres(async {
        let webhooks = Webhooks::in_postgres(&tables().await);
        let deliveries = &webhooks.deliveries;
        add(&webhooks, &[endpoint(1)]).await;
        let now = SystemClock.now();
        let (ahead, behind) = (now.plus(YEAR), now.minus(YEAR));
        queue(&webhooks, [event(1)].into_iter(), &[endpoint(1)]).await;

        let claims = deliveries.claim(&room(9, 9), behind).await.unwrap();
        let [claimed] = claims.taken.as_slice() else {
            panic!("a delivery is due for a worker that is behind");
        };
        assert_eq!(claimed.lease_until, behind.plus(Duration::from_secs(60)));
        let claims = deliveries.claim(&room(9, 9), ahead).await.unwrap();
        assert_eq!(
            claims.taken,
            [],
            "the lease holds for a worker that is ahead"
        );
        let wait = claims.next.unwrap().since(ahead).as_secs();
        assert!((50..=60).contains(&wait), "{wait}");
        assert_eq!(deliveries.backlog(ahead).await.unwrap().depth, 0);
        let claimed = std::slice::from_ref(claimed);
        let begun = deliveries.begin_sending(claimed, ahead).await.unwrap();
        assert_eq!(begun.len(), 1);

        let retrying = Progress {
            state: State::Retrying,
            attempts: 1,
            due_at: Some(ahead.plus(Duration::from_secs(30))),
        };
        let settlement = Settlement::new(&claimed[0], retrying, None);
        let settled = deliveries.settle(&[settlement], ahead).await.unwrap();
        assert_eq!(settled.len(), 1);
        let (delivery, _) = deliveries
            .find(&claimed[0].delivery.id)
            .await
            .unwrap()
            .unwrap();
        let due = delivery.progress.due_at.unwrap().since(now).as_secs();
        assert!((25..=50).contains(&due), "{due}");
        assert!(deliveries.retry(&delivery.id, at(0)).await.unwrap());
        let claims = deliveries.claim(&room(9, 9), behind).await.unwrap();
        assert_eq!(claims.taken.len(), 1);
        let claims = &claims.taken;
        deliveries
            .release(claims, Duration::ZERO, ahead)
            .await
            .unwrap();
        assert_eq!(deliveries.backlog(behind).await.unwrap().depth, 1);
    });
}
