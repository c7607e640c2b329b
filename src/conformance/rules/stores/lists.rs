//! Lists of deliveries.

use std::cmp::Reverse;
use std::collections::HashSet;

use super::*;
use crate::model::DeliveryId;
use crate::store::{DeliveryFilter, ResponseFilter};
use crate::webhook::DeliveryState::{Dead, Delivered, Queued};
use crate::webhook::{Delivery, DeliveryState, Endpoint, Topic};

store_rules! {
    mod lists, __rules_lists;

    /// Deliveries are listed newest first, and by id for equal times. Pages have neither gaps nor overlaps.
    async fn deliveries_are_listed_newest_first(fixture: &StoreFixture) -> TestResult {
        let all = create_deliveries(fixture).await?;
        let mut filter = DeliveryFilter { limit: 7, ..DeliveryFilter::default() };
        for expected in all.chunks(7) {
            let page = list(fixture, &filter).await?;
            check_eq!(page, expected)?;
            filter.after = page.into_iter().next_back().map(|last| (last.created_at, last.id));
        }
        check_eq!(list(fixture, &filter).await?, [], "after the last page")
    }

    /// For each combination of filters, each page contains only the deliveries that match, without deliveries of
    /// removed endpoints.
    async fn a_list_has_only_deliveries_that_match_its_filter(fixture: &StoreFixture) -> TestResult {
        let mut all = create_deliveries(fixture).await?;
        let removed = endpoint_id(3)?;
        fixture.webhooks.endpoints.remove(&removed, &audit_entry()).await?;
        all.retain(|delivery| delivery.endpoint_id != removed);
        let states = [None, Some(DeliveryState::Dead), Some(DeliveryState::Queued), Some(DeliveryState::Gone)];
        let endpoints = [None, Some(endpoint_id(1)?), Some(removed)];
        let topics = [None, Some(Topic::POLL_VOTED), Some(Topic::PING)];
        let middle = all.get(all.len() / 2).map(|delivery| (delivery.created_at, delivery.id.clone()));
        let first_five = DeliveryFilter { limit: 5, ..DeliveryFilter::default() };
        for state in states {
            for endpoint in &endpoints {
                for topic in &topics {
                    for after in [None, middle.clone()] {
                        let (endpoint_id, topic) = (endpoint.clone(), topic.clone());
                        let filter = DeliveryFilter { state, endpoint_id, topic, after, ..first_five.clone() };
                        expect_list(fixture, &all, &filter).await?;
                    }
                }
            }
        }
        Ok(())
    }

    /// A list of a period has the deliveries that were queued in it, on each page. The period excludes its end.
    async fn a_list_of_a_period_excludes_its_end(fixture: &StoreFixture) -> TestResult {
        let all = create_deliveries(fixture).await?;
        let middle = all.get(all.len() / 2).map(|delivery| (delivery.created_at, delivery.id.clone()));
        let first_five = DeliveryFilter { limit: 5, ..DeliveryFilter::default() };
        for (since, before) in [(Some(1), Some(3)), (Some(2), None), (None, Some(2)), (Some(3), Some(3)), (Some(9), None)] {
            for after in [None, middle.clone()] {
                let (since, before) = (since.map(instant), before.map(instant));
                let endpoint_id = Some(endpoint_id(1)?);
                let filter = DeliveryFilter { since, before, endpoint_id, after, ..first_five.clone() };
                expect_list(fixture, &all, &filter).await?;
            }
        }
        Ok(())
    }

    /// A response filter selects the deliveries whose last attempt had such a response. The list contains these attempts.
    async fn a_response_filter_selects_by_the_last_attempt(fixture: &StoreFixture) -> TestResult {
        let endpoint = fixture.add_endpoint(1).await?;
        let rows = [
            (DeliveryState::Delivered, Some(204)),
            (DeliveryState::Retrying, Some(301)),
            (DeliveryState::Gone, Some(410)),
            (DeliveryState::Dead, Some(404)),
            (DeliveryState::Dead, Some(500)),
            (DeliveryState::Retrying, None),
            (DeliveryState::Queued, Some(500)),
            (DeliveryState::Withheld, None),
        ];
        let ids = create_attempted(fixture, &endpoint, &rows).await?;
        for (response, state, expected) in [
            (ResponseFilter::Success, None, &[0_usize] as &[usize]),
            (ResponseFilter::Redirect, None, &[1]),
            (ResponseFilter::ClientError, None, &[2, 3]),
            (ResponseFilter::ClientError, Some(DeliveryState::Dead), &[3]),
            (ResponseFilter::ServerError, None, &[4]),
            (ResponseFilter::ServerError, Some(DeliveryState::Queued), &[]),
            (ResponseFilter::NoResponse, None, &[5]),
        ] {
            let filter = DeliveryFilter { response: Some(response), state, limit: 9, ..DeliveryFilter::default() };
            let found = fixture.webhooks.deliveries.list(&filter).await?;
            let listed: HashSet<_> = found.into_iter().map(|(delivery, last)| (delivery.id, last.map(|last| last.attempt))).collect();
            let expected = expected.iter().filter_map(|index| Some((ids.get(*index)?.clone(), Some(2))));
            check_eq!(listed, expected.collect(), "{response}")?;
        }
        Ok(())
    }
}

