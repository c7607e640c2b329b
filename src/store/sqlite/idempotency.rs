//! Idempotency store.

use async_trait::async_trait;
use rusqlite::{Connection, Result, Row, params};

use super::Database;
use super::execute::{change, first};
use crate::error::BackendResult;
use crate::model::Timestamp;
use crate::store::{
    BeginOutcome, Completion, IdempotencyRecord, IdempotencyStore, IdempotentRequest, Reservation,
    ResourceIds, StoredResponse,
};

const FORGET: &str = include_str!("sql/forget_keys.sql");

const FIND: &str = "SELECT * FROM forum_api_idempotency_keys WHERE token = ?1 AND key = ?2";

/// Replaces a key that is expired and not deleted yet.
const RESERVE: &str = "
    REPLACE INTO forum_api_idempotency_keys (token, key, request, began_at)
    VALUES (?1, ?2, ?3, ?4)";

const COMPLETE: &str = include_str!("sql/complete.sql");

const FREE: &str = "
    DELETE FROM forum_api_idempotency_keys WHERE token = ?1 AND key = ?2 AND began_at = ?3";

/// Idempotency keys in the table `forum_api_idempotency_keys`. Each [`begin`](Idempotency::begin) deletes a few expired
/// rows.
#[derive(Clone, Debug)]
pub struct SqliteIdempotencyStore(Database);

impl SqliteIdempotencyStore {
    /// Idempotency keys in `database`.
    pub const fn new(database: Database) -> Self {
        Self(database)
    }
}

#[async_trait]
impl IdempotencyStore for SqliteIdempotencyStore {
    async fn begin(
        &self,
        attempt: &IdempotentRequest,
        now: Timestamp,
    ) -> BackendResult<BeginOutcome> {
        let attempt = attempt.clone();
        self.0
            .write(move |savepoint| Ok(begin(savepoint, &attempt, now)?))
            .await
    }

    async fn complete(&self, ticket: &Reservation, outcome: Completion) -> BackendResult<()> {
        let ticket = ticket.clone();
        self.0
            .write_completion(move |savepoint| Ok(complete(savepoint, &ticket, outcome)?))
            .await
    }
}

fn begin(
    connection: &Connection,
    attempt: &IdempotentRequest,
    now: Timestamp,
) -> Result<BeginOutcome> {
    let expired = now.saturating_sub(IdempotencyRecord::TTL);
    change(connection, FORGET, [expired])?;
    let key = params![attempt.token, attempt.key];
    let known = first(connection, FIND, key, read_record)?.filter(|entry| !entry.is_expired(now));
    if let Some(entry) = known {
        return Ok(entry.outcome_for(&attempt.fingerprint, now));
    }
    let row = params![attempt.token, attempt.key, attempt.fingerprint, now];
    change(connection, RESERVE, row)?;
    Ok(BeginOutcome::Reserved(attempt.reservation(now)))
}

fn complete(connection: &Connection, ticket: &Reservation, outcome: Completion) -> Result<()> {
    let Reservation {
        token,
        key,
        started_at: began,
    } = ticket;
    let kept = match outcome {
        Completion::Responded(kept) => Some(kept),
        Completion::OutcomeUnknown => None,
        Completion::NotExecuted => {
            return change(connection, FREE, params![token, key, began]).map(drop);
        }
    };
    let kept = kept.as_ref();
    let resource = kept.map(|kept| &kept.resource);
    let row = params![
        token,
        key,
        began,
        kept.map(|kept| kept.status),
        kept.and_then(|kept| kept.location.as_deref()),
        kept.map(|kept| &*kept.body),
        resource.and_then(|resource| resource.forum_id.as_ref()),
        resource.and_then(|resource| resource.thread_id.as_ref()),
        resource.and_then(|resource| resource.post_id.as_ref()),
    ];
    change(connection, COMPLETE, row).map(drop)
}

fn read_record(row: &Row<'_>) -> Result<IdempotencyRecord> {
    let ended: bool = row.get("ended")?;
    Ok(IdempotencyRecord {
        fingerprint: row.get("request")?,
        started_at: row.get("began_at")?,
        completion: ended.then(|| read_response(row)).transpose()?,
    })
}

/// Returns `None` for an unknown outcome.
fn read_response(row: &Row<'_>) -> Result<Option<StoredResponse>> {
    let Some(status) = row.get("status")? else {
        return Ok(None);
    };
    let body: Vec<u8> = row.get("body")?;
    Ok(Some(StoredResponse {
        status,
        location: row.get("location")?,
        body: body.into(),
        resource: ResourceIds {
            forum_id: row.get("forum_id")?,
            thread_id: row.get("thread_id")?,
            post_id: row.get("post_id")?,
        },
    }))
}
