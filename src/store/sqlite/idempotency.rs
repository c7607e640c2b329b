//! Reservation of idempotency keys.

use rusqlite::{Connection, params};

use super::execute::{Result, change, first};
use crate::model::Timestamp;
use crate::store::sql::read_idempotency_record;
use crate::store::sqlite_schema::idempotency::{DELETE_EXPIRED, FIND, RESERVE};
use crate::store::{BeginOutcome, IdempotencyRecord, IdempotentRequest};

/// Deletes a few expired keys, and reserves the key unless it is reserved.
pub(super) fn begin(
    connection: &Connection,
    request: &IdempotentRequest,
    now: Timestamp,
) -> Result<BeginOutcome> {
    let expired = now.saturating_sub(IdempotencyRecord::TTL);
    change(connection, DELETE_EXPIRED, [expired])?;
    let namespace = request.namespace.as_str();
    let key = params![namespace, request.key];
    let record = first(connection, FIND, key, read_idempotency_record)?;
    if let Some(record) = record.filter(|record| !record.is_expired(now)) {
        return Ok(record.outcome_for(&request.fingerprint, now));
    }
    let row = params![namespace, request.key, request.fingerprint, now];
    change(connection, RESERVE, row)?;
    Ok(BeginOutcome::Reserved(request.reservation(now)))
}
