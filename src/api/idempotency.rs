//! Step 9: `Idempotency-Key`, at most once whatever happens (`docs/protocol.md`, section 9).

use http::HeaderMap;
use http::request::Parts;
use sha2::{Digest, Sha256};

use super::error::{ApiError, IdempotencyConflict};
use super::extract::error::InputError;
use super::response::ApiResponse;
use crate::metrics::recorder;
use crate::model::{Expected, Timestamp};
use crate::store::{
    BeginOutcome, Completion, IdempotencyStore, IdempotentRequest, Reservation, StoredResponse,
};
use crate::token::Lookup;

const HEADER: &str = "idempotency-key";

/// The store's label in the metrics.
const STORE: &str = "idempotency";

/// The request's key, if it has one: 1-64 visible ASCII characters.
pub(super) fn parse_key(headers: &HeaderMap) -> Result<Option<String>, InputError> {
    let mut values = headers.get_all(HEADER).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    let is_valid = |key: &&str| {
        (1..=64).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic())
    };
    let key = value.to_str().ok().filter(is_valid);
    let key = key.filter(|_| values.next().is_none());
    key.map(|key| Some(key.to_owned()))
        .ok_or_else(|| InputError::expected(HEADER, Expected::IdempotencyKey))
}

/// The request as its key knows it: method, path and body, byte for byte.
pub(super) fn fingerprint(
    token: Lookup,
    key: String,
    head: &Parts,
    body: &[u8],
) -> IdempotentRequest {
    let (method, path) = (head.method.as_str(), head.uri.path());
    let mut hash = Sha256::new();
    for part in [method.as_bytes(), path.as_bytes(), body] {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    let request = hash.finalize().into();
    IdempotentRequest {
        token,
        key,
        fingerprint: request,
    }
}

/// Looks up the key of a request, and claims it if it is new: the ticket, or the stored response.
pub(super) async fn begin(
    store: &dyn IdempotencyStore,
    attempt: &IdempotentRequest,
    now: Timestamp,
) -> Result<Result<Reservation, StoredResponse>, ApiError> {
    let begun = store.begin(attempt, now).await;
    let conflict = match begun.inspect_err(|_| recorder::record_store_error(STORE))? {
        BeginOutcome::Reserved(ticket) => return Ok(Ok(ticket)),
        BeginOutcome::Replay(kept) => return Ok(Err(kept)),
        BeginOutcome::InProgress => IdempotencyConflict::Running,
        BeginOutcome::OutcomeUnknown => IdempotencyConflict::Unknown,
        BeginOutcome::KeyReused => IdempotencyConflict::OtherRequest,
    };
    Err(ApiError::Idempotency(conflict))
}

/// Records the outcome of a first request.
pub(super) async fn complete(
    store: &dyn IdempotencyStore,
    ticket: &Reservation,
    result: &Result<ApiResponse, ApiError>,
    request_id: &str,
) {
    if let Err(fault) = store.complete(ticket, completion_of(result)).await {
        recorder::record_store_error(STORE);
        tracing::error!(error = %fault, request_id, "failed to record idempotency outcome");
    }
}

/// A refusal changed nothing. After an internal error, or a result that the caller cannot see, the outcome is unknown.
fn completion_of(result: &Result<ApiResponse, ApiError>) -> Completion {
    match result {
        Ok(response) => Completion::Responded(response.into()),
        Err(ApiError::Internal(_) | ApiError::HiddenResult) => Completion::OutcomeUnknown,
        Err(_) => Completion::NotExecuted,
    }
}
