//! Lists of deliveries.

use std::cmp::Reverse;

use super::Shelf;
use super::queue::{event, progress};
use crate::conformance::{Verdict, equal};
use crate::store::Filter;
use crate::webhook::{Delivery, Event, State, Topic};

async fn list(shelf: &Shelf, filter: &Filter) -> Verdict<Vec<Delivery>> {
    Ok(shelf.webhooks.deliveries.list(filter).await?)
}

/// Deliveries of two topics to three endpoints, in three states and at few instants; the newest first.
async fn many(shelf: &Shelf) -> Verdict<Vec<Delivery>> {
    let endpoints = [
        shelf.add(1).await?,
        shelf.add(2).await?,
        shelf.add(3).await?,
    ];
    let topics = [Topic::POST_CREATED, Topic::POLL_VOTED];
    let states = [State::Delivered, State::Dead];
    let mut all = Vec::new();
    let places = endpoints.iter().cycle().zip(topics.iter().cycle());
    for (number, (endpoint, topic)) in (0..36_u64).zip(places) {
        let now = number.cast_signed() / 8;
        let event = Event {
            topic: topic.clone(),
            ..event(number)?
        };
        for id in shelf.deliver(&event, &[endpoint], now).await? {
            let state = states.get(usize::try_from(number / 6 % 3).unwrap_or_default());
            if let Some(state) = state {
                let claimed = shelf.take(now).await?;
                equal("what was claimed", &claimed.delivery.id, &id)?;
                shelf
                    .settle(&claimed, progress(*state, 2, None), now)
                    .await?;
            } else {
                let queued = shelf.take(now).await?;
                let waits = progress(State::Queued, 0, Some(1_000));
                shelf.settle(&queued, waits, now).await?;
            }
            all.push(shelf.found(&id).await?.0);
        }
    }
    all.sort_by_key(|one| Reverse((one.created_at, one.id.clone())));
    Ok(all)
}

/// The newest come first, those of one instant by their ids; pages follow each other without gap or repeat.
pub async fn the_newest_come_first_and_page_by_page(shelf: &Shelf) -> Verdict {
    let all = many(shelf).await?;
    let mut filter = Filter {
        limit: 7,
        ..Filter::default()
    };
    for expected in all.chunks(7) {
        let page = list(shelf, &filter).await?;
        equal("the page", page.as_slice(), expected)?;
        let last = page.into_iter().next_back();
        filter.after = last.map(|last| (last.created_at, last.id));
    }
    equal(
        "the page after the last",
        list(shelf, &filter).await?,
        vec![],
    )
}

/// A list holds what is asked for, in each combination and on each page, and nothing of removed endpoints.
pub async fn a_list_holds_what_its_filter_lets_through(shelf: &Shelf) -> Verdict {
    let mut all = many(shelf).await?;
    let gone = super::queue::endpoint_id(3)?;
    shelf.webhooks.endpoints.remove(&gone).await?;
    all.retain(|one| one.endpoint != gone);
    let states = [
        None,
        Some(State::Dead),
        Some(State::Queued),
        Some(State::Gone),
    ];
    let endpoints = [None, Some(super::queue::endpoint_id(1)?), Some(gone)];
    let topics = [None, Some(Topic::POLL_VOTED), Some(Topic::PING)];
    let middle = all
        .get(all.len() / 2)
        .map(|one| (one.created_at, one.id.clone()));
    for state in states {
        for endpoint in &endpoints {
            for topic in &topics {
                for after in [None, middle.clone()] {
                    let filter = Filter {
                        state,
                        endpoint: endpoint.clone(),
                        topic: topic.clone(),
                        after,
                        limit: 5,
                    };
                    holds_it(shelf, &all, &filter).await?;
                }
            }
        }
    }
    Ok(())
}

async fn holds_it(shelf: &Shelf, all: &[Delivery], filter: &Filter) -> Verdict {
    let passes = |one: &&Delivery| {
        filter.state.is_none_or(|state| one.progress.state == state)
            && filter
                .endpoint
                .as_ref()
                .is_none_or(|id| one.endpoint == *id)
            && filter
                .topic
                .as_ref()
                .is_none_or(|topic| one.topic == *topic)
    };
    let is_behind = |one: &&Delivery| {
        let place = (one.created_at, one.id.clone());
        filter.after.as_ref().is_none_or(|after| place < *after)
    };
    let expected = all.iter().filter(passes).filter(is_behind).take(5);
    let expected: Vec<_> = expected.cloned().collect();
    let found = list(shelf, filter).await?;
    equal(format_args!("{filter:?}"), found, expected)
}
