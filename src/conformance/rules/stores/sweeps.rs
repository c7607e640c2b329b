//! Removal of old deliveries.

use std::time::Duration;

use super::*;
use crate::model::DeliveryId;
use crate::webhook::DeliveryState;

/// Limit of a sweep that removes all old deliveries.
const ALL: u32 = 1_000;

/// Time for which the sweeps and purges keep deliveries.
const RETENTION: Duration = Duration::from_millis(250);

store_rules! {
    mod sweeps, __rules_sweeps;

    /// A sweep removes delivered, gone and withheld deliveries that ended longer ago than the retention.
    async fn deliveries_that_ended_long_ago_are_swept(fixture: &StoreFixture) -> TestResult {
        let endpoint = fixture.add_endpoint(1).await?;
        for (number, state) in (1..).zip([DeliveryState::Delivered, DeliveryState::Gone, DeliveryState::Withheld]) {
            let id = fixture.enqueue(number, &endpoint, 0).await?;
            let claimed = fixture.claim_one(0).await?;
            fixture.settle(&claimed, progress(state, 1, None), 100).await?;
            fixture.expect_sweep(100, ALL, 0).await?;
            fixture.expect_exists(&id, true).await?;
            fixture.expect_sweep(101, ALL, 1).await?;
            fixture.expect_exists(&id, false).await?;
        }
        fixture.expect_sweep(101, ALL, 0).await
    }

    /// A sweep keeps dead and pending deliveries of any age.
    async fn pending_and_dead_deliveries_are_not_swept(fixture: &StoreFixture) -> TestResult {
        let endpoint = fixture.add_endpoint(1).await?;
        let dead = fixture.finish(1, &endpoint, DeliveryState::Dead, 0).await?;
        let retrying = fixture.enqueue(2, &endpoint, 0).await?;
        let claimed = fixture.claim_one(0).await?;
        fixture.settle(&claimed, progress(DeliveryState::Retrying, 5, Some(9)), 0).await?;
        let leased = fixture.enqueue(3, &endpoint, 0).await?;
        fixture.claim_one(0).await?;
        let queued = fixture.enqueue(4, &endpoint, 0).await?;
        fixture.expect_sweep(i64::from(u32::MAX), ALL, 0).await?;
        for id in [dead, retrying, leased, queued] {
            fixture.expect_exists(&id, true).await?;
        }
        Ok(())
    }

    /// A sweep keeps a gone delivery that was queued again until it ends again.
    async fn requeued_deliveries_are_not_swept(fixture: &StoreFixture) -> TestResult {
        let endpoint = fixture.add_endpoint(1).await?;
        let id = fixture.finish(1, &endpoint, DeliveryState::Gone, 0).await?;
        fixture.webhooks.deliveries.retry(&id, instant(1), &audit_entry()).await?;
        fixture.expect_sweep(50, ALL, 0).await?;
        let claimed = fixture.claim_one(1).await?;
        fixture.settle(&claimed, progress(DeliveryState::Gone, 1, None), 60).await?;
        fixture.expect_sweep(50, ALL, 0).await?;
        fixture.expect_sweep(61, ALL, 1).await?;
        fixture.expect_exists(&id, false).await
    }

    /// A sweep removes the oldest finished deliveries up to its limit.
    async fn a_sweep_respects_its_limit(fixture: &StoreFixture) -> TestResult {
        let endpoint = fixture.add_endpoint(1).await?;
        let all = fixture.finish_all::<10>(&endpoint, DeliveryState::Delivered).await?;
        fixture.expect_sweep(100, 0, 0).await?;
        for (id, count) in all.iter().step_by(4).zip([4, 4, 2]) {
            fixture.expect_exists(id, true).await?;
            fixture.expect_sweep(100, 4, count).await?;
            fixture.expect_exists(id, false).await?;
        }
        fixture.expect_sweep(100, 4, 0).await
    }

    /// A purge removes finished deliveries of one state that were created longer ago than the given time, the oldest first and
    /// up to its limit. Deliveries of a removed endpoint are not counted.
    async fn finished_deliveries_of_one_state_are_purged(fixture: &StoreFixture) -> TestResult {
        let [endpoint, removed] = fixture.add_endpoints().await?;
        let dead = fixture.finish_all::<4>(&endpoint, DeliveryState::Dead).await?;
        let gone = fixture.finish(5, &endpoint, DeliveryState::Gone, 0).await?;
        fixture.finish(7, &removed, DeliveryState::Dead, 0).await?;
        fixture.webhooks.endpoints.remove(&removed.id, &audit_entry()).await?;
        let queued = fixture.enqueue(6, &endpoint, 0).await?;
        let deliveries = &fixture.webhooks.deliveries;
        for expected in [2, 1, 0] {
            let now = instant(3).saturating_add(RETENTION);
            let purged = deliveries.purge(DeliveryState::Dead, RETENTION, now, 2, &audit_entry()).await?;
            check_eq!(purged, expected)?;
            fixture.expect_exists(&dead[0], false).await?;
        }
        for (id, exists) in dead.iter().zip([false, false, false, true]) {
            fixture.expect_exists(id, exists).await?;
        }
        check_eq!(deliveries.purge(DeliveryState::Queued, Duration::ZERO, instant(9), 9, &audit_entry()).await?, 0)?;
        for id in [gone, queued] {
            fixture.expect_exists(&id, true).await?;
        }
        Ok(())
    }

    /// Sweeps remove the deliveries of a removed endpoint in batches, in any state and of any age. Then the endpoint's
    /// id can be used again.
    async fn deliveries_of_a_removed_endpoint_are_swept(fixture: &StoreFixture) -> TestResult {
        let [removed, other] = fixture.add_endpoints().await?;
        fixture.finish(1, &removed, DeliveryState::Dead, 0).await?;
        fixture.finish(2, &removed, DeliveryState::Delivered, 0).await?;
        for number in 3..8 {
            fixture.enqueue(number, &removed, 0).await?;
        }
        let remaining = fixture.enqueue(8, &other, 0).await?;
        let endpoints = &fixture.webhooks.endpoints;
        endpoints.remove(&removed.id, &audit_entry()).await?;
        for swept in [3, 3, 1, 0] {
            check_eq!(endpoints.add(&removed, &audit_entry()).await?, swept == 0, "whether the id is free")?;
            fixture.expect_sweep(-100, 3, swept).await?;
        }
        fixture.expect_exists(&remaining, true).await?;
        check_eq!(delivery_ids(&fixture.claim(&claim_request(9), 1).await?), [remaining])
    }
}

impl StoreFixture {
    async fn expect_sweep(&self, before: i64, limit: u32, expected: u64) -> TestResult {
        let deliveries = &self.webhooks.deliveries;
        let now = instant(before).saturating_add(RETENTION);
        let swept = deliveries.sweep(RETENTION, now, limit).await?;
        check_eq!(swept, expected)
    }

    async fn expect_exists(&self, id: &DeliveryId, expected: bool) -> TestResult {
        let actual = self.webhooks.deliveries.find(id).await?;
        check_eq!(actual.is_some(), expected, "whether {id:?} exists")
    }
}
