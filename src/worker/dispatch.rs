//! The loop that claims due deliveries, and starts their attempts.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tracing::Instrument as _;

use super::attempt::{self, Attempt};
use super::batcher::Batchers;
use super::context::WorkerContext;
use super::fan_out::may_receive;
use super::slots::Slot;
use crate::error::{BackendError, BackendResult};
use crate::host::Access;
use crate::model::UserId;
use crate::store::ClaimedDelivery;

pub(super) fn start(context: &Arc<WorkerContext>) {
    let batchers = Arc::new(Batchers::start(context));
    context.spawn(|context| async move {
        let turn = || turn(&context, &batchers);
        context.deliveries.run(&context, turn).await;
    });
}

/// Claims what can start now, and starts it. When no slot is free, the next slot that becomes free notifies the loop.
async fn turn(context: &Arc<WorkerContext>, batchers: &Arc<Batchers>) -> BackendResult<Duration> {
    let poll = context.settings.poll_interval;
    let Some(claim) = context.slots.claim(&context.settings) else {
        return Ok(poll);
    };
    let deliveries = &context.stores.deliveries;
    let claims = deliveries.claim(&claim, context.now()).await?;
    let is_idle = claims.deliveries.is_empty();
    authorize_owners(context, batchers, claims.deliveries);
    context.slots.claimed();
    let until_next = claims
        .next_due_at
        .map(|next| next.saturating_duration_since(context.now()));
    // Deliveries that are due and were not claimed are not asked for again at once.
    let until_next = until_next.filter(|wait| !(is_idle && wait.is_zero()));
    Ok(until_next.map_or(poll, |wait| wait.min(poll)))
}

/// Asks the authority once for each owner, on a task of its own so that no owner waits for another, and then attempts
/// the owner's deliveries, each on a task of its own.
fn authorize_owners(
    context: &Arc<WorkerContext>,
    batchers: &Arc<Batchers>,
    taken: Vec<ClaimedDelivery>,
) {
    let mut by_owner = HashMap::<UserId, Vec<_>>::new();
    for claimed in taken {
        let slot = Slot::take(context, &claimed.endpoint.id);
        let owned = by_owner.entry(claimed.endpoint.owner.clone()).or_default();
        owned.push((slot, claimed));
    }
    for (owner, owned) in by_owner {
        let batchers = Arc::clone(batchers);
        context.spawn(|context| async move {
            let standing = context.authority.member_access(&owner);
            let standing = context.with_step_timeout(standing).await;
            for (slot, claimed) in owned {
                start_attempt(&context, &batchers, slot, claimed, &standing);
            }
        });
    }
}

fn start_attempt(
    context: &Arc<WorkerContext>,
    batchers: &Arc<Batchers>,
    slot: Slot,
    claimed: ClaimedDelivery,
    standing: &BackendResult<Option<Access>>,
) {
    let batchers = Arc::clone(batchers);
    let may_receive = match standing {
        Ok(standing) => Ok(standing.as_ref().is_some_and(|standing| {
            may_receive(&claimed.endpoint.owner, standing, &claimed.event)
        })),
        Err(fault) => Err(BackendError::new(fault.to_string())),
    };
    let span = attempt::span(&claimed);
    context.spawn(|context| {
        let run = async move {
            let attempt = Attempt {
                context: &context,
                batchers: &batchers,
                claimed: &claimed,
            };
            attempt.run(may_receive).await;
            drop(slot);
        };
        run.instrument(span)
    });
}
