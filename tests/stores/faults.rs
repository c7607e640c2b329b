//! Checks the conformance rules of webhook stores: each fault is caught by the rule that it breaks.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use forum_api::async_trait;
use forum_api::conformance::stores::{CASES, StoreFactory, StoreFixture};
use forum_api::conformance::{Case, FixtureResult, TestFailure};
use forum_api::model::{DeliveryId, EndpointId, Timestamp};
use forum_api::runtime::{Runtime, TokioRuntime};
use forum_api::store::{
    ClaimBatch, ClaimRequest, ClaimedDelivery, DeliveryFilter, FanOut, QueueStats, Settlement,
    Stores, Usage, WebhookStores,
};
use forum_api::test_util::StoreInterceptor;
use forum_api::webhook::{AttemptRecord, Delivery, Endpoint, Event, KeyId};

/// Puts a fault between a test and sound stores.
type Inject = Box<dyn Fn(&StoreInterceptor, &WebhookStores) + Send + Sync>;

/// A description of the fault, the fault, and the name of the rule that has to catch it.
type Fault = (&'static str, Inject, &'static str);

const MILLI: Duration = Duration::from_millis(1);

/// Changes what a method is called with.
fn asks<A: 'static>(method: &'static str, change: fn(&mut A)) -> Inject {
    Box::new(move |interceptor, _| {
        interceptor.on_arguments(method, move |arguments| {
            change(arguments);
            Ok(())
        });
    })
}

/// Changes what a method returns.
fn gives<R: 'static>(method: &'static str, change: fn(&mut R)) -> Inject {
    Box::new(move |interceptor, _| interceptor.on_result(method, change))
}

/// A change is made to whatever version is stored.
fn overwrite(interceptor: &StoreInterceptor, stored: &WebhookStores) {
    let endpoints = stored.endpoints.clone();
    let version = move |endpoint: &Endpoint| {
        let found = now(endpoints.find(&endpoint.id)).unwrap();
        found.map_or(1, |found| found.version)
    };
    let stored_version = version.clone();
    interceptor.on_arguments("endpoints.update", move |(endpoint,): &mut (Endpoint,)| {
        endpoint.version = version(endpoint);
        Ok(())
    });
    let endpoints = stored.endpoints.clone();
    type ReplaceKey = (Option<KeyId>, KeyId, Vec<Endpoint>);
    interceptor.on_arguments(
        "endpoints.replace_key",
        move |(former, _, given): &mut ReplaceKey| {
            *former = now(endpoints.key_id()).unwrap();
            for endpoint in given {
                endpoint.version = stored_version(endpoint);
            }
            Ok(())
        },
    );
}

/// What is removed stays.
fn keep_removed(interceptor: &StoreInterceptor, _: &WebhookStores) {
    interceptor.on_arguments("endpoints.remove", |(id,): &mut (EndpointId,)| {
        *id = EndpointId::parse("whe_other").unwrap();
        Ok(())
    });
    interceptor.on_arguments("deliveries.remove", |(id,): &mut (DeliveryId,)| {
        *id = DeliveryId::parse("dlv_other").unwrap();
        Ok(())
    });
    for method in ["endpoints.remove", "deliveries.remove"] {
        interceptor.on_result(method, |removed: &mut bool| *removed = true);
    }
}

/// The start of sending is not recorded.
fn forget_sending(interceptor: &StoreInterceptor, _: &WebhookStores) {
    let forgotten = Arc::new(Mutex::new(Vec::new()));
    let taken = forgotten.clone();
    interceptor.on_arguments(
        "deliveries.begin_sending",
        move |(claimed, _): &mut (Vec<ClaimedDelivery>, Timestamp)| {
            *forgotten.lock().unwrap() = std::mem::take(claimed);
            Ok(())
        },
    );
    interceptor.on_result(
        "deliveries.begin_sending",
        move |begun: &mut HashSet<DeliveryId>| {
            begun.extend(taken.lock().unwrap().drain(..).map(|one| one.delivery.id));
        },
    );
}

