//! A board that knows whether it is being asked.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use forum_api::async_trait;
use forum_api::host::{Access, Authorizer, BackendResult};
use forum_api::model::UserId;

/// Counts the questions that have no answer yet.
pub(super) struct Asked {
    inner: Arc<dyn Authorizer>,
    open: Arc<AtomicUsize>,
}

impl Asked {
    /// In front of `inner`, with the count.
    pub(super) fn new(inner: Arc<dyn Authorizer>) -> (Arc<Self>, Arc<AtomicUsize>) {
        let open = Arc::new(AtomicUsize::new(0));
        let counted = open.clone();
        (Arc::new(Self { inner, open }), counted)
    }
}

#[async_trait]
impl Authorizer for Asked {
    async fn guest_access(&self) -> BackendResult<Access> {
        self.inner.guest_access().await
    }

    async fn member_access(&self, owner: &UserId) -> BackendResult<Option<Access>> {
        self.open.fetch_add(1, Ordering::SeqCst);
        let standing = self.inner.member_access(owner).await;
        self.open.fetch_sub(1, Ordering::SeqCst);
        standing
    }
}
