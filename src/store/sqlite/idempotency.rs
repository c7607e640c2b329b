//! Idempotency store.

use async_trait::async_trait;
use rusqlite::{Connection, Result, Row, params};

use super::Database;
use super::execute::{change, first};
use super::rows::read_response;
use crate::error::BackendResult;
use crate::model::Timestamp;
use crate::store::sqlite_schema::idempotency::{COMPLETE, DELETE_EXPIRED, FIND, RELEASE, RESERVE};
use crate::store::{
    BeginOutcome, Completion, IdempotencyProgress, IdempotencyRecord, IdempotencyStore,
    IdempotentRequest, Reservation,
};

/// Idempotency keys in the table `forum_api_idempotency_keys`. Each [`begin`](IdempotencyStore::begin) deletes a few expired
/// rows.
#[derive(Clone, Debug)]
pub struct SqliteIdempotencyStore(Database);

impl SqliteIdempotencyStore {
    /// Creates a store in `database`.
    pub const fn new(database: Database) -> Self {
        Self(database)
    }
}

#[async_trait]
impl IdempotencyStore for SqliteIdempotencyStore {
    async fn begin(
        &self,
        request: &IdempotentRequest,
        now: Timestamp,
    ) -> BackendResult<BeginOutcome> {
        let request = request.clone();
        self.0
            .write(move |savepoint| Ok(begin(savepoint, &request, now)?))
            .await
    }

    async fn complete(
        &self,
        reservation: &Reservation,
        completion: Completion,
    ) -> BackendResult<()> {
        let reservation = reservation.clone();
        self.0
            .write_completion(move |savepoint| Ok(complete(savepoint, &reservation, completion)?))
            .await
    }
}

fn begin(
    connection: &Connection,
    request: &IdempotentRequest,
    now: Timestamp,
) -> Result<BeginOutcome> {
    let expired = now.saturating_sub(IdempotencyRecord::TTL);
    change(connection, DELETE_EXPIRED, [expired])?;
    let key = params![request.token, request.key];
    let record = first(connection, FIND, key, read_record)?;
    if let Some(record) = record.filter(|record| !record.is_expired(now)) {
        return Ok(record.outcome_for(&request.fingerprint, now));
    }
    let row = params![request.token, request.key, request.fingerprint, now];
    change(connection, RESERVE, row)?;
    Ok(BeginOutcome::Reserved(request.reservation(now)))
}

fn complete(
    connection: &Connection,
    reservation: &Reservation,
    completion: Completion,
) -> Result<()> {
    let Reservation {
        token,
        key,
        started_at,
    } = reservation;
    let response = match &completion {
        Completion::Responded(response) => Some(response),
        Completion::OutcomeUnknown => None,
        Completion::NotExecuted => {
            return change(connection, RELEASE, params![token, key, started_at]).map(drop);
        }
    };
    let resource = response.map(|response| &response.resource);
    let row = params![
        token,
        key,
        started_at,
        response.map(|response| response.status),
        response.and_then(|response| response.location.as_deref()),
        response.map(|response| &*response.body),
        resource.and_then(|resource| resource.forum_id.as_ref()),
        resource.and_then(|resource| resource.thread_id.as_ref()),
        resource.and_then(|resource| resource.post_id.as_ref()),
    ];
    change(connection, COMPLETE, row).map(drop)
}

fn read_record(row: &Row<'_>) -> Result<IdempotencyRecord> {
    let has_ended: bool = row.get("ended")?;
    Ok(IdempotencyRecord {
        fingerprint: row.get("request")?,
        started_at: row.get("began_at")?,
        progress: match has_ended {
            true => read_response(row)?.into(),
            false => IdempotencyProgress::InProgress,
        },
    })
}
