//! The outbox.

use super::Shelf;
use super::delivery_fixture::{endpoint, event, ids, room, to};
use super::store_fixture::at;
use super::{Verdict, equal};
use crate::model::{DeliveryId, ForumId, Timestamp};
use crate::store::Filter;
use crate::webhook::{Endpoint, Event, Topic};

store_rules!(
    mod outbox;

    /// Every field comes back as it was put.
    async fn what_is_put_waits_whole(shelf: &Shelf) -> Verdict {
        let every_field = Event {
            topic: Topic::new("my_own.topic").unwrap_or(Topic::PING),
            occurred_at: Timestamp::from_millis(-7),
            forum: Some(ForumId::from(8)),
            body: "{\"a\":\"'\u{e9}☎\\u0000\"}".into(),
            ..event(2)?
        };
        let long = Event {
            body: format!("{{\"a\":\"{}\"}}", "x".repeat(Event::MAX_BODY - 8)),
            ..event(1)?
        };
        for event in [&long, &every_field] {
            put(shelf, event).await?;
        }
        wait(shelf, 9, &[every_field, long]).await
    }

    /// An event that is there is left as it is, however often it is put.
    async fn an_event_is_put_once(shelf: &Shelf) -> Verdict {
        let first = event(1)?;
        let second = Event {
            body: "{}".into(),
            ..event(1)?
        };
        for event in [&first, &first, &second] {
            put(shelf, event).await?;
        }
        wait(shelf, 9, &[first]).await
    }

    /// What waits longest comes first, and no more than was asked for.
    async fn the_oldest_wait_first(shelf: &Shelf) -> Verdict {
        for number in [3, 1, 5, 2, 4] {
            put(shelf, &event(number)?).await?;
        }
        wait(shelf, 3, &[event(1)?, event(2)?, event(3)?]).await
    }

    /// Events of one moment wait in the order in which they were put: a thread before its first post.
    async fn of_one_moment_the_first_put_waits_first(shelf: &Shelf) -> Verdict {
        let mut waiting = Vec::new();
        for number in [3, 1, 5, 2, 4] {
            let event = Event {
                occurred_at: at(0),
                ..event(number)?
            };
            put(shelf, &event).await?;
            waiting.push(event);
        }
        wait(shelf, 9, &waiting).await
    }

    /// An event that is committed after younger ones were fanned out is found all the same.
    async fn what_comes_late_is_found_as_well(shelf: &Shelf) -> Verdict {
        let endpoint = shelf.add(1).await?;
        shelf.deliver(&event(5)?, &[&endpoint], 5).await?;
        put(shelf, &event(1)?).await?;
        wait(shelf, 9, &[event(1)?]).await
    }

    /// An event that was fanned out waits no more, whether anybody was told of it or not.
    async fn what_is_fanned_out_waits_no_more(shelf: &Shelf) -> Verdict {
        let endpoint = shelf.add(1).await?;
        for number in 1..=3 {
            put(shelf, &event(number)?).await?;
        }
        let fan_out = [to(&event(1)?, &[&endpoint]), to(&event(3)?, &[])];
        shelf.webhooks.outbox.fan_out(&fan_out, at(0)).await?;
        wait(shelf, 9, &[event(2)?]).await
    }

    /// An event that was also sent to one endpoint by itself waits, whatever becomes of that delivery.
    async fn what_waits_does_not_go_with_a_delivery(shelf: &Shelf) -> Verdict {
        let (endpoint, event) = (shelf.add(1).await?, event(1)?);
        put(shelf, &event).await?;
        let deliveries = &shelf.webhooks.deliveries;
        deliveries.send(&event, &endpoint.id, at(0)).await?;
        let id = DeliveryId::of(&event.id, &endpoint.id);
        let removed = deliveries.remove(&id).await?;
        equal("whether the delivery was removed", removed, true)?;
        wait(shelf, 9, &[event]).await
    }

    /// What was fanned out to some is not fanned out again, to them or others.
    async fn an_event_is_fanned_out_once(shelf: &Shelf) -> Verdict {
        let (one, other) = (shelf.add(1).await?, shelf.add(2).await?);
        let told = shelf.deliver(&event(1)?, &[&one], 0).await?;
        for endpoints in [&[&one] as &[&Endpoint], &[&one, &other], &[]] {
            shelf.deliver(&event(1)?, endpoints, 1).await?;
        }
        let claims = shelf.claim(&room(9), 1).await?;
        equal("what was queued", ids(&claims), told)
    }

    /// Of any number of workers that fan out at once, one does.
    async fn an_event_is_fanned_out_once_however_many_race(shelf: &Shelf) -> Verdict {
        let endpoint = shelf.add(1).await?;
        let mut fan_out = Vec::new();
        for number in 0..20 {
            put(shelf, &event(number)?).await?;
            fan_out.push(to(&event(number)?, &[&endpoint]));
        }
        let works = (0..8).map(|worker| {
            let (outbox, fan_out) = (shelf.webhooks.outbox.clone(), fan_out.clone());
            async move { outbox.fan_out(&fan_out, at(worker)).await }
        });
        for one in shelf.race(works).await {
            one?;
        }
        let all = Filter {
            limit: 100,
            ..Filter::default()
        };
        let queued = shelf.webhooks.deliveries.list(&all).await?.len();
        equal("how many were queued", queued, 20)?;
        wait(shelf, 9, &[]).await
    }

    /// An endpoint that was disabled or removed after it was found gets nothing.
    async fn who_is_away_or_disabled_is_told_nothing(shelf: &Shelf) -> Verdict {
        let there = shelf.add(1).await?;
        let disabled = Endpoint {
            enabled: false,
            ..endpoint(2)?
        };
        shelf.webhooks.endpoints.add(&disabled).await?;
        let removed = shelf.add(3).await?;
        shelf.webhooks.endpoints.remove(&removed.id).await?;
        let all = [&disabled, &there, &removed, &endpoint(4)?];
        let told = shelf.deliver(&event(1)?, &all, 0).await?;
        for (id, is_told) in told.iter().zip([false, true, false, false]) {
            let found = shelf.webhooks.deliveries.find(id).await?;
            equal(
                format_args!("whether {id:?} is there"),
                found.is_some(),
                is_told,
            )?;
        }
        shelf.deliver(&event(2)?, &[&disabled], 0).await?;
        wait(shelf, 9, &[]).await
    }
);

async fn put(shelf: &Shelf, event: &Event) -> Verdict {
    Ok(shelf.webhooks.outbox.put(event).await?)
}

async fn wait(shelf: &Shelf, limit: u32, expected: &[Event]) -> Verdict {
    let waiting = shelf.webhooks.outbox.waiting(limit).await?;
    equal("what waits", waiting.as_slice(), expected)
}
