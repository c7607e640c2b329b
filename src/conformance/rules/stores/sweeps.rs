//! How deliveries are forgotten.

use super::Shelf;
use super::delivery_fixture::{progress, room};
use super::store_fixture::at;
use super::{Verdict, equal};
use crate::model::DeliveryId;
use crate::webhook::State;

const ALL: u32 = 1_000;

store_rules!(
    mod sweeps;

    /// What was delivered, gone or withheld is kept until the time comes, counted from its end.
    async fn what_ended_long_ago_is_swept(shelf: &Shelf) -> Verdict {
        let endpoint = shelf.add(1).await?;
        for (number, state) in (1..).zip([State::Delivered, State::Gone, State::Withheld]) {
            let id = shelf.queue(number, &endpoint, 0).await?;
            let claimed = shelf.take(0).await?;
            shelf
                .settle(&claimed, progress(state, 1, None), 100)
                .await?;
            sweep(shelf, 100, ALL, 0).await?;
            is_there(shelf, &id, true).await?;
            sweep(shelf, 101, ALL, 1).await?;
            is_there(shelf, &id, false).await?;
        }
        sweep(shelf, 101, ALL, 0).await
    }

    /// What is dead, or is still to be attempted, is kept however old it is.
    async fn what_is_pending_or_dead_is_kept(shelf: &Shelf) -> Verdict {
        let endpoint = shelf.add(1).await?;
        let dead = shelf.end(1, &endpoint, State::Dead, 0).await?;
        let retrying = shelf.queue(2, &endpoint, 0).await?;
        let claimed = shelf.take(0).await?;
        shelf
            .settle(&claimed, progress(State::Retrying, 5, Some(9)), 0)
            .await?;
        let leased = shelf.queue(3, &endpoint, 0).await?;
        shelf.take(0).await?;
        let queued = shelf.queue(4, &endpoint, 0).await?;
        sweep(shelf, i64::from(u32::MAX), ALL, 0).await?;
        for id in [dead, retrying, leased, queued] {
            is_there(shelf, &id, true).await?;
        }
        Ok(())
    }

    /// What was gone and is queued again is pending; it may be gone again.
    async fn what_is_queued_again_is_not_swept(shelf: &Shelf) -> Verdict {
        let endpoint = shelf.add(1).await?;
        let id = shelf.end(1, &endpoint, State::Gone, 0).await?;
        shelf.webhooks.deliveries.retry(&id, at(1)).await?;
        sweep(shelf, 50, ALL, 0).await?;
        let claimed = shelf.take(1).await?;
        shelf
            .settle(&claimed, progress(State::Gone, 1, None), 60)
            .await?;
        sweep(shelf, 50, ALL, 0).await?;
        sweep(shelf, 61, ALL, 1).await?;
        is_there(shelf, &id, false).await
    }

    /// A sweep takes a small batch, the oldest of what is over.
    async fn a_sweep_takes_no_more_than_its_limit(shelf: &Shelf) -> Verdict {
        let endpoint = shelf.add(1).await?;
        let mut all = Vec::new();
        for number in 0..10_u64 {
            let now = number.cast_signed();
            all.push(shelf.end(number, &endpoint, State::Delivered, now).await?);
        }
        sweep(shelf, 100, 0, 0).await?;
        for (round, id) in all.iter().step_by(4).enumerate() {
            is_there(shelf, id, true).await?;
            sweep(shelf, 100, 4, if round < 2 { 4 } else { 2 }).await?;
            is_there(shelf, id, false).await?;
        }
        sweep(shelf, 100, 4, 0).await
    }

    /// What a removed endpoint left is taken away in batches, whatever its state and age; then its id is free again.
    async fn what_a_removed_endpoint_left_is_swept(shelf: &Shelf) -> Verdict {
        let (removed, other) = (shelf.add(1).await?, shelf.add(2).await?);
        shelf.end(1, &removed, State::Dead, 0).await?;
        shelf.end(2, &removed, State::Delivered, 0).await?;
        for number in 3..8 {
            shelf.queue(number, &removed, 0).await?;
        }
        let stays = shelf.queue(8, &other, 0).await?;
        let endpoints = &shelf.webhooks.endpoints;
        endpoints.remove(&removed.id).await?;
        for swept in [3, 3, 1, 0] {
            let added = endpoints.add(&removed).await?;
            equal("whether the id is free", added, swept == 0)?;
            sweep(shelf, -100, 3, swept).await?;
        }
        is_there(shelf, &stays, true).await?;
        let claims = shelf.claim(&room(9), 1).await?;
        equal("what is due", claims.taken.len(), 1)
    }
);

async fn sweep(shelf: &Shelf, before: i64, limit: u32, expected: u64) -> Verdict {
    let swept = shelf.webhooks.deliveries.sweep(at(before), limit).await?;
    equal("how many were swept", swept, expected)
}

async fn is_there(shelf: &Shelf, id: &DeliveryId, expected: bool) -> Verdict {
    let found = shelf.webhooks.deliveries.find(id).await?.is_some();
    equal("whether it is there", found, expected)
}
