//! Idempotency store.

use async_trait::async_trait;

use super::{SqlExecutor, SqlStore, Statement};
use crate::error::BackendResult;
use crate::model::Timestamp;
use crate::store::sqlite_schema::idempotency::{COMPLETE, RELEASE};
use crate::store::{BeginOutcome, Completion, IdempotencyStore, IdempotentRequest, Reservation};

#[async_trait]
impl<E: SqlExecutor> IdempotencyStore for SqlStore<E> {
    async fn begin(
        &self,
        request: &IdempotentRequest,
        now: Timestamp,
    ) -> BackendResult<BeginOutcome> {
        self.0.begin(request, now).await
    }

    async fn complete(
        &self,
        reservation: &Reservation,
        completion: Completion,
    ) -> BackendResult<()> {
        let Reservation { namespace, key, started_at } = reservation;
        let run = [namespace.as_str().into(), key.as_str().into(), (*started_at).into()];
        let response = match &completion {
            Completion::Responded(response) => Some(response),
            Completion::OutcomeUnknown => None,
            Completion::NotExecuted => {
                let release = Statement::new(RELEASE, run);
                return self.0.change(release.urgent()).await.map(drop);
            }
        };
        let resource = response.map(|response| &response.resource);
        let result = [
            response.map(|response| response.status).into(),
            response.and_then(|response| response.location.as_deref()).into(),
            response.map(|response| &*response.body).into(),
            resource.and_then(|resource| resource.forum_id.as_ref()).into(),
            resource.and_then(|resource| resource.thread_id.as_ref()).into(),
            resource.and_then(|resource| resource.post_id.as_ref()).into(),
        ];
        let complete = Statement::new(COMPLETE, run.into_iter().chain(result));
        self.0.change(complete.urgent()).await.map(drop)
    }
}
