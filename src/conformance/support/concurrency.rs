//! Work that runs at the same time.

use std::future::{Future, poll_fn};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;

use crate::runtime::{BoxFuture, Runtime};

/// Runs all of `works` at once where `runtime` runs work, and gives what came of each.
pub(crate) async fn race<T: Send + 'static>(
    runtime: &dyn Runtime,
    works: impl IntoIterator<Item = impl Future<Output = T> + Send + 'static>,
) -> Vec<T> {
    let done = Arc::new(Mutex::new(Vec::new()));
    let detached = works.into_iter().map(|work| {
        let done = Arc::clone(&done);
        runtime.detach(Box::pin(async move {
            let value = work.await;
            let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
            done.push(value);
        }))
    });
    all(detached.collect()).await;
    let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
    std::mem::take(&mut *done)
}

/// Ready when all of them are.
async fn all(mut works: Vec<BoxFuture<'static, ()>>) {
    poll_fn(|context| {
        works.retain_mut(|work| work.as_mut().poll(context).is_pending());
        match works.is_empty() {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    })
    .await;
}
