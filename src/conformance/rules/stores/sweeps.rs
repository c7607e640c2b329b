//! Old deliveries that are removed.

use super::*;
use crate::model::DeliveryId;
use crate::webhook::DeliveryState;

const ALL: u32 = 1_000;

store_rules! {
    mod sweeps;

    /// A delivery that is delivered, gone or withheld is removed at the given time after its end.
    async fn deliveries_that_ended_long_ago_are_swept(fixture: &StoreFixture) -> TestResult {
        let endpoint = fixture.add(1).await?;
        for (number, state) in (1..).zip([DeliveryState::Delivered, DeliveryState::Gone, DeliveryState::Withheld]) {
            let id = fixture.queue(number, &endpoint, 0).await?;
            let claimed = fixture.take(0).await?;
            fixture.settle(&claimed, progress(state, 1, None), 100).await?;
            sweeps(fixture, 100, ALL, 0).await?;
            exists(fixture, &id, true).await?;
            sweeps(fixture, 101, ALL, 1).await?;
            exists(fixture, &id, false).await?;
        }
        sweeps(fixture, 101, ALL, 0).await
    }

    /// A dead or unfinished delivery is kept however old it is.
    async fn pending_and_dead_deliveries_are_not_swept(fixture: &StoreFixture) -> TestResult {
        let endpoint = fixture.add(1).await?;
        let dead = fixture.end(1, &endpoint, DeliveryState::Dead, 0).await?;
        let retrying = fixture.queue(2, &endpoint, 0).await?;
        let claimed = fixture.take(0).await?;
        fixture.settle(&claimed, progress(DeliveryState::Retrying, 5, Some(9)), 0).await?;
        let leased = fixture.queue(3, &endpoint, 0).await?;
        fixture.take(0).await?;
        let queued = fixture.queue(4, &endpoint, 0).await?;
        sweeps(fixture, i64::from(u32::MAX), ALL, 0).await?;
        for id in [dead, retrying, leased, queued] {
            exists(fixture, &id, true).await?;
        }
        Ok(())
    }

    /// A gone delivery that was queued again is kept until it ends again.
    async fn requeued_deliveries_are_not_swept(fixture: &StoreFixture) -> TestResult {
        let endpoint = fixture.add(1).await?;
        let id = fixture.end(1, &endpoint, DeliveryState::Gone, 0).await?;
        fixture.webhooks.deliveries.retry(&id, at(1)).await?;
        sweeps(fixture, 50, ALL, 0).await?;
        let claimed = fixture.take(1).await?;
        fixture.settle(&claimed, progress(DeliveryState::Gone, 1, None), 60).await?;
        sweeps(fixture, 50, ALL, 0).await?;
        sweeps(fixture, 61, ALL, 1).await?;
        exists(fixture, &id, false).await
    }

    /// A sweep removes the oldest finished deliveries, up to its limit.
    async fn a_sweep_respects_its_limit(fixture: &StoreFixture) -> TestResult {
        let endpoint = fixture.add(1).await?;
        let mut all = Vec::new();
        for number in 0..10_u64 {
            let now = number.cast_signed();
            all.push(fixture.end(number, &endpoint, DeliveryState::Delivered, now).await?);
        }
        sweeps(fixture, 100, 0, 0).await?;
        for (id, count) in all.iter().step_by(4).zip([4, 4, 2]) {
            exists(fixture, id, true).await?;
            sweeps(fixture, 100, 4, count).await?;
            exists(fixture, id, false).await?;
        }
        sweeps(fixture, 100, 4, 0).await
    }

    /// The deliveries of a removed endpoint are removed in batches, whatever their state and age; then its id is free.
    async fn deliveries_of_a_removed_endpoint_are_swept(fixture: &StoreFixture) -> TestResult {
        let (removed, other) = (fixture.add(1).await?, fixture.add(2).await?);
        fixture.end(1, &removed, DeliveryState::Dead, 0).await?;
        fixture.end(2, &removed, DeliveryState::Delivered, 0).await?;
        for number in 3..8 {
            fixture.queue(number, &removed, 0).await?;
        }
        let kept = fixture.queue(8, &other, 0).await?;
        let endpoints = &fixture.webhooks.endpoints;
        endpoints.remove(&removed.id).await?;
        for swept in [3, 3, 1, 0] {
            check_eq!(endpoints.add(&removed).await?, swept == 0, "whether the id is free")?;
            sweeps(fixture, -100, 3, swept).await?;
        }
        exists(fixture, &kept, true).await?;
        check_eq!(ids(&fixture.claim(&room(9), 1).await?), [kept])
    }
}

async fn sweeps(fixture: &StoreFixture, before: i64, limit: u32, expected: u64) -> TestResult {
    let swept = fixture.webhooks.deliveries.sweep(at(before), limit).await?;
    check_eq!(swept, expected)
}

async fn exists(fixture: &StoreFixture, id: &DeliveryId, expected: bool) -> TestResult {
    let found = fixture.webhooks.deliveries.find(id).await?;
    check_eq!(found.is_some(), expected, "whether {id:?} exists")
}
