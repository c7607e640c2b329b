//! What a panic and a deadline make of a future.

use std::any::Any;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use super::problem::Problem;
use crate::clock::Runtime;

/// Runs `future`; a panic in it becomes an internal error.
///
/// Whatever the panic left half-done is the host's own state: the library keeps none across an await.
pub(super) async fn caught<T>(
    future: impl Future<Output = Result<T, Problem>>,
) -> Result<T, Problem> {
    let mut future = pin!(future);
    poll_fn(|context| {
        let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context)));
        polled.unwrap_or_else(|payload| Poll::Ready(Err(Problem::internal(reason(&*payload)))))
    })
    .await
}

/// What the log says of a panic: the text that it was given, if it was one.
fn reason(payload: &(dyn Any + Send)) -> String {
    let owned = || payload.downcast_ref().map(String::as_str);
    let text = payload.downcast_ref().copied().or_else(owned);
    format!("the host's code panicked: {}", text.unwrap_or("no text"))
}

/// Runs `future`; `None` when it is not ready after `limit`. One that is ready at once costs no timer.
pub(super) async fn within<T>(
    runtime: &dyn Runtime,
    limit: Duration,
    future: impl Future<Output = T>,
) -> Option<T> {
    let mut future = pin!(future);
    let mut bell = None;
    poll_fn(|context| {
        if let Poll::Ready(value) = future.as_mut().poll(context) {
            return Poll::Ready(Some(value));
        }
        let bell = bell.get_or_insert_with(|| runtime.sleep(limit));
        bell.as_mut().poll(context).map(|()| None)
    })
    .await
}
