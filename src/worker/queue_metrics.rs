//! The loop that tells how long the queue is (feature `metrics`).

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use super::context::{Crew, STORE};
use crate::metrics::recorder;

/// How long it is from one look to the next, unless the worker polls less often.
const BEAT: Duration = Duration::from_secs(5);

pub(super) fn start(crew: &Arc<Crew>, alive: &watch::Sender<()>) {
    let own = Arc::clone(crew);
    crew.detach(alive, async move {
        while !own.stopping() {
            look(&own).await;
            own.pause(BEAT.max(own.settings.poll)).await;
        }
    });
}

/// Nothing depends on it: what fails is tried again with the next beat.
async fn look(crew: &Crew) {
    let now = crew.environment.clock.now();
    match crew.step(crew.stores.deliveries.backlog(now)).await {
        Ok(backlog) => {
            let age = backlog.since.map(|since| now.since(since));
            recorder::record_queue(backlog.depth, age.unwrap_or_default());
        }
        Err(fault) => {
            recorder::record_store_error(STORE);
            tracing::warn!(%fault, "how long the queue is was not told");
        }
    }
}
