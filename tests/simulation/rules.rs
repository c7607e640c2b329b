//! The rules at rest: what holds when nothing has failed for thirty minutes. The journal checks the rules of each step.

use forum_api::model::{DeliveryId, EndpointId};
use forum_api::store::{DeliveryFilter, QueueStats};
use forum_api::webhook::{Delivery, DeliveryState, Topic};

use crate::ready;
use crate::world::World;

/// Checks a rule, and reports a violation to the journal.
type Check = fn(&mut World);

/// All rules, in the order in which they are checked. To add one, add a function, and its name here.
pub(crate) const RULES: &[(&str, Check)] = &[
    ("nothing waits that can go on", nothing_waits_that_can_go_on),
    ("each event reaches its endpoints", each_event_reaches_its_endpoints),
    ("counters equal their rows", counters_equal_their_rows),
    ("repeats of writes get an answer", repeats_of_writes_get_an_answer),
    ("the feed has each event once", the_feed_has_each_event_once),
];

fn deliveries(world: &World) -> Vec<Delivery> {
    let mut filter = DeliveryFilter::default();
    filter.limit = u32::MAX;
    let listed = ready(world.webhooks.deliveries.list(&filter)).unwrap();
    listed.into_iter().map(|(delivery, _)| delivery).collect()
}

fn nothing_waits_that_can_go_on(world: &mut World) {
    let enabled: Vec<_> = ready(world.webhooks.endpoints.list())
        .unwrap()
        .into_iter()
        .filter(|endpoint| endpoint.enabled)
        .map(|endpoint| endpoint.id)
        .collect();
    for delivery in deliveries(world) {
        let waits = delivery.progress.state.is_pending() && enabled.contains(&delivery.endpoint_id);
        world.journal.require(!waits, || format!("a delivery waits: {delivery:?}"));
    }
    let events = ready(world.webhooks.outbox.pending(10)).unwrap();
    world.journal.require(events.is_empty(), || format!("events wait in the outbox: {events:?}"));
    let is_empty = world.board.pending.lock().unwrap().is_empty();
    world.journal.require(is_empty, || "events wait in the board".into());
}

fn each_event_reaches_its_endpoints(world: &mut World) {
    let missing = world.journal.with(|facts| {
        for endpoint in facts.endpoints.iter().filter(|endpoint| endpoint.receives_all) {
            for event in facts.events.iter().filter(|event| endpoint.is_recipient(event)) {
                let id = DeliveryId::derive(&event.id, &endpoint.id);
                let state = facts.deliveries.get(&id).and_then(|delivery| delivery.state);
                if !state
                    .is_some_and(|state| !state.is_pending() && state != DeliveryState::Withheld)
                {
                    return Some(format!(
                        "{} {} to {}: {state:?}",
                        event.topic, event.id, endpoint.id
                    ));
                }
            }
        }
        None
    });
    world.journal.require(missing.is_none(), || format!("an event did not arrive: {missing:?}"));
}

fn counters_equal_their_rows(world: &mut World) {
    let rows = deliveries(world);
    let limits = crate::world::worker_settings().due_time_limits();
    let now = world.scheduler.now();
    let stats = ready(world.webhooks.deliveries.queue_stats(limits, now)).unwrap();
    let endpoints = ready(world.webhooks.endpoints.list()).unwrap();
    let is_disabled = |id: &EndpointId| endpoints.iter().any(|one| one.id == *id && !one.enabled);
    let count = |state| rows.iter().filter(|row| row.progress.state == state).count() as u64;
    let is_due = |row: &&Delivery| {
        let due_at = row.progress.due_at;
        due_at.is_some_and(|due_at| due_at <= now) && !is_disabled(&row.endpoint_id)
    };
    let retries = rows.iter().filter(|row| row.progress.state == DeliveryState::Retrying);
    let mut expected = QueueStats::default();
    expected.depth = rows.iter().filter(is_due).count() as u64;
    expected.oldest_due_at = rows.iter().filter(is_due).filter_map(|row| row.progress.due_at).min();
    expected.dead = count(DeliveryState::Dead);
    expected.disabled_endpoints = endpoints.iter().filter(|one| !one.enabled).count() as u64;
    expected.retrying = count(DeliveryState::Retrying);
    expected.latest_retry_at = retries.filter_map(|row| row.progress.due_at).max();
    world.journal.require(stats == expected, || format!("{stats:?} differs from {expected:?}"));
    let fault = world.journal.with(|facts| {
        let differs = |row: &&Delivery| {
            let known = facts.deliveries.get(&row.id);
            let is_settled = known.is_some_and(|known| known.state == Some(row.progress.state));
            !is_settled && !row.progress.state.is_pending()
        };
        rows.iter().find(differs).cloned()
    });
    world.journal.require(fault.is_none(), || {
        format!("a row has another state than its last result: {fault:?}")
    });
}

fn repeats_of_writes_get_an_answer(world: &mut World) {
    let repeated = world.repeat_writes();
    let fault = world.journal.with(|facts| {
        let waits = |number: &&usize| {
            let write = &facts.writes[**number];
            write.last_status >= 500 || write.last_reason.as_deref() == Some("key_in_progress")
        };
        repeated.iter().find(waits).copied()
    });
    world.journal.require(fault.is_none(), || format!("a write has no answer: {fault:?}"));
}

fn the_feed_has_each_event_once(world: &mut World) {
    // The repeats caused events.
    world.scheduler.advance(crate::world::worker_settings().poll_interval * 2);
    let all = world.read_whole_feed();
    let read = world.reader.lock().unwrap().items.clone();
    world.journal.require(read == all, || {
        format!("the feed that was read in parts differs: {read:?}, not {all:?}")
    });
    let mut expected: Vec<_> = world.journal.with(|facts| {
        let events = facts.events.iter().filter(|event| event.topic != Topic::MESSAGE_SENT);
        events.map(|event| event.id.to_string()).collect()
    });
    let mut actual = all;
    expected.sort();
    actual.sort();
    world.journal.require(actual == expected, || {
        format!("the feed has other events: {} of {}", actual.len(), expected.len())
    });
}
