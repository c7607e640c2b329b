//! Future combinators: conversion of panics to errors, timeouts, concurrency, and tasks that complete even if the
//! client disconnects.

use std::any::Any;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use thiserror::Error;
use tracing::Instrument;

use crate::host::BackendError;
use crate::lock::lock;
use crate::runtime::Runtime;

/// Error of host code that panicked. Holds the message only for `&'static str` payloads: a formatted message can
/// contain user content. The panic hook prints both kinds of messages.
#[derive(Debug, Error)]
#[error("the host's code panicked: {0}")]
struct PanicError(&'static str);

impl PanicError {
    fn new(payload: &(dyn Any + Send)) -> Self {
        let text = payload.downcast_ref::<&'static str>();
        Self(text.copied().unwrap_or("see the output of the panic hook"))
    }
}

/// Runs `future` and converts a panic to an error.
///
/// Unwind safety: a panic can only leave the host's own state inconsistent, because values that the library holds across
/// an await restore their state when they are dropped.
pub(crate) async fn catch_panic<T, E: From<BackendError>>(
    future: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    let mut future = pin!(future);
    poll_fn(|context| {
        let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context)));
        polled.unwrap_or_else(|payload| {
            let panic = BackendError::new(PanicError::new(&*payload));
            Poll::Ready(Err(panic.into()))
        })
    })
    .await
}

/// Runs `future`. Returns `None` after `limit`. Creates no timer if the future is ready when it is polled first.
pub(crate) async fn timeout<T>(
    runtime: &dyn Runtime,
    limit: Duration,
    future: impl Future<Output = T>,
) -> Option<T> {
    let mut future = pin!(future);
    let mut timer = None;
    poll_fn(|context| {
        if let Poll::Ready(value) = future.as_mut().poll(context) {
            return Poll::Ready(Some(value));
        }
        let timer = timer.get_or_insert_with(|| runtime.sleep(limit));
        timer.as_mut().poll(context).map(|()| None)
    })
    .await
}

/// Runs futures concurrently, and returns their values in the order of the futures.
#[cfg(feature = "panel")]
pub(crate) async fn join_all<F: Future>(futures: impl IntoIterator<Item = F>) -> Vec<F::Output> {
    let pinned = futures.into_iter().map(Box::pin);
    let mut pending: Vec<_> = pinned.map(|future| (future, None)).collect();
    poll_fn(|context| {
        let mut joined = Poll::Ready(());
        for (future, value) in pending.iter_mut().filter(|(_, value)| value.is_none()) {
            match future.as_mut().poll(context) {
                Poll::Ready(output) => *value = Some(output),
                Poll::Pending => joined = Poll::Pending,
            }
        }
        joined
    })
    .await;
    pending.into_iter().filter_map(|(_, value)| value).collect()
}

/// Runs `future` as a task and waits for it. The task completes even if the returned future is dropped.
///
/// Returns `None` if the runtime dropped the task.
pub(crate) fn spawn_and_join<'r, T: Send + 'static>(
    runtime: &'r dyn Runtime,
    future: impl Future<Output = T> + Send + 'static,
) -> impl Future<Output = Option<T>> + Send + 'r {
    let slot = Arc::new(Mutex::new(None));
    let filled = Arc::clone(&slot);
    let work = async move {
        let value = future.await;
        *lock(&filled) = Some(value);
    };
    let task = runtime.spawn(Box::pin(work.in_current_span()));
    async move {
        task.await;
        lock(&slot).take()
    }
}
