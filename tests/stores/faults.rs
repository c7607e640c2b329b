//! Tests of the conformance rules of webhook stores: each injected fault fails the rule that it breaks.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use forum_api::async_trait;
use forum_api::audit::AuditEntry;
use forum_api::conformance::stores::{StoreFactory, run};
use forum_api::conformance::{FixtureResult, TestFailure};
use forum_api::model::{DeliveryId, EndpointId, Timestamp};
use forum_api::store::{
    ClaimBatch, ClaimRequest, ClaimedDelivery, DeliveryCount, DeliveryFilter, FanOut, FeedRead,
    FoundInFeed, QueueStats, Settlement, Stores, WebhookStores,
};
use forum_api::test_util::{StoreInterceptor, stores_in_memory};
use forum_api::webhook::{AttemptRecord, Delivery, Endpoint, Event, KeyId};

/// Injects a fault between a test and correct stores.
type Inject = Box<dyn Fn(&StoreInterceptor, &WebhookStores) + Send + Sync>;

/// Description of the fault, the fault, and the name of the rule that must fail.
type Fault = (&'static str, Inject, &'static str);

type Listed = Vec<(Delivery, Option<AttemptRecord>)>;

const MILLI: Duration = Duration::from_millis(1);

/// Changes the arguments of a method.
fn arguments<A: 'static>(method: &'static str, change: fn(&mut A)) -> Inject {
    Box::new(move |interceptor, _| {
        interceptor.on_arguments(method, move |arguments| {
            change(arguments);
            Ok(())
        });
    })
}

/// Changes the result of a method.
fn result<R: 'static>(method: &'static str, change: fn(&mut R)) -> Inject {
    Box::new(move |interceptor, _| interceptor.on_result(method, change))
}

/// Makes updates ignore the expected version.
fn overwrite(interceptor: &StoreInterceptor, stored: &WebhookStores) {
    let endpoints = stored.endpoints().clone();
    let version = move |endpoint: &Endpoint| {
        let stored = now(endpoints.find(&endpoint.id)).unwrap();
        stored.map_or(1, |stored| stored.version)
    };
    let stored_version = version.clone();
    let update = move |(endpoint, _): &mut (Endpoint, AuditEntry)| {
        endpoint.version = version(endpoint);
        Ok(())
    };
    interceptor.on_arguments("endpoints.update", update);
    let endpoints = stored.endpoints().clone();
    type ReplaceKey = (Option<KeyId>, KeyId, Vec<Endpoint>, Option<AuditEntry>);
    let replace_key = move |(former, _, given, _): &mut ReplaceKey| {
        *former = now(endpoints.key_id()).unwrap();
        for endpoint in given {
            endpoint.version = stored_version(endpoint);
        }
        Ok(())
    };
    interceptor.on_arguments("endpoints.replace_key", replace_key);
}

/// Does not remove endpoints and deliveries.
fn keep_removed(interceptor: &StoreInterceptor, _: &WebhookStores) {
    let other_endpoint = |(id, _): &mut (EndpointId, AuditEntry)| {
        *id = EndpointId::parse("whe_other").unwrap();
        Ok(())
    };
    interceptor.on_arguments("endpoints.remove", other_endpoint);
    let other_delivery = |(id, _): &mut (DeliveryId, AuditEntry)| {
        *id = DeliveryId::parse("dlv_other").unwrap();
        Ok(())
    };
    interceptor.on_arguments("deliveries.remove", other_delivery);
    for method in ["endpoints.remove", "deliveries.remove"] {
        interceptor.on_result(method, |removed: &mut bool| *removed = true);
    }
}

