//! The loop that turns events into deliveries: which endpoints receive an event (`docs/protocol.md`, section 13.5).

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use super::context::WorkerContext;
use crate::error::BackendResult;
use crate::host::Access;
use crate::model::UserId;
use crate::store::FanOut;
use crate::task::catch_panic;
use crate::webhook::{Endpoint, Event};

/// Number of events that are fanned out at a time.
const BATCH: u32 = 100;

/// About so many deliveries are made in one transaction: other writers wait for it.
const STEP: usize = 100;

pub(super) fn start(context: &Arc<WorkerContext>) {
    context.spawn(|context| async move { context.events.run(&context, || turn(&context)).await });
}

/// Fans a batch out.
async fn turn(context: &WorkerContext) -> BackendResult<Duration> {
    let events = context.stores.outbox.pending(BATCH).await?;
    if events.is_empty() {
        return Ok(context.settings.poll_interval);
    }
    let filter = EndpointFilter::new(context, &events).await?;
    let fan_outs: Vec<_> = events
        .iter()
        .map(|event| filter.recipients(event))
        .collect();
    let widest = fan_outs.iter().map(|event| event.endpoints.len()).max();
    for step in fan_outs.chunks(STEP.div_ceil(widest.unwrap_or(0).max(1))) {
        context.stores.outbox.fan_out(step, context.now()).await?;
        if step.iter().any(|event| !event.endpoints.is_empty()) {
            context.deliveries.notify();
        }
    }
    let is_full = fan_outs.len() >= BATCH as usize;
    Ok(if is_full {
        Duration::ZERO
    } else {
        context.settings.poll_interval
    })
}

/// Decides whether an endpoint of `owner` may receive the event: the owner sees the event's forum, if it has one, and is
/// a party of a private message.
///
/// An offline board does not change the result, because a withheld delivery is not sent later.
pub(super) fn may_receive(owner: &UserId, standing: &Access, event: &Event) -> bool {
    let forums = standing.visible_forums();
    let forum = event.forum.as_ref();
    forum.is_none_or(|forum| forums.contains(forum)) && event.concerns(owner)
}

/// The endpoints that subscribe to a batch of events, and what their owners may see.
struct EndpointFilter {
    endpoints: Vec<Endpoint>,
    /// Without the owners for whom the authority returned no answer.
    standings: HashMap<UserId, Option<Access>>,
}

impl EndpointFilter {
    async fn new(context: &WorkerContext, events: &[Event]) -> BackendResult<Self> {
        let mut endpoints = context.stores.endpoints.list().await?;
        endpoints.retain(|endpoint| events.iter().any(|event| subscribes_to(endpoint, event)));
        let owners = endpoints.iter().map(|endpoint| endpoint.owner.clone());
        Ok(Self {
            standings: standings(context, owners.collect()).await,
            endpoints,
        })
    }

    fn recipients(&self, event: &Event) -> FanOut {
        let recipients = self.endpoints.iter().filter(|endpoint| {
            subscribes_to(endpoint, event) && self.may_receive(&endpoint.owner, event)
        });
        FanOut {
            event: event.id.clone(),
            endpoints: recipients.map(|endpoint| endpoint.id.clone()).collect(),
        }
    }

    /// Whether a delivery is queued. It is queued also for an owner without an answer, so that no other endpoint waits:
    /// before each attempt the authority is asked again, and nothing is sent until it answers.
    fn may_receive(&self, owner: &UserId, event: &Event) -> bool {
        let standing = self.standings.get(owner);
        standing.is_none_or(|standing| {
            standing
                .as_ref()
                .is_some_and(|standing| may_receive(owner, standing, event))
        })
    }
}

/// What these members may see. The authority is asked once for each, and all together take at most a step.
async fn standings(
    context: &WorkerContext,
    owners: HashSet<UserId>,
) -> HashMap<UserId, Option<Access>> {
    let mut standings = HashMap::new();
    let ask = async {
        for owner in owners {
            match catch_panic(async { context.authority.member_access(&owner).await }).await {
                Ok(standing) => drop(standings.insert(owner, standing)),
                Err(fault) => {
                    tracing::error!(error = %fault, %owner, "failed to load endpoint owner's access")
                }
            }
        }
    };
    let asked = context.within(context.settings.step_timeout, ask).await;
    if asked.is_none() {
        tracing::error!("timed out loading endpoint owners' access");
    }
    standings
}

/// Returns whether the endpoint is enabled, subscribes to the topic, and was registered when the event occurred.
fn subscribes_to(endpoint: &Endpoint, event: &Event) -> bool {
    endpoint.enabled
        && endpoint.topics.contains(&event.topic)
        && endpoint.created_at <= event.occurred_at
}
