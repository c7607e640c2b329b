//! What a worker may take.

use super::Shelf;
use super::delivery_fixture::{LEASE, event, ids, progress, room};
use super::store_fixture::at;
use super::{Verdict, equal};
use crate::model::{ForumId, Timestamp};
use crate::store::{Backlog, Claim, Claimed, Claims};
use crate::webhook::{Delivery, Endpoint, Event, Progress, State};

store_rules!(
    mod claims;

    /// What is claimed comes with all that it takes to send it.
    async fn what_is_claimed_is_told_whole(shelf: &Shelf) -> Verdict {
        let endpoint = shelf.add(1).await?;
        let event = Event {
            forum: Some(ForumId::from(4)),
            ..event(7)?
        };
        let ids = shelf.deliver(&event, &[&endpoint], 9).await?;
        let claimed = shelf.take(20).await?;
        let delivery = Delivery {
            id: ids.first().unwrap_or(&claimed.delivery.id).clone(),
            event: event.id.clone(),
            topic: event.topic.clone(),
            endpoint: endpoint.id.clone(),
            created_at: at(9),
            progress: Progress::queued(at(9)),
        };
        let expected = Claimed {
            delivery,
            endpoint,
            event,
            lease_expired: false,
            lease: claimed.lease,
            lease_until: at(20 + LEASE),
        };
        equal("what was claimed", claimed, expected)
    }

    /// A delivery is claimed from the very instant on at which it is due.
    async fn what_is_not_due_waits(shelf: &Shelf) -> Verdict {
        let endpoint = shelf.add(1).await?;
        shelf.queue(1, &endpoint, 10).await?;
        shelf.nothing_due(9).await?;
        let claimed = shelf.take(10).await?;
        let later = progress(State::Retrying, 1, Some(50));
        shelf.settle(&claimed, later, 11).await?;
        shelf.nothing_due(49).await?;
        let again = shelf.take(50).await?;
        equal("how far it has come", again.delivery.progress, later)
    }

    /// The backlog is what is due and nobody has, of those who can be sent something.
    async fn the_backlog_is_what_could_be_claimed(shelf: &Shelf) -> Verdict {
        let backlog = async |now, depth, since: Option<i64>| {
            let found = shelf.webhooks.deliveries.backlog(at(now)).await?;
            let since = since.map(at);
            let expected = Backlog { depth, since };
            equal(format_args!("the backlog at {now}"), found, expected)
        };
        backlog(0, 0, None).await?;
        let (endpoint, other) = (shelf.add(1).await?, shelf.add(2).await?);
        for number in 0..120 {
            let to = if number % 2 == 0 { &endpoint } else { &other };
            shelf.queue(number, to, 10 + number.cast_signed()).await?;
        }
        backlog(9, 0, None).await?;
        backlog(10, 1, Some(10)).await?;
        backlog(1_000, 120, Some(10)).await?;
        shelf.take(1_000).await?;
        backlog(1_000, 119, Some(11)).await?;
        let disabled = Endpoint {
            enabled: false,
            ..other
        };
        shelf.webhooks.endpoints.update(&disabled).await?;
        backlog(1_000, 59, Some(12)).await?;
        shelf.webhooks.endpoints.remove(&endpoint.id).await?;
        backlog(1_000, 0, None).await
    }

    /// However many workers claim at once, each delivery is one's.
    async fn each_is_claimed_once_however_many_race(shelf: &Shelf) -> Verdict {
        let mut expected = Vec::new();
        for number in 0..60 {
            let endpoint = match number {
                0..3 => shelf.add(number).await?,
                _ => super::delivery_fixture::endpoint(number % 3)?,
            };
            expected.push(shelf.queue(number, &endpoint, 0).await?);
        }
        let works = (0..8).map(|_| {
            let deliveries = shelf.webhooks.deliveries.clone();
            async move { deliveries.claim(&room(10), at(0)).await }
        });
        let mut taken = Vec::new();
        for claims in shelf.race(works).await {
            taken.extend(ids(&claims?));
        }
        taken.sort();
        expected.sort();
        equal("what was claimed, by whomever", taken, expected)
    }

    /// A worker gets no more than it has room for in all.
    async fn no_more_is_claimed_than_there_is_room_for(shelf: &Shelf) -> Verdict {
        for number in 0..5 {
            let endpoint = shelf.add(number).await?;
            shelf.queue(number, &endpoint, 0).await?;
        }
        for (has, gets) in [(0, 0), (2, 2), (1, 1), (9, 2)] {
            let taken = shelf.claim(&room(has), 0).await?.taken.len();
            equal(
                format_args!("what a worker gets with room for {has}"),
                taken,
                gets,
            )?;
        }
        Ok(())
    }

    /// A worker gets no more to one endpoint than that has room for, with what runs already.
    async fn no_more_goes_to_one_endpoint_than_it_has_room_for(shelf: &Shelf) -> Verdict {
        let (busy, idle) = (shelf.add(1).await?, shelf.add(2).await?);
        for number in 0..10 {
            shelf.deliver(&event(number)?, &[&busy, &idle], 0).await?;
        }
        for (running, gets) in [(0, (3, 3)), (2, (1, 3)), (3, (0, 3)), (9, (0, 1))] {
            let claim = Claim {
                per_endpoint: 3,
                running: [(busy.id.clone(), running)].into(),
                ..room(100)
            };
            let taken = shelf.claim(&claim, 0).await?.taken;
            let of = |endpoint: &Endpoint| {
                let theirs = taken.iter().filter(|one| one.endpoint == *endpoint);
                theirs.count()
            };
            let what = format_args!("what the two get while {running} run");
            let found = (of(&busy), of(&idle));
            equal(what, found, gets)?;
        }
        Ok(())
    }

    /// What is due longest goes first, whatever was queued first and wherever it goes.
    async fn the_oldest_due_is_claimed_first(shelf: &Shelf) -> Verdict {
        let endpoints = [shelf.add(1).await?, shelf.add(2).await?];
        let mut due = Vec::new();
        for (number, endpoint) in (1..=6_u64).zip(endpoints.iter().cycle()) {
            let now = 100 - number.cast_signed();
            due.push((now, shelf.queue(number, endpoint, now).await?));
        }
        due.sort();
        let expected: Vec<_> = due.into_iter().map(|(_, id)| id).collect();
        let (first, second) = expected.split_at(4);
        for (some, expected) in [(4, first), (9, second)] {
            let claims = shelf.claim(&room(some), 200).await?;
            equal("what was claimed", ids(&claims).as_slice(), expected)?;
        }
        Ok(())
    }

    /// Two endpoints with more than can be sent leave room for what a third is to be told.
    async fn a_flooded_endpoint_starves_nobody(shelf: &Shelf) -> Verdict {
        let flooded = [shelf.add(1).await?, shelf.add(2).await?];
        let third = shelf.add(3).await?;
        for number in 0..50 {
            let [one, other] = &flooded;
            shelf.deliver(&event(number)?, &[one, other], 0).await?;
        }
        let late = shelf.queue(50, &third, 1).await?;
        let claim = Claim {
            per_endpoint: 4,
            ..room(9)
        };
        let claims = shelf.claim(&claim, 2).await?;
        equal("how many were claimed", claims.taken.len(), 9)?;
        let found = ids(&claims).contains(&late);
        equal("whether the third's is one", found, true)
    }

    /// A worker is told when to come again: for the first that was left, if its endpoint has room.
    async fn the_next_is_the_earliest_that_was_left(shelf: &Shelf) -> Verdict {
        let (one, other) = (shelf.add(1).await?, shelf.add(2).await?);
        next(&shelf.claim(&room(1), 0).await?, None)?;
        for (number, endpoint, now) in [(1, &one, 10), (2, &one, 20), (3, &other, 15)] {
            shelf.queue(number, endpoint, now).await?;
        }
        next(&shelf.claim(&room(9), 9).await?, Some(at(10)))?;
        let full = Claim {
            running: [(one.id.clone(), 9)].into(),
            ..room(9)
        };
        next(&shelf.claim(&full, 9).await?, Some(at(15)))?;
        let one_each = Claim {
            per_endpoint: 1,
            ..room(9)
        };
        next(&shelf.claim(&one_each, 12).await?, Some(at(15)))?;
        next(&shelf.claim(&room(1), 30).await?, Some(at(20)))?;
        next(&shelf.claim(&room(9), 30).await?, Some(at(12 + LEASE)))
    }

    /// What is queued for an endpoint waits while that is disabled, and nobody waits for it.
    async fn what_a_disabled_endpoint_has_queued_waits(shelf: &Shelf) -> Verdict {
        let endpoint = shelf.add(1).await?;
        let id = shelf.queue(1, &endpoint, 0).await?;
        let mut changed = Endpoint {
            enabled: false,
            ..endpoint
        };
        let endpoints = &shelf.webhooks.endpoints;
        endpoints.update(&changed).await?;
        let claims = shelf.claim(&room(9), 5).await?;
        equal("what is due", ids(&claims), vec![])?;
        next(&claims, None)?;
        shelf.is_at(&id, Progress::queued(at(0))).await?;
        (changed.enabled, changed.version) = (true, 2);
        endpoints.update(&changed).await?;
        let claims = shelf.claim(&room(9), 5).await?;
        equal("what is due", ids(&claims), vec![id])
    }

    /// What was queued for a removed endpoint is neither claimed nor settled nor found, and nobody waits for it.
    async fn what_a_removed_endpoint_had_queued_is_away(shelf: &Shelf) -> Verdict {
        let (removed, other) = (shelf.add(1).await?, shelf.add(2).await?);
        let sent = shelf.queue(1, &removed, 0).await?;
        let claimed = shelf.take(0).await?;
        shelf.queue(2, &removed, 0).await?;
        let left = shelf.queue(3, &other, 0).await?;
        shelf.webhooks.endpoints.remove(&removed.id).await?;
        let settled = shelf.settle(&claimed, progress(State::Retrying, 1, Some(1)), 1);
        equal("whether it was settled", settled.await?, false)?;
        let deliveries = &shelf.webhooks.deliveries;
        equal("the delivery", deliveries.find(&sent).await?, None)?;
        let found = deliveries.remove(&sent).await?;
        equal("whether it was removed", found, false)?;
        let claims = shelf.claim(&room(9), 2 * LEASE).await?;
        equal("what is due", ids(&claims), vec![left])?;
        next(&claims, None)
    }
);

fn next(claims: &Claims, expected: Option<Timestamp>) -> Verdict {
    equal("when the next is due", claims.next, expected)
}
