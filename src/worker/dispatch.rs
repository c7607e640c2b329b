//! The loop that claims due deliveries and starts their attempts.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tracing::Instrument as _;

use super::attempt::{self, Attempt};
use super::batcher::Batchers;
use super::context::WorkerContext;
use super::fan_out::may_receive;
use crate::error::{BackendError, BackendResult};
use crate::error_chain::ErrorChain;
use crate::host::{Access, RequestInfo};
use crate::model::{EndpointId, UserId};
use crate::store::ClaimedDelivery;
use crate::webhook::Endpoint;

pub(super) fn start(context: &Arc<WorkerContext>) {
    let batchers = Arc::new(Batchers::start(context));
    context.spawn(|context| async move {
        let iteration = || iteration(&context, &batchers);
        context.run_loop(&context.deliveries, iteration).await;
    });
}

/// Claims at most as many deliveries as there are free slots, and starts their attempts. Returns the maximum sleep
/// before the next iteration. If no slot is free, the next released slot notifies the loop.
async fn iteration(
    context: &Arc<WorkerContext>,
    batchers: &Arc<Batchers>,
) -> BackendResult<Duration> {
    let poll_interval = context.settings.poll_interval;
    let Some(request) = context.slots.begin_claim(&context.settings) else {
        return Ok(poll_interval);
    };
    let claim = context.stores.deliveries.claim(&request, context.now());
    let batch =
        context.with_step_timeout(claim).await.inspect_err(|_| context.slots.end_claim())?;
    let is_idle = batch.deliveries.is_empty();
    authorize_owners(context, batchers, batch.deliveries);
    context.slots.end_claim();
    // Due deliveries that the store did not return, for example because of the limit per endpoint, do not cause a busy loop.
    let until_next = batch
        .next_due_at
        .map(|next| next.saturating_duration_since(context.now()))
        .filter(|delay| !(is_idle && delay.is_zero()));
    Ok(until_next.map_or(poll_interval, |delay| delay.min(poll_interval)))
}

/// A claimed delivery with its slot.
type Acquired = (Slot, ClaimedDelivery);

/// Loads the access of each owner once, and then attempts the deliveries. Each attempt has a separate task. If the
/// authorizer does not load the access of several owners with one call, each owner has a separate task too.
fn authorize_owners(
    context: &Arc<WorkerContext>,
    batchers: &Arc<Batchers>,
    claimed: Vec<ClaimedDelivery>,
) {
    let mut by_owner = BTreeMap::<UserId, Vec<Acquired>>::new();
    for claimed in claimed {
        let slot = Slot::acquire(context, &claimed.endpoint);
        let owned = by_owner.entry(claimed.endpoint.owner.clone()).or_default();
        owned.push((slot, claimed));
    }
    let batchers = Arc::clone(batchers);
    context.spawn(|context| async move {
        let owners: Vec<_> = by_owner.keys().cloned().collect();
        let Some(mut found) = context.load_access(&owners).await else {
            return authorize_each(&context, &batchers, by_owner);
        };
        for (owner, owned) in by_owner {
            start_attempts(&context, &batchers, owned, &Ok(found.remove(&owner)));
        }
    });
}

fn authorize_each(
    context: &Arc<WorkerContext>,
    batchers: &Arc<Batchers>,
    by_owner: BTreeMap<UserId, Vec<Acquired>>,
) {
    for (owner, owned) in by_owner {
        let batchers = Arc::clone(batchers);
        context.spawn(|context| async move {
            let request = RequestInfo::background(context.now());
            let loading = context.authorizer.member_access(&owner, &request);
            let access = context.with_step_timeout(loading).await;
            start_attempts(&context, &batchers, owned, &access);
        });
    }
}

fn start_attempts(
    context: &Arc<WorkerContext>,
    batchers: &Arc<Batchers>,
    owned: Vec<Acquired>,
    access: &BackendResult<Option<Access>>,
) {
    for (slot, claimed) in owned {
        start_attempt(context, batchers, slot, claimed, access);
    }
}

fn start_attempt(
    context: &Arc<WorkerContext>,
    batchers: &Arc<Batchers>,
    slot: Slot,
    claimed: ClaimedDelivery,
    access: &BackendResult<Option<Access>>,
) {
    let batchers = Arc::clone(batchers);
    let may_receive = match access {
        Ok(access) => Ok(access
            .as_ref()
            .is_some_and(|access| may_receive(&claimed.endpoint.owner, access, &claimed.event))),
        Err(error) => Err(BackendError::new(ErrorChain(error).to_string())),
    };
    let span = attempt::span(&claimed);
    context.spawn(|context| {
        let run = async move {
            let attempt = Attempt { context: &context, batchers: &batchers, claimed: &claimed };
            attempt.run(may_receive).await;
            drop(slot);
        };
        run.instrument(span)
    });
}

/// The slot of an attempt, released on drop.
struct Slot {
    context: Arc<WorkerContext>,
    endpoint: EndpointId,
}

impl Slot {
    fn acquire(context: &Arc<WorkerContext>, endpoint: &Endpoint) -> Self {
        context.slots.acquire(endpoint);
        Self { context: Arc::clone(context), endpoint: endpoint.id.clone() }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let context = &self.context;
        if context.slots.release(&self.endpoint, &context.settings) {
            context.deliveries.notify();
        }
    }
}
