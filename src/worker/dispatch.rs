//! The loop that claims what is due, and starts its attempts.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use super::context::Crew;
use super::owner_access;
use super::settlement_batcher::Ledger;
use super::slots::Slot;
use super::start_batcher::StartBatcher;
use crate::host::Stored;

/// Batchers that record the progress of attempts.
#[derive(Clone)]
pub(super) struct Batchers {
    pub(super) starts: StartBatcher,
    pub(super) ledger: Ledger,
}

pub(super) fn start(crew: &Arc<Crew>, alive: &watch::Sender<()>) {
    let (own, attempts) = (Arc::clone(crew), alive.clone());
    let batchers = Batchers {
        starts: StartBatcher::open(crew, alive),
        ledger: Ledger::open(crew, alive),
    };
    crew.detach(alive, async move {
        let turn = || turn(&own, &attempts, &batchers);
        own.deliveries.run(&own, turn).await;
    });
}

/// Claims what can start now, and starts it. When no slot is free, the next one that is rings.
async fn turn(
    crew: &Arc<Crew>,
    alive: &watch::Sender<()>,
    batchers: &Batchers,
) -> Stored<Duration> {
    let poll = crew.settings.poll;
    let Some(claim) = crew.slots.claim(&crew.settings) else {
        return Ok(poll);
    };
    let deliveries = &crew.stores.deliveries;
    let claims = deliveries
        .claim(&claim, crew.environment.clock.now())
        .await?;
    let idle = claims.taken.is_empty();
    let taken = claims.taken.into_iter();
    let taken = taken.map(|claimed| (Slot::take(crew, &claimed.endpoint.id), claimed));
    owner_access::ask(crew, alive, batchers, taken.collect());
    crew.slots.claimed();
    let until_next = claims
        .next
        .map(|next| next.since(crew.environment.clock.now()));
    // What is due already and yet was not taken is not asked for again at once.
    let until_next = until_next.filter(|wait| !(idle && wait.is_zero()));
    Ok(until_next.map_or(poll, |wait| wait.min(poll)))
}
