//! The loop that fans out events to deliveries, and the filter of endpoints ([protocol](crate::guide::protocol),
//! section 13.5).

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use super::context::WorkerContext;
use crate::error::BackendResult;
use crate::error_chain::ErrorChain;
use crate::host::{Access, RequestInfo};
use crate::model::{CLOCK_TOLERANCE, EndpointId, Timestamp, UserId};
use crate::store::FanOut;
use crate::task::catch_panic;
use crate::webhook::{Endpoint, Event, concerns};

/// Largest number of events that are read at a time.
const BATCH: u32 = 100;

/// Approximate number of deliveries that are inserted in one transaction. Other writers wait for it.
const DELIVERIES_PER_STEP: usize = 100;

pub(super) fn start(context: &Arc<WorkerContext>) {
    context.spawn(|context| async move {
        let run = || iteration(&context);
        context.run_loop(&context.events, run).await;
    });
}

async fn iteration(context: &WorkerContext) -> BackendResult<Duration> {
    let outbox = &context.stores.outbox;
    let events = context.with_step_timeout(outbox.pending(BATCH)).await?;
    let interval = context.settings.poll_interval;
    if events.is_empty() {
        return Ok(interval);
    }
    let filter = EndpointFilter::load(context, &events).await?;
    let stays_in_feed = !context.settings.event_retention.is_zero();
    let fan_out = |event: &Event| FanOut {
        event_id: event.id.clone(),
        endpoint_ids: filter.recipients(event),
        stays_in_feed,
    };
    let fan_outs: Vec<_> = events.iter().map(fan_out).collect();
    let widest = fan_outs.iter().map(|event| event.endpoint_ids.len()).max();
    for step in fan_outs.chunks(DELIVERIES_PER_STEP.div_ceil(widest.unwrap_or(0).max(1))) {
        let fan_out = outbox.fan_out(step, context.now());
        context.with_step_timeout(fan_out).await?;
        if step.iter().any(|event| !event.endpoint_ids.is_empty()) {
            context.deliveries.notify();
        }
    }
    let is_full = fan_outs.len() >= BATCH as usize;
    Ok(if is_full { Duration::ZERO } else { interval })
}

/// Returns `true` if an endpoint of `owner` may receive the event. The owner must see the event's forum, if the event
/// has one. An event about a private message or a rating also requires that the owner is one of its parties.
///
/// An offline board does not change the result, because a withheld delivery is not sent later.
pub(super) fn may_receive(owner: &UserId, access: &Access, event: &Event) -> bool {
    let forums = access.visible_forums();
    let forum_id = event.forum_id.as_ref();
    forum_id.is_none_or(|id| forums.contains(id)) && concerns(&event.topic, &event.body, owner)
}

/// Endpoints that subscribe to a batch of events, with the access of their owners.
struct EndpointFilter {
    endpoints: Vec<Endpoint>,
    /// Access of each owner. Owners whose access could not be loaded are missing.
    access: HashMap<UserId, Option<Access>>,
    now: Timestamp,
}

impl EndpointFilter {
    async fn load(context: &WorkerContext, events: &[Event]) -> BackendResult<Self> {
        let list = context.stores.endpoints.list();
        let mut endpoints = context.with_step_timeout(list).await?;
        let now = context.now();
        endpoints.retain(|endpoint| events.iter().any(|event| subscribes_to(endpoint, event, now)));
        let owners = endpoints.iter().map(|endpoint| endpoint.owner.clone());
        let access = load_access(context, owners.collect()).await;
        Ok(Self { access, endpoints, now })
    }

    /// Returns the ids of the endpoints that get a delivery of the event.
    fn recipients(&self, event: &Event) -> Vec<EndpointId> {
        let recipients = self.endpoints.iter().filter(|endpoint| {
            subscribes_to(endpoint, event, self.now) && self.needs_delivery(&endpoint.owner, event)
        });
        recipients.map(|endpoint| endpoint.id.clone()).collect()
    }

    /// Returns `true` if a delivery to an endpoint of `owner` is to be queued. If the owner's access could not be
    /// loaded, returns `true`, so that other endpoints do not wait: the access is loaded again before each attempt.
    fn needs_delivery(&self, owner: &UserId, event: &Event) -> bool {
        match self.access.get(owner) {
            None => true,
            Some(None) => false,
            Some(Some(access)) => may_receive(owner, access, event),
        }
    }
}

/// Loads the access of each owner once: of all with one call, or of each with a call of its own. These calls together
/// take at most `step_timeout`.
async fn load_access(
    context: &WorkerContext,
    owners: BTreeSet<UserId>,
) -> HashMap<UserId, Option<Access>> {
    let batch: Vec<_> = owners.iter().cloned().collect();
    if let Some(mut found) = context.load_access(&batch).await {
        let access_of = |owner| {
            let access = found.remove(&owner);
            (owner, access)
        };
        return owners.into_iter().map(access_of).collect();
    }
    let mut loaded = HashMap::new();
    let request = &RequestInfo::background(context.now());
    let load = async {
        for owner in owners {
            let access = async { context.authorizer.member_access(&owner, request).await };
            match catch_panic(access).await {
                Ok(access) => drop(loaded.insert(owner, access)),
                Err(error) => {
                    tracing::error!(error = %ErrorChain(&error), %owner, "failed to load endpoint owner's access")
                }
            }
        }
    };
    let limit = context.settings.step_timeout;
    if context.within(limit, load).await.is_none() {
        tracing::error!("timed out loading endpoint owners' access");
    }
    loaded
}

/// Returns `true` if the endpoint is enabled, subscribes to the topic, and was registered at or before the time of the
/// event. A registration more than 60 s ahead of `now` was written by a clock that was ahead, and counts as reached.
fn subscribes_to(endpoint: &Endpoint, event: &Event, now: Timestamp) -> bool {
    let is_ahead = endpoint.created_at > now.saturating_add(CLOCK_TOLERANCE);
    endpoint.enabled
        && endpoint.topics.contains(&event.topic)
        && (is_ahead || endpoint.created_at <= event.occurred_at)
}
