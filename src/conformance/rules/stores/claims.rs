//! Claiming deliveries.

use std::time::Duration;

use super::*;
use crate::model::{ForumId, Timestamp};
use crate::store::{ClaimRequest, ClaimedDelivery, Settlement};
use crate::webhook::{AttemptRecord, Delivery, DeliveryProgress, DeliveryState, Endpoint, Event};

/// An hour in milliseconds.
const HOUR: i64 = 3_600_000;

store_rules! {
    mod claims, __rules_claims;

    /// A claimed delivery has all data that sending needs.
    async fn a_claim_returns_the_whole_delivery(fixture: &StoreFixture) -> TestResult {
        let endpoint = fixture.add_endpoint(1).await?;
        let event = Event { forum_id: Some(ForumId::from(4)), request_id: Some("7f3a".into()), ..event(7)? };
        let id = only(fixture.deliver(&event, &[&endpoint], 9).await?)?;
        let claimed = fixture.claim_one(20).await?;
        let delivery = Delivery {
            id,
            event_id: event.id.clone(),
            topic: event.topic.clone(),
            endpoint_id: endpoint.id.clone(),
            created_at: instant(9),
            progress: DeliveryProgress::queued(instant(9)),
        };
        let expected = ClaimedDelivery {
            delivery,
            endpoint,
            event,
            previous_lease_expired: false,
            lease_id: claimed.lease_id,
            lease_expires_at: instant(20 + LEASE),
        };
        check_eq!(claimed, expected)
    }

    /// A delivery can be claimed from the instant at which it is due.
    async fn deliveries_not_due_are_not_claimed(fixture: &StoreFixture) -> TestResult {
        let endpoint = fixture.add_endpoint(1).await?;
        fixture.enqueue(1, &endpoint, 10).await?;
        fixture.expect_nothing_due(9).await?;
        let claimed = fixture.claim_one(10).await?;
        let later = progress(DeliveryState::Retrying, 1, Some(50));
        fixture.settle(&claimed, later, 11).await?;
        fixture.expect_nothing_due(49).await?;
        check_eq!(fixture.claim_one(50).await?.delivery.progress, later)
    }

    /// Leases, due times and ends that were written by a clock that was more than 60 s ahead count as reached. Those that a
    /// correct clock wrote do not, however far ahead they are: leases and delays depend on the settings of each worker.
    async fn times_of_a_clock_that_was_ahead_count_as_reached(fixture: &StoreFixture) -> TestResult {
        const AHEAD: i64 = 2 * HOUR;
        const TOLERANCE: i64 = 60_000;
        let endpoint = fixture.add_endpoint(1).await?;
        let deliveries = &fixture.webhooks.deliveries;
        let retrying = |due_at| progress(DeliveryState::Retrying, 1, Some(due_at));
        lease(fixture, 1, &endpoint, AHEAD).await?;
        fixture.enqueue(2, &endpoint, AHEAD).await?;
        let claimed = fixture.claim_one(AHEAD).await?;
        let record = attempt_record(1);
        fixture.settle_attempt(&claimed, retrying(AHEAD + 1), Some(&record), AHEAD).await?;
        fixture.finish(3, &endpoint, DeliveryState::Delivered, AHEAD).await?;
        fixture.enqueue(4, &endpoint, AHEAD).await?;
        let claimed = fixture.claim_one(AHEAD).await?;
        fixture.settle(&claimed, retrying(10 * HOUR), TOLERANCE).await?;
        lease(fixture, 5, &endpoint, TOLERANCE + 1).await?;
        fixture.expect_nothing_due(0).await?;
        fixture.expect_queue_stats(0, 3, Some(0)).await?;
        let endpoints = &fixture.webhooks.endpoints;
        let disabled = Endpoint { enabled: false, ..endpoint };
        endpoints.update(&disabled, &audit_entry()).await?;
        fixture.expect_queue_stats(0, 0, None).await?;
        endpoints.update(&Endpoint { enabled: true, version: 2, ..disabled }, &audit_entry()).await?;
        check_eq!(deliveries.correct_times(instant(0)).await?, 4)?;
        check_eq!(deliveries.correct_times(instant(0)).await?, 0)?;
        let due = fixture.claim(&claim_request(9), 0).await?.deliveries;
        check_eq!(due.len(), 3)?;
        check_eq!(due.iter().filter(|one| one.previous_lease_expired).count(), 2)?;
        check_eq!(deliveries.sweep(Duration::ZERO, instant(1), 9).await?, 1)?;
        fixture.expect_queue_stats(0, 0, None).await?;
        fixture.expect_queue_stats(1, 0, None).await
    }

    /// A due time that was computed before a clock that was ahead was set back, and is stored after it, counts as reached.
    async fn a_result_that_is_stored_after_a_clock_is_set_back_is_due(fixture: &StoreFixture) -> TestResult {
        const DELAY: i64 = 30_000;
        let endpoint = fixture.add_endpoint(1).await?;
        let id = fixture.enqueue(1, &endpoint, 0).await?;
        let claimed = fixture.claim_one(0).await?;
        let retrying = progress(DeliveryState::Retrying, 1, Some(HOUR + DELAY));
        let settlement = Settlement::new(&claimed, retrying, None, instant(HOUR));
        fixture.settle_all(&[settlement], 0).await?;
        fixture.webhooks.deliveries.correct_times(instant(0)).await?;
        check_eq!(fixture.claim_one(DELAY).await?.delivery.id, id)
    }

    /// Failures that began in the future begin with the correction.
    async fn failures_of_a_clock_that_was_ahead_begin_again(fixture: &StoreFixture) -> TestResult {
        let endpoint = fixture.add_endpoint(1).await?;
        fixture.enqueue(1, &endpoint, HOUR).await?;
        let claimed = fixture.claim_one(HOUR).await?;
        let dead = progress(DeliveryState::Dead, 6, None);
        fixture.settle_attempt(&claimed, dead, Some(&attempt_record(6)), HOUR).await?;
        check_eq!(failing_since(fixture, &endpoint).await?, Some(instant(HOUR)))?;
        let deliveries = &fixture.webhooks.deliveries;
        for (now, corrected, since) in [(HOUR - 60_000, 0, HOUR), (0, 2, 0)] {
            check_eq!(deliveries.correct_times(instant(now)).await?, corrected)?;
            check_eq!(failing_since(fixture, &endpoint).await?, Some(instant(since)))?;
        }
        Ok(())
    }

    /// A registration in the future is set to a minute before the correction, or before the earliest event that waits for its
    /// fan-out. The start of the endpoint's failures stays.
    async fn registrations_of_a_clock_that_was_ahead_are_corrected(fixture: &StoreFixture) -> TestResult {
        const MINUTE: i64 = 60_000;
        let endpoints = &fixture.webhooks.endpoints;
        let deliveries = &fixture.webhooks.deliveries;
        let add = async |number, created_at| {
            let added = Endpoint { created_at: instant(created_at), ..endpoint(number)? };
            check!(endpoints.add(&added, &audit_entry()).await?)?;
            TestResult::Ok(added.id)
        };
        let created_at = async |id| TestResult::Ok(endpoints.find(&id).await?.map(|found| found.created_at));
        let right = add(1, MINUTE + 9).await?;
        let ahead = add(2, HOUR).await?;
        check_eq!(deliveries.correct_times(instant(9)).await?, 1)?;
        check_eq!(deliveries.correct_times(instant(9)).await?, 0)?;
        check_eq!(created_at(right).await?, Some(instant(MINUTE + 9)))?;
        check_eq!(created_at(ahead).await?, Some(instant(9 - MINUTE)))?;
        fixture.webhooks.outbox.insert(&event(3)?).await?;
        let ahead = add(3, HOUR).await?;
        fixture.enqueue(1, &endpoint(3)?, 5).await?;
        let claimed = fixture.claim_one(5).await?;
        let dead = progress(DeliveryState::Dead, 6, None);
        check!(fixture.settle_attempt(&claimed, dead, Some(&attempt_record(6)), 5).await?)?;
        check_eq!(deliveries.correct_times(instant(9)).await?, 1)?;
        check_eq!(created_at(ahead).await?, Some(instant(3 - MINUTE)))?;
        check_eq!(failing_since(fixture, &endpoint(3)?).await?, Some(instant(5)))
    }

    /// The retention of a dead delivery that was created in the future begins with the correction.
    async fn dead_deliveries_of_a_clock_that_was_ahead_are_kept_from_the_correction(fixture: &StoreFixture) -> TestResult {
        let endpoint = fixture.add_endpoint(1).await?;
        fixture.finish(1, &endpoint, DeliveryState::Dead, HOUR).await?;
        fixture.finish(2, &endpoint, DeliveryState::Dead, 60_000).await?;
        let deliveries = &fixture.webhooks.deliveries;
        check_eq!(deliveries.correct_times(instant(0)).await?, 1)?;
        check_eq!(deliveries.correct_times(instant(0)).await?, 0)?;
        let purge = async |before| {
            deliveries.purge(DeliveryState::Dead, Duration::ZERO, instant(before), 9, &audit_entry()).await
        };
        check_eq!((purge(0).await?, purge(1).await?, purge(60_001).await?), (0, 1, 1))
    }

    /// Deliveries that wait for their next attempt are counted with their latest due time, and dead ones are counted, until their
    /// endpoint is removed.
    async fn queue_stats_include_retries_and_dead_deliveries(fixture: &StoreFixture) -> TestResult {
        let [endpoint, _] = fixture.add_endpoints().await?;
        fixture.finish(1, &endpoint, DeliveryState::Dead, 0).await?;
        for (number, due_at) in [(2, 30_000), (3, 20_000)] {
            fixture.enqueue(number, &endpoint, 0).await?;
            let claimed = fixture.claim_one(0).await?;
            let retrying = progress(DeliveryState::Retrying, 1, Some(due_at));
            fixture.settle_attempt(&claimed, retrying, Some(&attempt_record(1)), 0).await?;
        }
        fixture.enqueue(4, &endpoint, 0).await?;
        let counts = async || {
            let stats = fixture.webhooks.deliveries.queue_stats(instant(0)).await?;
            TestResult::Ok((stats.retrying, stats.latest_retry_at, stats.dead))
        };
        check_eq!(counts().await?, (2, Some(instant(30_000)), 1))?;
        fixture.webhooks.endpoints.remove(&endpoint.id, &audit_entry()).await?;
        check_eq!(counts().await?, (0, None, 0))
    }

    /// Queue statistics cover deliveries that are due, not claimed, and for an enabled endpoint.
    async fn queue_stats_match_claimable_deliveries(fixture: &StoreFixture) -> TestResult {
        fixture.expect_queue_stats(0, 0, None).await?;
        let [endpoint, other] = fixture.add_endpoints().await?;
        for (number, to) in (0..120_u64).zip([&endpoint, &other].into_iter().cycle()) {
            fixture.enqueue(number, to, 10 + number.cast_signed()).await?;
        }
        fixture.expect_queue_stats(9, 0, None).await?;
        fixture.expect_queue_stats(10, 1, Some(10)).await?;
        fixture.expect_queue_stats(1_000, 120, Some(10)).await?;
        fixture.claim_one(1_000).await?;
        fixture.expect_queue_stats(1_000, 119, Some(11)).await?;
        let disabled = Endpoint { enabled: false, ..other };
        fixture.webhooks.endpoints.update(&disabled, &audit_entry()).await?;
        fixture.expect_queue_stats(1_000, 59, Some(12)).await?;
        fixture.webhooks.endpoints.remove(&endpoint.id, &audit_entry()).await?;
        fixture.expect_queue_stats(1_000, 0, None).await
    }

    /// Concurrent claims return each delivery once.
    async fn concurrent_claims_take_each_delivery_once(fixture: &StoreFixture) -> TestResult {
        let endpoints = fixture.add_endpoints::<3>().await?;
        let mut expected = Vec::new();
        for (number, endpoint) in (0..60).zip(endpoints.iter().cycle()) {
            expected.push(fixture.enqueue(number, endpoint, 0).await?);
        }
        let calls = (0..8).map(|_| {
            let deliveries = fixture.webhooks.deliveries.clone();
            async move { deliveries.claim(&claim_request(10), instant(0)).await }
        });
        let claims = succeed_concurrently(calls).await?;
        let mut claimed: Vec<_> = claims.iter().flat_map(delivery_ids).collect();
        claimed.sort();
        expected.sort();
        check_eq!(claimed, expected)
    }

    /// A claim returns at most `limit` deliveries.
    async fn a_claim_respects_its_limit(fixture: &StoreFixture) -> TestResult {
        for number in 0..5 {
            let endpoint = fixture.add_endpoint(number).await?;
            fixture.enqueue(number, &endpoint, 0).await?;
        }
        for (limit, expected) in [(0, 0), (2, 2), (1, 1), (9, 2)] {
            let claimed = fixture.claim(&claim_request(limit), 0).await?.deliveries;
            check_eq!(claimed.len(), expected, "deliveries of a claim of {limit}")?;
        }
        Ok(())
    }

    /// A claim returns at most `max_in_flight_per_endpoint` deliveries for an endpoint, including those in flight.
    async fn a_claim_respects_the_limit_per_endpoint(fixture: &StoreFixture) -> TestResult {
        let [busy, idle] = fixture.add_endpoints().await?;
        for number in 0..10 {
            fixture.deliver(&event(number)?, &[&busy, &idle], 0).await?;
        }
        for (running, expected) in [(0, [3, 3]), (2, [1, 3]), (3, [0, 3]), (9, [0, 1])] {
            let running = [(busy.id.clone(), running)].into();
            let claim = ClaimRequest { max_in_flight_per_endpoint: 3, in_flight_by_endpoint: running, ..claim_request(100) };
            let claimed = fixture.claim(&claim, 0).await?.deliveries;
            let actual = [&busy, &idle]
                .map(|endpoint| claimed.iter().filter(|delivery| delivery.endpoint == *endpoint).count());
            check_eq!(actual, expected, "deliveries to the busy and the idle endpoint: {claim:?}")?;
        }
        Ok(())
    }

    /// A claim returns at most `max_impaired` deliveries for endpoints whose last attempt failed or took longer than a
    /// second, the oldest due first. `next_due_at` ignores the other deliveries for these endpoints.
    async fn a_claim_respects_the_limit_of_failing_and_slow_endpoints(fixture: &StoreFixture) -> TestResult {
        let [first, second, other] = fixture.add_endpoints().await?;
        for (number, endpoint, state, duration_ms) in [
            (1, &first, DeliveryState::Dead, 0),
            (2, &second, DeliveryState::Delivered, 1001),
            (8, &other, DeliveryState::Delivered, 1000),
        ] {
            fixture.enqueue(number, endpoint, 0).await?;
            let claimed = fixture.claim_one(0).await?;
            let record = AttemptRecord { duration_ms, ..attempt_record(6) };
            check!(fixture.settle_attempt(&claimed, progress(state, 6, None), Some(&record), 0).await?)?;
        }
        let mut queued = Vec::new();
        for (number, endpoint) in [(3, &first), (4, &second), (5, &first), (6, &other), (7, &other)] {
            queued.push(fixture.enqueue(number, endpoint, number.cast_signed()).await?);
        }
        let [oldest, second_oldest, _, healthy, last] = &exactly(queued)?;
        for (max_impaired, limit, now, expected, next) in [
            (0, 9, 2, vec![], Some(6)),
            (1, 9, 6, vec![oldest, healthy], Some(7)),
            (1, 9, 7, vec![second_oldest, last], None),
            (0, 9, 7, vec![], None),
        ] {
            let claim = ClaimRequest { max_impaired, ..claim_request(limit) };
            let claims = fixture.claim(&claim, now).await?;
            let claimed = delivery_ids(&claims);
            check_eq!(claimed.iter().collect::<Vec<_>>(), expected, "deliveries of {claim:?} at {now}")?;
            check_eq!(claims.next_due_at.filter(|at| *at < instant(LEASE)), next.map(instant), "next of {claim:?} at {now}")?;
        }
        Ok(())
    }

    /// The delivery that has been due for the longest time is claimed first, in any insertion order and for any
    /// endpoint.
    async fn the_oldest_due_delivery_is_claimed_first(fixture: &StoreFixture) -> TestResult {
        let endpoints = [fixture.add_endpoint(1).await?, fixture.add_endpoint(2).await?];
        let mut oldest = Vec::new();
        for (number, endpoint) in (1..=6_u64).zip(endpoints.iter().cycle()) {
            oldest.insert(0, fixture.enqueue(number, endpoint, 100 - number.cast_signed()).await?);
        }
        let (first, second) = oldest.split_at(4);
        check_eq!(delivery_ids(&fixture.claim(&claim_request(4), 200).await?), first)?;
        check_eq!(delivery_ids(&fixture.claim(&claim_request(9), 200).await?), second)
    }

    /// Endpoints with more deliveries than a claim returns do not block the deliveries of another endpoint.
    async fn a_flooded_endpoint_starves_no_other(fixture: &StoreFixture) -> TestResult {
        let [first, other, third] = fixture.add_endpoints().await?;
        for number in 0..50 {
            fixture.deliver(&event(number)?, &[&first, &other], 0).await?;
        }
        let late = fixture.enqueue(50, &third, 1).await?;
        let claims = fixture.claim(&ClaimRequest { max_in_flight_per_endpoint: 4, ..claim_request(9) }, 2).await?;
        check_eq!(claims.deliveries.len(), 9)?;
        check!(delivery_ids(&claims).contains(&late), "{late:?} is claimed")
    }

    /// `next_due_at` is the earliest due time of an unclaimed delivery whose endpoint has not reached its limit.
    async fn next_due_at_is_the_earliest_unclaimed_delivery(fixture: &StoreFixture) -> TestResult {
        let [first, other] = fixture.add_endpoints().await?;
        check_eq!(fixture.claim(&claim_request(1), 0).await?.next_due_at, None)?;
        for (number, endpoint, now) in [(1, &first, 10), (2, &first, 20), (3, &other, 15)] {
            fixture.enqueue(number, endpoint, now).await?;
        }
        let full = ClaimRequest { in_flight_by_endpoint: [(first.id.clone(), 9)].into(), ..claim_request(9) };
        let one_each = ClaimRequest { max_in_flight_per_endpoint: 1, ..claim_request(9) };
        for (claim, now, next) in [
            (claim_request(9), 9, 10),
            (full, 9, 15),
            (one_each, 12, 15),
            (claim_request(1), 30, 20),
            (claim_request(9), 30, 12 + LEASE),
        ] {
            let actual = fixture.claim(&claim, now).await?.next_due_at;
            check_eq!(actual, Some(instant(next)), "next of {claim:?} at {now}")?;
        }
        Ok(())
    }

    /// Deliveries of a disabled endpoint stay queued. `next_due_at` ignores them.
    async fn deliveries_of_a_disabled_endpoint_are_not_claimed(fixture: &StoreFixture) -> TestResult {
        let endpoint = fixture.add_endpoint(1).await?;
        let id = fixture.enqueue(1, &endpoint, 0).await?;
        let endpoints = &fixture.webhooks.endpoints;
        let disabled = Endpoint { enabled: false, ..endpoint };
        endpoints.update(&disabled, &audit_entry()).await?;
        let claims = fixture.claim(&claim_request(9), 5).await?;
        check_eq!((delivery_ids(&claims), claims.next_due_at), (vec![], None))?;
        fixture.expect_progress(&id, DeliveryProgress::queued(instant(0))).await?;
        endpoints.update(&Endpoint { enabled: true, version: 2, ..disabled }, &audit_entry()).await?;
        check_eq!(delivery_ids(&fixture.claim(&claim_request(9), 5).await?), [id])
    }

    /// Deliveries of a removed endpoint cannot be claimed, sent, settled or found. `next_due_at` ignores them.
    async fn deliveries_of_a_removed_endpoint_are_not_claimed(fixture: &StoreFixture) -> TestResult {
        let [removed, other] = fixture.add_endpoints().await?;
        let sent = fixture.enqueue(1, &removed, 0).await?;
        let claimed = fixture.claim_one(0).await?;
        fixture.enqueue(2, &removed, 0).await?;
        let left = fixture.enqueue(3, &other, 0).await?;
        fixture.webhooks.endpoints.remove(&removed.id, &audit_entry()).await?;
        check!(!fixture.begin_sending(&claimed, 1).await?)?;
        let retrying = progress(DeliveryState::Retrying, 1, Some(1));
        check_eq!(fixture.settle(&claimed, retrying, 1).await?, false)?;
        check_eq!(fixture.webhooks.deliveries.find(&sent).await?, None)?;
        check_eq!(fixture.webhooks.deliveries.remove(&sent, &audit_entry()).await?, false)?;
        let claims = fixture.claim(&claim_request(9), 2 * LEASE).await?;
        check_eq!((delivery_ids(&claims), claims.next_due_at), (vec![left], None))
    }
}

/// Claims a new delivery, and begins to send it.
async fn lease(fixture: &StoreFixture, number: u64, endpoint: &Endpoint, now: i64) -> TestResult {
    fixture.enqueue(number, endpoint, now).await?;
    let leased = fixture.claim_one(now).await?;
    check!(fixture.begin_sending(&leased, now).await?)
}

async fn failing_since(
    fixture: &StoreFixture,
    endpoint: &Endpoint,
) -> TestResult<Option<Timestamp>> {
    let found = fixture.webhooks.endpoints.find(&endpoint.id).await?;
    Ok(found.and_then(|endpoint| endpoint.failing_since))
}

impl StoreFixture {
    async fn expect_queue_stats(&self, now: i64, depth: u64, since: Option<i64>) -> TestResult {
        let deliveries = &self.webhooks.deliveries;
        let stats = deliveries.queue_stats(instant(now)).await?;
        let oldest_due_at = stats.oldest_age.map(|age| instant(now).saturating_sub(age));
        let actual = (stats.depth, oldest_due_at);
        let expected = (depth, since.map(instant));
        check_eq!(actual, expected, "queue statistics at {now}")
    }
}
