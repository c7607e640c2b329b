//! The outbox of events.

use super::*;
use crate::model::DeliveryId;
use crate::store::{DeliveryFilter, StoredEvent};
use crate::webhook::{Endpoint, Event};

store_rules! {
    mod outbox, __rules_outbox;

    /// An inserted event is pending with all fields unchanged.
    async fn inserted_events_are_pending_unchanged(fixture: &StoreFixture) -> TestResult {
        let [every_field, long] = extreme_events(2)?;
        insert(fixture, &[&long, &every_field]).await?;
        expect_pending(fixture, 9, &[every_field, long]).await
    }

    /// An event that is stored already stays unchanged.
    async fn an_event_is_inserted_once(fixture: &StoreFixture) -> TestResult {
        let first = event(1)?;
        let second = Event { body: "{}".into(), ..event(1)? };
        insert(fixture, &[&first, &first, &second]).await?;
        expect_pending(fixture, 9, &[first]).await
    }

    /// The oldest pending events come first, up to the limit.
    async fn the_oldest_pending_events_come_first(fixture: &StoreFixture) -> TestResult {
        for number in [3, 1, 5, 2, 4] {
            insert(fixture, &[&event(number)?]).await?;
        }
        expect_pending(fixture, 3, &[event(1)?, event(2)?, event(3)?]).await
    }

    /// Events with equal times keep their insertion order: a thread comes before its first post.
    async fn events_of_one_moment_keep_their_insertion_order(fixture: &StoreFixture) -> TestResult {
        let mut events = Vec::new();
        for number in [3, 1, 5, 2, 4] {
            let event = Event { occurred_at: instant(0), ..event(number)? };
            insert(fixture, &[&event]).await?;
            events.push(event);
        }
        expect_pending(fixture, 9, &events).await
    }

    /// An event that is inserted after newer ones were fanned out is pending.
    async fn late_events_are_pending_as_well(fixture: &StoreFixture) -> TestResult {
        let endpoint = fixture.add_endpoint(1).await?;
        fixture.deliver(&event(5)?, &[&endpoint], 5).await?;
        insert(fixture, &[&event(1)?]).await?;
        expect_pending(fixture, 9, &[event(1)?]).await
    }

    /// A fan-out removes its event from the outbox, even without endpoints.
    async fn fanned_out_events_are_not_pending(fixture: &StoreFixture) -> TestResult {
        let endpoint = fixture.add_endpoint(1).await?;
        insert(fixture, &[&event(1)?, &event(2)?, &event(3)?]).await?;
        let fan_outs = [fan_out(&event(1)?, &[&endpoint]), fan_out(&event(3)?, &[])];
        fixture.webhooks.outbox.fan_out(&fan_outs, instant(0)).await?;
        expect_pending(fixture, 9, &[event(2)?]).await
    }

    /// The body and the request of an event are stored until its last delivery is removed.
    async fn a_stored_event_is_found(fixture: &StoreFixture) -> TestResult {
        let endpoint = fixture.add_endpoint(1).await?;
        let event = Event { request_id: Some("7f3a".into()), ..event(1)? };
        let stored = Some(StoredEvent { body: event.body.clone(), request_id: event.request_id.clone() });
        let outbox = &fixture.webhooks.outbox;
        check_eq!(outbox.find(&event.id).await?, None)?;
        insert(fixture, &[&event]).await?;
        check_eq!(outbox.find(&event.id).await?, stored)?;
        let id = only(fixture.deliver(&event, &[&endpoint], 0).await?)?;
        check_eq!(outbox.find(&event.id).await?, stored)?;
        check!(fixture.webhooks.deliveries.remove(&id, &audit_entry()).await?)?;
        check_eq!(outbox.find(&event.id).await?, None)
    }

    /// Removing a delivery that was enqueued directly keeps its event in the outbox.
    async fn removing_a_delivery_keeps_pending_events(fixture: &StoreFixture) -> TestResult {
        let endpoint = fixture.add_endpoint(1).await?;
        let event = event(1)?;
        insert(fixture, &[&event]).await?;
        let deliveries = &fixture.webhooks.deliveries;
        deliveries.enqueue(&event, &endpoint.id, instant(0)).await?;
        check!(deliveries.remove(&DeliveryId::derive(&event.id, &endpoint.id), &audit_entry()).await?)?;
        expect_pending(fixture, 9, &[event]).await
    }

    /// An event is not fanned out again, to the same or other endpoints.
    async fn an_event_is_fanned_out_once(fixture: &StoreFixture) -> TestResult {
        let [first, other] = fixture.add_endpoints().await?;
        let queued = fixture.deliver(&event(1)?, &[&first], 0).await?;
        for endpoints in [&[&first] as &[&Endpoint], &[&first, &other], &[]] {
            fixture.deliver(&event(1)?, endpoints, 1).await?;
        }
        check_eq!(delivery_ids(&fixture.claim(&claim_request(9), 1).await?), queued)
    }

    /// Concurrent fan-outs of an event enqueue its deliveries once.
    async fn concurrent_fan_outs_enqueue_an_event_once(fixture: &StoreFixture) -> TestResult {
        let endpoint = fixture.add_endpoint(1).await?;
        let mut fan_outs = Vec::new();
        for number in 0..20 {
            insert(fixture, &[&event(number)?]).await?;
            fan_outs.push(fan_out(&event(number)?, &[&endpoint]));
        }
        let workers = (0..8).map(|worker| {
            let outbox = fixture.webhooks.outbox.clone();
            let fan_outs = fan_outs.clone();
            async move { outbox.fan_out(&fan_outs, instant(worker)).await }
        });
        succeed_concurrently(workers).await?;
        let all = DeliveryFilter { limit: 100, ..DeliveryFilter::default() };
        check_eq!(fixture.webhooks.deliveries.list(&all).await?.len(), 20)?;
        expect_pending(fixture, 9, &[]).await
    }

    /// A fan-out enqueues nothing for an endpoint that was disabled or removed.
    async fn removed_and_disabled_endpoints_get_no_delivery(fixture: &StoreFixture) -> TestResult {
        let enabled = fixture.add_endpoint(1).await?;
        let disabled = Endpoint { enabled: false, ..endpoint(2)? };
        fixture.webhooks.endpoints.add(&disabled, &audit_entry()).await?;
        let removed = fixture.add_endpoint(3).await?;
        fixture.webhooks.endpoints.remove(&removed.id, &audit_entry()).await?;
        let all = [&disabled, &enabled, &removed, &endpoint(4)?];
        let ids = fixture.deliver(&event(1)?, &all, 0).await?;
        for (id, expected) in ids.iter().zip([false, true, false, false]) {
            let actual = fixture.webhooks.deliveries.find(id).await?;
            check_eq!(actual.is_some(), expected, "whether {id:?} exists")?;
        }
        fixture.deliver(&event(2)?, &[&disabled], 0).await?;
        expect_pending(fixture, 9, &[]).await
    }
}

async fn insert(fixture: &StoreFixture, events: &[&Event]) -> TestResult {
    for event in events {
        fixture.webhooks.outbox.insert(event).await?;
    }
    Ok(())
}

async fn expect_pending(fixture: &StoreFixture, limit: u32, expected: &[Event]) -> TestResult {
    check_eq!(fixture.webhooks.outbox.pending(limit).await?, expected)
}
