//! The rules at rest: what holds when nothing has failed for thirty minutes. The journal checks the rules of each step.

use std::collections::HashSet;
use std::time::Duration;

use forum_api::model::{DeliveryId, EndpointId, EventId};
use forum_api::store::{DeliveryFilter, QueueStats};
use forum_api::webhook::{Delivery, DeliveryState, Topic};

use crate::ready;
use crate::scheduler::ProcessId;
use crate::world::{World, worker_settings};

/// Time in which a sweep of the feed completes.
const SWEEP_TIME: Duration = Duration::from_secs(600);

/// Time in which a node adds its requests to the store.
const FLUSH_PERIOD: Duration = Duration::from_secs(150);

/// Checks a rule, and reports a violation to the journal.
type Check = fn(&mut World);

/// All rules, in the order in which they are checked. To add one, add a function, and its name here.
pub(crate) const RULES: &[(&str, Check)] = &[
    ("nothing waits that can go on", nothing_waits_that_can_go_on),
    ("each event reaches its endpoints", each_event_reaches_its_endpoints),
    ("counters equal their rows", counters_equal_their_rows),
    ("repeats of writes get an answer", repeats_of_writes_get_an_answer),
    ("the feed has each event once", the_feed_has_each_event_once),
    ("usage has each request once", usage_has_each_request_once),
];

fn deliveries(world: &World) -> Vec<Delivery> {
    let mut filter = DeliveryFilter::default();
    filter.limit = u32::MAX;
    let listed = ready(world.webhooks.list_deliveries(&filter)).unwrap();
    listed.into_iter().map(|(delivery, _)| delivery).collect()
}

fn nothing_waits_that_can_go_on(world: &mut World) {
    let enabled: Vec<_> = ready(world.webhooks.list_endpoints())
        .unwrap()
        .into_iter()
        .filter(|endpoint| endpoint.enabled)
        .map(|endpoint| endpoint.id)
        .collect();
    for delivery in deliveries(world) {
        let waits = delivery.progress.state.is_pending() && enabled.contains(&delivery.endpoint_id);
        world.journal.require(!waits, || format!("a delivery waits: {delivery:?}"));
    }
    let events = ready(world.webhooks.pending_events(10)).unwrap();
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
    let now = world.scheduler.now();
    let stats = ready(world.webhooks.queue_stats(now)).unwrap();
    let endpoints = ready(world.webhooks.list_endpoints()).unwrap();
    let is_disabled = |id: &EndpointId| endpoints.iter().any(|one| one.id == *id && !one.enabled);
    let count = |state| rows.iter().filter(|row| row.progress.state == state).count() as u64;
    let is_due = |row: &&Delivery| {
        let due_at = row.progress.due_at;
        due_at.is_some_and(|due_at| due_at <= now) && !is_disabled(&row.endpoint_id)
    };
    let retries = rows.iter().filter(|row| row.progress.state == DeliveryState::Retrying);
    let mut expected = QueueStats::default();
    expected.depth = rows.iter().filter(is_due).count() as u64;
    let due_times = rows.iter().filter(is_due).filter_map(|row| row.progress.due_at);
    expected.oldest_age = due_times.min().map(|due_at| now.saturating_duration_since(due_at));
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
    let retention = world.setting.feed_retention;
    let settings = worker_settings(retention);
    world.scheduler.advance(settings.poll_interval * 2);
    let all = world.read_whole_feed();
    let read = world.reader.lock().unwrap().items.clone();
    // The parts can have older events, which the feed does not contain any more.
    world.journal.require(read.ends_with(&all), || {
        format!("the feed that was read in parts differs: {read:?}, not {all:?}")
    });
    let now = world.scheduler.now();
    let kept_since = now.saturating_sub(retention);
    let swept_before = kept_since.saturating_sub(settings.sweep_interval + SWEEP_TIME);
    let (missing, remaining) = world.journal.with(|facts| {
        let events = facts.events.iter().filter(|event| event.topic != Topic::MESSAGE_SENT);
        let ids: Vec<_> = events.map(|event| &event.id).collect();
        let fan_out = |id: &&&EventId| facts.fan_outs.get(**id).copied();
        let is_listed = |id: &&&EventId| all.contains(&id.to_string());
        let is_kept = |id: &&&EventId| fan_out(id).is_none_or(|time| time >= kept_since);
        let is_swept = |id: &&&EventId| fan_out(id).is_some_and(|time| time < swept_before);
        let missing = ids.iter().find(|id| is_kept(id) && !is_listed(id));
        let remaining = ids.iter().find(|id| is_swept(id) && is_listed(id));
        (missing.map(ToString::to_string), remaining.map(ToString::to_string))
    });
    world.journal.require(missing.is_none(), || format!("the feed has no {missing:?}"));
    world.journal.require(remaining.is_none(), || format!("the feed keeps {remaining:?}"));
    let distinct: HashSet<_> = all.iter().collect();
    world
        .journal
        .require(distinct.len() == all.len(), || format!("the feed repeats events: {all:?}"));
}

fn usage_has_each_request_once(world: &mut World) {
    world.scheduler.advance(FLUSH_PERIOD);
    let fault = world.journal.with(|facts| {
        let running = |id: &ProcessId| world.is_running(*id);
        facts.usage.iter().find_map(|(id, usage)| {
            let [requests, stored] =
                [&usage.requests, &usage.stored].map(|counts| counts.values().sum::<u64>());
            let is_complete = stored >= requests || !running(id);
            let is_counted_once = stored <= requests || usage.may_repeat;
            let is_exact = !usage.may_repeat && stored == requests;
            let is_known = !usage.stored.contains_key(&None);
            let is_of_tokens = !is_exact || !is_known || usage.stored == usage.requests;
            let holds = is_complete && is_counted_once && is_of_tokens;
            (!holds).then(|| format!("{id:?}: {:?} of {:?}", usage.stored, usage.requests))
        })
    });
    world.journal.require(fault.is_none(), || format!("usage has other requests: {fault:?}"));
    let fault = world.journal.with(|facts| {
        world.usage_of_tokens().into_iter().find_map(|(token, shown)| {
            let of_processes = facts.usage.values();
            let counts = of_processes.filter_map(|usage| usage.stored.get(&Some(token)));
            let stored: u64 = counts.sum();
            (shown != stored).then(|| format!("{shown} of {stored} with {token}"))
        })
    });
    // The hours of a clock that was ahead are removed.
    let holds = fault.is_none() || world.setting.clocks_differ;
    world.journal.require(holds, || format!("a token has another usage: {fault:?}"));
}
