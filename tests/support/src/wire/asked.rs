//! A board that knows whether it is being asked.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use forum_api::async_trait;
use forum_api::host::{Access, Authorizer, BackendResult};
use forum_api::model::UserId;

/// Counts the questions that have no answer yet.
pub(super) struct CountingAuthorizer {
    inner: Arc<dyn Authorizer>,
    in_progress: Arc<AtomicUsize>,
}

impl CountingAuthorizer {
    /// In front of `inner`, with the count.
    pub(super) fn new(inner: Arc<dyn Authorizer>) -> (Arc<Self>, Arc<AtomicUsize>) {
        let open = Arc::new(AtomicUsize::new(0));
        let counted = open.clone();
        (Arc::new(Self { inner, in_progress: open }), counted)
    }
}

#[async_trait]
impl Authorizer for CountingAuthorizer {
    async fn guest_access(&self) -> BackendResult<Access> {
        self.inner.guest_access().await
    }

    async fn member_access(&self, owner: &UserId) -> BackendResult<Option<Access>> {
        self.in_progress.fetch_add(1, Ordering::SeqCst);
        let standing = self.inner.member_access(owner).await;
        self.in_progress.fetch_sub(1, Ordering::SeqCst);
        standing
    }
}
