//! The loop that makes deliveries of events.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use super::audience::Audience;
use super::crew::Crew;
use crate::host::Stored;
use crate::store::FanOut;

/// So many events are fanned out at a time.
const BATCH: u32 = 100;

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
    let outbox = &crew.stores.outbox;
    outbox.fan_out(&told, crew.clock.now()).await?;
    if told.iter().any(|event| !event.endpoints.is_empty()) {
        crew.deliveries.ring();
    }
    let more = told.len() >= BATCH as usize;
    Ok(if more {
        Duration::ZERO
    } else {
        crew.settings.poll
    })
}
