//! What an operator does with deliveries.

use super::Shelf;
use super::delivery_fixture::{attempted, endpoint, event, ids, progress, room};
use super::store_fixture::at;
use super::{Verdict, equal};
use crate::model::DeliveryId;
use crate::webhook::{Endpoint, Event, Progress, State, Topic, Topics};

store_rules!(
    mod retries;

    /// A finished delivery is queued again, with the same id and the log of its attempts, which are counted from 0.
    async fn a_finished_delivery_is_queued_again(shelf: &Shelf) -> Verdict {
        let endpoint = shelf.add(1).await?;
        let finished = [State::Delivered, State::Dead, State::Gone, State::Withheld];
        for (number, state) in (1..).zip(finished) {
            let id = shelf.queue(number, &endpoint, 0).await?;
            let claimed = shelf.take(0).await?;
            let (over, log) = (progress(state, 6, None), attempted(6));
            shelf.note(&claimed, over, Some(&log), 0).await?;
            is_retried(shelf, &id, 9, true).await?;
            let (delivery, attempts) = shelf.found(&id).await?;
            equal(
                "how far it has come",
                delivery.progress,
                Progress::queued(at(9)),
            )?;
            equal("when it was queued first", delivery.created_at, at(0))?;
            equal("its attempts", attempts, vec![log])?;
            shelf.nothing_due(8).await?;
            let again = shelf.take(9).await?;
            equal("what is due", again.delivery.id, id)?;
            equal("whether a lease ran out", again.lease_expired, false)?;
        }
        Ok(())
    }

    /// A retrying delivery becomes due at once, its attempts unchanged, unless an attempt is under way.
    async fn a_retrying_delivery_becomes_due_at_once(shelf: &Shelf) -> Verdict {
        let endpoint = shelf.add(1).await?;
        let id = shelf.queue(1, &endpoint, 0).await?;
        let claimed = shelf.take(0).await?;
        let retrying = progress(State::Retrying, 3, Some(70));
        shelf.settle(&claimed, retrying, 1).await?;
        is_retried(shelf, &id, 5, true).await?;
        shelf
            .is_at(&id, progress(State::Retrying, 3, Some(5)))
            .await?;
        let again = shelf.take(5).await?;
        equal("its attempts", again.delivery.progress.attempts, 3)?;
        is_retried(shelf, &id, 6, false).await?;
        shelf.nothing_due(6).await
    }

    /// A queued delivery is left as it is, and one that is not there is not an error.
    async fn a_queued_delivery_is_left_as_it_is(shelf: &Shelf) -> Verdict {
        let endpoint = shelf.add(1).await?;
        let id = shelf.queue(8, &endpoint, 0).await?;
        is_retried(shelf, &id, 1, false).await?;
        shelf.is_at(&id, Progress::queued(at(0))).await?;
        shelf.take(0).await?;
        is_retried(shelf, &id, 1, false).await?;
        shelf.nothing_due(1).await?;
        let absent = DeliveryId::of(&event(9)?.id, &endpoint.id);
        is_retried(shelf, &absent, 1, false).await
    }

    /// The dead deliveries of one endpoint are queued again in batches, and no others.
    async fn the_dead_of_one_endpoint_are_queued_again_in_batches(shelf: &Shelf) -> Verdict {
        let (endpoint, other) = (shelf.add(1).await?, shelf.add(2).await?);
        let mut dead = Vec::new();
        for number in 0..5 {
            dead.push(shelf.end(number, &endpoint, State::Dead, 0).await?);
        }
        let elsewhere = shelf.end(5, &other, State::Dead, 0).await?;
        let gone = shelf.end(6, &endpoint, State::Gone, 0).await?;
        let deliveries = &shelf.webhooks.deliveries;
        for expected in [2, 2, 1, 0] {
            let retried = deliveries.retry_dead(&endpoint.id, at(9), 2).await?;
            equal("how many were queued again", retried, expected)?;
        }
        for id in &dead {
            shelf.is_at(id, Progress::queued(at(9))).await?;
        }
        shelf
            .is_at(&elsewhere, progress(State::Dead, 1, None))
            .await?;
        shelf.is_at(&gone, progress(State::Gone, 1, None)).await?;
        shelf.webhooks.endpoints.remove(&other.id).await?;
        let retried = deliveries.retry_dead(&other.id, at(9), 2).await?;
        equal("how many of a removed endpoint", retried, 0)
    }

    /// What was queued again and died again is queued again.
    async fn what_is_queued_again_may_die_again(shelf: &Shelf) -> Verdict {
        let endpoint = shelf.add(1).await?;
        let id = shelf.end(1, &endpoint, State::Dead, 0).await?;
        for now in 1..4 {
            is_retried(shelf, &id, now, true).await?;
            is_retried(shelf, &id, now, false).await?;
            let claimed = shelf.take(now).await?;
            shelf
                .settle(&claimed, progress(State::Dead, 6, None), now)
                .await?;
        }
        Ok(())
    }

    /// However often an operator asks at once, a delivery is queued again once.
    async fn of_retries_at_once_one_is_made(shelf: &Shelf) -> Verdict {
        let endpoint = shelf.add(1).await?;
        let id = shelf.end(1, &endpoint, State::Dead, 0).await?;
        let works = (0..20).map(|_| {
            let (deliveries, id) = (shelf.webhooks.deliveries.clone(), id.clone());
            async move { deliveries.retry(&id, at(1)).await }
        });
        let mut made = 0;
        for one in shelf.race(works).await {
            made += u32::from(one?);
        }
        equal("how many were made", made, 1)
    }

    /// A delivery can be removed in any state, with its attempts.
    async fn a_delivery_is_removed_in_any_state(shelf: &Shelf) -> Verdict {
        let endpoint = shelf.add(1).await?;
        let deliveries = &shelf.webhooks.deliveries;
        let mut all = Vec::new();
        for (number, state) in
            (1..).zip([State::Dead, State::Gone, State::Delivered, State::Withheld])
        {
            all.push(shelf.end(number, &endpoint, state, 0).await?);
        }
        all.push(shelf.queue(8, &endpoint, 0).await?);
        let claimed = shelf.take(0).await?;
        all.push(shelf.queue(9, &endpoint, 0).await?);
        for id in &all {
            for expected in [true, false] {
                let removed = deliveries.remove(id).await?;
                equal("whether it was removed", removed, expected)?;
            }
            equal("the delivery", deliveries.find(id).await?, None)?;
        }
        let settled = shelf.settle(&claimed, progress(State::Delivered, 1, None), 0);
        equal("whether it was settled", settled.await?, false)?;
        shelf.nothing_due(1_000_000).await
    }

    /// A ping goes to its endpoint whatever that wants to be told, to no other one, and is a delivery like any other.
    async fn a_ping_goes_to_one_endpoint_alone(shelf: &Shelf) -> Verdict {
        let silent = Endpoint {
            topics: Topics {
                all: false,
                named: [].into(),
            },
            ..endpoint(1)?
        };
        shelf.webhooks.endpoints.add(&silent).await?;
        shelf.add(2).await?;
        let ping = Event {
            topic: Topic::PING,
            ..event(1)?
        };
        let deliveries = &shelf.webhooks.deliveries;
        let id = DeliveryId::of(&ping.id, &silent.id);
        let sent = deliveries.send(&ping, &silent.id, at(4)).await?;
        equal("the delivery's id", sent, Some(id.clone()))?;
        let found = shelf.webhooks.outbox.waiting(9).await?;
        equal("what waits", found, vec![])?;
        let claims = shelf.claim(&room(9), 4).await?;
        equal("what is due", ids(&claims), vec![id])?;
        for claimed in claims.taken {
            equal("the event", claimed.event, ping.clone())?;
            equal("the topic", claimed.delivery.topic, Topic::PING)?;
        }
        Ok(())
    }

    /// A ping to an endpoint that is disabled or not there is refused, and leaves nothing.
    async fn a_ping_that_nobody_gets_is_not_kept(shelf: &Shelf) -> Verdict {
        let disabled = Endpoint {
            enabled: false,
            ..endpoint(1)?
        };
        let endpoints = &shelf.webhooks.endpoints;
        endpoints.add(&disabled).await?;
        let ping = event(1)?;
        for to in [&disabled, &endpoint(2)?] {
            let sent = shelf.webhooks.deliveries.send(&ping, &to.id, at(0)).await?;
            equal("what was sent", sent, None)?;
        }
        let found = shelf.webhooks.outbox.waiting(9).await?;
        equal("what waits", found, vec![])?;
        let enabled = Endpoint {
            enabled: true,
            ..disabled
        };
        endpoints.update(&enabled).await?;
        shelf.nothing_due(9).await
    }
);

async fn is_retried(shelf: &Shelf, id: &DeliveryId, now: i64, expected: bool) -> Verdict {
    let retried = shelf.webhooks.deliveries.retry(id, at(now)).await?;
    equal("whether it was queued again", retried, expected)
}
