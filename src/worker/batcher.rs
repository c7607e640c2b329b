//! Loops that record the progress of attempts: what is submitted at the same time goes to the store in one call.

use std::future::Future;
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};

use super::context::WorkerContext;
use crate::error::{BackendError, BackendResult};
use crate::metrics::recorder;
use crate::store::{ClaimedDelivery, Settlement};

/// Largest number of items that are recorded in one call.
const BATCH: usize = 64;

/// The handle of a loop, which ends with the last clone of the handle.
struct Batcher<T, R>(mpsc::UnboundedSender<Submitted<T, R>>);

/// An item, and the sender of its result.
type Submitted<T, R> = (T, oneshot::Sender<R>);

impl<T: Send + 'static, R: Send + 'static> Batcher<T, R> {
    fn start<F>(
        context: &Arc<WorkerContext>,
        record: fn(Arc<WorkerContext>, Vec<Submitted<T, R>>) -> F,
    ) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let (sender, mut submitted) = mpsc::unbounded_channel();
        context.spawn(|context| async move {
            let mut batch = Vec::new();
            while submitted.recv_many(&mut batch, BATCH).await > 0 {
                record(Arc::clone(&context), std::mem::take(&mut batch)).await;
            }
        });
        Self(sender)
    }

    /// Records an item; `None` when its result is not known within a step.
    async fn submit(&self, context: &WorkerContext, item: T) -> Option<R> {
        let (sender, result) = oneshot::channel();
        self.0.send((item, sender)).ok()?;
        let result = context.within(context.settings.step_timeout, result).await;
        result?.ok()
    }
}

/// Records that attempts begin to send, and how they end.
pub(super) struct Batchers {
    starts: Batcher<ClaimedDelivery, BackendResult<bool>>,
    settlements: Batcher<Settlement, bool>,
}

impl Batchers {
    pub(super) fn start(context: &Arc<WorkerContext>) -> Self {
        Self {
            starts: Batcher::start(context, begin_sending),
            settlements: Batcher::start(context, settle),
        }
    }

    /// Records that sending begins; `false` when the lease is not in force any more.
    pub(super) async fn begin_sending(
        &self,
        context: &WorkerContext,
        claimed: &ClaimedDelivery,
    ) -> BackendResult<bool> {
        let begun = self.starts.submit(context, claimed.clone()).await;
        begun.unwrap_or_else(|| {
            Err(BackendError::new(
                "timed out recording the start of the attempt",
            ))
        })
    }

    /// Records how an attempt ended; `false` when its lease was not in force any more, and `None` when it is not known to
    /// be recorded.
    pub(super) async fn settle(
        &self,
        context: &WorkerContext,
        settlement: Settlement,
    ) -> Option<bool> {
        self.settlements.submit(context, settlement).await
    }
}

async fn begin_sending(
    context: Arc<WorkerContext>,
    batch: Vec<Submitted<ClaimedDelivery, BackendResult<bool>>>,
) {
    let (claimed, senders): (Vec<_>, Vec<_>) = batch.into_iter().unzip();
    let deliveries = &context.stores.deliveries;
    let begin = async { deliveries.begin_sending(&claimed, context.now()).await };
    let begun = context.with_step_timeout(begin).await;
    if begun.is_err() {
        recorder::record_store_error("webhooks");
    }
    for (one, sender) in claimed.iter().zip(senders) {
        let begun = match &begun {
            Ok(begun) => Ok(begun.contains(&one.delivery.id)),
            Err(fault) => Err(BackendError::new(fault.to_string())),
        };
        sender.send(begun).unwrap_or_default();
    }
}

/// Settles a batch, or each settlement alone when the store refuses the batch: one bad settlement affects no other.
async fn settle(context: Arc<WorkerContext>, batch: Vec<Submitted<Settlement, bool>>) {
    let (settlements, senders): (Vec<_>, Vec<_>) = batch.into_iter().unzip();
    let deliveries = &context.stores.deliveries;
    let settle = async { deliveries.settle(&settlements, context.now()).await };
    match context.with_step_timeout(settle).await {
        Ok(settled) => {
            for (one, sender) in settlements.iter().zip(senders) {
                let is_settled = settled.contains(&one.delivery);
                sender.send(is_settled).unwrap_or_default();
            }
        }
        Err(fault) => {
            context.store_failed(&fault, 1);
            for one in settlements.into_iter().zip(senders) {
                context.spawn(|context| settle_single(context, one));
            }
        }
    }
}

async fn settle_single(context: Arc<WorkerContext>, (one, sender): Submitted<Settlement, bool>) {
    let (deliveries, one) = (&context.stores.deliveries, std::slice::from_ref(&one));
    let settled = context.retry_with_backoff(|| deliveries.settle(one, context.now()));
    if let Some(settled) = settled.await {
        sender.send(!settled.is_empty()).unwrap_or_default();
    }
}
