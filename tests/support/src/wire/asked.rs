//! A board that knows whether it is being asked.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use forum_api::async_trait;
use forum_api::host::{Authority, Standing, Stored};
use forum_api::model::UserId;

/// Counts the questions that have no answer yet.
pub(super) struct Asked {
    inner: Arc<dyn Authority>,
    open: Arc<AtomicUsize>,
}

impl Asked {
    /// In front of `inner`, with the count.
    pub(super) fn new(inner: Arc<dyn Authority>) -> (Arc<Self>, Arc<AtomicUsize>) {
        let open = Arc::new(AtomicUsize::new(0));
        let counted = open.clone();
        (Arc::new(Self { inner, open }), counted)
    }
}

#[async_trait]
impl Authority for Asked {
    async fn guest(&self) -> Stored<Standing> {
        self.inner.guest().await
    }

    async fn member(&self, owner: &UserId) -> Stored<Option<Standing>> {
        self.open.fetch_add(1, Ordering::SeqCst);
        let standing = self.inner.member(owner).await;
        self.open.fetch_sub(1, Ordering::SeqCst);
        standing
    }
}
