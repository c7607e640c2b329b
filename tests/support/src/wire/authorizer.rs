//! An authorizer that counts its calls in progress.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use forum_api::async_trait;
use forum_api::host::{Access, Authorizer, BackendResult, RequestInfo};
use forum_api::model::UserId;

pub(super) struct CountingAuthorizer {
    pub(super) inner: Arc<dyn Authorizer>,
    pub(super) in_progress: Arc<AtomicUsize>,
}

#[async_trait]
impl Authorizer for CountingAuthorizer {
    async fn guest_access(&self, request: &RequestInfo) -> BackendResult<Access> {
        self.inner.guest_access(request).await
    }

    async fn member_access(
        &self,
        member: &UserId,
        request: &RequestInfo,
    ) -> BackendResult<Option<Access>> {
        self.in_progress.fetch_add(1, Ordering::SeqCst);
        let access = self.inner.member_access(member, request).await;
        self.in_progress.fetch_sub(1, Ordering::SeqCst);
        access
    }
}
