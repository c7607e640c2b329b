//! Idempotency store.

use forum_api::async_trait;
use forum_api::host::OrInternal;
use forum_api::model::Timestamp;
use forum_api::store::sqlite_schema::idempotency::{
    COMPLETE, DELETE_EXPIRED, FIND, RELEASE, RESERVE,
};
use forum_api::store::{
    BackendResult, BeginOutcome, Completion, IdempotencyProgress, IdempotencyRecord,
    IdempotencyStore, IdempotentRequest, Reservation, ResourceIds, StoredResponse,
};
use sqlx::{FromRow, SqlitePool};

use crate::Result;

/// Idempotency keys in the table `forum_api_idempotency_keys`.
pub struct SqlxIdempotencyStore(pub SqlitePool);

#[async_trait]
impl IdempotencyStore for SqlxIdempotencyStore {
    async fn begin(
        &self,
        request: &IdempotentRequest,
        now: Timestamp,
    ) -> BackendResult<BeginOutcome> {
        let begun = begin(&self.0, request, now).await;
        begun.or_internal()
    }

    async fn complete(
        &self,
        reservation: &Reservation,
        completion: Completion,
    ) -> BackendResult<()> {
        let completed = complete(&self.0, reservation, completion).await;
        completed.or_internal()
    }
}

async fn begin(
    pool: &SqlitePool,
    request: &IdempotentRequest,
    now: Timestamp,
) -> Result<BeginOutcome> {
    let mut transaction = pool.begin_with("BEGIN IMMEDIATE").await?;
    let expired = now.saturating_sub(IdempotencyRecord::TTL);
    sqlx::query(DELETE_EXPIRED)
        .bind(expired.as_millis())
        .execute(&mut *transaction)
        .await?;
    let row: Option<KeyRow> = sqlx::query_as(FIND)
        .bind(request.token.as_str())
        .bind(&request.key)
        .fetch_optional(&mut *transaction)
        .await?;
    let record = row.map(KeyRow::into_record).transpose()?;
    if let Some(record) = record.filter(|record| !record.is_expired(now)) {
        transaction.commit().await?;
        return Ok(record.outcome_for(&request.fingerprint, now));
    }
    sqlx::query(RESERVE)
        .bind(request.token.as_str())
        .bind(&request.key)
        .bind(request.fingerprint.as_slice())
        .bind(now.as_millis())
        .execute(&mut *transaction)
        .await?;
    transaction.commit().await?;
    Ok(BeginOutcome::Reserved(request.reservation(now)))
}

async fn complete(
    pool: &SqlitePool,
    reservation: &Reservation,
    completion: Completion,
) -> Result<()> {
    let response = match completion {
        Completion::Responded(response) => Some(response),
        Completion::OutcomeUnknown => None,
        Completion::NotExecuted => return release(pool, reservation).await,
    };
    let resource = response.as_ref().map(|response| &response.resource);
    sqlx::query(COMPLETE)
        .bind(reservation.token.as_str())
        .bind(&reservation.key)
        .bind(reservation.started_at.as_millis())
        .bind(response.as_ref().map(|response| response.status))
        .bind(
            response
                .as_ref()
                .and_then(|response| response.location.as_deref()),
        )
        .bind(response.as_ref().map(|response| &*response.body))
        .bind(resource.and_then(|resource| resource.forum_id.as_ref().map(ToString::to_string)))
        .bind(resource.and_then(|resource| resource.thread_id.as_ref().map(ToString::to_string)))
        .bind(resource.and_then(|resource| resource.post_id.as_ref().map(ToString::to_string)))
        .execute(pool)
        .await?;
    Ok(())
}

async fn release(pool: &SqlitePool, reservation: &Reservation) -> Result<()> {
    sqlx::query(RELEASE)
        .bind(reservation.token.as_str())
        .bind(&reservation.key)
        .bind(reservation.started_at.as_millis())
        .execute(pool)
        .await?;
    Ok(())
}

/// A row of the table.
#[derive(FromRow)]
struct KeyRow {
    request: Vec<u8>,
    began_at: i64,
    ended: bool,
    status: Option<u16>,
    location: Option<String>,
    body: Option<Vec<u8>>,
    forum_id: Option<String>,
    thread_id: Option<String>,
    post_id: Option<String>,
}

impl KeyRow {
    fn into_record(self) -> Result<IdempotencyRecord> {
        Ok(IdempotencyRecord {
            fingerprint: self.request.as_slice().try_into()?,
            started_at: Timestamp::from_millis(self.began_at),
            progress: match self.ended {
                true => self.into_response()?.into(),
                false => IdempotencyProgress::InProgress,
            },
        })
    }

    /// Returns `None` for an unknown outcome.
    fn into_response(self) -> Result<Option<StoredResponse>> {
        let Some((status, body)) = self.status.zip(self.body) else {
            return Ok(None);
        };
        Ok(Some(StoredResponse {
            status,
            location: self.location,
            body: body.into(),
            resource: ResourceIds {
                forum_id: self.forum_id.map(|id| id.parse()).transpose()?,
                thread_id: self.thread_id.map(|id| id.parse()).transpose()?,
                post_id: self.post_id.map(|id| id.parse()).transpose()?,
            },
        }))
    }
}
