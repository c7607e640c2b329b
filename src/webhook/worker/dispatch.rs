//! The loop that claims what is due, and starts its attempts.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tracing::Instrument as _;

use super::attempt;
use super::crew::Crew;
use super::slots::Slot;
use crate::host::Stored;
use crate::store::Claimed;

pub(super) fn start(crew: &Arc<Crew>, alive: &watch::Sender<()>) {
    let (own, attempts) = (Arc::clone(crew), alive.clone());
    crew.detach(alive, async move {
        own.deliveries.run(&own, || turn(&own, &attempts)).await;
    });
}

/// Claims what can start now, and starts it. When no slot is free, the next one that is rings.
async fn turn(crew: &Arc<Crew>, alive: &watch::Sender<()>) -> Stored<Duration> {
    let poll = crew.settings.poll;
    let Some(claim) = crew.slots.claim(&crew.settings) else {
        return Ok(poll);
    };
    let deliveries = &crew.stores.deliveries;
    let claims = deliveries.claim(&claim, crew.clock.now()).await?;
    let idle = claims.taken.is_empty();
    for claimed in claims.taken {
        begin(crew, alive, claimed);
    }
    crew.slots.claimed();
    let until_next = claims.next.map(|next| next.since(crew.clock.now()));
    // What is due already and yet was not taken is not asked for again at once.
    let until_next = until_next.filter(|wait| !(idle && wait.is_zero()));
    Ok(until_next.map_or(poll, |wait| wait.min(poll)))
}

fn begin(crew: &Arc<Crew>, alive: &watch::Sender<()>, claimed: Claimed) {
    let slot = Slot::take(crew, &claimed.endpoint.id);
    let own = Arc::clone(crew);
    let span = attempt::span(&claimed);
    let work = async move {
        attempt::run(&own, &claimed).await;
        drop(slot);
    };
    crew.detach(alive, work.instrument(span));
}