/// Creates a delivery in each state, with attempts whose last status is given. Returns the ids.
async fn create_attempted(
    fixture: &StoreFixture,
    endpoint: &Endpoint,
    rows: &[(DeliveryState, Option<u16>)],
) -> TestResult<Vec<DeliveryId>> {
    let mut ids = Vec::new();
    for (number, (state, status)) in (0..).zip(rows) {
        let id = fixture.enqueue(number, endpoint, 0).await?;
        let first = with(attempt_record(1), |record| record.status = Some(302));
        let last = with(attempt_record(2), |record| record.status = *status);
        // A pending delivery is due later than the next one.
        let due = state.is_pending().then_some(LEASE);
        let retrying = progress(DeliveryState::Retrying, 1, Some(0));
        for (log, progress) in [(first, retrying), (last, progress(*state, 2, due))] {
            let claimed = fixture.claim_one(0).await?;
            check!(fixture.settle_attempt(&claimed, progress, Some(&log), 0).await?)?;
        }
        ids.push(id);
    }
    Ok(ids)
}

/// Creates deliveries of two topics to three endpoints in three states, some at equal times. Returns them newest first.
async fn create_deliveries(fixture: &StoreFixture) -> TestResult<Vec<Delivery>> {
    let endpoints = fixture.add_endpoints::<3>().await?;
    let topics = [Topic::POST_CREATED, Topic::POLL_VOTED];
    let states = [Delivered, Dead, Queued].into_iter().flat_map(|state| [state; 6]);
    let kinds = endpoints.iter().cycle().zip(topics.iter().cycle());
    let mut all = Vec::new();
    for (number, ((endpoint, topic), state)) in (0..36_u64).zip(kinds.zip(states.cycle())) {
        let now = number.cast_signed() / 8;
        let event = with(event(number)?, |event| event.topic = topic.clone());
        fixture.deliver(&event, &[endpoint], now).await?;
        let claimed = fixture.claim_one(now).await?;
        let due = (state == DeliveryState::Queued).then_some(1_000);
        let progress = progress(state, 2, due);
        fixture.settle(&claimed, progress, now).await?;
        all.push(fixture.fetch_delivery(&claimed.delivery.id).await?.0);
    }
    all.sort_by_key(|delivery| Reverse((delivery.created_at, delivery.id.clone())));
    Ok(all)
}

async fn expect_list(
    fixture: &StoreFixture,
    all: &[Delivery],
    filter: &DeliveryFilter,
) -> TestResult {
    let matches = |delivery: &&Delivery| {
        let queued_at = delivery.created_at;
        let place = (queued_at, delivery.id.clone());
        let endpoint = filter.endpoint_id.as_ref();
        let topic = filter.topic.as_ref();
        filter.state.is_none_or(|it| delivery.progress.state == it)
            && endpoint.is_none_or(|it| delivery.endpoint_id == *it)
            && topic.is_none_or(|it| delivery.topic == *it)
            && filter.after.as_ref().is_none_or(|after| place < *after)
            && filter.since.is_none_or(|since| since <= queued_at)
            && filter.before.is_none_or(|before| queued_at < before)
    };
    let expected: Vec<_> = all.iter().filter(matches).take(5).cloned().collect();
    check_eq!(list(fixture, filter).await?, expected, "{filter:?}")
}

async fn list(fixture: &StoreFixture, filter: &DeliveryFilter) -> TestResult<Vec<Delivery>> {
    let listed = fixture.webhooks.deliveries.list(filter).await?.into_iter();
    Ok(listed.map(|(delivery, _)| delivery).collect())
}
