//! What a worker may claim.

use super::*;
use crate::model::ForumId;
use crate::store::{ClaimRequest, ClaimedDelivery, QueueStats};
use crate::webhook::{Delivery, DeliveryProgress, DeliveryState, Endpoint, Event};

store_rules! {
    mod claims;

    /// A claimed delivery has everything that is needed to send it.
    async fn a_claim_returns_the_whole_delivery(fixture: &StoreFixture) -> TestResult {
        let endpoint = fixture.add(1).await?;
        let event = Event { forum: Some(ForumId::from(4)), ..event(7)? };
        let id = only(fixture.deliver(&event, &[&endpoint], 9).await?)?;
        let claimed = fixture.take(20).await?;
        let delivery = Delivery {
            id,
            event: event.id.clone(),
            topic: event.topic.clone(),
            endpoint: endpoint.id.clone(),
            created_at: at(9),
            progress: DeliveryProgress::queued(at(9)),
        };
        let expected = ClaimedDelivery {
            delivery,
            endpoint,
            event,
            lease_expired: false,
            lease_id: claimed.lease_id,
            lease_until: at(20 + LEASE),
        };
        check_eq!(claimed, expected)
    }

    /// A delivery can be claimed from the instant at which it is due.
    async fn deliveries_not_due_are_not_claimed(fixture: &StoreFixture) -> TestResult {
        let endpoint = fixture.add(1).await?;
        fixture.queue(1, &endpoint, 10).await?;
        fixture.nothing_due(9).await?;
        let claimed = fixture.take(10).await?;
        let later = progress(DeliveryState::Retrying, 1, Some(50));
        fixture.settle(&claimed, later, 11).await?;
        fixture.nothing_due(49).await?;
        check_eq!(fixture.take(50).await?.delivery.progress, later)
    }

    /// The backlog is what is due, not claimed, and for an enabled endpoint.
    async fn queue_stats_match_claimable_deliveries(fixture: &StoreFixture) -> TestResult {
        has_backlog(fixture, 0, 0, None).await?;
        let (endpoint, other) = (fixture.add(1).await?, fixture.add(2).await?);
        for number in 0..120 {
            let to = if number % 2 == 0 { &endpoint } else { &other };
            fixture.queue(number, to, 10 + number.cast_signed()).await?;
        }
        has_backlog(fixture, 9, 0, None).await?;
        has_backlog(fixture, 10, 1, Some(10)).await?;
        has_backlog(fixture, 1_000, 120, Some(10)).await?;
        fixture.take(1_000).await?;
        has_backlog(fixture, 1_000, 119, Some(11)).await?;
        let disabled = Endpoint { enabled: false, ..other };
        fixture.webhooks.endpoints.update(&disabled).await?;
        has_backlog(fixture, 1_000, 59, Some(12)).await?;
        fixture.webhooks.endpoints.remove(&endpoint.id).await?;
        has_backlog(fixture, 1_000, 0, None).await
    }

    /// However many workers claim at once, each delivery is claimed once.
    async fn concurrent_claims_take_each_delivery_once(fixture: &StoreFixture) -> TestResult {
        let endpoints = [fixture.add(0).await?, fixture.add(1).await?, fixture.add(2).await?];
        let mut expected = Vec::new();
        for (number, endpoint) in (0..60).zip(endpoints.iter().cycle()) {
            expected.push(fixture.queue(number, endpoint, 0).await?);
        }
        let claims = (0..8).map(|_| {
            let deliveries = fixture.webhooks.deliveries.clone();
            async move { deliveries.claim(&room(10), at(0)).await }
        });
        let mut taken = Vec::new();
        for claims in fixture.race(claims).await {
            taken.extend(ids(&claims?));
        }
        taken.sort();
        expected.sort();
        check_eq!(taken, expected)
    }

    /// A worker gets no more deliveries than it has room for.
    async fn a_claim_respects_its_limit(fixture: &StoreFixture) -> TestResult {
        for number in 0..5 {
            let endpoint = fixture.add(number).await?;
            fixture.queue(number, &endpoint, 0).await?;
        }
        for (has, gets) in [(0, 0), (2, 2), (1, 1), (9, 2)] {
            let taken = fixture.claim(&room(has), 0).await?.deliveries;
            check_eq!(taken.len(), gets, "deliveries with room for {has}")?;
        }
        Ok(())
    }

    /// A worker gets no more for one endpoint than that has room for, with what is running already.
    async fn a_claim_respects_the_limit_per_endpoint(fixture: &StoreFixture) -> TestResult {
        let (busy, idle) = (fixture.add(1).await?, fixture.add(2).await?);
        for number in 0..10 {
            fixture.deliver(&event(number)?, &[&busy, &idle], 0).await?;
        }
        for (running, gets) in [(0, [3, 3]), (2, [1, 3]), (3, [0, 3]), (9, [0, 1])] {
            let running = [(busy.id.clone(), running)].into();
            let claim = ClaimRequest { per_endpoint: 3, in_flight: running, ..room(100) };
            let taken = fixture.claim(&claim, 0).await?.deliveries;
            let found = [&busy, &idle]
                .map(|endpoint| taken.iter().filter(|one| one.endpoint == *endpoint).count());
            check_eq!(found, gets, "deliveries to the busy and the idle endpoint: {claim:?}")?;
        }
        Ok(())
    }

    /// The delivery that is due longest is claimed first, whatever was queued first and for whichever endpoint.
    async fn the_oldest_due_delivery_is_claimed_first(fixture: &StoreFixture) -> TestResult {
        let endpoints = [fixture.add(1).await?, fixture.add(2).await?];
        let mut oldest = Vec::new();
        for (number, endpoint) in (1..=6_u64).zip(endpoints.iter().cycle()) {
            oldest.insert(0, fixture.queue(number, endpoint, 100 - number.cast_signed()).await?);
        }
        let (first, second) = oldest.split_at(4);
        check_eq!(ids(&fixture.claim(&room(4), 200).await?), first)?;
        check_eq!(ids(&fixture.claim(&room(9), 200).await?), second)
    }

    /// Endpoints with more deliveries than can be sent leave room for those of another.
    async fn a_flooded_endpoint_starves_no_other(fixture: &StoreFixture) -> TestResult {
        let (one, other) = (fixture.add(1).await?, fixture.add(2).await?);
        let third = fixture.add(3).await?;
        for number in 0..50 {
            fixture.deliver(&event(number)?, &[&one, &other], 0).await?;
        }
        let late = fixture.queue(50, &third, 1).await?;
        let claims = fixture.claim(&ClaimRequest { per_endpoint: 4, ..room(9) }, 2).await?;
        check_eq!(claims.deliveries.len(), 9)?;
        check!(ids(&claims).contains(&late), "{late:?} is claimed")
    }

    /// `next` is the earliest time at which a delivery is due whose endpoint has room.
    async fn next_due_at_is_the_earliest_unclaimed_delivery(fixture: &StoreFixture) -> TestResult {
        let (one, other) = (fixture.add(1).await?, fixture.add(2).await?);
        check_eq!(fixture.claim(&room(1), 0).await?.next_due_at, None)?;
        for (number, endpoint, now) in [(1, &one, 10), (2, &one, 20), (3, &other, 15)] {
            fixture.queue(number, endpoint, now).await?;
        }
        let full = ClaimRequest { in_flight: [(one.id.clone(), 9)].into(), ..room(9) };
        let one_each = ClaimRequest { per_endpoint: 1, ..room(9) };
        for (claim, now, next) in [
            (room(9), 9, 10),
            (full, 9, 15),
            (one_each, 12, 15),
            (room(1), 30, 20),
            (room(9), 30, 12 + LEASE),
        ] {
            let found = fixture.claim(&claim, now).await?.next_due_at;
            check_eq!(found, Some(at(next)), "next of {claim:?} at {now}")?;
        }
        Ok(())
    }

    /// Deliveries to a disabled endpoint stay queued, and `next` ignores them.
    async fn deliveries_of_a_disabled_endpoint_are_not_claimed(fixture: &StoreFixture) -> TestResult {
        let endpoint = fixture.add(1).await?;
        let id = fixture.queue(1, &endpoint, 0).await?;
        let endpoints = &fixture.webhooks.endpoints;
        let disabled = Endpoint { enabled: false, ..endpoint };
        endpoints.update(&disabled).await?;
        let claims = fixture.claim(&room(9), 5).await?;
        check_eq!((ids(&claims), claims.next_due_at), (vec![], None))?;
        fixture.is_at(&id, DeliveryProgress::queued(at(0))).await?;
        endpoints.update(&Endpoint { enabled: true, version: 2, ..disabled }).await?;
        check_eq!(ids(&fixture.claim(&room(9), 5).await?), [id])
    }

    /// Deliveries to a removed endpoint cannot be claimed, settled or found, and `next` ignores them.
    async fn deliveries_of_a_removed_endpoint_are_not_claimed(fixture: &StoreFixture) -> TestResult {
        let (removed, other) = (fixture.add(1).await?, fixture.add(2).await?);
        let sent = fixture.queue(1, &removed, 0).await?;
        let claimed = fixture.take(0).await?;
        fixture.queue(2, &removed, 0).await?;
        let left = fixture.queue(3, &other, 0).await?;
        fixture.webhooks.endpoints.remove(&removed.id).await?;
        let retrying = progress(DeliveryState::Retrying, 1, Some(1));
        check_eq!(fixture.settle(&claimed, retrying, 1).await?, false)?;
        check_eq!(fixture.webhooks.deliveries.find(&sent).await?, None)?;
        check_eq!(fixture.webhooks.deliveries.remove(&sent).await?, false)?;
        let claims = fixture.claim(&room(9), 2 * LEASE).await?;
        check_eq!((ids(&claims), claims.next_due_at), (vec![left], None))
    }
}

async fn has_backlog(
    fixture: &StoreFixture,
    now: i64,
    depth: u64,
    since: Option<i64>,
) -> TestResult {
    let found = fixture.webhooks.deliveries.queue_stats(at(now)).await?;
    let since = since.map(at);
    check_eq!(
        found,
        QueueStats {
            depth,
            oldest_due_at: since
        },
        "the backlog at {now}"
    )
}
