//! Lists of deliveries.

use std::cmp::Reverse;

use super::Shelf;
use super::delivery_fixture::{endpoint_id, event, progress};
use super::{Verdict, equal};
use crate::store::Filter;
use crate::webhook::{Delivery, Event, State, Topic};

store_rules!(
    mod lists;

    /// The newest come first, those of one instant by their ids; pages follow each other without gap or repeat.
    async fn the_newest_come_first_and_page_by_page(shelf: &Shelf) -> Verdict {
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
        let found = list(shelf, &filter).await?;
        equal("the page after the last", found, vec![])
    }

    /// A list holds what is asked for, in each combination and on each page, and nothing of removed endpoints.
    async fn a_list_holds_what_its_filter_lets_through(shelf: &Shelf) -> Verdict {
        let mut all = many(shelf).await?;
        let gone = endpoint_id(3)?;
        shelf.webhooks.endpoints.remove(&gone).await?;
        all.retain(|one| one.endpoint != gone);
        let first = Filter {
            limit: 5,
            ..Filter::default()
        };
        let states = [State::Dead, State::Queued, State::Gone];
        let filters = each(vec![first], &states, |filter, it| filter.state = it);
        let endpoints = [endpoint_id(1)?, gone];
        let filters = each(filters, &endpoints, |filter, it| filter.endpoint = it);
        let topics = [Topic::POLL_VOTED, Topic::PING];
        let filters = each(filters, &topics, |filter, it| filter.topic = it);
        let middle = all.get(all.len() / 2);
        let middle = middle.map(|one| (one.created_at, one.id.clone()));
        let filters = each(filters, middle.as_slice(), |filter, it| filter.after = it);
        equal("how many filters there are", filters.len(), 4 * 3 * 3 * 2)?;
        for filter in &filters {
            holds_it(shelf, &all, filter).await?;
        }
        Ok(())
    }
);

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
    let states = [State::Delivered, State::Dead, State::Queued];
    let states = states.iter().flat_map(|state| [state; 6]).cycle();
    let kinds = endpoints
        .iter()
        .cycle()
        .zip(topics.iter().cycle())
        .zip(states);
    let mut all = Vec::new();
    for (number, ((endpoint, topic), state)) in (0..36_u64).zip(kinds) {
        let now = number.cast_signed() / 8;
        let event = Event {
            topic: topic.clone(),
            ..event(number)?
        };
        shelf.deliver(&event, &[endpoint], now).await?;
        let claimed = shelf.take(now).await?;
        let waits = (*state == State::Queued).then_some(1_000);
        shelf
            .settle(&claimed, progress(*state, 2, waits), now)
            .await?;
        all.push(shelf.found(&claimed.delivery.id).await?.0);
    }
    all.sort_by_key(|one| Reverse((one.created_at, one.id.clone())));
    Ok(all)
}

/// Each of the filters without a value there, and with each of these.
fn each<T: Clone>(
    filters: Vec<Filter>,
    values: &[T],
    set: fn(&mut Filter, Option<T>),
) -> Vec<Filter> {
    let values = values.iter().cloned().map(Some);
    let with = |value: Option<T>| {
        filters.iter().cloned().map(move |mut filter| {
            set(&mut filter, value.clone());
            filter
        })
    };
    std::iter::once(None).chain(values).flat_map(with).collect()
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
