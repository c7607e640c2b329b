//! Futures that run at the same time.

use std::future::poll_fn;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;

use crate::runtime::Runtime;

/// Runs all `works` at once on `runtime` and returns their results, in no order.
pub(crate) async fn race<T: Send + 'static>(
    runtime: &dyn Runtime,
    works: impl IntoIterator<Item = impl Future<Output = T> + Send + 'static>,
) -> Vec<T> {
    let results = Arc::new(Mutex::new(Vec::new()));
    let detached = works.into_iter().map(|work| {
        let results = Arc::clone(&results);
        runtime.spawn(Box::pin(async move {
            let result = work.await;
            let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
            results.push(result);
        }))
    });
    let mut running: Vec<_> = detached.collect();
    poll_fn(|context| {
        running.retain_mut(|work| work.as_mut().poll(context).is_pending());
        match running.is_empty() {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    })
    .await;
    let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
    std::mem::take(&mut *results)
}
