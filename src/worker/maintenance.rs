//! Loops that remove old deliveries and events, that correct the times of a clock that was ahead, and that measure the
//! queue (feature `metrics`).

use std::sync::Arc;
use std::time::Duration;

use super::context::WorkerContext;
use crate::audit::{AuditAction, AuditActor};
use crate::error::BackendResult;
use crate::webhook::DeliveryState;

/// Number of deliveries that are removed in one call.
const BATCH: u32 = 500;

/// Time between two corrections of times, unless the poll interval is longer.
const CORRECTION_INTERVAL: Duration = Duration::from_secs(10);

/// Pause between two full batches, so that other writers are not delayed.
const PAUSE_BETWEEN_BATCHES: Duration = Duration::from_millis(50);

pub(super) fn start(context: &Arc<WorkerContext>) {
    context.spawn(|context| async move {
        context.run_loop(&context.sweep, || sweep(&context)).await;
    });
    context.spawn(|context| async move {
        context.run_loop(&context.correction, || correct_times(&context)).await;
    });
    #[cfg(feature = "metrics")]
    context.spawn(queue_metrics::run);
}

async fn sweep(context: &WorkerContext) -> BackendResult<Duration> {
    let retention = context.settings.retention;
    let sweeping = context.stores.deliveries.sweep(retention, context.now(), BATCH);
    // A sweep that fails does not prevent the others, unless the worker stops.
    let swept = context.with_step_timeout(sweeping).await;
    let purged = if context.is_stopping() { Ok(0) } else { purge_dead(context).await };
    let left_feed = if context.is_stopping() { Ok(0) } else { sweep_feed(context).await };
    let results = [swept, purged, left_feed];
    let is_full = results.iter().flatten().any(|removed| *removed >= u64::from(BATCH));
    let mut failures = results.into_iter().filter_map(Result::err);
    if let Some(failure) = failures.next() {
        for other in failures {
            context.record_store_failure(&other, 1);
        }
        return Err(failure);
    }
    Ok(if is_full { PAUSE_BETWEEN_BATCHES } else { context.settings.sweep_interval })
}

/// Removes a batch of events from the feed whose `event_retention` has passed. Returns their number.
async fn sweep_feed(context: &WorkerContext) -> BackendResult<u64> {
    let retention = context.settings.event_retention;
    let sweeping = context.stores.feed.sweep(retention, context.now(), BATCH);
    context.with_step_timeout(sweeping).await
}

async fn correct_times(context: &WorkerContext) -> BackendResult<Duration> {
    let correct = context.stores.deliveries.correct_times(context.now());
    let corrected = context.with_step_timeout(correct).await?;
    if corrected > 0 {
        tracing::warn!(corrected, "corrected times that a clock that was ahead wrote");
        context.deliveries.notify();
    }
    Ok(CORRECTION_INTERVAL.max(context.settings.poll_interval))
}

/// Removes a batch of dead deliveries whose `dead_retention` has passed. Returns their number.
async fn purge_dead(context: &WorkerContext) -> BackendResult<u64> {
    let Some(retention) = context.settings.dead_retention else {
        return Ok(0);
    };
    let now = context.now();
    let random = &*context.environment.random;
    let audit = AuditActor::SYSTEM
        .entry(random, now, AuditAction::DELIVERY_PURGED, "")?
        .with_details("dead");
    let deliveries = &context.stores.deliveries;
    let purge = deliveries.purge(DeliveryState::Dead, retention, now, BATCH, &audit);
    context.with_step_timeout(purge).await
}

#[cfg(feature = "metrics")]
mod queue_metrics {
    use super::{Arc, Duration, WorkerContext};
    use crate::error_chain::ErrorChain;
    use crate::metrics::recorder::{self, QueueSample};
    use crate::model::Timestamp;
    use crate::worker::context::STORE;

    /// Time between two measurements, unless the poll interval is longer.
    const INTERVAL: Duration = Duration::from_secs(5);

    pub(super) async fn run(context: Arc<WorkerContext>) {
        while !context.is_stopping() {
            record(&context).await;
            let interval = INTERVAL.max(context.settings.poll_interval);
            context.sleep(interval).await;
        }
    }

    async fn record(context: &WorkerContext) {
        let stats = context.stores.deliveries.queue_stats(context.now());
        match context.with_step_timeout(stats).await {
            Ok(stats) => {
                recorder::record_queue(&QueueSample {
                    depth: stats.depth,
                    age: stats.oldest_age.unwrap_or_default(),
                    dead: stats.dead,
                    disabled_endpoints: stats.disabled_endpoints,
                    retrying: stats.retrying,
                    latest_retry_at: stats.latest_retry_at.map_or(0, Timestamp::as_millis),
                });
            }
            Err(error) => {
                recorder::record_store_error(STORE);
                tracing::warn!(error = %ErrorChain(&error), "failed to read queue statistics");
            }
        }
    }
}
