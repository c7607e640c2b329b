//! The loop that sweeps away what is not kept any longer.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use super::context::Crew;
use crate::host::Stored;

/// So many deliveries are removed at a time.
const BATCH: u32 = 500;

/// Between two batches the store is left to others.
const BREATH: Duration = Duration::from_millis(50);

pub(super) fn start(crew: &Arc<Crew>, alive: &watch::Sender<()>) {
    let own = Arc::clone(crew);
    crew.detach(alive, async move {
        own.sweep.run(&own, || turn(&own)).await;
    });
}

async fn turn(crew: &Crew) -> Stored<Duration> {
    let before = crew.environment.clock.now().minus(crew.settings.keep);
    let removed = crew.stores.deliveries.sweep(before, BATCH).await?;
    let more = removed >= u64::from(BATCH);
    Ok(if more { BREATH } else { crew.settings.sweep })
}
