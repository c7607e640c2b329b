//! A request body that never ends.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame};

/// A body that never ends. Clones record together whether one of them was polled.
#[derive(Clone, Debug, Default)]
pub struct EndlessBody(Arc<AtomicBool>);

impl EndlessBody {
    pub fn was_polled(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

impl Body for EndlessBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.store(true, Ordering::SeqCst);
        Poll::Pending
    }
}
