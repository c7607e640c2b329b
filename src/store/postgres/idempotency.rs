//! Idempotency store.

use async_trait::async_trait;

use super::deliveries::millis;
use super::execute::{Parameters, Result, RowReader};
use super::rows::read_response;
use super::{PostgresError, PostgresStore};
use crate::error::BackendResult;
use crate::model::Timestamp;
use crate::store::{
    BeginOutcome, Completion, IdempotencyProgress, IdempotencyRecord, IdempotencyStore,
    IdempotentRequest, Reservation,
};

const BEGIN: &str = include_str!("sql/begin.sql");

/// Records a response, or an unknown outcome, which has no status.
const COMPLETE: &str = "
UPDATE forum_api_idempotency_keys
SET ended = TRUE, status = $4, location = $5, body = $6, forum_id = $7, thread_id = $8, post_id = $9
WHERE token = $1 AND key = $2 AND began_at = $3";

const RELEASE: &str = "
DELETE FROM forum_api_idempotency_keys WHERE token = $1 AND key = $2 AND began_at = $3";

#[async_trait]
impl IdempotencyStore for PostgresStore {
    async fn begin(
        &self,
        request: &IdempotentRequest,
        now: Timestamp,
    ) -> BackendResult<BeginOutcome> {
        let now = self.clock.time(now);
        let ttl = millis(IdempotencyRecord::TTL);
        let fingerprint = request.fingerprint.as_slice();
        loop {
            let parameters: Parameters<'_> =
                &[&request.token, &request.key, &fingerprint, &now, &ttl];
            let row = self.first(BEGIN, parameters, read_begin).await?;
            if let Some((is_first, record, now)) = row {
                return Ok(match is_first {
                    true => BeginOutcome::Reserved(request.reservation(record.started_at)),
                    false => record.outcome_for(&request.fingerprint, now),
                });
            }
        }
    }

    async fn complete(
        &self,
        reservation: &Reservation,
        completion: Completion,
    ) -> BackendResult<()> {
        let Reservation {
            token,
            key,
            started_at,
        } = reservation;
        let response = match &completion {
            Completion::Responded(response) => Some(response),
            Completion::OutcomeUnknown => None,
            Completion::NotExecuted => {
                self.execute(RELEASE, &[token, key, started_at]).await?;
                return Ok(());
            }
        };
        let resource = response.map(|response| &response.resource);
        self.execute(
            COMPLETE,
            &[
                token,
                key,
                started_at,
                &response.map(|response| i32::from(response.status)),
                &response.and_then(|response| response.location.as_deref()),
                &response.map(|response| &*response.body),
                &resource.and_then(|resource| resource.forum_id.as_ref()),
                &resource.and_then(|resource| resource.thread_id.as_ref()),
                &resource.and_then(|resource| resource.post_id.as_ref()),
            ],
        )
        .await?;
        Ok(())
    }
}

/// Reads the record of the key, `true` if this call reserved it, and the time of the call.
fn read_begin(row: &mut RowReader<'_>) -> Result<(bool, IdempotencyRecord, Timestamp)> {
    let now = row.value("now")?;
    let is_first = row.value("first")?;
    let fingerprint: &[u8] = row.value("request")?;
    let malformed = |_| PostgresError::malformed("the fingerprint is malformed");
    let fingerprint = fingerprint.try_into().map_err(malformed)?;
    let started_at = row.value("began_at")?;
    let has_ended: bool = row.value("ended")?;
    let record = IdempotencyRecord {
        fingerprint,
        started_at,
        progress: match has_ended {
            true => read_response(row)?.into(),
            false => IdempotencyProgress::InProgress,
        },
    };
    Ok((is_first, record, now))
}
