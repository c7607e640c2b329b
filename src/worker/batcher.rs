//! Loops that record the progress of attempts. Concurrent submissions are recorded in one call of the store.

use std::collections::HashSet;
use std::future::Future;
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};

use super::context::{STORE, WorkerContext};
use crate::error::{BackendError, BackendResult};
use crate::error_chain::ErrorChain;
use crate::metrics::recorder;
use crate::model::DeliveryId;
use crate::store::{ClaimedDelivery, Settlement};

/// Largest number of items that are recorded in one call.
const BATCH: usize = 64;

/// Handle of a loop. The loop ends when the handle is dropped.
struct Batcher<T, R>(mpsc::UnboundedSender<Submission<T, R>>);

/// An item and the channel for its result.
type Submission<T, R> = (T, oneshot::Sender<R>);

/// Submissions in the order in which they were made.
type Batch<T, R> = Vec<Submission<T, R>>;

/// An item of a batch.
trait OfDelivery: Send + 'static {
    fn delivery_id(&self) -> &DeliveryId;
}

impl OfDelivery for ClaimedDelivery {
    fn delivery_id(&self) -> &DeliveryId {
        &self.delivery.id
    }
}

impl OfDelivery for Settlement {
    fn delivery_id(&self) -> &DeliveryId {
        &self.delivery_id
    }
}

impl<T: OfDelivery, R: Send + 'static> Batcher<T, R> {
    fn start<F>(
        context: &Arc<WorkerContext>,
        record: fn(Arc<WorkerContext>, Batch<T, R>) -> F,
    ) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let (sender, mut submissions) = mpsc::unbounded_channel();
        context.spawn(|context| async move {
            let mut waiting = Vec::new();
            while !waiting.is_empty() || submissions.recv_many(&mut waiting, BATCH).await > 0 {
                let (batch, repeated) = split_repeated(waiting);
                record(Arc::clone(&context), batch).await;
                waiting = repeated;
            }
        });
        Self(sender)
    }

    /// Records an item; `None` if the result of recording is not known within `step_timeout`.
    async fn submit(&self, context: &WorkerContext, item: T) -> Option<R> {
        let (sender, result) = oneshot::channel();
        self.0.send((item, sender)).ok()?;
        let result = context.within(context.settings.step_timeout, result).await;
        result?.ok()
    }
}

/// Separates the items of deliveries that occur in the batch before them: a call of the store contains a delivery once. An
/// item of an expired lease can wait while the same worker attempts the delivery under its next lease.
fn split_repeated<T: OfDelivery, R>(submissions: Batch<T, R>) -> (Batch<T, R>, Batch<T, R>) {
    let mut ids = HashSet::new();
    let is_first = |(item, _): &Submission<T, R>| ids.insert(item.delivery_id().clone());
    submissions.into_iter().partition(is_first)
}

/// Batchers for the start of sending and for the results of attempts.
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

    /// Records that sending begins; `false` if the lease is no longer valid.
    pub(super) async fn begin_sending(
        &self,
        context: &WorkerContext,
        claimed: &ClaimedDelivery,
    ) -> BackendResult<bool> {
        let result = self.starts.submit(context, claimed.clone()).await;
        let timeout = || BackendError::new("timed out recording the start of the attempt");
        result.unwrap_or_else(|| Err(timeout()))
    }

    /// Records the result of an attempt; `false` if its lease was no longer valid, `None` if the outcome of recording is
    /// unknown.
    pub(super) async fn settle(
        &self,
        context: &WorkerContext,
        settlement: Settlement,
    ) -> Option<bool> {
        self.settlements.submit(context, settlement).await
    }
}

/// Records the start of sending. Omits an attempt that no longer waits for the record, because the worker releases its
/// delivery.
async fn begin_sending(
    context: Arc<WorkerContext>,
    mut batch: Batch<ClaimedDelivery, BackendResult<bool>>,
) {
    batch.retain(|(_, sender)| !sender.is_closed());
    if batch.is_empty() {
        return;
    }
    let (claimed, senders): (Vec<_>, Vec<_>) = batch.into_iter().unzip();
    let deliveries = &context.stores.deliveries;
    let begin = async { deliveries.begin_sending(&claimed, context.now()).await };
    let result = context.with_step_timeout(begin).await;
    if result.is_err() {
        recorder::record_store_error(STORE);
    }
    for (one, sender) in claimed.iter().zip(senders) {
        let is_begun = match &result {
            Ok(begun) => Ok(begun.contains(&one.delivery.id)),
            Err(error) => Err(BackendError::new(ErrorChain(error).to_string())),
        };
        sender.send(is_begun).unwrap_or_default();
    }
}

/// Settles a batch. If the store fails, settles each item separately, so that an invalid item does not affect others.
async fn settle(context: Arc<WorkerContext>, batch: Batch<Settlement, bool>) {
    let (settlements, senders): (Vec<_>, Vec<_>) = batch.into_iter().unzip();
    let deliveries = &context.stores.deliveries;
    let settling = async { deliveries.settle(&settlements, context.now()).await };
    match context.with_step_timeout(settling).await {
        Ok(settled) => {
            for (one, sender) in settlements.iter().zip(senders) {
                let is_settled = settled.contains(&one.delivery_id);
                sender.send(is_settled).unwrap_or_default();
            }
        }
        Err(error) => {
            context.record_store_failure(&error, 1);
            for one in settlements.into_iter().zip(senders) {
                context.spawn(|context| settle_single(context, one));
            }
        }
    }
}

async fn settle_single(context: Arc<WorkerContext>, (one, sender): Submission<Settlement, bool>) {
    let settled = context.retry_with_backoff(|| settle_again(&context, &one)).await;
    if let Some(is_settled) = settled {
        sender.send(is_settled).unwrap_or_default();
    }
}

/// Settles an item. Returns `true` if this call or an earlier one recorded the result: a call that failed can have recorded
/// it, and has then ended the lease.
async fn settle_again(context: &WorkerContext, one: &Settlement) -> BackendResult<bool> {
    let deliveries = &context.stores.deliveries;
    let settled = deliveries.settle(std::slice::from_ref(one), context.now()).await?;
    if !settled.is_empty() {
        return Ok(true);
    }
    let found = deliveries.find(&one.delivery_id).await?;
    Ok(found.is_some_and(|(delivery, attempts)| match &one.attempt {
        Some(attempt) => attempts.contains(attempt),
        None => delivery.progress.state == one.progress.state,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A submission for a delivery, with the number of the submission.
    struct Item(DeliveryId, u32);

    impl OfDelivery for Item {
        fn delivery_id(&self) -> &DeliveryId {
            &self.0
        }
    }

    #[test]
    fn each_batch_has_the_first_waiting_item_of_a_delivery() {
        let numbers =
            |batch: &Batch<Item, ()>| -> Vec<_> { batch.iter().map(|(item, _)| item.1).collect() };
        let items = (0..).zip(["dlv_1", "dlv_2", "dlv_1", "dlv_1", "dlv_2"]);
        let mut waiting: Batch<Item, ()> = items
            .map(|(number, id)| {
                (Item(DeliveryId::parse(id).unwrap(), number), oneshot::channel().0)
            })
            .collect();
        for expected in [vec![0, 1], vec![2, 4], vec![3]] {
            let (batch, repeated) = split_repeated(waiting);
            assert_eq!(numbers(&batch), expected);
            waiting = repeated;
        }
        assert!(waiting.is_empty());
    }
}