/// Any worker may settle a delivery.
fn settle_all(interceptor: &StoreInterceptor, _: &WebhookStores) {
    let believe = |(asked, _): &(Vec<Settlement>, Timestamp), settled: &mut HashSet<DeliveryId>| {
        settled.extend(asked.iter().map(|one| one.delivery.clone()));
    };
    interceptor.on_result_of("deliveries.settle", believe);
}

/// The value of a future of a store in memory, which is ready at once.
fn now<T>(future: impl Future<Output = T>) -> T {
    use std::task::{Context, Poll, Waker};
    match std::pin::pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("a store in memory waits for nothing"),
    }
}

#[rustfmt::skip]
fn faults() -> Vec<Fault> {
    vec![
    ("an event loses its forum", asks("outbox.insert", |(event,): &mut (Event,)| event.forum = None), "outbox::inserted_events_are_pending_unchanged"),
    ("a long body is cut", asks("outbox.insert", |(event,): &mut (Event,)| event.body.truncate(65_536)), "outbox::inserted_events_are_pending_unchanged"),
    ("the youngest event comes first", gives("outbox.pending", |events: &mut Vec<Event>| events.reverse()), "outbox::the_oldest_pending_events_come_first"),
    ("events of one moment come by their ids", gives("outbox.pending", |events: &mut Vec<Event>| events.sort_by_key(|event| event.id.to_string())), "outbox::events_of_one_moment_keep_their_insertion_order"),
    ("all that waits comes at once", asks("outbox.pending", |(limit,): &mut (u32,)| *limit = 999), "outbox::the_oldest_pending_events_come_first"),
    (
        "an event that is older than another one that was fanned out is passed over",
        gives("outbox.pending", |events: &mut Vec<Event>| events.retain(|event| event.occurred_at.as_millis() % 1_000 >= 5)),
        "outbox::late_events_are_pending_as_well",
    ),
    (
        "an event that goes to nobody is not fanned out",
        asks("outbox.fan_out", |(events, _): &mut (Vec<FanOut>, Timestamp)| events.retain(|event| !event.endpoints.is_empty())),
        "outbox::fanned_out_events_are_not_pending",
    ),
    (
        "one endpoint alone is told",
        asks("outbox.fan_out", |(events, _): &mut (Vec<FanOut>, Timestamp)| events.iter_mut().for_each(|event| event.endpoints.truncate(1))),
        "outbox::removed_and_disabled_endpoints_get_no_delivery",
    ),
    ("an endpoint loses its new secret", asks("endpoints.add", |(one,): &mut (Endpoint,)| one.pending_secret = None), "endpoints::an_added_endpoint_is_found_unchanged"),
    ("every endpoint is enabled", asks("endpoints.add", |(one,): &mut (Endpoint,)| one.enabled = true), "outbox::removed_and_disabled_endpoints_get_no_delivery"),
    ("a taken id is not told", gives("endpoints.add", |added: &mut bool| *added = true), "endpoints::an_endpoint_id_is_unique"),
    ("a change forgets another one", Box::new(overwrite), "endpoints::one_of_concurrent_updates_succeeds"),
    ("a key takes the place of any other", Box::new(overwrite), "endpoints::a_key_id_replaces_only_the_expected_one"),
    ("a new key overwrites a change", Box::new(overwrite), "endpoints::a_key_and_its_secrets_are_replaced_together"),
    ("endpoints come in another order", gives("endpoints.list", |all: &mut Vec<Endpoint>| all.reverse()), "endpoints::endpoints_are_listed_in_insertion_order"),
    ("a removed endpoint stays", Box::new(keep_removed), "endpoints::a_removed_endpoint_is_not_found"),
    ("what was queued for a removed endpoint is sent", Box::new(keep_removed), "claims::deliveries_of_a_removed_endpoint_are_not_claimed"),
    ("what is due a millisecond later is taken", asks("deliveries.claim", |(_, now): &mut (ClaimRequest, Timestamp)| *now = now.saturating_add(MILLI)), "claims::deliveries_not_due_are_not_claimed"),
    ("what is due now is not", asks("deliveries.claim", |(_, now): &mut (ClaimRequest, Timestamp)| *now = now.saturating_sub(MILLI)), "claims::deliveries_not_due_are_not_claimed"),
    ("the room is not asked for", asks("deliveries.claim", |(claim, _): &mut (ClaimRequest, Timestamp)| claim.limit = 999), "claims::a_claim_respects_its_limit"),
    ("an endpoint's room is not asked for", asks("deliveries.claim", |(claim, _): &mut (ClaimRequest, Timestamp)| claim.per_endpoint = 999), "claims::a_claim_respects_the_limit_per_endpoint"),
    ("a flood takes every place", asks("deliveries.claim", |(claim, _): &mut (ClaimRequest, Timestamp)| claim.per_endpoint = 999), "claims::a_flooded_endpoint_starves_no_other"),
    ("what runs does not count", asks("deliveries.claim", |(claim, _): &mut (ClaimRequest, Timestamp)| claim.in_flight.clear()), "claims::a_claim_respects_the_limit_per_endpoint"),
    ("the youngest goes first", gives("deliveries.claim", |claims: &mut ClaimBatch| claims.deliveries.reverse()), "claims::the_oldest_due_delivery_is_claimed_first"),
    ("nobody is told when to come again", gives("deliveries.claim", |claims: &mut ClaimBatch| claims.next_due_at = None), "claims::next_due_at_is_the_earliest_unclaimed_delivery"),
    ("a full endpoint's next is told", asks("deliveries.claim", |(claim, _): &mut (ClaimRequest, Timestamp)| claim.in_flight.clear()), "claims::next_due_at_is_the_earliest_unclaimed_delivery"),
    ("another endpoint comes with a delivery", gives("deliveries.claim", |claims: &mut ClaimBatch| claims.deliveries.iter_mut().for_each(|one| one.endpoint.url.clear())), "claims::a_claim_returns_the_whole_delivery"),
    ("what is due a millisecond later is in the backlog", asks("deliveries.queue_stats", |(now,): &mut (Timestamp,)| *now = now.saturating_add(MILLI)), "claims::queue_stats_match_claimable_deliveries"),
    ("what is due now is not in the backlog", asks("deliveries.queue_stats", |(now,): &mut (Timestamp,)| *now = now.saturating_sub(MILLI)), "claims::queue_stats_match_claimable_deliveries"),
    ("a backlog ends at a hundred", gives("deliveries.queue_stats", |backlog: &mut QueueStats| backlog.depth = backlog.depth.min(100)), "claims::queue_stats_match_claimable_deliveries"),
    ("nobody is told since when", gives("deliveries.queue_stats", |backlog: &mut QueueStats| backlog.oldest_due_at = None), "claims::queue_stats_match_claimable_deliveries"),
    ("a lease ends too early", asks("deliveries.claim", |(claim, _): &mut (ClaimRequest, Timestamp)| claim.lease -= MILLI), "leases::a_leased_delivery_is_not_claimed_again"),
    ("a lease ends too late", asks("deliveries.claim", |(claim, _): &mut (ClaimRequest, Timestamp)| claim.lease += MILLI), "leases::an_expired_lease_is_reported"),
    ("a lease that ran out is not told", gives("deliveries.claim", |claims: &mut ClaimBatch| claims.deliveries.iter_mut().for_each(|one| one.lease_expired = false)), "leases::an_expired_lease_is_reported"),
    ("a lease that ended before sending is an attempt", gives("deliveries.claim", |claims: &mut ClaimBatch| claims.deliveries.iter_mut().for_each(|one| one.lease_expired = true)), "leases::a_lease_that_expires_before_sending_is_not_an_attempt"),
    ("the start of sending is not recorded", Box::new(forget_sending), "leases::an_expired_lease_is_reported"),
    ("sending begins under any lease", Box::new(forget_sending), "leases::sending_requires_an_unexpired_lease"),
    ("sending begins too late", asks("deliveries.begin_sending", |(_, now): &mut (Vec<ClaimedDelivery>, Timestamp)| *now = now.saturating_sub(MILLI)), "leases::sending_requires_an_unexpired_lease"),
    ("sending ends too early", asks("deliveries.begin_sending", |(_, now): &mut (Vec<ClaimedDelivery>, Timestamp)| *now = now.saturating_add(MILLI)), "leases::sending_requires_an_unexpired_lease"),
    ("every lease ran out", gives("deliveries.claim", |claims: &mut ClaimBatch| claims.deliveries.iter_mut().for_each(|one| one.lease_expired = true)), "leases::a_release_is_not_an_attempt"),
    ("whoever settles is believed", Box::new(settle_all), "leases::a_lost_lease_cannot_be_settled"),
    ("an attempt is not counted", asks("deliveries.settle", |(settlements, _): &mut (Vec<Settlement>, Timestamp)| settlements.iter_mut().for_each(|one| one.progress.attempts = 0)), "leases::a_lease_is_settled_once"),
    ("attempts are not kept", asks("deliveries.settle", |(settlements, _): &mut (Vec<Settlement>, Timestamp)| settlements.iter_mut().for_each(|one| one.attempt = None)), "leases::attempts_are_stored_unchanged_and_in_order"),
    ("the last attempt comes first", gives("deliveries.find", |found: &mut Option<(Delivery, Vec<AttemptRecord>)>| found.iter_mut().for_each(|(_, log)| log.reverse())), "leases::attempts_are_stored_unchanged_and_in_order"),
    ("the first attempts are kept", gives("deliveries.find", |found: &mut Option<(Delivery, Vec<AttemptRecord>)>| found.iter_mut().for_each(|(_, log)| log.truncate(59))), "leases::only_the_latest_attempts_are_kept"),
    ("what is given back waits for its lease to end", asks("deliveries.release", |(claimed, _, _): &mut (Vec<ClaimedDelivery>, Duration, Timestamp)| claimed.clear()), "leases::a_release_is_not_an_attempt"),
    ("what is given back is due at once", asks("deliveries.release", |(_, wait, _): &mut (Vec<ClaimedDelivery>, Duration, Timestamp)| *wait -= MILLI), "leases::a_release_is_not_an_attempt"),
    ("giving back hides a lease that ran out", asks("deliveries.release", |(claimed, _, _): &mut (Vec<ClaimedDelivery>, Duration, Timestamp)| claimed.iter_mut().for_each(|one| one.lease_expired = false)), "leases::an_expired_lease_is_reported_again_after_release"),
    ("a retry waits", asks("deliveries.retry", |(_, now): &mut (DeliveryId, Timestamp)| *now = now.saturating_add(MILLI)), "retries::a_finished_delivery_is_queued_again"),
    ("whatever is retried is queued", gives("deliveries.retry", |retried: &mut bool| *retried = true), "retries::retrying_a_queued_delivery_changes_nothing"),
    ("a second retry is another one", gives("deliveries.retry", |retried: &mut bool| *retried = true), "retries::one_of_concurrent_retries_succeeds"),
    ("a retry forgets the attempts", gives("deliveries.find", |found: &mut Option<(Delivery, Vec<AttemptRecord>)>| found.iter_mut().for_each(|(_, log)| log.clear())), "retries::a_finished_delivery_is_queued_again"),
    ("a retry of a retrying delivery is refused", gives("deliveries.retry", |retried: &mut bool| *retried = false), "retries::a_retrying_delivery_becomes_due_at_once"),
    ("a batch is larger", asks("deliveries.retry_dead", |(_, _, limit): &mut (EndpointId, Timestamp, u32)| *limit += 1), "retries::dead_deliveries_of_one_endpoint_are_queued_again_in_batches"),
    ("a removed delivery stays", Box::new(keep_removed), "retries::a_delivery_is_removed_in_any_state"),
    ("nobody learns a ping's id", gives("deliveries.enqueue", |sent: &mut Option<DeliveryId>| *sent = None), "retries::a_ping_is_queued_for_one_endpoint_only"),
    ("the oldest deliveries come first", gives("deliveries.list", |list: &mut Vec<Delivery>| list.reverse()), "lists::deliveries_are_listed_newest_first"),
    ("every page is the first", asks("deliveries.list", |(filter,): &mut (DeliveryFilter,)| filter.after = None), "lists::deliveries_are_listed_newest_first"),
    ("a page begins one too late", gives("deliveries.list", |list: &mut Vec<Delivery>| drop(list.drain(..1.min(list.len())))), "lists::deliveries_are_listed_newest_first"),
    ("every state is listed", asks("deliveries.list", |(filter,): &mut (DeliveryFilter,)| filter.state = None), "lists::a_list_has_only_deliveries_that_match_its_filter"),
    ("every endpoint is listed", asks("deliveries.list", |(filter,): &mut (DeliveryFilter,)| filter.endpoint = None), "lists::a_list_has_only_deliveries_that_match_its_filter"),
    ("every topic is listed", asks("deliveries.list", |(filter,): &mut (DeliveryFilter,)| filter.topic = None), "lists::a_list_has_only_deliveries_that_match_its_filter"),
    ("a list has one more", asks("deliveries.list", |(filter,): &mut (DeliveryFilter,)| filter.limit += 1), "lists::a_list_has_only_deliveries_that_match_its_filter"),
    ("what ended is swept too early", asks("deliveries.sweep", |(before, _): &mut (Timestamp, u32)| *before = before.saturating_add(MILLI)), "sweeps::deliveries_that_ended_long_ago_are_swept"),
    ("what ended is swept too late", asks("deliveries.sweep", |(before, _): &mut (Timestamp, u32)| *before = before.saturating_sub(MILLI)), "sweeps::deliveries_that_ended_long_ago_are_swept"),
    ("all is swept at once", asks("deliveries.sweep", |(_, limit): &mut (Timestamp, u32)| *limit = 999), "sweeps::a_sweep_respects_its_limit"),
    ("what is dead is swept", asks("deliveries.settle", |(settlements, _): &mut (Vec<Settlement>, Timestamp)| settlements.iter_mut().for_each(|one| one.progress.state = forum_api::webhook::DeliveryState::Gone)), "sweeps::pending_and_dead_deliveries_are_not_swept"),
    ("the first millisecond is counted", asks("deliveries.usage", |(since, _): &mut (Timestamp, Timestamp)| *since = since.saturating_sub(MILLI)), "usage::deliveries_are_counted_by_hour_endpoint_and_state"),
    ("hours are counted from another end", asks("deliveries.usage", |(_, now): &mut (Timestamp, Timestamp)| *now = now.saturating_add(MILLI)), "usage::deliveries_are_counted_by_hour_endpoint_and_state"),
    ("an endpoint is left out", gives("deliveries.usage", |usage: &mut Usage| usage.deliveries.truncate(3)), "usage::deliveries_are_counted_by_hour_endpoint_and_state"),
    ("long attempts are not counted", gives("deliveries.usage", |usage: &mut Usage| usage.attempt_times[5] = 0), "usage::attempts_are_counted_by_their_duration"),
    ]
}

