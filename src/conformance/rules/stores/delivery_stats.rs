//! Statistics of deliveries.

use std::time::Duration;

use super::*;
use crate::store::{DeliveryCount, EndpointStats, LastDelivery};
use crate::webhook::{AttemptRecord, DeliveryState, Endpoint};

/// An hour in milliseconds.
const HOUR: i64 = 3_600_000;

store_rules! {
    mod delivery_stats, __rules_delivery_stats;

    /// Deliveries of existing endpoints are counted by the hour of their creation, by endpoint and by state. Deliveries
    /// that were created in the future count in the current hour.
    async fn deliveries_are_counted_by_hour_endpoint_and_state(fixture: &StoreFixture) -> TestResult {
        let [first, other, removed] = fixture.add_endpoints().await?;
        let period = Duration::from_secs(24 * 60 * 60);
        let now = 24 * HOUR;
        for (number, to, state, queued) in [
            (1, &first, DeliveryState::Dead, 0),
            (2, &first, DeliveryState::Delivered, 1),
            (3, &first, DeliveryState::Delivered, 2),
            (4, &first, DeliveryState::Dead, now - HOUR),
            (5, &other, DeliveryState::Dead, now - HOUR + 1),
            (6, &removed, DeliveryState::Dead, now),
        ] {
            fixture.finish(number, to, state, queued).await?;
        }
        fixture.enqueue(7, &other, now).await?;
        fixture.enqueue(8, &other, now + 2 * HOUR).await?;
        fixture.webhooks.endpoints.remove(&removed.id, &audit_entry()).await?;
        let mut actual = fixture.webhooks.deliveries.delivery_stats(period, instant(now)).await?;
        actual.sort_by_key(|count| (count.hours_ago, count.state.as_str(), count.endpoint_id.clone()));
        let count = |hours_ago, endpoint: &Endpoint, state, count| {
            let endpoint_id = endpoint.id.clone();
            DeliveryCount { hours_ago, endpoint_id, state, count }
        };
        check_eq!(actual, [
            count(0, &other, DeliveryState::Dead, 1),
            count(0, &other, DeliveryState::Queued, 2),
            count(1, &first, DeliveryState::Dead, 1),
            count(23, &first, DeliveryState::Delivered, 2),
        ])
    }

    /// The results of each existing endpoint are counted for the period. The latest attempted delivery can be older
    /// than the period.
    async fn results_are_counted_for_each_endpoint(fixture: &StoreFixture) -> TestResult {
        let [used, unused, removed] = fixture.add_endpoints().await?;
        let mut last = None;
        for (number, to, state, queued, status) in [
            (1, &used, DeliveryState::Delivered, 5, Some(200)),
            (2, &used, DeliveryState::Delivered, 6, Some(200)),
            (3, &used, DeliveryState::Dead, 7, None),
            (4, &used, DeliveryState::Retrying, 8, Some(503)),
            (5, &used, DeliveryState::Gone, 9, Some(410)),
            (6, &removed, DeliveryState::Dead, 10, Some(500)),
            (7, &used, DeliveryState::Withheld, 11, None),
        ] {
            let id = fixture.enqueue(number, to, queued).await?;
            let attempt = AttemptRecord { started_at: instant(queued + 20), status, ..attempt_record(1) };
            let log = (state != DeliveryState::Withheld).then_some(&attempt);
            let claimed = fixture.claim_one(queued).await?;
            fixture.settle_attempt(&claimed, progress(state, 1, None), log, queued).await?;
            if let Some(attempt) = log.filter(|_| to.id == used.id) {
                last = Some(LastDelivery { id, state, attempted_at: attempt.started_at, status });
                let stats = fixture.webhooks.deliveries.endpoint_stats(Duration::ZERO, instant(queued)).await?;
                let found = stats.into_iter().find(|stats| stats.endpoint_id == used.id);
                check_eq!(found.and_then(|stats| stats.last), last, "the latest delivery after {number}")?;
            }
        }
        fixture.enqueue(8, &used, 12).await?;
        fixture.webhooks.endpoints.remove(&removed.id, &audit_entry()).await?;
        for (since, delivered, failed) in [(5, 1, 3), (12, 0, 0)] {
            let mut actual = fixture.webhooks.deliveries.endpoint_stats(Duration::from_millis(7), instant(since + 7)).await?;
            actual.sort_by_key(|stats| stats.endpoint_id.clone());
            let stats = |endpoint: &Endpoint, delivered, failed, last| {
                EndpointStats { endpoint_id: endpoint.id.clone(), delivered, failed, last }
            };
            check_eq!(actual, [stats(&used, delivered, failed, last.clone()), stats(&unused, 0, 0, None)])?;
        }
        Ok(())
    }
}
