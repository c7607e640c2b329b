//! Retries, removals and pings by an administrator.

use std::time::Duration;

use super::*;
use crate::model::DeliveryId;
use crate::store::ClaimRequest;
use crate::webhook::DeliveryState::{Dead, Delivered, Gone, Withheld};
use crate::webhook::{DeliveryProgress, DeliveryState, Endpoint, Event, Topic, TopicSet};

const FINISHED: [DeliveryState; 4] = [Delivered, Dead, Gone, Withheld];

store_rules! {
    mod retries, __rules_retries;

    /// A finished delivery is queued again with its id and its stored attempts. Its number of attempts restarts at 0.
    async fn a_finished_delivery_is_queued_again(fixture: &StoreFixture) -> TestResult {
        let endpoint = fixture.add_endpoint(1).await?;
        for (number, state) in (1..).zip(FINISHED) {
            let id = fixture.enqueue(number, &endpoint, 0).await?;
            let claimed = fixture.claim_one(0).await?;
            let finished = progress(state, 6, None);
            let log = attempt_record(6);
            fixture.settle_attempt(&claimed, finished, Some(&log), 0).await?;
            fixture.expect_retry(&id, 9, true).await?;
            let (delivery, attempts) = fixture.fetch_delivery(&id).await?;
            check_eq!((delivery.progress, delivery.created_at), (DeliveryProgress::queued(instant(9)), instant(0)))?;
            check_eq!(attempts, [log])?;
            fixture.expect_nothing_due(8).await?;
            let again = fixture.claim_one(9).await?;
            check_eq!((again.delivery.id, again.previous_lease_expired), (id, false))?;
        }
        Ok(())
    }

    /// A retrying delivery becomes due immediately with its number of attempts, unless it is claimed.
    async fn a_retrying_delivery_becomes_due_at_once(fixture: &StoreFixture) -> TestResult {
        let endpoint = fixture.add_endpoint(1).await?;
        let id = fixture.enqueue(1, &endpoint, 0).await?;
        let claimed = fixture.claim_one(0).await?;
        fixture.settle(&claimed, progress(DeliveryState::Retrying, 3, Some(70)), 1).await?;
        fixture.expect_retry(&id, 5, true).await?;
        fixture.expect_progress(&id, progress(DeliveryState::Retrying, 3, Some(5))).await?;
        check_eq!(fixture.claim_one(5).await?.delivery.progress.attempts, 3)?;
        fixture.expect_retry(&id, 6, false).await?;
        fixture.expect_nothing_due(6).await
    }

    /// After the lease of an attempt has expired, a retry makes the retrying delivery due. The lost attempt is not
    /// counted, also if another worker has released the delivery.
    async fn a_retry_after_an_expired_lease_is_sent(fixture: &StoreFixture) -> TestResult {
        let endpoint = fixture.add_endpoint(1).await?;
        let id = fixture.enqueue(1, &endpoint, 0).await?;
        let claimed = fixture.claim_one(0).await?;
        fixture.settle(&claimed, progress(DeliveryState::Retrying, 5, Some(0)), 0).await?;
        for (expired_at, is_released) in [(LEASE, false), (3 * LEASE, true)] {
            let lost = fixture.claim_one(expired_at - LEASE).await?;
            check!(fixture.begin_sending(&lost, expired_at - LEASE).await?)?;
            fixture.expect_retry(&id, expired_at - 1, false).await?;
            if is_released {
                let reported = fixture.claim_one(expired_at).await?;
                check!(reported.previous_lease_expired)?;
                fixture.webhooks.deliveries.release(&[reported], Duration::ZERO, instant(expired_at)).await?;
            }
            fixture.expect_retry(&id, expired_at, true).await?;
            let again = fixture.claim_one(expired_at).await?;
            check_eq!((again.delivery.progress.attempts, again.previous_lease_expired), (5, false))?;
        }
        Ok(())
    }

    /// A retrying delivery becomes due although a clock that was ahead leased it.
    async fn a_lease_of_a_clock_that_was_ahead_does_not_prevent_a_retry(fixture: &StoreFixture) -> TestResult {
        const AHEAD: i64 = 7_200_000;
        let endpoint = fixture.add_endpoint(1).await?;
        let id = fixture.enqueue(1, &endpoint, 0).await?;
        let claimed = fixture.claim_one(0).await?;
        fixture.settle(&claimed, progress(DeliveryState::Retrying, 3, Some(70)), 1).await?;
        fixture.claim_one(AHEAD).await?;
        fixture.expect_retry(&id, AHEAD, false).await?;
        fixture.expect_retry(&id, 5, true).await?;
        check_eq!(fixture.claim_one(5).await?.delivery.progress.attempts, 3)
    }

    /// A delivery is not retried beside its attempt, however long the lease of the attempt is.
    async fn a_long_lease_prevents_a_retry(fixture: &StoreFixture) -> TestResult {
        const YEAR: u64 = 365 * 24 * 3600;
        let endpoint = fixture.add_endpoint(1).await?;
        let id = fixture.enqueue(1, &endpoint, 0).await?;
        let claimed = fixture.claim_one(0).await?;
        fixture.settle(&claimed, progress(DeliveryState::Retrying, 3, Some(1)), 1).await?;
        let long = ClaimRequest { lease_duration: Duration::from_secs(YEAR), ..claim_request(1) };
        check_eq!(fixture.claim(&long, 60_001).await?.deliveries.len(), 1)?;
        check_eq!(fixture.webhooks.deliveries.correct_times(instant(1)).await?, 0)?;
        fixture.expect_retry(&id, 1, false).await?;
        fixture.expect_retry(&id, 0, true).await
    }

    /// Deliveries that were queued again together keep their order, however many they are: none of their times counts as
    /// that of a clock that was ahead.
    async fn a_long_row_of_retries_keeps_its_order(fixture: &StoreFixture) -> TestResult {
        const AHEAD: i64 = 10 * 3_600_000;
        let endpoint = fixture.add_endpoint(1).await?;
        let deliveries = &fixture.webhooks.deliveries;
        let [first, second, ahead] = fixture.finish_all::<3>(&endpoint, DeliveryState::Dead).await?;
        fixture.expect_retry(&first, 0, true).await?;
        let claimed = fixture.claim_one(0).await?;
        deliveries.release(&[claimed], Duration::from_secs(7_200), instant(0)).await?;
        fixture.expect_retry(&ahead, AHEAD, true).await?;
        check_eq!(deliveries.retry_dead(&endpoint.id, instant(5), 9, &audit_entry()).await?, 1)?;
        fixture.expect_progress(&second, DeliveryProgress::queued(instant(7_200_001))).await?;
        check_eq!(deliveries.correct_times(instant(5)).await?, 1)?;
        fixture.expect_progress(&ahead, DeliveryProgress::queued(instant(5))).await?;
        fixture.expect_progress(&second, DeliveryProgress::queued(instant(7_200_001))).await
    }

    /// A queued or unknown delivery is not retried, without an error.
    async fn retrying_a_queued_delivery_changes_nothing(fixture: &StoreFixture) -> TestResult {
        let endpoint = fixture.add_endpoint(1).await?;
        let id = fixture.enqueue(8, &endpoint, 0).await?;
        fixture.expect_retry(&id, 1, false).await?;
        fixture.expect_progress(&id, DeliveryProgress::queued(instant(0))).await?;
        fixture.claim_one(0).await?;
        fixture.expect_retry(&id, 1, false).await?;
        fixture.expect_nothing_due(1).await?;
        let absent = DeliveryId::derive(&event(9)?.id, &endpoint.id);
        fixture.expect_retry(&absent, 1, false).await
    }

    /// Only the dead deliveries of one endpoint are queued again, in batches, and in the order of their events.
    async fn dead_deliveries_of_one_endpoint_are_queued_again_in_batches(fixture: &StoreFixture) -> TestResult {
        let [endpoint, other] = fixture.add_endpoints().await?;
        let dead = fixture.finish_all::<5>(&endpoint, DeliveryState::Dead).await?;
        let elsewhere = fixture.finish(5, &other, DeliveryState::Dead, 0).await?;
        let gone = fixture.finish(6, &endpoint, DeliveryState::Gone, 0).await?;
        let deliveries = &fixture.webhooks.deliveries;
        check_eq!(deliveries.count_dead(Some(&endpoint.id)).await?, 5)?;
        check_eq!(deliveries.count_dead(None).await?, 6)?;
        for (expected, batch) in [(2, &dead[..2]), (2, &dead[2..4]), (1, &dead[4..]), (0, &[][..])] {
            check_eq!(deliveries.retry_dead(&endpoint.id, instant(9), 2, &audit_entry()).await?, expected)?;
            for id in batch {
                let progress = fixture.fetch_delivery(id).await?.0.progress;
                check_eq!(progress.state, DeliveryState::Queued, "the oldest are queued first")?;
            }
        }
        for (id, due_at) in dead.iter().zip(9..) {
            fixture.expect_progress(id, DeliveryProgress::queued(instant(due_at))).await?;
        }
        fixture.expect_progress(&elsewhere, progress(DeliveryState::Dead, 1, None)).await?;
        fixture.expect_progress(&gone, progress(DeliveryState::Gone, 1, None)).await?;
        fixture.webhooks.endpoints.remove(&other.id, &audit_entry()).await?;
        check_eq!(deliveries.count_dead(None).await?, 0, "dead deliveries after removal")?;
        check_eq!(deliveries.retry_dead(&other.id, instant(9), 2, &audit_entry()).await?, 0, "retries after removal")?;
        fixture.expect_retry(&elsewhere, 9, false).await
    }

    /// Dead deliveries of one moment are queued again in the order of their events, in any batch, and not after a delivery that
    /// is leased.
    async fn dead_deliveries_of_one_moment_keep_the_order_of_their_events(fixture: &StoreFixture) -> TestResult {
        let endpoint = fixture.add_endpoint(1).await?;
        let mut dead = Vec::new();
        for number in [3, 1, 5, 2, 4] {
            dead.push(fixture.finish(number, &endpoint, DeliveryState::Dead, 0).await?);
        }
        fixture.enqueue(6, &endpoint, 0).await?;
        fixture.claim_one(0).await?;
        let deliveries = &fixture.webhooks.deliveries;
        for expected in [2, 2, 1] {
            check_eq!(deliveries.retry_dead(&endpoint.id, instant(9), 2, &audit_entry()).await?, expected)?;
        }
        for (id, due_at) in dead.iter().zip(9..) {
            fixture.expect_progress(id, DeliveryProgress::queued(instant(due_at))).await?;
        }
        Ok(())
    }

    /// A delivery that is dead again can be queued again.
    async fn a_requeued_delivery_can_die_again(fixture: &StoreFixture) -> TestResult {
        let endpoint = fixture.add_endpoint(1).await?;
        let id = fixture.finish(1, &endpoint, DeliveryState::Dead, 0).await?;
        for now in 1..4 {
            fixture.expect_retry(&id, now, true).await?;
            fixture.expect_retry(&id, now, false).await?;
            let claimed = fixture.claim_one(now).await?;
            fixture.settle(&claimed, progress(DeliveryState::Dead, 6, None), now).await?;
        }
        Ok(())
    }

    /// Exactly one of several concurrent retries succeeds.
    async fn one_of_concurrent_retries_succeeds(fixture: &StoreFixture) -> TestResult {
        let endpoint = fixture.add_endpoint(1).await?;
        let id = fixture.finish(1, &endpoint, DeliveryState::Dead, 0).await?;
        let retries = repeat_n((fixture.webhooks.deliveries.clone(), id.clone()), 20)
            .map(|(deliveries, id)| async move { deliveries.retry(&id, instant(1), &audit_entry()).await });
        let retried = succeed_concurrently(retries).await?;
        check_eq!(retried.iter().filter(|retried| **retried).count(), 1)
    }

    /// A delivery can be removed with its attempts in any state.
    async fn a_delivery_is_removed_in_any_state(fixture: &StoreFixture) -> TestResult {
        let endpoint = fixture.add_endpoint(1).await?;
        let deliveries = &fixture.webhooks.deliveries;
        let mut all = Vec::new();
        for (number, state) in (1..).zip(FINISHED) {
            all.push(fixture.finish(number, &endpoint, state, 0).await?);
        }
        all.push(fixture.enqueue(8, &endpoint, 0).await?);
        let claimed = fixture.claim_one(0).await?;
        all.push(fixture.enqueue(9, &endpoint, 0).await?);
        for id in &all {
            for expected in [true, false] {
                check_eq!(deliveries.remove(id, &audit_entry()).await?, expected)?;
            }
            check_eq!(deliveries.find(id).await?, None)?;
        }
        check!(!fixture.settle(&claimed, progress(DeliveryState::Delivered, 1, None), 0).await?)?;
        fixture.expect_nothing_due(1_000_000).await
    }

    /// A ping is enqueued only for the given endpoint, independently of the endpoint's topics. Otherwise it is an
    /// ordinary delivery.
    async fn a_ping_is_queued_for_one_endpoint_only(fixture: &StoreFixture) -> TestResult {
        let topics = TopicSet { all: false, named: [].into() };
        let endpoint = Endpoint { topics, ..endpoint(1)? };
        fixture.webhooks.endpoints.add(&endpoint, &audit_entry()).await?;
        fixture.add_endpoint(2).await?;
        let ping = Event { topic: Topic::PING, ..event(1)? };
        let id = DeliveryId::derive(&ping.id, &endpoint.id);
        let sent = fixture.webhooks.deliveries.enqueue(&ping, &endpoint.id, instant(4)).await?;
        check_eq!(sent.as_ref(), Some(&id))?;
        check_eq!(fixture.webhooks.outbox.pending(9).await?, [])?;
        let claimed = only(fixture.claim(&claim_request(9), 4).await?.deliveries)?;
        check_eq!((claimed.delivery.id, claimed.event), (id, ping))?;
        check_eq!(claimed.delivery.topic, Topic::PING)
    }

    /// A ping to a disabled or unknown endpoint is rejected and not stored.
    async fn an_undeliverable_ping_is_not_stored(fixture: &StoreFixture) -> TestResult {
        let disabled = Endpoint { enabled: false, ..endpoint(1)? };
        fixture.webhooks.endpoints.add(&disabled, &audit_entry()).await?;
        for to in [&disabled, &endpoint(2)?] {
            let sent = fixture.webhooks.deliveries.enqueue(&event(1)?, &to.id, instant(0)).await?;
            check_eq!(sent, None)?;
        }
        check_eq!(fixture.webhooks.outbox.pending(9).await?, [])?;
        let enabled = Endpoint { enabled: true, ..disabled };
        fixture.webhooks.endpoints.update(&enabled, &audit_entry()).await?;
        fixture.expect_nothing_due(9).await
    }
}

impl StoreFixture {
    async fn expect_retry(&self, id: &DeliveryId, now: i64, expected: bool) -> TestResult {
        let deliveries = &self.webhooks.deliveries;
        let retried = deliveries.retry(id, instant(now), &audit_entry()).await?;
        check_eq!(retried, expected, "whether {id:?} is retried at {now}")
    }
}