/// Does not record that sending begins.
fn forget_sending(interceptor: &StoreInterceptor, _: &WebhookStores) {
    let forgotten = Arc::new(Mutex::new(Vec::new()));
    let taken = forgotten.clone();
    let forget = move |(claimed, _): &mut (Vec<ClaimedDelivery>, Timestamp)| {
        *forgotten.lock().unwrap() = std::mem::take(claimed);
        Ok(())
    };
    interceptor.on_arguments("deliveries.begin_sending", forget);
    let report = move |begun: &mut HashSet<DeliveryId>| {
        begun.extend(taken.lock().unwrap().drain(..).map(|one| one.delivery.id));
    };
    interceptor.on_result("deliveries.begin_sending", report);
}

/// Reports that all settlements were recorded.
fn settle_all(interceptor: &StoreInterceptor, _: &WebhookStores) {
    let report_all = |(settlements, _): &(Vec<Settlement>, Timestamp),
                      settled: &mut HashSet<DeliveryId>| {
        settled.extend(settlements.iter().map(|one| one.delivery_id.clone()));
    };
    interceptor.on_result_with_arguments("deliveries.settle", report_all);
}

/// Returns the value of a future of a store in memory, which is ready at once.
fn now<T>(future: impl Future<Output = T>) -> T {
    use std::task::{Context, Poll, Waker};
    match std::pin::pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("a store in memory does not wait"),
    }
}

