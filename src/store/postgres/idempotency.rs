//! Idempotency store.

use async_trait::async_trait;

use super::execute::{Columns, Parameters, Result};
use super::{PostgresError, PostgresStore};
use crate::error::BackendResult;
use crate::model::Timestamp;
use crate::store::{
    BeginOutcome, Completion, IdempotencyRecord, IdempotencyStore, IdempotentRequest, Reservation,
    ResourceIds, StoredResponse,
};

const BEGIN: &str = include_str!("sql/begin.sql");

/// Records a response, or an unknown outcome, which has no status.
const COMPLETE: &str = "
UPDATE forum_api_idempotency_keys
SET ended = TRUE, status = $4, location = $5, body = $6, forum_id = $7, thread_id = $8, post_id = $9
WHERE token = $1 AND key = $2 AND began_at = $3";

const FREE: &str = "
DELETE FROM forum_api_idempotency_keys WHERE token = $1 AND key = $2 AND began_at = $3";

#[async_trait]
impl IdempotencyStore for PostgresStore {
    async fn begin(
        &self,
        attempt: &IdempotentRequest,
        now: Timestamp,
    ) -> BackendResult<BeginOutcome> {
        let expired = now.saturating_sub(IdempotencyRecord::TTL);
        let request = attempt.fingerprint.as_slice();
        loop {
            let parameters: Parameters<'_> =
                &[&attempt.token, &attempt.key, &request, &now, &expired];
            let begun = self.first(BEGIN, parameters, read_begin).await?;
            if let Some((is_first, entry)) = begun {
                return Ok(match is_first {
                    true => BeginOutcome::Reserved(attempt.reservation(now)),
                    false => entry.outcome_for(&attempt.fingerprint, now),
                });
            }
        }
    }

    async fn complete(&self, ticket: &Reservation, outcome: Completion) -> BackendResult<()> {
        let Reservation {
            token,
            key,
            started_at,
        } = ticket;
        let kept = match &outcome {
            Completion::Responded(kept) => Some(kept),
            Completion::OutcomeUnknown => None,
            Completion::NotExecuted => {
                self.execute(FREE, &[token, key, started_at]).await?;
                return Ok(());
            }
        };
        let resource = kept.map(|kept| &kept.resource);
        self.execute(
            COMPLETE,
            &[
                token,
                key,
                started_at,
                &kept.map(|kept| i32::from(kept.status)),
                &kept.and_then(|kept| kept.location.as_deref()),
                &kept.map(|kept| &*kept.body),
                &resource.and_then(|resource| resource.forum_id.as_ref()),
                &resource.and_then(|resource| resource.thread_id.as_ref()),
                &resource.and_then(|resource| resource.post_id.as_ref()),
            ],
        )
        .await?;
        Ok(())
    }
}

/// Reads whether the key was reserved just now, and its record.
fn read_begin(columns: &mut Columns<'_>) -> Result<(bool, IdempotencyRecord)> {
    let is_first = columns.value()?;
    let request: &[u8] = columns.value()?;
    let malformed = |_| PostgresError::malformed("the fingerprint is malformed");
    let request = request.try_into().map_err(malformed)?;
    let began = columns.value()?;
    let ended: bool = columns.value()?;
    let ended = ended.then(|| read_response(columns)).transpose()?;
    let entry = IdempotencyRecord {
        fingerprint: request,
        started_at: began,
        completion: ended,
    };
    Ok((is_first, entry))
}

/// Returns `None` for an unknown outcome.
fn read_response(columns: &mut Columns<'_>) -> Result<Option<StoredResponse>> {
    let Some(status) = columns.value::<Option<i64>>()? else {
        return Ok(None);
    };
    let out_of_range = |_| PostgresError::malformed("the status is out of range");
    let status = u16::try_from(status).map_err(out_of_range)?;
    let location = columns.value()?;
    let body: Vec<u8> = columns.value()?;
    Ok(Some(StoredResponse {
        status,
        location,
        body: body.into(),
        resource: ResourceIds {
            forum_id: columns.value()?,
            thread_id: columns.value()?,
            post_id: columns.value()?,
        },
    }))
}
