//! Leases of claimed deliveries.

use std::collections::HashSet;
use std::slice;
use std::time::Duration;

use super::*;
use crate::store::{ClaimedDelivery, MAX_STORED_ATTEMPTS, Settlement};
use crate::webhook::{AttemptRecord, DeliveryProgress, DeliveryState, TransportError};

store_rules! {
    mod leases, __rules_leases;

    /// A claimed delivery is not claimed again during its lease.
    async fn a_leased_delivery_is_not_claimed_again(fixture: &StoreFixture) -> TestResult {
        claim_new(fixture).await?;
        fixture.expect_nothing_due(0).await?;
        fixture.expect_nothing_due(LEASE - 1).await
    }

    /// The next claim reports a lease that expired after sending began, and leaves the delivery unchanged.
    async fn an_expired_lease_is_reported(fixture: &StoreFixture) -> TestResult {
        let first = claim_new(fixture).await?;
        check!(fixture.begin_sending(&first, 1).await?)?;
        let second = fixture.claim_one(LEASE).await?;
        check!(second.previous_lease_expired && first.lease_id != second.lease_id)?;
        check_eq!(second.delivery.progress.attempts, 0)?;
        expect_settle(fixture, &second, progress(DeliveryState::Retrying, 1, Some(LEASE)), true).await?;
        check!(!fixture.claim_one(LEASE).await?.previous_lease_expired)
    }

    /// A lease that expires before sending began is not an attempt. The delivery is due again, unchanged.
    async fn a_lease_that_expires_before_sending_is_not_an_attempt(fixture: &StoreFixture) -> TestResult {
        let first = claim_new(fixture).await?;
        let second = fixture.claim_one(LEASE).await?;
        check!(!second.previous_lease_expired && first.lease_id != second.lease_id)?;
        let before = first.delivery.progress;
        let after = second.delivery.progress;
        check_eq!((after.state, after.attempts), (before.state, before.attempts))
    }

    /// Sending begins only with an unexpired lease, separately for each delivery of a batch.
    async fn sending_requires_an_unexpired_lease(fixture: &StoreFixture) -> TestResult {
        let endpoint = fixture.add_endpoint(1).await?;
        for number in 1..=4 {
            fixture.enqueue(number, &endpoint, 0).await?;
        }
        let all = exactly(fixture.claim(&claim_request(4), 0).await?.deliveries)?;
        let [held, settled, returned, removed] = &all;
        expect_settle(fixture, settled, progress(DeliveryState::Retrying, 1, Some(5)), true).await?;
        release(fixture, returned, 3).await?;
        let deliveries = &fixture.webhooks.deliveries;
        deliveries.remove(&removed.delivery.id, &audit_entry()).await?;
        for (now, begun) in [(LEASE - 1, Some(held.delivery.id.clone())), (LEASE, None)] {
            let actual = deliveries.begin_sending(&all, instant(now)).await?;
            check_eq!(actual, HashSet::from_iter(begun))?;
        }
        let reclaimed = fixture.claim(&claim_request(4), LEASE).await?.deliveries;
        let expired = only(reclaimed.into_iter().filter(|claimed| claimed.previous_lease_expired))?;
        check_eq!(expired.delivery.id, held.delivery.id)?;
        check!(!fixture.begin_sending(held, LEASE).await?)
    }

    /// A delivery is being sent from the beginning of its attempt until it is settled, or its lease expires.
    async fn a_delivery_is_being_sent_during_its_attempt(fixture: &StoreFixture) -> TestResult {
        let first = claim_new(fixture).await?;
        let deliveries = &fixture.webhooks.deliveries;
        let is_sending = async |now| TestResult::Ok(deliveries.is_sending(&first.delivery.id, instant(now)).await?);
        check!(!is_sending(1).await?, "before the attempt")?;
        check!(fixture.begin_sending(&first, 1).await?)?;
        for (now, expected) in [(1, true), (LEASE - 1, true), (LEASE, false)] {
            check_eq!(is_sending(now).await?, expected, "at {now}")?;
        }
        expect_settle(fixture, &first, progress(DeliveryState::Retrying, 1, Some(LEASE)), true).await?;
        check!(!is_sending(1).await?, "after the attempt")
    }

    /// A delivery that is released after sending began was not attempted.
    async fn a_release_after_sending_began_is_not_an_attempt(fixture: &StoreFixture) -> TestResult {
        let first = claim_new(fixture).await?;
        check!(fixture.begin_sending(&first, 1).await?)?;
        release(fixture, &first, 20).await?;
        check!(!fixture.claim_one(20).await?.previous_lease_expired)
    }

    /// A settlement ends its lease. A second settlement changes nothing.
    async fn a_lease_is_settled_once(fixture: &StoreFixture) -> TestResult {
        let claimed = claim_new(fixture).await?;
        let delivered = progress(DeliveryState::Delivered, 1, None);
        expect_settle(fixture, &claimed, delivered, true).await?;
        for other in [delivered, progress(DeliveryState::Retrying, 1, Some(5))] {
            expect_settle(fixture, &claimed, other, false).await?;
        }
        fixture.expect_progress(&claimed.delivery.id, delivered).await?;
        fixture.expect_nothing_due(2 * LEASE).await
    }

    /// A worker whose lease another worker took over changes nothing.
    async fn a_lost_lease_cannot_be_settled(fixture: &StoreFixture) -> TestResult {
        let first = claim_new(fixture).await?;
        let second = fixture.claim_one(LEASE).await?;
        let dead = progress(DeliveryState::Dead, 6, None);
        let log = attempt_record(6);
        check!(!fixture.settle_attempt(&first, dead, Some(&log), LEASE).await?)?;
        let (delivery, attempts) = fixture.fetch_delivery(&first.delivery.id).await?;
        check_eq!((delivery.progress.state, attempts), (DeliveryState::Queued, vec![]))?;
        expect_settle(fixture, &second, progress(DeliveryState::Delivered, 1, None), true).await
    }

    /// A settlement after the lease counts if no other worker claimed the delivery.
    async fn a_late_settlement_counts_if_unclaimed(fixture: &StoreFixture) -> TestResult {
        let claimed = claim_new(fixture).await?;
        let delivered = progress(DeliveryState::Delivered, 1, None);
        check!(fixture.settle(&claimed, delivered, 5 * LEASE).await?)?;
        fixture.expect_nothing_due(6 * LEASE).await
    }

    /// The settlements of a batch are independent: a settlement without a valid lease is not recorded and does not
    /// affect the others.
    async fn concurrent_settlements_are_all_recorded(fixture: &StoreFixture) -> TestResult {
        let endpoint = fixture.add_endpoint(1).await?;
        for number in 1..=4 {
            fixture.enqueue(number, &endpoint, 0).await?;
        }
        let lost = fixture.claim_one(0).await?;
        let reclaimed = fixture.claim(&claim_request(4), LEASE).await?.deliveries;
        let outcomes = [
            (progress(DeliveryState::Delivered, 1, None), Some(attempt_record(1))),
            (progress(DeliveryState::Retrying, 2, Some(9)), Some(attempt_record(2))),
            (progress(DeliveryState::Withheld, 3, None), None),
            (progress(DeliveryState::Dead, 6, None), Some(attempt_record(6))),
        ];
        let mut ends: Vec<_> = reclaimed.iter().zip(&outcomes).collect();
        ends.retain(|(claimed, _)| claimed.delivery.id != lost.delivery.id);
        let valid = ends.iter().map(|(claimed, (progress, log))| Settlement::new(claimed, *progress, log.clone(), instant(LEASE)));
        let mut settlements: Vec<_> = valid.collect();
        let lost = Settlement::new(&lost, progress(DeliveryState::Gone, 1, None), Some(attempt_record(5)), instant(LEASE));
        let settled = fixture.settle_all(slice::from_ref(&lost), LEASE).await?;
        check_eq!(settled, HashSet::new())?;
        settlements.insert(1, lost.clone());
        let settled = fixture.settle_all(&settlements, LEASE).await?;
        check_eq!(settled, ends.iter().map(|(claimed, _)| claimed.delivery.id.clone()).collect())?;
        for (claimed, (progress, log)) in ends {
            let (delivery, attempts) = fixture.fetch_delivery(&claimed.delivery.id).await?;
            check_eq!(delivery.progress, *progress)?;
            check_eq!(attempts, Vec::from_iter(log.clone()))?;
        }
        check_eq!(fixture.fetch_delivery(&lost.delivery_id).await?.1, [])
    }

    /// A delivery is found with each attempt that it counts, also while an attempt is settled.
    async fn a_delivery_is_found_with_its_attempts(fixture: &StoreFixture) -> TestResult {
        let endpoint = fixture.add_endpoint(1).await?;
        let id = fixture.enqueue(1, &endpoint, 0).await?;
        for number in 1..=20 {
            let now = i64::from(number);
            let claimed = fixture.claim_one(now).await?;
            let retrying = progress(DeliveryState::Retrying, number, Some(now + 1));
            let settlement = Settlement::new(&claimed, retrying, Some(attempt_record(number)), instant(now));
            let calls = (0..8).map(|call| {
                let (deliveries, id, settlement) =
                    (fixture.webhooks.deliveries.clone(), id.clone(), settlement.clone());
                async move {
                    if call == 4 {
                        deliveries.settle(&[settlement], instant(now)).await?;
                    }
                    deliveries.find(&id).await
                }
            });
            for found in run_concurrently(calls).await {
                let (delivery, attempts) = only(found?)?;
                check_eq!(attempts.len(), delivery.progress.attempts as usize)?;
            }
        }
        Ok(())
    }

    /// A released delivery was not attempted, and is due at the given time.
    async fn a_release_is_not_an_attempt(fixture: &StoreFixture) -> TestResult {
        let claimed = claim_new(fixture).await?;
        release(fixture, &claimed, 20).await?;
        let queued = progress(DeliveryState::Queued, 0, Some(20));
        fixture.expect_progress(&claimed.delivery.id, queued).await?;
        expect_settle(fixture, &claimed, progress(DeliveryState::Dead, 6, None), false).await?;
        fixture.expect_nothing_due(19).await?;
        let reclaimed = fixture.claim_one(20).await?;
        check_eq!((reclaimed.delivery.progress, reclaimed.previous_lease_expired), (queued, false))
    }

    /// A worker whose lease another worker took over does not release the delivery.
    async fn a_lost_lease_cannot_be_released(fixture: &StoreFixture) -> TestResult {
        let first = claim_new(fixture).await?;
        let second = fixture.claim_one(LEASE).await?;
        release(fixture, &first, 0).await?;
        fixture.expect_nothing_due(LEASE).await?;
        expect_settle(fixture, &second, progress(DeliveryState::Delivered, 1, None), true).await?;
        release(fixture, &second, 0).await?;
        fixture.expect_nothing_due(LEASE).await
    }

    /// A lease that expired after sending began is reported again after the delivery was released.
    async fn an_expired_lease_is_reported_again_after_release(fixture: &StoreFixture) -> TestResult {
        let first = claim_new(fixture).await?;
        check!(fixture.begin_sending(&first, 1).await?)?;
        release(fixture, &fixture.claim_one(LEASE).await?, LEASE).await?;
        check!(fixture.claim_one(LEASE).await?.previous_lease_expired)
    }

    /// Attempts are stored with all fields and in order.
    async fn attempts_are_stored_unchanged_and_in_order(fixture: &StoreFixture) -> TestResult {
        let unanswered = AttemptRecord {
            status: None,
            error: Some(TransportError::new("not sent: no \"answer\" \u{2190} in time")),
            response_excerpt: None,
            request_headers: None,
            response_headers: None,
            duration_ms: u64::from(u32::MAX) + 1,
            started_at: instant(-1),
            ..attempt_record(2)
        };
        let not_sent = AttemptRecord { error: Some(TransportError::not_sent("no host")), ..unanswered.clone() };
        let log = [attempt_record(1), unanswered, not_sent, attempt_record(3)];
        let endpoint = fixture.add_endpoint(1).await?;
        let id = fixture.enqueue(1, &endpoint, 0).await?;
        let other = fixture.enqueue(2, &endpoint, 1).await?;
        for record in &log {
            let claimed = fixture.claim_one(0).await?;
            let retrying = progress(DeliveryState::Retrying, record.attempt, Some(0));
            fixture.settle_attempt(&claimed, retrying, Some(record), 0).await?;
        }
        check_eq!(fixture.fetch_delivery(&id).await?.1, log)?;
        check_eq!(fixture.fetch_delivery(&other).await?.1, [])
    }

    /// Only the latest `MAX_STORED_ATTEMPTS` attempts are stored.
    async fn only_the_latest_attempts_are_kept(fixture: &StoreFixture) -> TestResult {
        let endpoint = fixture.add_endpoint(1).await?;
        let id = fixture.enqueue(1, &endpoint, 0).await?;
        for number in 1..=MAX_STORED_ATTEMPTS + 7 {
            let claimed = fixture.claim_one(0).await?;
            let retrying = progress(DeliveryState::Retrying, 1, Some(0));
            let log = attempt_record(number);
            fixture.settle_attempt(&claimed, retrying, Some(&log), 0).await?;
        }
        let (_, attempts) = fixture.fetch_delivery(&id).await?;
        let numbers: Vec<_> = attempts.iter().map(|record| record.attempt).collect();
        check_eq!(numbers, (8..=MAX_STORED_ATTEMPTS + 7).collect::<Vec<_>>())
    }
}

/// Enqueues a delivery and claims it.
async fn claim_new(fixture: &StoreFixture) -> TestResult<ClaimedDelivery> {
    let endpoint = fixture.add_endpoint(1).await?;
    fixture.enqueue(1, &endpoint, 0).await?;
    fixture.claim_one(0).await
}

async fn release(fixture: &StoreFixture, claimed: &ClaimedDelivery, due: i64) -> TestResult {
    let claimed = slice::from_ref(claimed);
    let wait = Duration::from_millis(3);
    let deliveries = &fixture.webhooks.deliveries;
    Ok(deliveries.release(claimed, wait, instant(due - 3)).await?)
}

async fn expect_settle(
    fixture: &StoreFixture,
    claimed: &ClaimedDelivery,
    progress: DeliveryProgress,
    expected: bool,
) -> TestResult {
    check_eq!(fixture.settle(claimed, progress, 1).await?, expected)
}
