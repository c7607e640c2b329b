//! The loops beside deliveries: old deliveries are removed, and the queue is measured (feature `metrics`).

use std::sync::Arc;
use std::time::Duration;

use super::context::WorkerContext;
use crate::error::BackendResult;

/// Number of deliveries that are removed at a time.
const BATCH: u32 = 500;

/// Between two batches the store is left to others.
const PAUSE_BETWEEN_BATCHES: Duration = Duration::from_millis(50);

pub(super) fn start(context: &Arc<WorkerContext>) {
    context.spawn(|context| async move { context.sweep.run(&context, || sweep(&context)).await });
    #[cfg(feature = "metrics")]
    context.spawn(queue_metrics::run);
}

async fn sweep(context: &WorkerContext) -> BackendResult<Duration> {
    let before = context.now().saturating_sub(context.settings.retention);
    let removed = context.stores.deliveries.sweep(before, BATCH).await?;
    let is_full = removed >= u64::from(BATCH);
    Ok(if is_full {
        PAUSE_BETWEEN_BATCHES
    } else {
        context.settings.sweep_interval
    })
}

#[cfg(feature = "metrics")]
mod queue_metrics {
    use super::{Arc, Duration, WorkerContext};
    use crate::metrics::recorder;

    /// The time between two measurements, unless the worker polls less often.
    const INTERVAL: Duration = Duration::from_secs(5);

    pub(super) async fn run(context: Arc<WorkerContext>) {
        while !context.is_stopping() {
            record(&context).await;
            context
                .sleep(INTERVAL.max(context.settings.poll_interval))
                .await;
        }
    }

    async fn record(context: &WorkerContext) {
        let now = context.now();
        let backlog = context.stores.deliveries.queue_stats(now);
        match context.with_step_timeout(backlog).await {
            Ok(backlog) => {
                let age = backlog
                    .oldest_due_at
                    .map(|since| now.saturating_duration_since(since));
                recorder::record_queue(backlog.depth, age.unwrap_or_default());
            }
            Err(fault) => {
                recorder::record_store_error("webhooks");
                tracing::warn!(error = %fault, "failed to read queue statistics");
            }
        }
    }
}