#[rustfmt::skip]
fn faults() -> Vec<Fault> {
    vec![
    ("an event loses its forum", arguments("outbox.insert", |(event,): &mut (Event,)| event.forum_id = None), "outbox::inserted_events_are_pending_unchanged"),
    ("the feed is reversed", result("feed.read", |read: &mut FeedRead| read.entries.reverse()), "feed::events_are_read_in_the_order_of_their_inserts"),
    ("an event of the feed is kept without end", arguments("feed.first_kept", |(retention, _): &mut (Duration, Timestamp)| *retention = Duration::MAX), "feed::the_first_kept_event_was_not_fanned_out_before"),
    ("a delivery is never being sent", result("deliveries.is_sending", |is_sending: &mut bool| *is_sending = false), "leases::a_delivery_is_being_sent_during_its_attempt"),
    ("the age of an event is missing", result("feed.find", |found: &mut Option<FoundInFeed>| found.iter_mut().for_each(|one| one.age = None)), "feed::the_age_of_an_event_begins_with_its_fan_out"),
    ("events are swept too early", arguments("feed.sweep", |(retention, _, _): &mut (Duration, Timestamp, u32)| *retention -= MILLI), "feed::an_event_of_a_clock_that_was_ahead_stays_for_its_retention"),
    ("a sweep removes nothing", arguments("feed.sweep", |(_, _, limit): &mut (Duration, Timestamp, u32)| *limit = 0), "feed::a_sweep_removes_events_from_the_beginning"),
    ("a long body is truncated", arguments("outbox.insert", |(event,): &mut (Event,)| event.body.truncate(65_536)), "outbox::inserted_events_are_pending_unchanged"),
    ("pending events are returned newest first", result("outbox.pending", |events: &mut Vec<Event>| events.reverse()), "outbox::the_oldest_pending_events_come_first"),
    ("events with the same time are ordered by id", result("outbox.pending", |events: &mut Vec<Event>| events.sort_by_key(|event| event.id.to_string())), "outbox::events_of_one_moment_keep_their_insertion_order"),
    ("the limit of pending events is ignored", arguments("outbox.pending", |(limit,): &mut (u32,)| *limit = 999), "outbox::the_oldest_pending_events_come_first"),
    ("an event older than a fanned-out event is skipped", result("outbox.pending", |events: &mut Vec<Event>| events.retain(|event| event.occurred_at.as_millis() % 1_000 >= 5)), "outbox::late_events_are_pending_as_well"),
    ("an event without recipients is not fanned out", arguments("outbox.fan_out", |(events, _): &mut (Vec<FanOut>, Timestamp)| events.retain(|event| !event.endpoint_ids.is_empty())), "outbox::fanned_out_events_are_not_pending"),
    ("only one endpoint receives an event", arguments("outbox.fan_out", |(events, _): &mut (Vec<FanOut>, Timestamp)| events.iter_mut().for_each(|event| event.endpoint_ids.truncate(1))), "outbox::removed_and_disabled_endpoints_get_no_delivery"),
    ("an endpoint loses its pending secret", arguments("endpoints.add", |(one, _): &mut (Endpoint, AuditEntry)| one.pending_secret = None), "endpoints::an_added_endpoint_is_found_unchanged"),
    ("a disabled endpoint is enabled", arguments("endpoints.add", |(one, _): &mut (Endpoint, AuditEntry)| one.enabled = true), "outbox::removed_and_disabled_endpoints_get_no_delivery"),
    ("a taken id is accepted", result("endpoints.add", |added: &mut bool| *added = true), "endpoints::an_endpoint_id_is_unique"),
    ("an update overwrites another one", Box::new(overwrite), "endpoints::one_of_concurrent_updates_succeeds"),
    ("a key replaces any other key", Box::new(overwrite), "endpoints::a_key_id_replaces_only_the_expected_one"),
    ("a new key overwrites an update", Box::new(overwrite), "endpoints::a_key_and_its_secrets_are_replaced_together"),
    ("endpoints are listed in another order", result("endpoints.list", |all: &mut Vec<Endpoint>| all.reverse()), "endpoints::endpoints_are_listed_in_insertion_order"),
    ("a removed endpoint stays", Box::new(keep_removed), "endpoints::a_removed_endpoint_is_not_found"),
    ("deliveries of a removed endpoint are claimed", Box::new(keep_removed), "claims::deliveries_of_a_removed_endpoint_are_not_claimed"),
    ("deliveries due a millisecond later are claimed", arguments("deliveries.claim", |(_, now): &mut (ClaimRequest, Timestamp)| *now = now.saturating_add(MILLI)), "claims::deliveries_not_due_are_not_claimed"),
    ("deliveries due now are not claimed", arguments("deliveries.claim", |(_, now): &mut (ClaimRequest, Timestamp)| *now = now.saturating_sub(MILLI)), "claims::deliveries_not_due_are_not_claimed"),
    ("the limit of a claim is ignored", arguments("deliveries.claim", |(claim, _): &mut (ClaimRequest, Timestamp)| claim.limit = 999), "claims::a_claim_respects_its_limit"),
    ("the limit per endpoint is ignored", arguments("deliveries.claim", |(claim, _): &mut (ClaimRequest, Timestamp)| claim.max_in_flight_per_endpoint = 999), "claims::a_claim_respects_the_limit_per_endpoint"),
    ("a flooded endpoint uses the whole limit", arguments("deliveries.claim", |(claim, _): &mut (ClaimRequest, Timestamp)| claim.max_in_flight_per_endpoint = 999), "claims::a_flooded_endpoint_starves_no_other"),
    ("the limit of failing and slow endpoints is ignored", arguments("deliveries.claim", |(claim, _): &mut (ClaimRequest, Timestamp)| claim.max_impaired = 999), "claims::a_claim_respects_the_limit_of_failing_and_slow_endpoints"),
    ("attempts in flight are ignored", arguments("deliveries.claim", |(claim, _): &mut (ClaimRequest, Timestamp)| claim.in_flight_by_endpoint.clear()), "claims::a_claim_respects_the_limit_per_endpoint"),
    ("the newest due delivery is claimed first", result("deliveries.claim", |claims: &mut ClaimBatch| claims.deliveries.reverse()), "claims::the_oldest_due_delivery_is_claimed_first"),
    ("the next due time is missing", result("deliveries.claim", |claims: &mut ClaimBatch| claims.next_due_at = None), "claims::next_due_at_is_the_earliest_unclaimed_delivery"),
    ("the next due time includes a full endpoint", arguments("deliveries.claim", |(claim, _): &mut (ClaimRequest, Timestamp)| claim.in_flight_by_endpoint.clear()), "claims::next_due_at_is_the_earliest_unclaimed_delivery"),
    ("a claimed delivery has another endpoint", result("deliveries.claim", |claims: &mut ClaimBatch| claims.deliveries.iter_mut().for_each(|one| one.endpoint.url.clear())), "claims::a_claim_returns_the_whole_delivery"),
    ("the statistics include deliveries due a millisecond later", arguments("deliveries.queue_stats", |(now,): &mut (Timestamp,)| *now = now.saturating_add(MILLI)), "claims::queue_stats_match_claimable_deliveries"),
    ("the statistics exclude deliveries due now", arguments("deliveries.queue_stats", |(now,): &mut (Timestamp,)| *now = now.saturating_sub(MILLI)), "claims::queue_stats_match_claimable_deliveries"),
    ("leases of a clock that was ahead are kept", arguments("deliveries.correct_times", |(now,): &mut (Timestamp,)| *now = now.saturating_add(MILLI * 7_200_000)), "claims::times_of_a_clock_that_was_ahead_count_as_reached"),
    ("the depth is limited to 100", result("deliveries.queue_stats", |backlog: &mut QueueStats| backlog.depth = backlog.depth.min(100)), "claims::queue_stats_match_claimable_deliveries"),
    ("the age of the oldest due delivery is missing", result("deliveries.queue_stats", |backlog: &mut QueueStats| backlog.oldest_age = None), "claims::queue_stats_match_claimable_deliveries"),
    ("a lease ends too early", arguments("deliveries.claim", |(claim, _): &mut (ClaimRequest, Timestamp)| claim.lease_duration -= MILLI), "leases::a_leased_delivery_is_not_claimed_again"),
    ("a lease ends too late", arguments("deliveries.claim", |(claim, _): &mut (ClaimRequest, Timestamp)| claim.lease_duration += MILLI), "leases::an_expired_lease_is_reported"),
    ("an expired lease is not reported", result("deliveries.claim", |claims: &mut ClaimBatch| claims.deliveries.iter_mut().for_each(|one| one.previous_lease_expired = false)), "leases::an_expired_lease_is_reported"),
    ("a lease that expired before sending counts as an attempt", result("deliveries.claim", |claims: &mut ClaimBatch| claims.deliveries.iter_mut().for_each(|one| one.previous_lease_expired = true)), "leases::a_lease_that_expires_before_sending_is_not_an_attempt"),
    ("the start of sending is not recorded", Box::new(forget_sending), "leases::an_expired_lease_is_reported"),
    ("sending begins under any lease", Box::new(forget_sending), "leases::sending_requires_an_unexpired_lease"),
    ("sending begins after the lease has expired", arguments("deliveries.begin_sending", |(_, now): &mut (Vec<ClaimedDelivery>, Timestamp)| *now = now.saturating_sub(MILLI)), "leases::sending_requires_an_unexpired_lease"),
    ("sending is rejected before the lease expires", arguments("deliveries.begin_sending", |(_, now): &mut (Vec<ClaimedDelivery>, Timestamp)| *now = now.saturating_add(MILLI)), "leases::sending_requires_an_unexpired_lease"),
    ("every lease is reported as expired", result("deliveries.claim", |claims: &mut ClaimBatch| claims.deliveries.iter_mut().for_each(|one| one.previous_lease_expired = true)), "leases::a_release_is_not_an_attempt"),
    ("any worker settles a delivery", Box::new(settle_all), "leases::a_lost_lease_cannot_be_settled"),
    ("an attempt is not counted", arguments("deliveries.settle", |(settlements, _): &mut (Vec<Settlement>, Timestamp)| settlements.iter_mut().for_each(|one| one.progress.attempts = 0)), "leases::a_lease_is_settled_once"),
    ("attempts are not stored", arguments("deliveries.settle", |(settlements, _): &mut (Vec<Settlement>, Timestamp)| settlements.iter_mut().for_each(|one| one.attempt = None)), "leases::attempts_are_stored_unchanged_and_in_order"),
    ("a delivery is found without its last attempt", result("deliveries.find", |found: &mut Option<(Delivery, Vec<AttemptRecord>)>| found.iter_mut().for_each(|(_, log)| drop(log.pop()))), "leases::a_delivery_is_found_with_its_attempts"),
    ("the last attempt is returned first", result("deliveries.find", |found: &mut Option<(Delivery, Vec<AttemptRecord>)>| found.iter_mut().for_each(|(_, log)| log.reverse())), "leases::attempts_are_stored_unchanged_and_in_order"),
    ("an attempt that sent nothing is stored as sent", result("deliveries.find", |found: &mut Option<(Delivery, Vec<AttemptRecord>)>| found.iter_mut().flat_map(|(_, log)| log).flat_map(|one| &mut one.error).for_each(|error| error.sent = true)), "leases::attempts_are_stored_unchanged_and_in_order"),
    ("the first attempts are stored instead of the last", result("deliveries.find", |found: &mut Option<(Delivery, Vec<AttemptRecord>)>| found.iter_mut().for_each(|(_, log)| log.truncate(59))), "leases::only_the_latest_attempts_are_kept"),
    ("a release has no effect until the lease ends", arguments("deliveries.release", |(claimed, _, _): &mut (Vec<ClaimedDelivery>, Duration, Timestamp)| claimed.clear()), "leases::a_release_is_not_an_attempt"),
    ("a released delivery is due too early", arguments("deliveries.release", |(_, wait, _): &mut (Vec<ClaimedDelivery>, Duration, Timestamp)| *wait -= MILLI), "leases::a_release_is_not_an_attempt"),
    ("a release hides an expired lease", arguments("deliveries.release", |(claimed, _, _): &mut (Vec<ClaimedDelivery>, Duration, Timestamp)| claimed.iter_mut().for_each(|one| one.previous_lease_expired = false)), "leases::an_expired_lease_is_reported_again_after_release"),
    ("a retried delivery is due later", arguments("deliveries.retry", |(_, now, _): &mut (DeliveryId, Timestamp, AuditEntry)| *now = now.saturating_add(MILLI)), "retries::a_finished_delivery_is_queued_again"),
    ("a retry of a queued delivery succeeds", result("deliveries.retry", |retried: &mut bool| *retried = true), "retries::retrying_a_queued_delivery_changes_nothing"),
    ("two concurrent retries succeed", result("deliveries.retry", |retried: &mut bool| *retried = true), "retries::one_of_concurrent_retries_succeeds"),
    ("a retry deletes the stored attempts", result("deliveries.find", |found: &mut Option<(Delivery, Vec<AttemptRecord>)>| found.iter_mut().for_each(|(_, log)| log.clear())), "retries::a_finished_delivery_is_queued_again"),
    ("a retrying delivery cannot be retried", result("deliveries.retry", |retried: &mut bool| *retried = false), "retries::a_retrying_delivery_becomes_due_at_once"),
    ("a batch of retries exceeds its limit", arguments("deliveries.retry_dead", |(_, _, limit, _): &mut (EndpointId, Timestamp, u32, AuditEntry)| *limit += 1), "retries::dead_deliveries_of_one_endpoint_are_queued_again_in_batches"),
    ("a removed delivery stays", Box::new(keep_removed), "retries::a_delivery_is_removed_in_any_state"),
    ("the id of a ping is missing", result("deliveries.enqueue", |sent: &mut Option<DeliveryId>| *sent = None), "retries::a_ping_is_queued_for_one_endpoint_only"),
    ("the oldest deliveries are listed first", result("deliveries.list", |list: &mut Listed| list.reverse()), "lists::deliveries_are_listed_newest_first"),
    ("every page is the first page", arguments("deliveries.list", |(filter,): &mut (DeliveryFilter,)| filter.after = None), "lists::deliveries_are_listed_newest_first"),
    ("a page skips its first delivery", result("deliveries.list", |list: &mut Listed| drop(list.drain(..1.min(list.len())))), "lists::deliveries_are_listed_newest_first"),
    ("the filter by state is ignored", arguments("deliveries.list", |(filter,): &mut (DeliveryFilter,)| filter.state = None), "lists::a_list_has_only_deliveries_that_match_its_filter"),
    ("the filter by endpoint is ignored", arguments("deliveries.list", |(filter,): &mut (DeliveryFilter,)| filter.endpoint_id = None), "lists::a_list_has_only_deliveries_that_match_its_filter"),
    ("the filter by topic is ignored", arguments("deliveries.list", |(filter,): &mut (DeliveryFilter,)| filter.topic = None), "lists::a_list_has_only_deliveries_that_match_its_filter"),
    ("a list has no attempts", result("deliveries.list", |list: &mut Listed| list.iter_mut().for_each(|(_, last)| *last = None)), "lists::a_response_filter_selects_by_the_last_attempt"),
    ("a list exceeds its limit", arguments("deliveries.list", |(filter,): &mut (DeliveryFilter,)| filter.limit += 1), "lists::a_list_has_only_deliveries_that_match_its_filter"),
    ("deliveries are swept too early", arguments("deliveries.sweep", |(retention, _, _): &mut (Duration, Timestamp, u32)| *retention -= MILLI), "sweeps::deliveries_that_ended_long_ago_are_swept"),
    ("deliveries are swept too late", arguments("deliveries.sweep", |(_, now, _): &mut (Duration, Timestamp, u32)| *now = now.saturating_sub(MILLI)), "sweeps::deliveries_that_ended_long_ago_are_swept"),
    ("the limit of a sweep is ignored", arguments("deliveries.sweep", |(_, _, limit): &mut (Duration, Timestamp, u32)| *limit = 999), "sweeps::a_sweep_respects_its_limit"),
    ("dead deliveries are swept", arguments("deliveries.settle", |(settlements, _): &mut (Vec<Settlement>, Timestamp)| settlements.iter_mut().for_each(|one| one.progress.state = forum_api::webhook::DeliveryState::Gone)), "sweeps::pending_and_dead_deliveries_are_not_swept"),
    ("the start of the period is included", arguments("deliveries.delivery_stats", |(period, _): &mut (Duration, Timestamp)| *period += MILLI), "delivery_stats::deliveries_are_counted_by_hour_endpoint_and_state"),
    ("hours are counted from another end", arguments("deliveries.delivery_stats", |(_, now): &mut (Duration, Timestamp)| *now = now.saturating_add(MILLI)), "delivery_stats::deliveries_are_counted_by_hour_endpoint_and_state"),
    ("an endpoint is missing from the usage", result("deliveries.delivery_stats", |usage: &mut Vec<DeliveryCount>| usage.truncate(3)), "delivery_stats::deliveries_are_counted_by_hour_endpoint_and_state"),
    ]
}

/// Stores in memory with or without a fault.
struct FaultyStores<'a>(Option<&'a Inject>);

#[async_trait]
impl StoreFactory for FaultyStores<'_> {
    async fn create(&self) -> FixtureResult<(Stores, WebhookStores)> {
        let interceptor = StoreInterceptor::default();
        let (others, stores) = stores_in_memory();
        if let Some(inject) = self.0 {
            inject(&interceptor, &stores);
        }
        Ok((interceptor.stores(&others), interceptor.webhooks(&stores)))
    }
}

/// Each fault fails its rule, and the rule passes with correct stores.
#[tokio::test]
async fn each_fault_fails_its_rule() {
    for (fault, inject, rule) in faults() {
        let result = run(rule, &FaultyStores(Some(&inject))).await;
        let has_failed = matches!(result, Err(TestFailure::Failed(_)));
        assert!(has_failed, "{fault}: {rule}: {result:?}");
        assert_eq!(run(rule, &FaultyStores(None)).await, Ok(()), "{rule}");
    }
}
