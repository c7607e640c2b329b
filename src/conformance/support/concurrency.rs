//! Concurrent execution of futures.

use std::future::poll_fn;
use std::sync::mpsc;
use std::task::Poll;

use super::{TestFailure, TestResult};
use crate::runtime;

/// Runs all `futures` concurrently and returns their values in no particular order, or one of their errors.
pub(crate) async fn succeed_concurrently<
    T: Send + 'static,
    E: Into<TestFailure> + Send + 'static,
>(
    futures: impl IntoIterator<Item = impl Future<Output = Result<T, E>> + Send + 'static>,
) -> TestResult<Vec<T>> {
    let results = run_concurrently(futures).await.into_iter();
    results.map(|result| result.map_err(E::into)).collect()
}

/// Runs all `futures` concurrently and returns their results in no particular order.
pub(crate) async fn run_concurrently<T: Send + 'static>(
    futures: impl IntoIterator<Item = impl Future<Output = T> + Send + 'static>,
) -> Vec<T> {
    let runtime = runtime::of_test();
    let (sender, results) = mpsc::channel();
    let spawn = |future| {
        let sender = sender.clone();
        let send = async move { drop(sender.send(future.await)) };
        runtime.spawn(Box::pin(send))
    };
    let mut running: Vec<_> = futures.into_iter().map(spawn).collect();
    // Polls the tasks in turn, because an `InlineRuntime` runs them only when they are polled.
    poll_fn(move |context| {
        running.retain_mut(|task| task.as_mut().poll(context).is_pending());
        if running.is_empty() { Poll::Ready(results.try_iter().collect()) } else { Poll::Pending }
    })
    .await
}
