//! The loop that makes deliveries of events.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use super::context::Crew;
use super::endpoint_filter::Audience;
use crate::host::Stored;
use crate::store::FanOut;

/// So many events are fanned out at a time.
const BATCH: u32 = 100;

/// About so many deliveries are made in one step: whoever writes meanwhile waits for it.
const STEP: usize = 100;

pub(super) fn start(crew: &Arc<Crew>, alive: &watch::Sender<()>) {
    let own = Arc::clone(crew);
    crew.detach(alive, async move {
        own.events.run(&own, || turn(&own)).await;
    });
}

/// Fans a batch out.
async fn turn(crew: &Crew) -> Stored<Duration> {
    let events = crew.stores.outbox.waiting(BATCH).await?;
    if events.is_empty() {
        return Ok(crew.settings.poll);
    }
    let audience = Audience::of(crew, &events).await?;
    let told: Vec<FanOut> = events.iter().map(|event| audience.told(event)).collect();
    let widest = told.iter().map(|event| event.endpoints.len()).max();
    for step in told.chunks(STEP.div_ceil(widest.unwrap_or(0).max(1))) {
        fan_out(crew, step).await?;
    }
    let more = told.len() >= BATCH as usize;
    Ok(if more {
        Duration::ZERO
    } else {
        crew.settings.poll
    })
}

async fn fan_out(crew: &Crew, events: &[FanOut]) -> Stored<()> {
    let outbox = &crew.stores.outbox;
    outbox.fan_out(events, crew.environment.clock.now()).await?;
    if events.iter().any(|event| !event.endpoints.is_empty()) {
        crew.deliveries.ring();
    }
    Ok(())
}
