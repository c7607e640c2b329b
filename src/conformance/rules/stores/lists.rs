//! Lists of deliveries.

use std::cmp::Reverse;

use super::*;
use crate::store::DeliveryFilter;
use crate::webhook::{Delivery, DeliveryState, Event, Topic};

store_rules! {
    mod lists;

    /// The newest come first, and those of one instant by their ids; pages have no gap and no overlap.
    async fn deliveries_are_listed_newest_first(fixture: &StoreFixture) -> TestResult {
        let all = create_deliveries(fixture).await?;
        let mut filter = DeliveryFilter { limit: 7, ..DeliveryFilter::default() };
        for expected in all.chunks(7) {
            let page = fixture.webhooks.deliveries.list(&filter).await?;
            check_eq!(page, expected)?;
            filter.after = page.into_iter().next_back().map(|last| (last.created_at, last.id));
        }
        check_eq!(fixture.webhooks.deliveries.list(&filter).await?, [], "after the last page")
    }

    /// A list has the deliveries that its filter selects, in each combination and on each page, and none of removed endpoints.
    async fn a_list_has_only_deliveries_that_match_its_filter(fixture: &StoreFixture) -> TestResult {
        let mut all = create_deliveries(fixture).await?;
        let removed = endpoint_id(3)?;
        fixture.webhooks.endpoints.remove(&removed).await?;
        all.retain(|one| one.endpoint != removed);
        let states = [None, Some(DeliveryState::Dead), Some(DeliveryState::Queued), Some(DeliveryState::Gone)];
        let endpoints = [None, Some(endpoint_id(1)?), Some(removed)];
        let topics = [None, Some(Topic::POLL_VOTED), Some(Topic::PING)];
        let middle = all.get(all.len() / 2).map(|one| (one.created_at, one.id.clone()));
        for state in states {
            for endpoint in &endpoints {
                for topic in &topics {
                    for after in [None, middle.clone()] {
                        let filter = DeliveryFilter {
                            state,
                            endpoint: endpoint.clone(),
                            topic: topic.clone(),
                            after,
                            limit: 5,
                        };
                        expect_list(fixture, &all, &filter).await?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// Deliveries of two topics to three endpoints, in three states and at few instants; the newest first.
async fn create_deliveries(fixture: &StoreFixture) -> TestResult<Vec<Delivery>> {
    let endpoints = [
        fixture.add_endpoint(1).await?,
        fixture.add_endpoint(2).await?,
        fixture.add_endpoint(3).await?,
    ];
    let topics = [Topic::POST_CREATED, Topic::POLL_VOTED];
    let states = [
        DeliveryState::Delivered,
        DeliveryState::Dead,
        DeliveryState::Queued,
    ];
    let states = states.into_iter().flat_map(|state| [state; 6]);
    let kinds = endpoints.iter().cycle().zip(topics.iter().cycle());
    let mut all = Vec::new();
    for (number, ((endpoint, topic), state)) in (0..36_u64).zip(kinds.zip(states.cycle())) {
        let now = number.cast_signed() / 8;
        let topic = topic.clone();
        let event = Event {
            topic,
            ..event(number)?
        };
        fixture.deliver(&event, &[endpoint], now).await?;
        let claimed = fixture.claim_one(now).await?;
        let due = (state == DeliveryState::Queued).then_some(1_000);
        let progress = progress(state, 2, due);
        fixture.settle(&claimed, progress, now).await?;
        all.push(fixture.fetch_delivery(&claimed.delivery.id).await?.0);
    }
    all.sort_by_key(|one| Reverse((one.created_at, one.id.clone())));
    Ok(all)
}

async fn expect_list(
    fixture: &StoreFixture,
    all: &[Delivery],
    filter: &DeliveryFilter,
) -> TestResult {
    let is_listed = |one: &&Delivery| {
        let place = (one.created_at, one.id.clone());
        let endpoint = filter.endpoint.as_ref();
        let topic = filter.topic.as_ref();
        filter.state.is_none_or(|it| one.progress.state == it)
            && endpoint.is_none_or(|it| one.endpoint == *it)
            && topic.is_none_or(|it| one.topic == *it)
            && filter.after.as_ref().is_none_or(|after| place < *after)
    };
    let expected: Vec<_> = all.iter().filter(is_listed).take(5).cloned().collect();
    let found = fixture.webhooks.deliveries.list(filter).await?;
    check_eq!(found, expected, "{filter:?}")
}