/// Stores in memory with a fault, or none.
struct Faulty<'a>(Option<&'a Inject>);

#[async_trait]
impl StoreFactory for Faulty<'_> {
    async fn create(&self) -> FixtureResult<(Stores, WebhookStores)> {
        let (interceptor, sound) = (StoreInterceptor::default(), WebhookStores::in_memory());
        if let Some(inject) = self.0 {
            inject(&interceptor, &sound);
        }
        Ok((Stores::in_memory(), interceptor.webhooks(&sound)))
    }

    fn runtime(&self) -> Arc<dyn Runtime> {
        Arc::new(TokioRuntime)
    }
}

/// Each fault is caught by the rule that it breaks, and the same rule passes sound stores.
#[tokio::test]
async fn each_fault_is_caught_by_its_rule() {
    for (fault, inject, rule) in faults() {
        let found = CASES.iter().find(|case| case.name == rule);
        let case: &Case<StoreFixture> = found.unwrap_or_else(|| panic!("there is no rule {rule}"));
        let result = case.check(StoreFixture::new(&Faulty(Some(&inject)))).await;
        assert!(
            matches!(result, Err(TestFailure::Failed(_))),
            "{fault}: {rule}: {result:?}"
        );
        let result = case.check(StoreFixture::new(&Faulty(None))).await;
        assert_eq!(result, Ok(()), "{rule}");
    }
}
