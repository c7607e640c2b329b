//! Futures that panic, exceed a time limit, or lose the client that waits for them.

use std::any::Any;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::Duration;

use thiserror::Error;
use tracing::Instrument;

use crate::host::BackendError;
use crate::runtime::Runtime;

/// The host's code panicked, with this text if it is a literal. A formatted text may quote what somebody wrote; only the
/// panic hook sees it.
#[derive(Debug, Error)]
#[error("the host's code panicked: {0}")]
pub(crate) struct PanicError(&'static str);

impl PanicError {
    fn new(payload: &(dyn Any + Send)) -> Self {
        let text = payload.downcast_ref::<&'static str>();
        Self(text.copied().unwrap_or("see the output of the panic hook"))
    }
}

impl From<PanicError> for BackendError {
    fn from(panicked: PanicError) -> Self {
        Self::new(panicked)
    }
}

/// Runs `future`; a panic in it becomes an error like any other.
///
/// Whatever the panic left half-done is the host's own state: the library keeps none across an await.
pub(crate) async fn catch_panic<T, E: From<PanicError>>(
    future: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    let mut future = pin!(future);
    poll_fn(|context| {
        let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context)));
        polled.unwrap_or_else(|payload| Poll::Ready(Err(PanicError::new(&*payload).into())))
    })
    .await
}

/// Runs `future`; `None` when it is not ready after `limit`. One that is ready at once costs no timer.
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

/// Runs `future` to its end, whoever hangs up; `None` when the executor lost it.
pub(crate) async fn spawn_and_join<T: Send + 'static>(
    runtime: &dyn Runtime,
    future: impl Future<Output = T> + Send + 'static,
) -> Option<T> {
    let slot = Arc::new(Mutex::new(None));
    let filled = Arc::clone(&slot);
    let work = async move {
        let value = future.await;
        *filled.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
    };
    runtime.spawn(Box::pin(work.in_current_span())).await;
    slot.lock().unwrap_or_else(PoisonError::into_inner).take()
}
